#!/usr/bin/env python3
"""The daemon on machines that are full, read-only, broken, short of everything, or that do not know what time it is.
Usage: hostile.py ROTA MACHINE [--no-mounts] [PART...]; MACHINE is the preload of machine.c.

Each hardship is met with a clear word in `rota status` and `rota doctor`, loses nothing, runs nothing twice, and when it
is over the daemon goes on by itself, or says what a person must do. Disks are small ones in memory, mounted where
nobody else sees them; where mounting is not allowed, the preload says what such a disk would say."""
import contextlib
import ctypes
import errno
import glob
import json
import mmap
import os
import resource
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import threading
import time
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check, finish  # noqa: E402
from rig import NoAnswer, Refused, Rig, wait_until  # noqa: E402

ROTA, MACHINE = sys.argv[1:3]
SANITIZED = b"__asan_init" in open(ROTA, "rb").read()
libc = ctypes.CDLL(None, use_errno=True)
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE, CLONE_NEWNS = 1, 32, 4096, 16384, 1 << 18, 0x20000


# --- machines ----------------------------------------------------------------------------------------------------

def mount(what, where, kind, flags=0, options=None):
    encode = [x.encode() if x else None for x in (what, where, kind, options)]
    if libc.mount(encode[0], encode[1], encode[2], flags, encode[3]) != 0:
        raise OSError(ctypes.get_errno(), f"mount {where}")


def own_mounts():
    """Before there are threads: whatever is mounted from now on is seen by us alone, and goes with us."""
    try:
        if libc.unshare(CLONE_NEWNS) != 0:
            raise OSError(ctypes.get_errno(), "unshare")
        mount(None, "/", None, MS_REC | MS_PRIVATE)
        return True
    except OSError as e:
        print(f"no mounts here ({e}): the preload imitates full and read-only disks", flush=True)
        return False


class Machine:
    """What machine.c is told."""
    WALL, ASLEEP, WRITE, READ = (0, "q"), (8, "q"), (16, "i"), (20, "i")

    def __init__(self, directory):
        self.path = os.path.join(directory, "machine")
        with open(self.path, "wb") as f:
            f.write(bytes(4096))
        with open(self.path, "r+b") as f:
            self.map = mmap.mmap(f.fileno(), 4096)

    def tell(self, what, value):
        struct.pack_into("=" + what[1], self.map, what[0], value)


class Using:
    """A rig that leaves nothing behind. `machine`: with the preload. `disk`: its data is on a disk of so many KiB."""

    def __init__(self, machine=False, disk=0, env=None):
        self.rig = rig = Rig(ROTA, env=env)
        rig.machine, self.mounted = None, False
        os.makedirs(rig.data, 0o700)
        if disk and MOUNTS:
            mount("none", rig.data, "tmpfs", 0, f"size={disk}k,mode=700")
            self.mounted = True
        if machine or (disk and not MOUNTS):
            rig.machine = Machine(rig.dir)
            rig.env.update(LD_PRELOAD=os.path.abspath(MACHINE), HOSTILE=rig.machine.path, HOSTILE_DIR=rig.data)

    def __enter__(self):
        return self.rig

    def __exit__(self, *exception):
        rig = self.rig
        if rig.daemon and exception[0] is None:
            code = rig.stop()
            check(code == 0, f"the daemon is stopped: exit {code}", rig.log_text()[-500:])
        elif rig.daemon:
            print(rig.log_text()[-1500:])
        rig.close(keep=self.mounted)
        if self.mounted:
            libc.umount2(rig.data.encode(), 2)
            shutil.rmtree(rig.dir, ignore_errors=True)


def preload_env(rig):
    """For the command line, which is not on the hostile machine."""
    return {k: v for k, v in rig.env.items() if k != "LD_PRELOAD"}


# --- what is asked -----------------------------------------------------------------------------------------------

def cli(rig, *argv, env=None, timeout=60):
    return subprocess.run([rig.rota, argv[0], "--socket", rig.socket, *argv[1:]], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=timeout, env=env or preload_env(rig), cwd=rig.dir)


def doctor(rig, *argv):
    """Its checks by name; None, and how it ended."""
    r = cli(rig, "doctor", "--json", *argv)
    try:
        return {c["check"]: c for c in json.loads(r.stdout)["checks"]}, r.returncode
    except (ValueError, KeyError):
        check(False, "the doctor answers", r)
        return {}, r.returncode


def diagnosed(rig, what, *words, argv=(), state="fail"):
    checks, code = doctor(rig, *argv)
    c = checks.get(what, {})
    said = f"{c.get('text')}; {c.get('advice')}"
    return check(c.get("state") == state and c.get("advice") and all(w in said for w in words) and
                 code == (1 if state == "fail" else code), f"the doctor on {what}: {state}, {words}", (code, checks))


def problem(rig, key):
    """Open ones. The store's own cannot be in the store while that is failing: then the status says it."""
    return [p for p in rig.ask("GET", "/problems")["problems"] if p["key"] == key]


def had_problem(rig, key):
    return rig.rows("SELECT * FROM problem WHERE key = ?", key)


def look(rig, path):
    """One that is short of descriptors may say that it cannot tell who asks, and to come again."""
    for _ in range(600):
        try:
            return rig.ask("GET", path)
        except Refused as e:
            if e.status != 503:
                raise
            time.sleep(0.05)
    return rig.ask("GET", path)


