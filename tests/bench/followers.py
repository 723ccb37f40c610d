"""Many followers of events: 500 clients that read and 20 that do not, 1,000 events a second. Triggers must be on time, memory
bounded, and no follower that reads may lose an event."""
import json
import os
import subprocess

import lateness as late

FOLLOWERS, STALLED = 500, 20
SCHEDULES = 12000  # once a minute each, action `event`: 200 runs of 5 events a second
SECONDS = 40


def figures(build):
    with late.Daemon(build) as daemon:
        daemon.fill(SCHEDULES, late.MINUTELY)
        daemon.start()
        daemon.ready()
        daemon.settle()
        alone = late.spread(daemon.follow(SECONDS))
        before = daemon.memory_mb("VmRSS")
        with subprocess.Popen([os.path.join(build, "tests", "bench_followers"), daemon.socket, str(FOLLOWERS), str(STALLED),
                               str(SECONDS + 5)], stdout=subprocess.PIPE, text=True) as clients:
            followed = late.spread(daemon.follow(SECONDS))
            grown = daemon.memory_mb("VmRSS") - before
            got = json.loads(clients.communicate()[0])
        rate = got["most"] / (SECONDS + 5)
        yield {"name": "events.lateness-p99-500-followers", "ours": round(followed["p99"], 2), "peer": round(alone["p99"], 2),
               "unit": "ms", "bar": ("<=", alone["p99"] + 20), "of": "ours",
               "peer_is": f"one follower; p50 {followed['p50']:.2f} beside {alone['p50']:.2f}; {rate:.0f} events a second each"}
        yield {"name": "events.memory-500-followers", "ours": round(grown, 1), "peer": None, "unit": "MB", "bar": ("<=", 50),
               "of": "ours", "peer_is": f"{STALLED} more that read nothing"}
        yield {"name": "events.lost-500-followers", "ours": got["gaps"] + got["closed"], "peer": None, "unit": "",
               "bar": ("<=", 0), "of": "ours", "peer_is": f"fewest events of one follower: {got['least']}, most: {got['most']}"}
