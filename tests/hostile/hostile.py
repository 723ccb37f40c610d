#!/usr/bin/env python3
"""The daemon on machines with full, read-only or failing disks, too few resources, or wrong clocks.
Usage: hostile.py ROTA MACHINE [--no-mounts] [PART...]; MACHINE is the preload of machine.c.

In each case `rota status` and `rota doctor` report the cause, nothing is lost, nothing runs twice, and afterwards the daemon
continues by itself or says what a person must do. Disks are small file systems in memory, mounted in a namespace of the
test; if mounting is not permitted, the preload returns the errors of such a disk."""
import contextlib
import ctypes
import errno
import fcntl
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
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check  # noqa: E402
from rig import NoAnswer, Refused, Rig, run_parts, seconds_of, wait_until  # noqa: E402

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
    """Mounts from now on are private to this process. Must be called before threads are started."""
    try:
        if libc.unshare(CLONE_NEWNS) != 0:
            raise OSError(ctypes.get_errno(), "unshare")
        mount(None, "/", None, MS_REC | MS_PRIVATE)
        return True
    except OSError as e:
        print(f"mounting is not permitted ({e}): the preload imitates full and read-only disks", flush=True)
        return False


class Machine:
    """The settings that machine.c reads."""
    WALL, ASLEEP, WRITE, READ, HANG = (0, "q"), (8, "q"), (16, "i"), (20, "i"), (24, "i")
    HANG_NOT, HANG_ALL, HANG_OPERATIONS = range(3)

    def __init__(self, directory):
        self.path = os.path.join(directory, "machine")
        with open(self.path, "wb") as f:
            f.write(bytes(4096))
        with open(self.path, "r+b") as f:
            self.map = mmap.mmap(f.fileno(), 4096)
        self.lock = open(self.path, "rb")

    def set(self, what, value):
        if what == self.HANG:  # what hangs waits for this lock
            fcntl.flock(self.lock, fcntl.LOCK_EX if value else fcntl.LOCK_UN)
        struct.pack_into("=" + what[1], self.map, what[0], value)


class HostileRig(Rig):
    """`machine`: the daemon runs with the preload. `disk`: its data is on a disk of so many KiB."""

    def __init__(self, machine=False, disk=0, env=None):
        super().__init__(ROTA, env=env)
        self.machine, self.mounted = None, False
        os.makedirs(self.data, 0o700)
        if disk and MOUNTS:
            mount("none", self.data, "tmpfs", 0, f"size={disk}k,mode=700")
            self.mounted = True
        if machine or (disk and not MOUNTS):
            self.machine = Machine(self.dir)
            self.env.update(LD_PRELOAD=os.path.abspath(MACHINE), HOSTILE=self.machine.path, HOSTILE_DIR=self.data)

    def __exit__(self, exception, *more):
        if self.daemon and exception:
            print(self.log_text()[-1500:])
        super().__exit__(exception, *more)

    def close(self, keep=False):
        left = super().close(keep or self.mounted)
        if self.mounted:
            libc.umount2(self.data.encode(), 2)
            shutil.rmtree(self.dir, ignore_errors=True)
        return left


def env_without_preload(rig):
    """The environment without the preload, for the command line."""
    return {k: v for k, v in rig.env.items() if k != "LD_PRELOAD"}


# --- requests -----------------------------------------------------------------------------------------------

def cli(rig, *argv, env=None, timeout=60):
    return subprocess.run([rig.rota, argv[0], "--socket", rig.socket, *argv[1:]], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=timeout, env=env or env_without_preload(rig), cwd=rig.dir)


def doctor(rig, *argv):
    """The checks of `rota doctor` by name, and its exit code."""
    r = cli(rig, "doctor", "--json", *argv)
    try:
        return {c["check"]: c for c in json.loads(r.stdout)["checks"]}, r.returncode
    except (ValueError, KeyError):
        check(False, "rota doctor prints JSON", r)
        return {}, r.returncode


def check_doctor(rig, what, *words, argv=(), state="fail"):
    checks, code = doctor(rig, *argv)
    c = checks.get(what, {})
    text = f"{c.get('text')}; {c.get('advice')}"
    return check(c.get("state") == state and c.get("advice") and all(w in text for w in words) and
                 code == (1 if state == "fail" else code), f"doctor on {what}: {state}, {words}", (code, checks))


def open_problems(rig, key):
    """Open problems with this key. A problem of the store is not recorded while the store fails; `status` has it then."""
    return [p for p in rig.ask("GET", "/problems")["problems"] if p["key"] == key]


def all_problems(rig, key):
    """Open and closed problems with this key."""
    return [p for p in rig.ask("GET", "/problems?all=true")["problems"] if p["key"] == key]


def get_retrying(rig, path):
    """GET, retried on 503: a daemon without free descriptors cannot identify its callers for a moment."""
    for _ in range(600):
        try:
            return rig.ask("GET", path)
        except Refused as e:
            if e.status != 503:
                raise
            time.sleep(0.05)
    return rig.ask("GET", path)


def trouble_text(rig):
    return get_retrying(rig, "/status")["trouble"] or ""


def reported_trouble(rig):
    """The trouble as /status reports it, or the error of /status, which may need what fails."""
    try:
        return rig.ask("GET", "/status")["trouble"] or ""
    except Refused as e:
        return str(e)
    except NoAnswer:
        return ""


def mark_schedule(rig, id, expression="* * * * * *", **more):
    """A schedule whose runs append marks to a file outside of the data directory."""
    line = f'echo "$ROTA_SCHEDULE_ID $ROTA_RUN_ID.$ROTA_ATTEMPT $ROTA_NOMINAL_TIME" >>{rig.dir}/marks'
    return {"id": id, "expression": expression, "action": {"type": "command", "command": line}, **more}


def marks(rig):
    try:
        with open(rig.dir + "/marks") as f:
            return [line.split() for line in f]
    except FileNotFoundError:
        return []