def trouble(rig):
    return look(rig, "/status")["trouble"] or ""


def mark(rig, id, expression="* * * * * *", **more):
    """A schedule whose runs leave marks outside of the data directory."""
    line = f'echo "$ROTA_SCHEDULE_ID $ROTA_RUN_ID.$ROTA_ATTEMPT $ROTA_NOMINAL_TIME" >>{rig.dir}/marks'
    return {"id": id, "expression": expression, "action": {"type": "command", "command": line}, **more}


def marks(rig):
    try:
        with open(rig.dir + "/marks") as f:
            return [line.split() for line in f]
    except FileNotFoundError:
        return []


def stop(rig):
    code = rig.stop()
    check(code == 0, f"stopped: exit {code}", rig.log_text()[-3000:])


def more_marks(rig, n=2, seconds=60):
    before = len(marks(rig))
    return check(wait_until(seconds, lambda: len(marks(rig)) >= before + n, 0.1), "it goes on", rig.log_text()[-500:])


def accounted(rig, id="tick", gaps=()):
    """Every second from its first to its last has exactly one record; each run that started has one mark per attempt,
    none is early. `gaps`: (from, to) where the clock was moved."""
    rows = rig.rows("""SELECT run, attempt, nominal / 1000000 AS at, state FROM run JOIN document USING (sid)
                       WHERE id = ? AND kind <> 4""", id)
    ranges = rig.rows("""SELECT first / 1000000 AS first, last / 1000000 AS last FROM range JOIN document USING (sid)
                         WHERE id = ?""", id)
    seconds = [r["at"] for r in rows]
    for r in ranges:
        seconds += range(r["first"], r["last"] + 1)
    seconds.sort()
    twice = [a for a, b in zip(seconds, seconds[1:]) if a == b]
    holes = [(a, b) for a, b in zip(seconds, seconds[1:])
             if b > a + 1 and not any(f <= b and a <= t for f, t in gaps)]
    check(seconds and not twice and not holes, f"{id}: every time has one record", (len(seconds), twice, holes))
    made = [m[1] for m in marks(rig) if m[0] == id]
    check(len(made) == len(set(made)), f"{id}: nothing ran twice", made)
    # One that has just set out when the daemon is stopped is told of by its file.
    began = {f"{r['run']}.{n}" for r in rows for n in range(1, r["attempt"] + 1 + (r["state"] < 3))}
    check(set(made) <= began, f"{id}: what ran is on record", set(made) - began)
    over = {f"{r['run']}.{n}" for r in rows for n in range(1, r["attempt"] + 1) if r["state"] == 3}
    check(over <= set(made), f"{id}: what is on record ran", over - set(made))


PARTS = []


def part(fn):
    PARTS.append(fn)
    return fn


# --- disks -------------------------------------------------------------------------------------------------------

def fill(path):
    """All there is, to the last page."""
    with open(path, "wb", buffering=0) as f:
        for size in (65536, 4096, 1):
            with contextlib.suppress(OSError):
                while f.write(bytes(size)) == size:
                    pass


class Full:
    """A disk on which nothing more can be written."""

    def __init__(self, rig):
        self.rig = rig

    def __enter__(self):
        if self.rig.machine:
            self.rig.machine.tell(Machine.WRITE, errno.ENOSPC)
        else:
            fill(self.rig.data + "/ballast")

    def __exit__(self, *exception):
        if self.rig.machine:
            self.rig.machine.tell(Machine.WRITE, 0)
        else:
            os.unlink(self.rig.data + "/ballast")


@part
def full_disk():
    """The database cannot grow, nor can a run be born. What is due meanwhile is late or missed, not lost."""
    with Using(disk=8192) as rig:
        check(rig.start(), "it starts", rig.log_text())
        rig.add(mark(rig, "tick", missed_schedule_policy="skip"))
        more_marks(rig)
        with Full(rig):
            check(wait_until(60, lambda: "full" in trouble(rig) or "space" in trouble(rig)), "it is said", trouble(rig))
            r = cli(rig, "status")
            check(r.returncode == 0 and "Trouble: " in r.stdout and "rota.db" in r.stdout, "the status says it", r)
            diagnosed(rig, "store", "full", "room")
            if not rig.machine:
                diagnosed(rig, "disk", "0 MiB", "make room")
            begun = time.monotonic()
            r = cli(rig, "add", "@daily", "--id", "new", "--", "true")
            check(r.returncode == 75 and "rota.db" in r.stderr and time.monotonic() - begun < 25,
                  "what cannot be stored is refused, and why", (r, time.monotonic() - begun))
            check(cli(rig, "ls").returncode == 0, "it can be looked at")
            # A crash in the midst of it: it comes up and waits, or says why it cannot.
            rig.kill()
            if rig.start():
                check(wait_until(60, lambda: trouble(rig)), "on a full disk it starts, and says so")
                rig.kill()
            else:
                check(rig.reap() == 1 and rig.data in rig.log_text() and "rota doctor" in rig.log_text(),
                      "on a full disk it says why it does not start", rig.log_text())
            checks, code = doctor(rig, "--data", rig.data)
            check(code == 1 and (rig.machine or checks["disk"]["state"] == "fail"), "without a daemon, too", checks)
        check(rig.start(), "with room it starts", rig.log_text())
        more_marks(rig)
        with Full(rig):
            check(wait_until(60, lambda: trouble(rig)), "full again")
            time.sleep(1.5)
        check(wait_until(30, lambda: not trouble(rig)), "there is room again", trouble(rig))
        more_marks(rig)
        check(wait_until(60, lambda: had_problem(rig, "store")), "it was a problem")
        check(wait_until(60, lambda: not problem(rig, "store")), "and is none any more", problem(rig, "store"))
        check(cli(rig, "add", "@daily", "--id", "new", "--", "true").returncode == 0, "people are heard again")
        check(doctor(rig)[0]["store"]["state"] == "ok", "the doctor is content", doctor(rig)[0])
        stop(rig)
        accounted(rig)


