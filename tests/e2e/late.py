#!/usr/bin/env python3
"""Late and missed times as people see them, with a daemon that is killed and started again later.

usage: late.py ROTA MACHINE [PART...]; MACHINE is the preload of tests/hostile/machine.c, which sets the daemon's clock"""
import mmap
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check  # noqa: E402
from rig import Rig, run_parts, wait_until  # noqa: E402

ROTA, MACHINE = sys.argv[1:3]


class LateRig(Rig):
    """A daemon whose clock can be set ahead while it is down."""

    def __init__(self):
        super().__init__(ROTA)
        self.ahead = 0
        path = os.path.join(self.dir, "machine")
        with open(path, "wb") as f:
            f.write(bytes(4096))
        with open(path, "r+b") as f:
            self.machine = mmap.mmap(f.fileno(), 4096)
        self.env.update(LD_PRELOAD=os.path.abspath(MACHINE), HOSTILE=path, HOSTILE_DIR=self.data)
        self.start()

    def down_for(self, seconds):
        """Kills the daemon, and starts it again when its clock shows so many seconds more."""
        self.kill()
        self.ahead += seconds
        struct.pack_into("=q", self.machine, 0, self.ahead * 1000000)
        self.start()


def by_state(runs):
    """How many runs there are of each state or outcome, with its reason."""
    counts = {}
    for r in runs:
        word = "/".join(filter(None, [r["outcome"] or r["state"], r["reason"]]))
        counts[word] = counts.get(word, 0) + r.get("count", 1)
    return counts


# --- catch-up ----------------------------------------------------------------------------------------------------

def catch_up():
    with LateRig() as rig:
        rig.cli("add", "@every 2s MISSED catch_up", "--id", "tick", "--", "sleep", "0.1")
        check(wait_until(60, lambda: len(rig.runs("tick")) > 1), "it runs")
        rig.down_for(100)
        # Regular times come meanwhile; the line ends with the first run that was due in time.
        done = wait_until(60, lambda: (rs := rig.runs("tick")) and rs[0]["kind"] == "timer" and
                          rs[0]["state"] == "finished" and sum(r["kind"] == "catch_up" for r in rs) > 45 and rs)
        check(done, "the line is worked off", rig.runs("tick")[:3])
        counts = by_state(rig.runs("tick"))
        check(set(counts) <= {"done", "claimed"}, "every time runs; none is skipped or missed", counts)


sys.exit(run_parts([catch_up], sys.argv[3:], 4))