def stop_daemon(rig):
    code = rig.stop()
    check(code == 0, f"the daemon's exit code: {code}", rig.log_text()[-3000:])


def check_more_marks(rig, n=2, seconds=60):
    before = len(marks(rig))
    return check(wait_until(seconds, lambda: len(marks(rig)) >= before + n, 0.1), "schedules go on", rig.log_text()[-500:])


def check_records(rig, id, gaps):
    """Every second from the first to the last has exactly one record, and each run that started has one mark per attempt."""
    runs, ranges = rig.records(id)
    runs = [r for r in runs if r["kind"] != "manual"]
    seconds = [seconds_of(r["nominal"]) for r in runs]
    for g in ranges:  # the last one is open, because the schedule is paused
        first = seconds_of(g["first"])
        seconds += range(first, seconds_of(g["last"]) + 1) if g["last"] else [first]
    seconds.sort()
    twice = [a for a, b in zip(seconds, seconds[1:]) if a == b]
    holes = [(a, b) for a, b in zip(seconds, seconds[1:])
             if b > a + 1 and not any(f <= b and a <= t for f, t in gaps)]
    check(seconds and not twice and not holes, f"{id}: every time has one record", (len(seconds), twice, holes))
    made = [m[1] for m in marks(rig) if m[0] == id]
    check(len(made) == len(set(made)), f"{id}: no attempt ran twice", made)
    recorded = {f"{r['id'][1:]}.{n}" for r in runs if r["state"] == "finished" for n in range(1, r["attempt"] + 1)}
    check(set(made) == recorded, f"{id}: what ran is recorded, and what is recorded ran", set(made) ^ recorded)


def stop_and_check(rig, *ids, gaps=()):
    """Pauses the schedules, waits until none of their runs is left, compares all records with the marks, and stops the
    daemon. `gaps`: (from, to) where the clock was moved."""
    ids = ids or ("tick",)
    for id in ids:
        rig.ask("POST", f"/schedules/{id}/pause", {})
    for id in ids:
        ended = wait_until(60, lambda: all(r["state"] in ("finished", "skipped", "missed") for r in rig.runs(id)), 0.1)
        check(ended, f"{id}: its runs end", rig.runs(id)[:5])
        check_records(rig, id, gaps)
    stop_daemon(rig)


PARTS = []


def part(fn):
    PARTS.append(fn)
    return fn


# --- disks -------------------------------------------------------------------------------------------------------

def fill_disk(path):
    """Writes until no byte fits."""
    with open(path, "wb", buffering=0) as f:
        for size in (65536, 4096, 1):
            with contextlib.suppress(OSError):
                while f.write(bytes(size)) == size:
                    pass


class FullDisk:
    """While this context is entered, nothing can be written to the disk."""

    def __init__(self, rig):
        self.rig = rig

    def __enter__(self):
        if self.rig.machine:
            self.rig.machine.set(Machine.WRITE, errno.ENOSPC)
        else:
            fill_disk(self.rig.data + "/ballast")

    def __exit__(self, *exception):
        if self.rig.machine:
            self.rig.machine.set(Machine.WRITE, 0)
        else:
            os.unlink(self.rig.data + "/ballast")


@part
def full_disk():
    """The database cannot grow, and no run can start. Times that are due meanwhile run late or are missed, but are not
    lost."""
    with HostileRig(disk=8192) as rig:
        check(rig.start(), "the daemon starts", rig.log_text())
        rig.add(mark_schedule(rig, "tick", missed_schedule_policy="skip"))
        check_more_marks(rig)
        with FullDisk(rig):
            check(wait_until(60, lambda: "full" in trouble_text(rig) or "space" in trouble_text(rig)), "status reports the trouble", trouble_text(rig))
            r = cli(rig, "status")
            check(r.returncode == 0 and "Error: " in r.stdout and "rota.db" in r.stdout, "status prints the trouble", r)
            check_doctor(rig, "store", "full", "space")
            if not rig.machine:
                check_doctor(rig, "disk", "0 MiB", "free some space")
            begun = time.monotonic()
            r = cli(rig, "add", "@daily", "--id", "new", "--", "true")
            check(r.returncode == 75 and "rota.db" in r.stderr and time.monotonic() - begun < 25,
                  "a change that cannot be stored is refused with the reason", (r, time.monotonic() - begun))
            check(cli(rig, "ls").returncode == 0, "reading works")
            # After a crash the daemon starts and waits, or says why it cannot start.
            rig.kill()
            if rig.start():
                check(wait_until(60, lambda: trouble_text(rig)), "it starts on a full disk and reports the trouble")
                rig.kill()
            else:
                check(rig.reap() == 1 and rig.data in rig.log_text() and "rota doctor" in rig.log_text(),
                      "on a full disk the error says why it does not start", rig.log_text())
            checks, code = doctor(rig, "--data", rig.data)
            check(code == 1 and (rig.machine or checks["disk"]["state"] == "fail"), "doctor without a daemon", checks)
        check(rig.start(), "with free space it starts", rig.log_text())
        check_more_marks(rig)
        with FullDisk(rig):
            check(wait_until(60, lambda: trouble_text(rig)), "the disk is full again")
            time.sleep(1.5)
        check(wait_until(30, lambda: not trouble_text(rig)), "with free space the trouble ends", trouble_text(rig))
        check_more_marks(rig)
        check(wait_until(60, lambda: all_problems(rig, "store")), "a problem was recorded")
        check(wait_until(60, lambda: not open_problems(rig, "store")), "the problem is closed", open_problems(rig, "store"))
        check(cli(rig, "add", "@daily", "--id", "new", "--", "true").returncode == 0, "changes are accepted again")
        check(doctor(rig)[0]["store"]["state"] == "ok", "doctor reports ok", doctor(rig)[0])
        stop_and_check(rig)