@part
def full_disk_for_runs():
    """The database has its room, run files have none: what is claimed waits, and is started once when it can be."""
    with Using() as rig:
        os.makedirs(rig.data + "/runs", 0o700)
        if MOUNTS:
            mount("none", rig.data + "/runs", "tmpfs", 0, "size=256k,mode=700")
        check(rig.start(), "it starts", rig.log_text())
        rig.add(mark(rig, "once", "0 0 29 2 *"))
        rig.add({"id": "loud", "expression": "0 0 29 2 *", "action": {"type": "command", "command":
                 f"head -c 3000000 /dev/zero; echo loud >>{rig.dir}/marks; echo end"}})
        if MOUNTS:  # in the log: it is cut, and the run goes on
            run = rig.ask("POST", "/schedules/loud/run", {})["run"]
            r = wait_until(30, lambda: (r := rig.ask("GET", f"/runs/{run}"))["state"] == "finished" and r)
            check(r and r["outcome"] == "done" and marks(rig) == [["loud"]], "a log without room stops nobody", r)
            os.truncate(glob.glob(f"{rig.data}/runs/*/{run[1:]}.1.log")[0], 0)
            fill(rig.data + "/runs/ballast")
        else:
            rlimit(rig.launcher(), resource.RLIMIT_FSIZE, 0)
        run = rig.ask("POST", "/schedules/once/run", {})["run"]
        check(wait_until(60, lambda: "could not be started" in trouble(rig)), "it is said", trouble(rig))
        check(wait_until(60, lambda: problem(rig, "runner")), "it is a problem", rig.ask("GET", "/problems"))
        diagnosed(rig, "launcher", "could not be started", "room" if MOUNTS else "itself")
        rig.kill()  # the claim outlives this
        check(rig.start(), "it starts again", rig.log_text())
        if MOUNTS:
            os.unlink(rig.data + "/runs/ballast")
        r = wait_until(40, lambda: (r := rig.ask("GET", f"/runs/{run}"))["state"] == "finished" and r)
        check(r and r["outcome"] == "done", "with room it runs", rig.ask("GET", f"/runs/{run}"))
        check([m[0] for m in marks(rig)].count("once") == 1, "once", marks(rig))
        check(wait_until(60, lambda: not problem(rig, "runner") and not trouble(rig)), "the problem is over",
              (rig.ask("GET", "/problems"), trouble(rig)))
        rig.stop()
        if MOUNTS:
            libc.umount2((rig.data + "/runs").encode(), 2)


def rlimit(pid, which, soft):
    """Sets the soft limit; what it was."""
    was = resource.prlimit(pid, which)
    resource.prlimit(pid, which, (soft, was[1]))
    return was[0]


def nproc(pid, soft, uid):
    """Of another user's process: not even root may everywhere."""
    r = subprocess.run(["prlimit", "--pid", str(pid), f"--nproc={soft}:"], user=uid, group=uid,
                       extra_groups=[] if uid else None, capture_output=True, text=True, cwd="/")
    check(r.returncode == 0, "a limit is set", r)


@part
def read_only_at_start():
    with Using(disk=8192) as rig:
        check(rig.start(), "it starts", rig.log_text())
        rig.add(mark(rig, "tick"))
        more_marks(rig)
        stop(rig)
        if rig.machine:
            rig.machine.tell(Machine.WRITE, errno.EROFS)
        else:
            mount(None, rig.data, None, MS_REMOUNT | MS_RDONLY)
        r = rig.serve_once()
        check(r.returncode == 1 and r.stderr.count("\n") == 1 and rig.data in r.stderr and
              "Read-only file system" in r.stderr and "rota doctor" in r.stderr, "a clear word", r)
        if not rig.machine:
            diagnosed(rig, "disk", "read-only", "kernel", argv=("--data", rig.data))
        r = rig.serve_once(data=rig.data + "/sub/below")
        check(r.returncode == 1 and "sub" in r.stderr and "Read-only" in r.stderr, "nor can a new one be made", r)
        if rig.machine:
            rig.machine.tell(Machine.WRITE, 0)
        else:
            mount(None, rig.data, None, MS_REMOUNT)
        check(rig.start(), "when it can be written, it starts", rig.log_text())
        more_marks(rig)
        stop(rig)
        accounted(rig)


