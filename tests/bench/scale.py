"""Very many schedules, and very many due at once: the real daemon with 10,000 and with 1,000,000 schedules.

Each figure is a dict of arguments for a row of the table. Stores are filled before the daemon starts (bench_fill), except
for the figures of `rota apply`. Where the stream of events would be flooded, lateness is measured by reading the database: a
run that another process can read is durable."""
import json
import math
import os
import sqlite3
import subprocess
import tempfile
import threading
import time

import lateness as late

MANY, FEW = 1_000_000, 10_000
SECONDS = 30
ROUNDS = 2           # rounds of a comparison with a peer; the best round of each counts
QUARTERLY = "*/15 * * * * JITTER 15m"
PERIOD = 900         # the period of QUARTERLY in seconds: of a million schedules, 1,111 are due each second
LEAD = 25            # seconds for filling and starting, in which nothing is due
YEARLY = "0 0 1 1 *"
ADDS = 500
APPLIED = 100_000
STARTS = 3


def figure(name, ours, peer=None, unit="ms", bar=None, of="ours", peer_is="", digits=3):
    return {"name": "scale." + name, "ours": round(ours, digits), "peer": None if peer is None else round(peer, digits),
            "unit": unit, "bar": bar, "of": of, "peer_is": peer_is}


def least(rounds, key):
    return min(r[key] for r in rounds)


def p99(values):
    return sorted(values)[len(values) * 99 // 100]


# ---- 10,000, each once a minute ----

def ten_thousand(build):
    peer, ours = [], []
    for _ in range(ROUNDS):
        peer.append(late.bare(build, FEW, SECONDS))
        ours.append(late.ours(build, FEW, SECONDS))
    for r in peer + ours:
        r["each"] = r["cpu"] / r["triggers"] * 1e6
    yield figure("lateness-p99-10000", least(ours, "p99"), least(peer, "p99"), bar=("<=", least(peer, "p99") + 3),
                 peer_is=f"a bare timer and commit loop; p50 {least(ours, 'p50'):.2f} beside {least(peer, 'p50'):.2f}")
    yield figure("cpu-per-trigger-10000", least(ours, "each"), least(peer, "each"), "us", ("<=", 2), of="ratio",
                 peer_is="the same loop", digits=0)


# ---- 1,000,000 held ----

class Newest:
    """Reads new runs from the database, as another process."""

    def __init__(self, daemon):
        self.db = sqlite3.connect(f"file:{daemon.database}?mode=ro", uri=True)
        self.read = self.db.cursor()

    def number(self):
        return self.read.execute("SELECT ifnull(max(run), 0) FROM run").fetchone()[0]

    def after(self, number):
        return self.read.execute("SELECT run, due FROM run WHERE run > ? ORDER BY run", (number,)).fetchall()


def add_many(daemon, n):
    """Milliseconds from each request to its answer, which comes when the schedule is durable."""
    spent, to = [], late.UnixConnection(daemon.socket)
    for i in range(n):
        document = {"id": f"added{i}", "expression": YEARLY, "action": {"type": "event", "name": "bench"}}
        start = time.perf_counter()
        daemon.ask("POST", "/api/v1/schedules", {"document": document}, to)
        spent.append((time.perf_counter() - start) * 1000)
    to.close()
    return spent


def commit_many(n):
    """Milliseconds of each of so many bare durable commits."""
    spent = []
    with tempfile.TemporaryDirectory(prefix="rota-bench-") as tmp:
        db = sqlite3.connect(os.path.join(tmp, "bare.db"), isolation_level=None)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)")
        for _ in range(n):
            start = time.perf_counter()
            db.execute("INSERT INTO t (b) VALUES (?)", ("x" * 300,))
            spent.append((time.perf_counter() - start) * 1000)
        db.close()
    return spent