class Follower:
    """A client that follows events."""

    def __init__(self, rig):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(30)
        self.socket.connect(rig.socket)
        self.socket.sendall(b"GET /api/v1/events?follow=true HTTP/1.0\r\n\r\n")
        self.text = b""

    def read_until(self, text):
        while text not in self.text:
            more = self.socket.recv(65536)
            if not more:
                return False
            self.text += more
        self.text = self.text.split(text, 1)[1]
        return True


def ask_while_hanging(rig, enough):
    """Asks for the status again and again until enough() holds. Returns how long each answer took, and how many were
    refusals. Any answer shows that the HTTP thread goes on, because the disk hangs all the time."""
    times, refused, end = [], 0, time.monotonic() + 90
    while not enough(refused) and time.monotonic() < end:
        begun = time.monotonic()
        try:
            rig.ask("GET", "/status", timeout=8)
        except Refused as e:
            check(e.status == 503 and e.body["code"] == "busy" and "does not respond" in e.body["detail"], "a refusal", e)
            refused += 1
        times.append(time.monotonic() - begun)
        time.sleep(0.03)
    return sorted(times), refused


@part
def hanging_disk():
    """While the store's disk hangs, questions are answered or refused at once, and streams stay open. If only questions
    hang, triggers go on. Afterwards every time has its record."""
    with HostileRig(machine=True) as rig, contextlib.ExitStack() as stack:
        check(rig.start(), "the daemon starts", rig.log_text())
        rig.add(mark_schedule(rig, "tick"))
        check_more_marks(rig)
        follower = Follower(rig)
        stack.callback(follower.socket.close)
        stack.callback(rig.machine.set, Machine.HANG, Machine.HANG_NOT)
        check(follower.read_until(b"run:finished"), "the follower gets events")
        end = time.monotonic() + 10
        before = len(marks(rig))
        for hang, what, enough in (
                (Machine.HANG_ALL, "everything hangs for 10 s", lambda refused: time.monotonic() > end),
                (Machine.HANG_OPERATIONS, "only questions hang",
                 lambda refused: refused > 20 and len(marks(rig)) >= before + 3)):
            rig.machine.set(Machine.HANG, hang)
            times, refused = ask_while_hanging(rig, enough)
            check(enough(refused), f"{what}: questions are answered or refused, triggers go on", (len(times), refused))
            rig.machine.set(Machine.HANG, Machine.HANG_NOT)
            print(f"hanging_disk: {what}: {len(times)} questions, {refused} refused; median {times[len(times) // 2] * 1000:.0f} ms, "
                  f"longest {times[-1] * 1000:.0f} ms", flush=True)
            check(get_retrying(rig, "/status"), "afterwards the status is answered")
            check_more_marks(rig)
            before = len(marks(rig))
        check(follower.read_until(b"run:finished"), "the stream was not closed")
        stop_and_check(rig)


@part
def full_disk_for_runs():
    """Only the directory of run files is full: claimed runs wait, and start once when there is space."""
    with HostileRig() as rig:
        os.makedirs(rig.data + "/runs", 0o700)
        if MOUNTS:
            mount("none", rig.data + "/runs", "tmpfs", 0, "size=256k,mode=700")
        check(rig.start(), "the daemon starts", rig.log_text())
        rig.add(mark_schedule(rig, "once", "0 0 29 2 *"))
        rig.add({"id": "loud", "expression": "0 0 29 2 *", "action": {"type": "command", "command":
                 f"head -c 3000000 /dev/zero; echo loud >>{rig.dir}/marks; echo end"}})
        if MOUNTS:  # the log is cut, and the run continues
            run = rig.ask("POST", "/schedules/loud/run", {})["run"]
            r = wait_until(30, lambda: (r := rig.ask("GET", f"/runs/{run}"))["state"] == "finished" and r)
            check(r and r["outcome"] == "done" and marks(rig) == [["loud"]], "a full disk for logs does not stop a run", r)
            os.truncate(glob.glob(f"{rig.data}/runs/*/{run[1:]}.1.log")[0], 0)
            fill_disk(rig.data + "/runs/ballast")
        else:
            set_rlimit(rig.launcher(), resource.RLIMIT_FSIZE, 0)
        run = rig.ask("POST", "/schedules/once/run", {})["run"]
        check(wait_until(60, lambda: "could not be started" in trouble_text(rig)), "status reports the trouble", trouble_text(rig))
        check(wait_until(60, lambda: open_problems(rig, "runner")), "there is a problem", rig.ask("GET", "/problems"))
        check_doctor(rig, "launcher", "could not be started", "space" if MOUNTS else "itself")
        rig.kill()  # the claim survives the kill
        check(rig.start(), "the daemon starts again", rig.log_text())
        if MOUNTS:
            os.unlink(rig.data + "/runs/ballast")
        r = wait_until(40, lambda: (r := rig.ask("GET", f"/runs/{run}"))["state"] == "finished" and r)
        check(r and r["outcome"] == "done", "with free space it runs", rig.ask("GET", f"/runs/{run}"))
        check([m[0] for m in marks(rig)].count("once") == 1, "it runs once", marks(rig))
        check(wait_until(60, lambda: not open_problems(rig, "runner") and not trouble_text(rig)), "the problem is closed",
              (rig.ask("GET", "/problems"), trouble_text(rig)))
        rig.stop()
        if MOUNTS:
            libc.umount2((rig.data + "/runs").encode(), 2)


def set_rlimit(pid, which, soft):
    """Sets the soft limit and returns the previous one."""
    was = resource.prlimit(pid, which)
    resource.prlimit(pid, which, (soft, was[1]))
    return was[0]


def set_process_limit(pid, soft, uid):
    """Sets the limit of processes as the user of the daemon: on some systems root may not."""
    r = subprocess.run(["prlimit", "--pid", str(pid), f"--nproc={soft}:"], user=uid, group=uid,
                       extra_groups=[] if uid else None, capture_output=True, text=True, cwd="/")
    check(r.returncode == 0, "prlimit works", r)