def failing_disk(error, *words):
    """While it runs, everything that would be written fails with this. (A polite remount is refused while files are
    open for writing; a file system that found itself damaged does it nevertheless, and that is what is imitated.)"""
    with Using(machine=True) as rig:
        check(rig.start(), "it starts", rig.log_text())
        rig.add(mark(rig, "tick", missed_schedule_policy="skip"))
        rig.add({"id": "long", "expression": "0 0 29 2 *", "action": {"type": "command", "command": "exec sleep 100"}})
        long = rig.ask("POST", "/schedules/long/run", {})["run"]
        more_marks(rig)
        rig.machine.tell(Machine.WRITE, error)
        check(wait_until(60, lambda: trouble(rig)), "it is said")
        check(any(w in trouble(rig) for w in words), "in words", trouble(rig))
        diagnosed(rig, "store", "rota.db", "kernel")
        r = cli(rig, "pause", "tick")
        check(r.returncode == 75 and "rota doctor" in r.stderr, "people are told", r)
        r = cli(rig, "state", "set", "mood", "calm", "--user", timeout=200)
        check(r.returncode == 75 and "nothing can be recorded" in r.stderr, "and agents are", r)
        # What is alive can still be stopped.
        with contextlib.suppress(Refused):
            rig.ask("POST", f"/runs/{long}/stop", {})
        check(wait_until(60, lambda: "sleep" not in rig.processes().values()), "a run is stopped", rig.processes())
        time.sleep(1)
        rig.machine.tell(Machine.WRITE, 0)
        check(wait_until(30, lambda: not trouble(rig)), "it is over", trouble(rig))
        more_marks(rig)
        r = wait_until(60, lambda: (r := rig.ask("GET", f"/runs/{long}"))["state"] == "finished" and r)
        # With sanitizers its shim is on the same machine, and cannot write down how it ended.
        ends = {("killed", "cancelled"), ("failed", "lost") if SANITIZED else None}
        check(r and (r["outcome"], r["reason"]) in ends, "its end is on record", r)
        check(wait_until(60, lambda: had_problem(rig, "store") and not problem(rig, "store")), "a problem that is over")
        stop(rig)
        accounted(rig)


@part
def failing_disk_and_nothing_else_to_do():
    """No schedule is there to make it look at itself: one request that is not answered is reason enough."""
    with Using(machine=True) as rig:
        check(rig.start(), "it starts", rig.log_text())
        rig.machine.tell(Machine.WRITE, errno.EIO)
        asking = subprocess.Popen([rig.rota, "state", "set", "mood", "calm", "--user", "--socket", rig.socket],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  env=preload_env(rig))
        check(wait_until(30, lambda: "the store" in rig.log_text()), "it is noticed without being asked", rig.log_text())
        rig.machine.tell(Machine.WRITE, 0)
        said = asking.communicate(timeout=200)[0]
        check(asking.returncode == 0, "then it is done", said)
        stop(rig)


@part
def read_only_while_running():
    failing_disk(errno.EROFS, "ead-only", "readonly")


@part
def write_errors():
    failing_disk(errno.EIO, "I/O")


@part
def read_errors():
    """The document of a run cannot be read: no fault of the schedule's. It runs when the disk is well."""
    with Using(machine=True) as rig:
        check(rig.start(), "it starts", rig.log_text())
        # Too much for any cache.
        rig.add(mark(rig, "tick", description="x" * 3000000))
        more_marks(rig)
        rig.machine.tell(Machine.READ, errno.EIO)
        # One may be under way: then it is its end that cannot be read, and the next waits for that.
        check(wait_until(60, lambda: any(w in said(rig) for w in ("cannot be prepared", "cannot read the run file of run"))),
              "it is said", said(rig))
        time.sleep(3)
        rig.machine.tell(Machine.READ, 0)
        more_marks(rig)
        check(wait_until(60, lambda: not trouble(rig)), "nothing is left of it", trouble(rig))
        check(not [r for r in rig.runs() if r["outcome"] == "failed"], "none failed for it", rig.runs()[:20])
        stop(rig)
        accounted(rig)


def said(rig):
    """What the doctor says of the launcher. (The status needs the store.)"""
    checks, _ = doctor(rig)
    return checks.get("launcher", {}).get("text") or ""


# --- the database ------------------------------------------------------------------------------------------------

def garble(path, pages):
    with open(path, "r+b") as f:
        for page in pages:
            f.seek(page * 4096)
            f.write(b"\xff" * 4096)