def start_times(daemon):
    """Seconds from the start of the process to the first durable trigger."""
    spent = []
    for _ in range(STARTS):
        daemon.stop()
        newest = Newest(daemon)
        before = newest.number()
        start = time.perf_counter()
        daemon.start()
        while newest.number() == before:
            if daemon.process.poll() is not None:
                raise OSError("the daemon has ended")
            time.sleep(0.005)
        spent.append(time.perf_counter() - start)
    return sorted(spent)


def status_ms(daemon):
    start = time.perf_counter()
    daemon.ask("GET", "/api/v1/status")
    return (time.perf_counter() - start) * 1000


def one_million(build):
    peer = late.bare(build, MANY, SECONDS, PERIOD)
    with late.Daemon(build) as daemon:
        daemon.fill(MANY, QUARTERLY, LEAD)
        daemon.start()
        daemon.ready()
        daemon.settle()
        ours = late.measure(daemon, SECONDS)
        yield figure("lateness-p99-1000000", ours["p99"], peer["p99"], bar=("<=", 25),
                     peer_is=f"the bare loop; p50 {ours['p50']:.2f} beside {peer['p50']:.2f}, max {ours['max']:.1f} beside "
                     f"{peer['max']:.1f}; {ours['triggers'] / SECONDS:.0f} due a second")
        yield figure("cpu-per-trigger-1000000", ours["cpu"] / ours["triggers"] * 1e6,
                     peer["cpu"] / peer["triggers"] * 1e6, "us", of="ratio", peer_is="the same loop; no bar", digits=0)
        spent = add_many(daemon, ADDS)
        yield figure("add-p99-1000000", p99(spent), p99(commit_many(ADDS)), bar=("<=", 10),
                     peer_is=f"a bare durable commit each; p50 {sorted(spent)[ADDS // 2]:.2f}; under the load above")
        yield figure("status-1000000", min(status_ms(daemon) for _ in range(5)), peer_is="`rota status`; no bar")
        yield figure("rss-1000000", daemon.memory_mb("VmHWM"), None, "MB", ("<=", 500),
                     peer_is=f"VmHWM; VmRSS {daemon.memory_mb('VmRSS'):.0f}", digits=0)
        spent = start_times(daemon)
        yield figure("start-1000000", spent[STARTS // 2], None, "s", ("<=", 5),
                     peer_is=f"to the first durable trigger; of {STARTS} the best {spent[0]:.2f}, the worst {spent[-1]:.2f}")


def idle(build):
    with late.Daemon(build) as daemon:
        daemon.fill(MANY, YEARLY)
        daemon.start()
        daemon.ready()
        daemon.settle()
        before = daemon.cpu_seconds()
        time.sleep(60)
        yield figure("idle-cpu-1000000", (daemon.cpu_seconds() - before) / 60 * 100, None, "%", ("<=", 1),
                     peer_is="nothing due for a minute")


# ---- all at one instant ----

def burst(build):
    with late.Daemon(build) as daemon:
        daemon.fill(FEW, "* * * * *", 10)
        daemon.start()
        daemon.ready()
        newest = Newest(daemon)
        due = math.ceil((time.time() + 5) / 60) * 60
        time.sleep(due - 1 - time.time())
        before = newest.number()
        while newest.number() - before < FEW:
            if time.time() > due + 60:
                raise OSError("the burst did not come")
            time.sleep(0.005)
        claimed = time.time() - due
        left = f"SELECT count(*) FROM run WHERE nominal = {due * 1_000_000} AND state <> 3"
        while newest.read.execute(left).fetchone()[0]:
            time.sleep(0.005)
        done = time.time() - due
        yield figure("burst-claimed-10000", claimed, None, "s", ("<=", 1), peer_is="all due at one instant, action event")
        yield figure("burst-done-10000", done, None, "s", ("<=", 2), peer_is="the same, until recorded as done")


# ---- during other work ----

def watch_lateness(daemon, seconds=None, until=None):
    """The lateness in ms, as another process sees it, of all occurrences in so many seconds, or until an event is set."""
    newest, spent = Newest(daemon), []
    at, end = newest.number(), time.monotonic() + (seconds or 3600)
    while time.monotonic() < end and not (until and until.is_set()):
        rows = newest.after(at)
        now = time.time() * 1e6
        spent += [(now - due) / 1000 for _, due in rows]
        at = rows[-1][0] if rows else at
        time.sleep(0.001)
    return late.spread(spent)


def write_documents(path, n):
    with open(path, "w", encoding="utf-8") as out:
        json.dump({"schedules": [{"id": f"applied{i}", "expression": YEARLY, "action": {"type": "event", "name": "x"}}
                                 for i in range(n)]}, out)


def while_applying(build):
    """Triggers of 10,000 schedules while 100,000 more are applied."""
    with late.Daemon(build) as daemon:
        daemon.fill(FEW, late.MINUTELY)
        daemon.start()
        daemon.ready()
        documents = os.path.join(daemon.tmp.name, "many.json")
        write_documents(documents, APPLIED)
        daemon.settle()
        quiet, before = watch_lateness(daemon, SECONDS), daemon.memory_mb("VmRSS")
        done, spent, over = [], [], threading.Event()

        def apply():
            start = time.monotonic()
            done.append(subprocess.run([os.path.join(build, "rota"), "apply", "-f", documents, "--socket", daemon.socket],
                                       stdout=subprocess.DEVNULL, check=False).returncode)
            spent.append(time.monotonic() - start)
            over.set()

        thread = threading.Thread(target=apply)
        thread.start()
        busy = watch_lateness(daemon, until=over)
        thread.join()
        if done != [0]:
            raise OSError(f"rota apply ended with {done}")
        yield figure("lateness-p99-applying", busy["p99"], quiet["p99"],
                     peer_is=f"before, as seen from outside; {APPLIED} applied meanwhile; p50 {busy['p50']:.2f} beside "
                     f"{quiet['p50']:.2f}; no bar")
        yield figure("apply-100000", APPLIED / spent[0], None, "1/s", digits=0,
                     peer_is="schedules applied a second; two passes, the first only looks")
        yield figure("apply-memory", (daemon.memory_mb("VmHWM") - before) * 1e6 / APPLIED, None, "B", digits=0,
                     peer_is="of the daemon, for each schedule more, at the most it ever had")


def add_failing_schedules(daemon):
    """Adds three schedules that fail every second: no program, no directory, a document that cannot be read."""
    for name, action in {"no-program": {"type": "command", "command": ["/nonexistent/program"]},
                         "no-directory": {"type": "command", "command": "true", "cwd": "/nonexistent/directory"},
                         "no-document": {"type": "command", "command": "true"}}.items():
        document = {"id": name, "expression": "* * * * * *", "action": action}
        daemon.ask("POST", "/api/v1/schedules", {"document": document})
    daemon.stop()
    with sqlite3.connect(daemon.database) as db:
        db.execute("UPDATE document SET body = '{\"id\":' WHERE id = 'no-document'")
    db.close()
    daemon.start()
    daemon.ready()


def with_failing_schedules(build):
    with late.Daemon(build) as daemon:
        daemon.fill(FEW, late.MINUTELY)
        daemon.start()
        daemon.ready()
        daemon.settle()
        before = late.spread(daemon.follow(SECONDS))
        add_failing_schedules(daemon)
        daemon.settle()
        after = late.spread(daemon.follow(SECONDS))
        yield figure("lateness-p99-poisoned", after["p99"], before["p99"], bar=("<=", before["p99"] + 3),
                     peer_is="before three schedules that fail every second; "
                     f"p50 {after['p50']:.2f} beside {before['p50']:.2f}")


PARTS = (ten_thousand, one_million, idle, burst, while_applying, with_failing_schedules)


def figures(build):
    for part in PARTS:
        yield from part(build)