@part
def read_only_at_start():
    with HostileRig(disk=8192) as rig:
        check(rig.start(), "the daemon starts", rig.log_text())
        rig.add(mark_schedule(rig, "tick"))
        check_more_marks(rig)
        stop_daemon(rig)
        if rig.machine:
            rig.machine.set(Machine.WRITE, errno.EROFS)
        else:
            mount(None, rig.data, None, MS_REMOUNT | MS_RDONLY)
        r = rig.serve_once()
        check(r.returncode == 1 and r.stderr.count("\n") == 1 and rig.data in r.stderr and
              "Read-only file system" in r.stderr and "rota doctor" in r.stderr, "the error names the cause", r)
        if not rig.machine:
            check_doctor(rig, "disk", "read-only", "kernel", argv=("--data", rig.data))
        r = rig.serve_once(data=rig.data + "/sub/below")
        check(r.returncode == 1 and "sub" in r.stderr and "Read-only" in r.stderr, "a new data directory cannot be created", r)
        if rig.machine:
            rig.machine.set(Machine.WRITE, 0)
        else:
            mount(None, rig.data, None, MS_REMOUNT)
        check(rig.start(), "when the disk is writable it starts", rig.log_text())
        check_more_marks(rig)
        stop_and_check(rig)


def failing_disk(error, *words):
    """All writes fail with this error while the daemon runs. (A remount is refused while files are open for writing; but
    the kernel makes a damaged file system read-only at once, which is imitated here.)"""
    with HostileRig(machine=True) as rig:
        check(rig.start(), "the daemon starts", rig.log_text())
        rig.add(mark_schedule(rig, "tick", missed_schedule_policy="skip"))
        rig.add({"id": "long", "expression": "0 0 29 2 *", "action": {"type": "command", "command": "exec sleep 100"}})
        long = rig.ask("POST", "/schedules/long/run", {})["run"]
        check_more_marks(rig)
        rig.machine.set(Machine.WRITE, error)
        check(wait_until(60, lambda: trouble_text(rig)), "status reports the trouble")
        check(any(w in trouble_text(rig) for w in words), "status names the cause", trouble_text(rig))
        check_doctor(rig, "store", "rota.db", "kernel")
        r = cli(rig, "pause", "tick")
        check(r.returncode == 75 and "rota doctor" in r.stderr, "pause is refused", r)
        r = cli(rig, "state", "set", "mood", "calm", "--user", timeout=200)
        check(r.returncode == 75 and "the store cannot write" in r.stderr, "state set is refused", r)
        # Running runs can still be stopped.
        with contextlib.suppress(Refused):
            rig.ask("POST", f"/runs/{long}/stop", {})
        check(wait_until(60, lambda: "sleep" not in rig.processes().values()), "the run is stopped", rig.processes())
        time.sleep(1)
        rig.machine.set(Machine.WRITE, 0)
        check(wait_until(30, lambda: not trouble_text(rig)), "the trouble ends", trouble_text(rig))
        check_more_marks(rig)
        r = wait_until(60, lambda: (r := rig.ask("GET", f"/runs/{long}"))["state"] == "finished" and r)
        # With sanitizers the shim has the preload, too, and cannot record the end.
        ends = {("killed", "cancelled"), ("failed", "lost") if SANITIZED else None}
        check(r and (r["outcome"], r["reason"]) in ends, "its end is recorded", r)
        check(wait_until(60, lambda: all_problems(rig, "store") and not open_problems(rig, "store")), "a problem was opened and closed")
        stop_and_check(rig)


@part
def failing_disk_without_schedules():
    """Without schedules, one request that is not answered is enough for the daemon to notice."""
    with HostileRig(machine=True) as rig:
        check(rig.start(), "the daemon starts", rig.log_text())
        rig.machine.set(Machine.WRITE, errno.EIO)
        asking = subprocess.Popen([rig.rota, "state", "set", "mood", "calm", "--user", "--socket", rig.socket],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  env=env_without_preload(rig))
        check(wait_until(30, lambda: "rota: store: " in rig.log_text()), "the daemon reports the trouble by itself", rig.log_text())
        rig.machine.set(Machine.WRITE, 0)
        output = asking.communicate(timeout=200)[0]
        check(asking.returncode == 0, "the request is carried out afterwards", output)
        stop_daemon(rig)


@part
def read_only_while_running():
    failing_disk(errno.EROFS, "ead-only", "readonly")


@part
def write_errors():
    failing_disk(errno.EIO, "I/O")


@part
def read_errors():
    """The document of a run cannot be read. The run does not fail, and starts when the disk can be read."""
    with HostileRig(machine=True) as rig:
        check(rig.start(), "the daemon starts", rig.log_text())
        # The document is too large for the caches.
        rig.add(mark_schedule(rig, "tick", description="x" * 3000000))
        check_more_marks(rig)
        rig.machine.set(Machine.READ, errno.EIO)
        # If a run is running, its end cannot be read, and the next run waits until it can be read.
        check(wait_until(60, lambda: any(w in launcher_text(rig) for w in ("cannot be prepared", "cannot read the run file of run"))),
              "doctor reports the trouble", launcher_text(rig))
        time.sleep(3)
        rig.machine.set(Machine.READ, 0)
        check_more_marks(rig)
        check(wait_until(60, lambda: not trouble_text(rig)), "the trouble ends", trouble_text(rig))
        check(not [r for r in rig.runs() if r["outcome"] == "failed"], "no run failed", rig.runs()[:20])
        stop_and_check(rig)


def launcher_text(rig):
    """The text of doctor on the launcher. (Status needs the store.)"""
    checks, _ = doctor(rig)
    return checks.get("launcher", {}).get("text") or ""


# --- the database ------------------------------------------------------------------------------------------------

def damage_pages(path, pages):
    with open(path, "r+b") as f:
        for page in pages:
            f.seek(page * 4096)
            f.write(b"\xff" * 4096)