@part
def damaged_at_start():
    with Using() as rig:
        check(rig.start(), "it starts", rig.log_text())
        for n in range(60):
            rig.add(mark(rig, f"s{n}", "0 0 29 2 *", description="x" * 2000))
        stop(rig)
        file = rig.data + "/rota.db"
        good = open(file, "rb").read()
        garble(file, range(1, len(good) // 4096))
        r = rig.serve_once()
        check(r.returncode == 1 and file in r.stderr and "rota doctor" in r.stderr, "a clear word", r)
        diagnosed(rig, "store", "malformed", "rota restore", argv=("--data", rig.data))
        with open(file, "wb") as f:
            f.write(b"nonsense" * 4096)
        r = rig.serve_once()
        check(r.returncode == 2 and "not a database" in r.stderr, "no database", r)
        diagnosed(rig, "store", "not a database", "rota restore", argv=("--data", rig.data))
        with open(file, "wb") as f:
            f.write(good)
        with sqlite3.connect(file) as db:
            db.execute("PRAGMA user_version = 99")
        db.close()
        diagnosed(rig, "store", "99", "install", argv=("--data", rig.data))
        with open(file, "wb") as f:
            f.write(good)
        checks, _ = doctor(rig, "--data", rig.data)
        check(checks["store"]["state"] == "ok", "the doctor knows a good one", checks)
        check(rig.start() and len(rig.ask("GET", "/schedules")["schedules"]) == 60, "brought back, it is served")


@part
def damaged_while_running():
    """Found when it is met: from then on nothing is written, nothing is claimed, and it is said. Runs go on."""
    with Using() as rig:
        check(rig.start(), "it starts", rig.log_text())
        rig.add(mark(rig, "tick"))
        for n in range(300):
            rig.add(mark(rig, f"s{n}", "0 0 29 2 *", description="x" * 3000))
        rig.add({"id": "long", "expression": "0 0 29 2 *", "action": {"type": "command", "command": "exec sleep 100"}})
        rig.ask("POST", "/schedules/long/run", {})
        more_marks(rig)
        check(wait_until(60, lambda: "sleep" in rig.processes().values()), "one runs")
        # Into the log, so that the next look at it finds no page it knows.
        good = {n: open(rig.data + "/" + n, "rb").read() for n in ("rota.db", "rota.db-wal")}
        garble(rig.data + "/rota.db", range(len(good["rota.db"]) // 4096))
        shutil.copy(rig.data + "/rota.db", rig.data + "/rota.db-wal")

        def said():
            try:
                rig.ask("POST", "/schedules/s0/pause", {}, timeout=5)
            except (Refused, NoAnswer):
                pass
            try:
                return trouble(rig)
            except Refused as e:
                return str(e)
        check(wait_until(40, lambda: "malformed" in said() or "not a database" in said(), 0.2), "it is said", said())
        diagnosed(rig, "store", "rota restore")
        r = cli(rig, "pause", "s1")
        check(r.returncode != 0 and "rota.db" in r.stderr, "orders are refused", r)
        check("sleep" in rig.processes().values(), "what runs goes on")
        before = len(marks(rig))
        time.sleep(2.5)
        check(len(marks(rig)) <= before + 1, "nothing is started that cannot be recorded")
        rig.kill()


# --- limits ------------------------------------------------------------------------------------------------------

@part
def few_descriptors():
    """Clients and runs take them all. Nobody is failed for it, and all is well when they are given back."""
    with Using() as rig:
        check(rig.start(), "it starts", rig.log_text())
        rig.add(mark(rig, "tick"))
        rig.add({"id": "many", "expression": "0 0 29 2 *", "overlap": "allow",
                 "action": {"type": "command", "command": f"echo many $ROTA_RUN_ID >>{rig.dir}/marks; sleep 1"}})
        more_marks(rig)
        open_now = len(os.listdir(f"/proc/{rig.daemon.pid}/fd"))
        was = rlimit(rig.daemon.pid, resource.RLIMIT_NOFILE, open_now + 6)
        diagnosed(rig, "files", "at most", "LimitNOFILE", state="warn")
        clients = []
        for _ in range(20):
            c = socket.socket(socket.AF_UNIX)
            c.connect(rig.socket)
            c.sendall(b"GET /api/v1/events HTTP/1.1\r\nHost: x\r\n\r\n")
            clients.append(c)
        time.sleep(2.5)
        for c in clients:
            c.close()
        check(wait_until(60, lambda: trouble(rig) is not None), "it is there when they go")
        rlimit(rig.daemon.pid, resource.RLIMIT_NOFILE, len(os.listdir(f"/proc/{rig.daemon.pid}/fd")) + 4)
        runs = []
        for _ in range(12):
            with contextlib.suppress(Refused):
                runs.append(rig.ask("POST", "/schedules/many/run", {})["run"])
        ended = wait_until(40, lambda: all(look(rig, f"/runs/{r}")["state"] == "finished" for r in runs), 0.2)
        check(ended and runs, "runs wait for each other", (len(runs), trouble(rig)))
        rlimit(rig.daemon.pid, resource.RLIMIT_NOFILE, was)
        outcomes = {look(rig, f"/runs/{r}")["outcome"] for r in runs}
        check(outcomes == {"done"}, "none fails for want of a descriptor", [look(rig, f"/runs/{r}") for r in runs][:3])
        more_marks(rig)
        check(wait_until(60, lambda: not trouble(rig) and not problem(rig, "runner")), "all is well", trouble(rig))
        made = [m[1] for m in marks(rig) if m[0] == "many"]
        check(len(made) == len(set(made)) == len(runs), "each ran once", made)
        stop(rig)
        accounted(rig)


@part
def few_descriptors_at_start():
    with Using() as rig:
        for most in (6, 10, 14, 20, 30):  # with fewer, not even its libraries are loaded
            r = subprocess.run([rig.rota, "serve", "--data", rig.data, "--socket", rig.socket], capture_output=True,
                               text=True, timeout=60, env=rig.env, stdin=subprocess.DEVNULL,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)))
            check(r.returncode in (1, 2) and r.stderr.startswith("rota: ") and r.stderr.count("\n") == 1,
                  f"{most} descriptors: a clear word", r)
        check(not rig.processes(), "nobody is left", rig.processes())
        check(rig.start(), "with enough it starts", rig.log_text())


@part
def few_processes():
    """The launcher cannot fork: what is claimed waits. Limits do not bind root, so this is another user's daemon."""
    uid = 64123 if os.geteuid() == 0 else None
    with Using() as rig:
        launcher = os.environ.get("ROTA_LAUNCHER") or os.path.join(os.path.dirname(os.path.abspath(ROTA)), "rota-launcher")
        if uid:
            os.makedirs(rig.dir + "/bin")
            # Not by this process: what another thread forks meanwhile would hold them open for writing.
            subprocess.run(["cp", ROTA, launcher, rig.dir + "/bin"], check=True)
            rig.rota = rig.dir + "/bin/rota"
            rig.env.update(ROTA_LAUNCHER=rig.dir + "/bin/rota-launcher", HOME=rig.dir)
            for name in ("", "/data", "/bin", "/bin/rota", "/bin/rota-launcher"):
                os.chown(rig.dir + name, uid, uid)
        with open(rig.log, "ab") as log:
            rig.daemon = subprocess.Popen([rig.rota, "serve", "--data", rig.data, "--socket", rig.socket],
                                          stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=rig.env, cwd=rig.dir,
                                          user=uid, group=uid, extra_groups=[] if uid else None)
        check(rig.wait_ready(), "it starts", rig.log_text())
        rig.add(mark(rig, "tick", missed_schedule_policy="skip"))
        more_marks(rig)
        launcher = rig.launcher()
        nproc(launcher, 0, uid)
        check(wait_until(60, lambda: "Resource temporarily unavailable" in trouble(rig)), "it is said", trouble(rig))
        diagnosed(rig, "launcher", "could not be started", "TasksMax")
        check(wait_until(60, lambda: problem(rig, "runner")), "it is a problem")
        nproc(launcher, 1000, uid)
        more_marks(rig)
        check(wait_until(60, lambda: not trouble(rig) and not problem(rig, "runner")), "it is over", trouble(rig))
        # No launcher at all: neither can a new one be made.
        nproc(rig.daemon.pid, 0, uid)
        os.kill(launcher, signal.SIGKILL)
        check(wait_until(60, lambda: "cannot start the launcher" in trouble(rig)), "that is said, too", trouble(rig))
        diagnosed(rig, "launcher", "launcher", "TasksMax")
        nproc(rig.daemon.pid, 1000, uid)
        more_marks(rig)
        check(wait_until(60, lambda: not trouble(rig)), "it is over", trouble(rig))
        stop(rig)
        accounted(rig)


@part
def little_memory():
    """No more memory from now on: people are told; it goes on when there is some, or ends with a clear word when that
    takes too long. The next one takes up everything."""
    if SANITIZED:
        print("little_memory: not with sanitizers, whose own memory cannot be limited; the other build has it")
        return
    with Using() as rig:
        check(rig.start(), "it starts", rig.log_text())
        rig.add(mark(rig, "tick", missed_schedule_policy="catch_up"))
        more_marks(rig)
        given = []

        def squeeze():
            size = int(open(f"/proc/{rig.daemon.pid}/statm").read().split()[0]) * resource.getpagesize()
            rlimit(rig.daemon.pid, resource.RLIMIT_AS, size)
            for n in range(100):
                try:
                    rig.add(mark(rig, f"s{len(given)}", "0 0 29 2 *", description="x" * 300000))
                    given.append(f"s{len(given)}")
                except Refused as e:
                    return check(e.status in (503, 507) and "memory" in str(e), "a clear word", e)
            return check(False, "memory becomes scarce")
        squeeze()
        rlimit(rig.daemon.pid, resource.RLIMIT_AS, resource.RLIM_INFINITY)
        check(wait_until(60, lambda: not trouble(rig)), "it is over", trouble(rig))
        more_marks(rig)
        squeeze()
        # Whoever asks for much is refused and the rest goes on; or nothing goes on, and then not for ever.
        before = len(marks(rig))
        ended = wait_until(60, lambda: rig.daemon.poll() is not None or len(marks(rig)) > before + 3)
        check(ended, "it goes on, or ends", rig.log_text()[-500:])
        code = rig.reap() if rig.daemon.poll() is not None else rig.kill()
        check(code == -9 or (code == 1 and "rota: out of memory" in rig.log_text()), "it says why it ends",
              (code, rig.log_text()[-500:]))
        check(rig.start(), "it starts again", rig.log_text())
        here = {s["id"] for s in rig.ask("GET", "/schedules?limit=1000")["schedules"]}
        check(set(given) <= here, "what was acknowledged is there", set(given) - here)
        more_marks(rig)
        stop(rig)
        accounted(rig)


# --- clocks ------------------------------------------------------------------------------------------------------

HOUR, DAY = 3600 * 1000000, 86400 * 1000000


def stepped(rig, us):
    rig.machine.tell(Machine.WALL, us)
    return int(time.time() + us / 1e6)


def ran_at(rig, id):
    return sorted(r["at"] for r in rig.rows("""SELECT nominal / 1000000 AS at FROM run JOIN document USING (sid)
                                                WHERE id = ? AND state = 3""", id))


def ran_since(rig, id, at, seconds=30):
    """Two runs with nominal times of the minutes that follow."""
    return check(wait_until(seconds, lambda: len([t for t in ran_at(rig, id) if at <= t < at + 600]) >= 2, 0.1), "it goes on",
                 (at, ran_at(rig, id)[-5:]))


@part
def clock_an_hour_ahead():
    """The hour between is missed, in one record that says so; then all goes on by the new time."""
    with Using(machine=True) as rig:
        check(rig.start(), "it starts", rig.log_text())
        for id, policy in (("tick", "skip"), ("now", "execute_immediately")):
            rig.add(mark(rig, id, missed_schedule_policy=policy))
        rig.add(mark(rig, "hourly", "0 * * * *", missed_schedule_policy="execute_immediately"))
        more_marks(rig, 4)
        at = stepped(rig, HOUR)
        ran_since(rig, "tick", at)
        ran_since(rig, "now", at)
        check(wait_until(60, lambda: ran_at(rig, "hourly")), "what came due in the hour between is run once")
        missed = rig.rows("SELECT * FROM range JOIN document USING (sid) WHERE id = 'tick' AND state = 5")
        check(len(missed) == 1 and 3500e6 < missed[0]["last"] - missed[0]["first"] < 3700e6, "the hour is on record",
              [tuple(m) for m in missed])
        r = cli(rig, "why", "tick", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at - 1800)))
        check(r.returncode == 0 and "clock" in r.stdout, "and why", r)
        p = wait_until(60, lambda: problem(rig, "clock:step"))
        check(p and "ahead by 1h:" in p[0]["text"], "it is a problem", p)
        stop(rig)
        check(len(ran_at(rig, "hourly")) == 1, "once", ran_at(rig, "hourly"))
        accounted(rig)
        accounted(rig, "now")


@part
def clock_an_hour_back():
    """Nothing runs twice; what was done stays done, and times that lie ahead again come again only if they did not
    run."""
    with Using(machine=True) as rig:
        rig.machine.tell(Machine.WALL, HOUR)
        check(rig.start(), "it starts", rig.log_text())
        rig.add(mark(rig, "tick"))
        more_marks(rig)
        ahead = ran_at(rig, "tick")
        at = stepped(rig, 0)
        ran_since(rig, "tick", at)
        check(set(ahead) <= set(ran_at(rig, "tick")), "what was done stays on record")
        p = wait_until(60, lambda: problem(rig, "clock:step"))
        check(p and "back by 1h:" in p[0]["text"], "it is a problem", p)
        # And there again, where some times have run.
        stepped(rig, HOUR - 5000000)
        check(wait_until(30, lambda: max(ran_at(rig, "tick")) > max(ahead) + 3), "it goes on", ran_at(rig, "tick")[-5:])
        stop(rig)
        times = [m[2] for m in marks(rig)]
        check(len(times) == len(set(times)), "no time ran twice", times)
        accounted(rig, gaps=[(0, 2**40)])


@part
def clock_years_off():
    """Years ahead is not believed: nothing is recorded by it, it is a problem, and it passes by itself, or when a
    person believes it. Years back is lived with."""
    with Using(machine=True) as rig:
        check(rig.start(), "it starts", rig.log_text())
        rig.add(mark(rig, "tick", missed_schedule_policy="skip"))
        more_marks(rig)
        stepped(rig, 3650 * DAY)
        check(wait_until(60, lambda: rig.ask("GET", "/status")["clock_held"]), "it is not believed")
        check(wait_until(60, lambda: problem(rig, "clock")), "it is a problem", rig.ask("GET", "/problems"))
        diagnosed(rig, "clock", "not believed", "rota clock")
        before = len(marks(rig))
        time.sleep(1.5)
        check(len(marks(rig)) <= before + 1, "nothing comes due")
        at = stepped(rig, 0)
        ran_since(rig, "tick", at)
        check(wait_until(60, lambda: not problem(rig, "clock")), "it is over", rig.ask("GET", "/problems"))
        check(not rig.rows("SELECT * FROM range WHERE last > ?", (at + 100) * 1000000), "no year was cancelled")
        # Believed by a person.
        at = stepped(rig, 3650 * DAY)
        check(wait_until(60, lambda: rig.ask("GET", "/status")["clock_held"]), "not believed")
        check(cli(rig, "clock").returncode == 0, "accepted")
        ran_since(rig, "tick", at)
        # And back: by years.
        at = stepped(rig, 0)
        ran_since(rig, "tick", at)
        stop(rig)
        times = [m[2] for m in marks(rig)]
        check(len(times) == len(set(times)), "no time ran twice", times)
        accounted(rig, gaps=[(at - 30, 2**40)])