@part
def damaged_at_start():
    with HostileRig() as rig:
        check(rig.start(), "the daemon starts", rig.log_text())
        for n in range(60):
            rig.add(mark_schedule(rig, f"s{n}", "0 0 29 2 *", description="x" * 2000))
        stop_daemon(rig)
        file = rig.data + "/rota.db"
        good = open(file, "rb").read()
        damage_pages(file, range(1, len(good) // 4096))
        r = rig.serve_once()
        check(r.returncode == 1 and file in r.stderr and "rota doctor" in r.stderr, "the error names the cause", r)
        check_doctor(rig, "store", "malformed", "rota restore", argv=("--data", rig.data))
        with open(file, "wb") as f:
            f.write(b"nonsense" * 4096)
        r = rig.serve_once()
        check(r.returncode == 2 and "not a database" in r.stderr, "a file that is not a database", r)
        check_doctor(rig, "store", "not a database", "rota restore", argv=("--data", rig.data))
        with open(file, "wb") as f:
            f.write(good)
        with sqlite3.connect(file) as db:
            db.execute("PRAGMA user_version = 99")
        db.close()
        check_doctor(rig, "store", "99", "install", argv=("--data", rig.data))
        with open(file, "wb") as f:
            f.write(good)
        checks, _ = doctor(rig, "--data", rig.data)
        check(checks["store"]["state"] == "ok", "doctor reports ok for a good database", checks)
        check(rig.start() and len(rig.ask("GET", "/schedules")["schedules"]) == 60, "the good database is served again")


@part
def damaged_while_running():
    """Once damage is found, nothing is written or claimed, and the trouble is reported. Running runs go on."""
    with HostileRig() as rig:
        check(rig.start(), "the daemon starts", rig.log_text())
        rig.add(mark_schedule(rig, "tick"))
        for n in range(300):
            rig.add(mark_schedule(rig, f"s{n}", "0 0 29 2 *", description="x" * 3000))
        rig.add({"id": "long", "expression": "0 0 29 2 *", "action": {"type": "command", "command": "exec sleep 100"}})
        rig.ask("POST", "/schedules/long/run", {})
        check_more_marks(rig)
        check(wait_until(60, lambda: "sleep" in rig.processes().values()), "the long run is running")
        # The write-ahead log is damaged as well, so that no cached page is valid.
        good = {n: open(rig.data + "/" + n, "rb").read() for n in ("rota.db", "rota.db-wal")}
        damage_pages(rig.data + "/rota.db", range(len(good["rota.db"]) // 4096))
        shutil.copy(rig.data + "/rota.db", rig.data + "/rota.db-wal")

        def reported():
            try:
                rig.ask("POST", "/schedules/s0/pause", {}, timeout=5)
            except (Refused, NoAnswer):
                pass
            return reported_trouble(rig)
        check(wait_until(40, lambda: "malformed" in reported() or "not a database" in reported(), 0.2),
              "the trouble is reported", reported())
        check_doctor(rig, "store", "rota restore")
        r = cli(rig, "pause", "s1")
        check(r.returncode != 0 and "rota.db" in r.stderr, "changes are refused", r)
        check("sleep" in rig.processes().values(), "the running run goes on")
        before = len(marks(rig))
        time.sleep(2.5)
        check(len(marks(rig)) <= before + 1, "no run starts that cannot be recorded")
        rig.kill()


# --- limits ------------------------------------------------------------------------------------------------------

@part
def few_descriptors():
    """Clients and runs use all descriptors. No run fails, and everything works when they are free again."""
    with HostileRig() as rig:
        check(rig.start(), "the daemon starts", rig.log_text())
        rig.add(mark_schedule(rig, "tick"))
        rig.add({"id": "many", "expression": "0 0 29 2 *", "overlap": "allow",
                 "action": {"type": "command", "command": f"echo many $ROTA_RUN_ID >>{rig.dir}/marks; sleep 1"}})
        check_more_marks(rig)
        open_now = len(os.listdir(f"/proc/{rig.daemon.pid}/fd"))
        was = set_rlimit(rig.daemon.pid, resource.RLIMIT_NOFILE, open_now + 6)
        check_doctor(rig, "files", "at most", "LimitNOFILE", state="warn")
        clients = []
        for _ in range(20):
            c = socket.socket(socket.AF_UNIX)
            c.connect(rig.socket)
            c.sendall(b"GET /api/v1/events HTTP/1.1\r\nHost: x\r\n\r\n")
            clients.append(c)
        time.sleep(2.5)
        for c in clients:
            c.close()
        check(wait_until(60, lambda: trouble_text(rig) is not None), "the daemon answers when the clients have left")
        set_rlimit(rig.daemon.pid, resource.RLIMIT_NOFILE, len(os.listdir(f"/proc/{rig.daemon.pid}/fd")) + 4)
        runs = []
        for _ in range(12):
            with contextlib.suppress(Refused):
                runs.append(rig.ask("POST", "/schedules/many/run", {})["run"])
        ended = wait_until(40, lambda: all(get_retrying(rig, f"/runs/{r}")["state"] == "finished" for r in runs), 0.2)
        check(ended and runs, "runs wait for descriptors and end", (len(runs), trouble_text(rig)))
        set_rlimit(rig.daemon.pid, resource.RLIMIT_NOFILE, was)
        outcomes = {get_retrying(rig, f"/runs/{r}")["outcome"] for r in runs}
        check(outcomes == {"done"}, "no run fails for lack of descriptors", [get_retrying(rig, f"/runs/{r}") for r in runs][:3])
        check_more_marks(rig)
        check(wait_until(60, lambda: not trouble_text(rig) and not open_problems(rig, "runner")), "the trouble ends", trouble_text(rig))
        made = [m[1] for m in marks(rig) if m[0] == "many"]
        check(len(made) == len(set(made)) == len(runs), "each run ran once", made)
        stop_and_check(rig)


@part
def few_descriptors_at_start():
    with HostileRig() as rig:
        for most in (6, 10, 14, 20, 30):  # with fewer descriptors, the libraries of rota cannot be loaded
            r = subprocess.run([rig.rota, "serve", "--data", rig.data, "--socket", rig.socket], capture_output=True,
                               text=True, timeout=60, env=rig.env, stdin=subprocess.DEVNULL,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)))
            check(r.returncode in (1, 2) and r.stderr.startswith("rota: ") and r.stderr.count("\n") == 1,
                  f"{most} descriptors: one line with the cause", r)
        check(not rig.processes(), "no process is left", rig.processes())
        check(rig.start(), "with enough descriptors it starts", rig.log_text())


@part
def few_processes():
    """The launcher cannot fork: claimed runs wait. Limits do not apply to root, so the daemon runs as another user."""
    uid = 64123 if os.geteuid() == 0 else None
    with HostileRig() as rig:
        launcher = os.environ.get("ROTA_LAUNCHER") or os.path.join(os.path.dirname(os.path.abspath(ROTA)), "rota-launcher")
        if uid:
            os.makedirs(rig.dir + "/bin")
            # Another process copies the programs. If this process did, a fork in another thread could keep the files open for writing.
            subprocess.run(["cp", ROTA, launcher, rig.dir + "/bin"], check=True)
            rig.rota = rig.dir + "/bin/rota"
            rig.env.update(ROTA_LAUNCHER=rig.dir + "/bin/rota-launcher", HOME=rig.dir)
            for name in ("", "/data", "/bin", "/bin/rota", "/bin/rota-launcher"):
                os.chown(rig.dir + name, uid, uid)
        with open(rig.log, "ab") as log:
            rig.daemon = subprocess.Popen([rig.rota, "serve", "--data", rig.data, "--socket", rig.socket],
                                          stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=rig.env, cwd=rig.dir,
                                          user=uid, group=uid, extra_groups=[] if uid else None)
        check(rig.wait_ready(), "the daemon starts", rig.log_text())
        rig.add(mark_schedule(rig, "tick", missed_schedule_policy="skip"))
        check_more_marks(rig)
        launcher = rig.launcher()
        set_process_limit(launcher, 0, uid)
        check(wait_until(60, lambda: "Resource temporarily unavailable" in trouble_text(rig)), "status reports the trouble", trouble_text(rig))
        check_doctor(rig, "launcher", "could not be started", "TasksMax")
        check(wait_until(60, lambda: open_problems(rig, "runner")), "there is a problem")
        set_process_limit(launcher, 1000, uid)
        check_more_marks(rig)
        check(wait_until(60, lambda: not trouble_text(rig) and not open_problems(rig, "runner")), "the trouble ends", trouble_text(rig))
        # The launcher is killed, and a new one cannot be started.
        set_process_limit(rig.daemon.pid, 0, uid)
        os.kill(launcher, signal.SIGKILL)
        check(wait_until(60, lambda: "cannot start the launcher" in trouble_text(rig)), "status reports that, too", trouble_text(rig))
        check_doctor(rig, "launcher", "launcher", "TasksMax")
        set_process_limit(rig.daemon.pid, 1000, uid)
        check_more_marks(rig)
        check(wait_until(60, lambda: not trouble_text(rig)), "the trouble ends", trouble_text(rig))
        stop_and_check(rig)


@part
def little_memory():
    """Without free memory, requests are refused with the cause. The daemon goes on when memory is free, or ends with a
    message if that takes too long; the next daemon continues all work."""
    if SANITIZED:
        print("little_memory: skipped with sanitizers, whose own memory cannot be limited")
        return
    with HostileRig() as rig:
        check(rig.start(), "the daemon starts", rig.log_text())
        rig.add(mark_schedule(rig, "tick", missed_schedule_policy="catch_up"))
        check_more_marks(rig)
        given = []

        def squeeze():
            size = int(open(f"/proc/{rig.daemon.pid}/statm").read().split()[0]) * resource.getpagesize()
            set_rlimit(rig.daemon.pid, resource.RLIMIT_AS, size)
            for n in range(100):
                try:
                    rig.add(mark_schedule(rig, f"s{len(given)}", "0 0 29 2 *", description="x" * 300000))
                    given.append(f"s{len(given)}")
                except Refused as e:
                    return check(e.status in (503, 507) and "memory" in str(e), "the error names the cause", e)
            return check(False, "a request fails for lack of memory")
        squeeze()
        set_rlimit(rig.daemon.pid, resource.RLIMIT_AS, resource.RLIM_INFINITY)
        check(wait_until(60, lambda: not trouble_text(rig)), "the trouble ends", trouble_text(rig))
        check_more_marks(rig)
        squeeze()
        # Either large requests are refused and the daemon continues, or it ends.
        before = len(marks(rig))
        ended = wait_until(60, lambda: rig.daemon.poll() is not None or len(marks(rig)) > before + 3)
        check(ended, "schedules go on, or the daemon ends", rig.log_text()[-500:])
        code = rig.reap() if rig.daemon.poll() is not None else rig.kill()
        check(code == -9 or (code == 1 and "rota: out of memory" in rig.log_text()), "it says why it ends",
              (code, rig.log_text()[-500:]))
        check(rig.start(), "the daemon starts again", rig.log_text())
        # One by one: all of these large documents are more than one answer may have.
        gone = [id for id in given if cli(rig, "show", id).returncode != 0]
        check(not gone, "all acknowledged schedules exist", gone)
        check_more_marks(rig)
        stop_and_check(rig)


# --- clocks ------------------------------------------------------------------------------------------------------

HOUR, DAY = 3600 * 1000000, 86400 * 1000000


def step_clock(rig, us):
    rig.machine.set(Machine.WALL, us)
    return int(time.time() + us / 1e6)


def ask_why(rig, id, at):
    return rig.ask("GET", f"/schedules/{id}/why?time=" + time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at)))