@part
def clock_set_while_down():
    """A machine that boots with another year, and is set right later."""
    with Using(machine=True) as rig:
        check(rig.start(), "it starts", rig.log_text())
        rig.add(mark(rig, "tick", missed_schedule_policy="skip"))
        more_marks(rig)
        rig.kill()
        stepped(rig, 3650 * DAY)
        check(rig.start(), "years later it starts", rig.log_text())
        check(rig.ask("GET", "/status")["clock_held"], "and does not believe it")
        at = stepped(rig, 0)
        ran_since(rig, "tick", at)
        rig.kill()
        stepped(rig, -3650 * DAY)
        check(rig.start(), "years before it starts", rig.log_text())
        time.sleep(1)
        at = stepped(rig, 0)
        ran_since(rig, "tick", at)
        stop(rig)
        times = [m[2] for m in marks(rig)]
        check(len(times) == len(set(times)), "no time ran twice", times)


@part
def suspended():
    """Asleep for an hour: the monotonic clock stands still, the others do not."""
    with Using(machine=True) as rig:
        check(rig.start(), "it starts", rig.log_text())
        rig.add(mark(rig, "tick", missed_schedule_policy="skip"))
        more_marks(rig)
        rig.machine.tell(Machine.ASLEEP, HOUR)
        at = int(time.time()) + 3600
        ran_since(rig, "tick", at)
        r = cli(rig, "why", "tick", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at - 1800)))
        check(r.returncode == 0 and "suspended" in r.stdout, "why it was missed", r)
        check(not rig.ask("GET", "/status")["clock_held"], "the clock is believed")
        stop(rig)
        accounted(rig)


# --- places ------------------------------------------------------------------------------------------------------

@part
def runs_directory_gone():
    """Somebody removes it, or puts something else there: what is due waits, and it is made again where that is possible."""
    with Using() as rig:
        check(rig.start(), "it starts", rig.log_text())
        rig.add(mark(rig, "tick", missed_schedule_policy="skip"))
        rig.add({"id": "long", "expression": "0 0 29 2 *", "action": {"type": "command", "command": "sleep 2"}})
        more_marks(rig)
        long = rig.ask("POST", "/schedules/long/run", {})["run"]
        wait_until(60, lambda: rig.ask("GET", f"/runs/{long}")["state"] == "running")
        shutil.rmtree(rig.data + "/runs")
        more_marks(rig)  # by itself
        r = wait_until(60, lambda: (r := rig.ask("GET", f"/runs/{long}"))["state"] == "finished" and r)
        check(r and (r["outcome"], r["reason"]) == ("failed", "lost"), "a run without its file ends, too", r)
        # The same across a crash.
        long = rig.ask("POST", "/schedules/long/run", {})["run"]
        wait_until(60, lambda: rig.ask("GET", f"/runs/{long}")["started_at"])
        rig.kill()
        shutil.rmtree(rig.data + "/runs")
        check(rig.start(), "it starts", rig.log_text())
        r = wait_until(60, lambda: (r := rig.ask("GET", f"/runs/{long}"))["state"] == "finished" and r)
        check(r and (r["outcome"], r["reason"], r["attempt"]) == ("failed", "lost", 1), "lost, and not run again", r)
        shutil.rmtree(rig.data + "/runs")
        open(rig.data + "/runs", "w").close()
        check(wait_until(60, lambda: "Not a directory" in trouble(rig)), "it is said", trouble(rig))
        diagnosed(rig, "runs", "not a directory", "move it away")
        check(wait_until(60, lambda: problem(rig, "runner")), "it is a problem")
        os.unlink(rig.data + "/runs")
        more_marks(rig)
        check(wait_until(30, lambda: not trouble(rig) and not problem(rig, "runner")), "it is over", trouble(rig))
        run = [r["id"] for r in rig.runs("tick") if r["outcome"] == "done"][0]
        for f in glob.glob(rig.data + "/runs/*/*.log"):
            os.unlink(f)
        r = cli(rig, "logs", run)
        check(r.returncode in (0, 1) and "rror" not in r.stderr.replace("error", ""), "a log that is gone", r)
        stop(rig)
        accounted(rig)


@part
def bad_places():
    with Using() as rig:
        os.makedirs(os.path.dirname(rig.socket), 0o700)
        open(rig.socket, "w").close()
        r = rig.serve_once()
        check(r.returncode == 2 and rig.socket in r.stderr and "not a socket" in r.stderr, "taken by a file", r)
        os.unlink(rig.socket)
        long = rig.dir + "/" + "x" * 120 + "/rota.sock"
        r = rig.serve_once(at=long)
        check(r.returncode == 2 and "107" in r.stderr, "too long", r)
        r = subprocess.run([rig.rota, "status", "--socket", long], capture_output=True, text=True, env=rig.env)
        check(r.returncode in (2, 69) and "107" in r.stderr, "for clients, too", r)
        r = subprocess.run([rig.rota, "doctor", "--socket", long], capture_output=True, text=True, env=rig.env)
        check(r.returncode == 1 and "107" in r.stdout, "and the doctor", r)
        bare = {k: v for k, v in rig.env.items() if k not in ("HOME", "XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME",
                                                              "ROTA_DATA", "ROTA_SOCKET")}
        for argv in (["serve"], ["status"], ["doctor"]):
            r = subprocess.run([rig.rota, *argv], capture_output=True, text=True, env=bare, cwd=rig.dir, timeout=30)
            check(r.returncode in (1, 2) and "HOME" in r.stderr + r.stdout, f"no HOME: {argv}", r)
        r = subprocess.run([rig.rota, "next", "@daily"], capture_output=True, text=True, env=bare, cwd=rig.dir)
        check(r.returncode == 0, "what needs no place needs no HOME", r)
        rig.env = bare
        check(rig.start(), "told where, it starts without a HOME", rig.log_text())
        rig.add(mark(rig, "tick"))
        more_marks(rig)


def main():
    def one(fn):
        begun = time.monotonic()
        try:
            fn()
        except Exception:  # what broke the part is what failed
            check(False, fn.__name__, traceback.format_exc())
        print(f"{fn.__name__}: {time.monotonic() - begun:.1f} s", flush=True)
    names = [a for a in sys.argv[3:] if not a.startswith("--")]
    wanted = [p for p in PARTS if not names or p.__name__ in names]
    # They wait more than they work, and each has a daemon of its own: so side by side, the longest first.
    wanted.sort(key=lambda p: p not in (little_memory, clock_an_hour_back, full_disk, few_descriptors, few_processes))
    waiting = iter(wanted)

    def work():
        while p := next(waiting, None):
            one(p)
    threads = [threading.Thread(target=work) for _ in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return finish()


if __name__ == "__main__":
    MOUNTS = "--no-mounts" not in sys.argv and own_mounts()
    sys.exit(main())