def run_times(rig, id):
    """The nominal times of the finished runs, in seconds."""
    return sorted(seconds_of(r["nominal"]) for r in rig.runs(id) if r["state"] == "finished")


def check_runs_since(rig, id, at, seconds=30):
    """Two runs have nominal times within ten minutes of `at`."""
    return check(wait_until(seconds, lambda: len([t for t in run_times(rig, id) if at <= t < at + 600]) >= 2, 0.1), "schedules go on",
                 (at, run_times(rig, id)[-5:]))


@part
def clock_an_hour_ahead():
    """The hour in between is missed, in one record with the reason. Then schedules continue by the new time."""
    with HostileRig(machine=True) as rig:
        check(rig.start(), "the daemon starts", rig.log_text())
        for id, policy in (("tick", "skip"), ("now", "execute_immediately")):
            rig.add(mark_schedule(rig, id, missed_schedule_policy=policy))
        rig.add(mark_schedule(rig, "hourly", "0 * * * *", missed_schedule_policy="execute_immediately"))
        check_more_marks(rig, 4)
        at = step_clock(rig, HOUR)
        check_runs_since(rig, "tick", at)
        check_runs_since(rig, "now", at)
        check(wait_until(60, lambda: run_times(rig, "hourly")), "a time of the hour in between is run once")
        why = ask_why(rig, "tick", at - 1800)
        missed = [seconds_of(why["range"][end]) for end in ("first", "last")] if "range" in why else None
        check(why["disposition"] == "missed" and missed and 3500 < missed[1] - missed[0] < 3700,
              "the hour is recorded as missed", why)
        r = cli(rig, "why", "tick", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at - 1800)))
        check(r.returncode == 0 and "clock" in r.stdout, "why names the clock", r)
        p = wait_until(60, lambda: open_problems(rig, "clock:step"))
        check(p and "ahead by 1h:" in p[0]["text"], "there is a problem", p)
        check(len(run_times(rig, "hourly")) == 1, "it runs once", run_times(rig, "hourly"))
        stop_and_check(rig, "tick", "now")


@part
def clock_an_hour_back():
    """Nothing runs twice: times that lie ahead again run only if they have not run before."""
    with HostileRig(machine=True) as rig:
        rig.machine.set(Machine.WALL, HOUR)
        check(rig.start(), "the daemon starts", rig.log_text())
        rig.add(mark_schedule(rig, "tick"))
        check_more_marks(rig)
        ahead = run_times(rig, "tick")
        at = step_clock(rig, 0)
        check_runs_since(rig, "tick", at)
        check(set(ahead) <= set(run_times(rig, "tick")), "earlier runs stay recorded")
        p = wait_until(60, lambda: open_problems(rig, "clock:step"))
        check(p and "back by 1h:" in p[0]["text"], "there is a problem", p)
        # The clock is set ahead again, to where some times have run.
        step_clock(rig, HOUR - 5000000)
        check(wait_until(30, lambda: max(run_times(rig, "tick")) > max(ahead) + 3), "schedules go on", run_times(rig, "tick")[-5:])
        stop_and_check(rig, gaps=[(0, 2**40)])
        times = [m[2] for m in marks(rig)]
        check(len(times) == len(set(times)), "no time ran twice", times)


@part
def clock_years_off():
    """A clock years ahead is not trusted: nothing is recorded by it, and there is a problem until the clock is right or a
    person accepts it. A clock years back is accepted."""
    with HostileRig(machine=True) as rig:
        check(rig.start(), "the daemon starts", rig.log_text())
        rig.add(mark_schedule(rig, "tick", missed_schedule_policy="skip"))
        check_more_marks(rig)
        step_clock(rig, 3650 * DAY)
        check(wait_until(60, lambda: rig.ask("GET", "/status")["clock_held"]), "the clock is not believed")
        check(wait_until(60, lambda: open_problems(rig, "clock")), "there is a problem", rig.ask("GET", "/problems"))
        check_doctor(rig, "clock", "not trusted", "rota clock")
        before = len(marks(rig))
        time.sleep(1.5)
        check(len(marks(rig)) <= before + 1, "no schedule is due")
        at = step_clock(rig, 0)
        check_runs_since(rig, "tick", at)
        check(wait_until(60, lambda: not open_problems(rig, "clock")), "the trouble ends", rig.ask("GET", "/problems"))
        check(ask_why(rig, "tick", at + 200)["answer"] == "will_run", "no later times are recorded as missed",
              ask_why(rig, "tick", at + 200))
        # Accepted by a person.
        at = step_clock(rig, 3650 * DAY)
        check(wait_until(60, lambda: rig.ask("GET", "/status")["clock_held"]), "the clock is not believed again")
        check(cli(rig, "clock").returncode == 0, "rota clock accepts it")
        check_runs_since(rig, "tick", at)
        # Years back.
        at = step_clock(rig, 0)
        check_runs_since(rig, "tick", at)
        stop_and_check(rig, gaps=[(at - 30, 2**40)])
        times = [m[2] for m in marks(rig)]
        check(len(times) == len(set(times)), "no time ran twice", times)


@part
def clock_set_while_down():
    """The machine boots with a wrong year, and its clock is corrected later."""
    with HostileRig(machine=True) as rig:
        check(rig.start(), "the daemon starts", rig.log_text())
        rig.add(mark_schedule(rig, "tick", missed_schedule_policy="skip"))
        check_more_marks(rig)
        rig.kill()
        step_clock(rig, 3650 * DAY)
        check(rig.start(), "it starts with a clock years ahead", rig.log_text())
        check(rig.ask("GET", "/status")["clock_held"], "the daemon does not trust the clock")
        at = step_clock(rig, 0)
        check_runs_since(rig, "tick", at)
        rig.kill()
        step_clock(rig, -3650 * DAY)
        check(rig.start(), "it starts with a clock years back", rig.log_text())
        time.sleep(1)
        at = step_clock(rig, 0)
        check_runs_since(rig, "tick", at)
        stop_daemon(rig)
        times = [m[2] for m in marks(rig)]
        check(len(times) == len(set(times)), "no time ran twice", times)


@part
def suspended():
    """Suspended for an hour: the monotonic clock stands still, the others do not."""
    with HostileRig(machine=True) as rig:
        check(rig.start(), "the daemon starts", rig.log_text())
        rig.add(mark_schedule(rig, "tick", missed_schedule_policy="skip"))
        check_more_marks(rig)
        rig.machine.set(Machine.ASLEEP, HOUR)
        at = int(time.time()) + 3600
        check_runs_since(rig, "tick", at)
        r = cli(rig, "why", "tick", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at - 1800)))
        check(r.returncode == 0 and "suspended" in r.stdout, "why says that the time was missed because of the suspension", r)
        check(not rig.ask("GET", "/status")["clock_held"], "the clock is believed")
        stop_and_check(rig)


# --- paths ------------------------------------------------------------------------------------------------------

@part
def runs_directory_gone():
    """The directory of runs is removed, or replaced by a file. Due runs wait, and the directory is created again where
    possible."""
    with HostileRig() as rig:
        check(rig.start(), "the daemon starts", rig.log_text())
        rig.add(mark_schedule(rig, "tick", missed_schedule_policy="skip"))
        rig.add({"id": "long", "expression": "0 0 29 2 *", "action": {"type": "command", "command": "sleep 2"}})
        check_more_marks(rig)
        long = rig.ask("POST", "/schedules/long/run", {})["run"]
        wait_until(60, lambda: rig.ask("GET", f"/runs/{long}")["state"] == "running")
        shutil.rmtree(rig.data + "/runs")
        check_more_marks(rig)  # it is created again
        r = wait_until(60, lambda: (r := rig.ask("GET", f"/runs/{long}"))["state"] == "finished" and r)
        check(r and (r["outcome"], r["reason"]) == ("failed", "lost"), "a run without its run file ends", r)
        # The directory is removed again, and the daemon crashes.
        long = rig.ask("POST", "/schedules/long/run", {})["run"]
        wait_until(60, lambda: rig.ask("GET", f"/runs/{long}")["started_at"])
        rig.kill()
        shutil.rmtree(rig.data + "/runs")
        check(rig.start(), "the daemon starts", rig.log_text())
        r = wait_until(60, lambda: (r := rig.ask("GET", f"/runs/{long}"))["state"] == "finished" and r)
        check(r and (r["outcome"], r["reason"], r["attempt"]) == ("failed", "lost", 1), "the run is lost, and not retried", r)
        shutil.rmtree(rig.data + "/runs")
        open(rig.data + "/runs", "w").close()
        check(wait_until(60, lambda: "Not a directory" in trouble_text(rig)), "status reports the trouble", trouble_text(rig))
        check_doctor(rig, "runs", "not a directory", "move it away")
        check(wait_until(60, lambda: open_problems(rig, "runner")), "there is a problem")
        os.unlink(rig.data + "/runs")
        check_more_marks(rig)
        check(wait_until(30, lambda: not trouble_text(rig) and not open_problems(rig, "runner")), "the trouble ends", trouble_text(rig))
        run = [r["id"] for r in rig.runs("tick") if r["outcome"] == "done"][0]
        for f in glob.glob(rig.data + "/runs/*/*.log"):
            os.unlink(f)
        r = cli(rig, "logs", run)
        check(r.returncode in (0, 1) and "rror" not in r.stderr.replace("error", ""), "a log that was removed", r)
        stop_and_check(rig)


@part
def bad_paths():
    with HostileRig() as rig:
        os.makedirs(os.path.dirname(rig.socket), 0o700)
        open(rig.socket, "w").close()
        r = rig.serve_once()
        check(r.returncode == 2 and rig.socket in r.stderr and "not a socket" in r.stderr, "the socket's path is a file", r)
        os.unlink(rig.socket)
        long = rig.dir + "/" + "x" * 120 + "/rota.sock"
        r = rig.serve_once(at=long)
        check(r.returncode == 2 and "107" in r.stderr, "the socket's path is too long", r)
        r = subprocess.run([rig.rota, "status", "--socket", long], capture_output=True, text=True, env=rig.env)
        check(r.returncode in (2, 69) and "107" in r.stderr, "clients report that, too", r)
        r = subprocess.run([rig.rota, "doctor", "--socket", long], capture_output=True, text=True, env=rig.env)
        check(r.returncode == 1 and "107" in r.stdout, "doctor reports that, too", r)
        bare = {k: v for k, v in rig.env.items() if k not in ("HOME", "XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME",
                                                              "ROTA_DATA", "ROTA_SOCKET")}
        for argv in (["serve"], ["status"], ["doctor"]):
            r = subprocess.run([rig.rota, *argv], capture_output=True, text=True, env=bare, cwd=rig.dir, timeout=30)
            check(r.returncode in (1, 2) and "HOME" in r.stderr + r.stdout, f"no HOME: {argv}", r)
        r = subprocess.run([rig.rota, "next", "@daily"], capture_output=True, text=True, env=bare, cwd=rig.dir)
        check(r.returncode == 0, "verbs without files need no HOME", r)
        rig.env = bare
        check(rig.start(), "with options for its paths it starts without HOME", rig.log_text())
        rig.add(mark_schedule(rig, "tick"))
        check_more_marks(rig)


if __name__ == "__main__":
    MOUNTS = "--no-mounts" not in sys.argv and own_mounts()
    # The longest first.
    PARTS.sort(key=lambda p: p not in (little_memory, clock_an_hour_back, full_disk, few_descriptors, few_processes))
    sys.exit(run_parts(PARTS, [a for a in sys.argv[3:] if not a.startswith("--")], 6))
