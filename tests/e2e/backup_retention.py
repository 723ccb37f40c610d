#!/usr/bin/env python3
"""What is kept: backups made under load and brought back, here and elsewhere; databases put back by hand; old records
and files that go. The marks that commands leave behind are compared with the store. Usage: backup_retention.py ROTA [PART...]"""
import collections
import datetime
import glob
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check, finish  # noqa: E402
from rig import Rig, is_alive, wait_until  # noqa: E402

ROTA = os.path.abspath(sys.argv[1])
DAY = 86400 * 10**6
MISSED = 5
WORDS = None  # of reasons, asked for once




WORK = """#!/bin/sh
# work.sh MARKS SECONDS [FAILING]: leaves a mark, in one write; its first FAILING attempts fail
echo "$ROTA_SCHEDULE_ID $ROTA_NOMINAL_TIME $ROTA_RUN_ID $ROTA_ATTEMPT $$" >>"$1"
sleep "$2"
[ "$ROTA_ATTEMPT" -gt "${3:-0}" ]
"""


class Keep:
    """A rig with commands that leave marks."""

    def __init__(self, marks=None, **env):
        self.rig = Rig(ROTA, "--slots", "64", env=env)
        self.marks = marks or os.path.join(self.rig.dir, "marks")
        self.work = os.path.join(self.rig.dir, "work.sh")
        with open(self.work, "w") as f:
            f.write(WORK)
        open(self.marks, "a").close()
        self.database = os.path.join(self.rig.data, "rota.db")
        self.times = {}  # nominal ones, by run, to the microsecond

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self.rig.daemon and exception[0] is None:
            code = self.rig.stop()
            check(code == 0, f"the daemon is stopped: exit {code}", self.rig.log_text()[-500:])
        self.rig.close()

    def document(self, id, expression="0 0 29 2 *", seconds=0.05, failing=0, **more):
        return {"id": id, "expression": expression, "action": {"type": "command", "command": [
            "/bin/sh", self.work, self.marks, str(seconds), str(failing)]}, **more}

    def add(self, *words, **more):
        self.rig.add(self.document(*words, **more))

    def run(self, id):
        return int(self.rig.ask("POST", f"/schedules/{id}/run", {})["run"][1:])

    def fired(self):
        """(schedule, nominal) to the runs that left a mark for it."""
        found = collections.defaultdict(set)
        with open(self.marks) as f:
            for line in f:
                schedule, nominal, run, _, _ = line.split()
                at = datetime.datetime.fromisoformat(nominal.replace("Z", "+00:00"))
                found[schedule, int(at.timestamp()) * 10**6].add(int(run))
        return found

    def learn(self, database):
        with sqlite3.connect(database, timeout=30) as db:
            self.times.update(db.execute("SELECT run, nominal FROM run"))

    def at_one_time(self, runs):
        """A follower's times are ends, of which there may be several in the second that a mark tells."""
        times = [self.times[r] for r in runs if r in self.times]
        return len(set(times)) < len(times)

    def marks_of(self, run):
        with open(self.marks) as f:
            return [line.split() for line in f if line.split()[2] == str(run)]

    def verb(self, *words, most=None):
        """With `most`, no file may grow beyond so many bytes, as on a disk that is full."""
        limit = ["/bin/sh", "-c", f"trap '' XFSZ; ulimit -f {most // 512}; exec \"$@\"", "sh"] if most else []
        return subprocess.run([*limit, ROTA, *words, "--data", self.rig.data], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120, env=self.rig.env, cwd=self.rig.dir)

    def sql(self, text, *args):
        with sqlite3.connect(self.database, timeout=30) as db:
            return db.execute(text, args).fetchall()

    def wait_marks(self, n):
        return wait_until(60, lambda: len(self.fired()) >= n)


def reason(keep, word):
    """The number of a reason, found out by asking for one that we know."""
    return next(n for n, w in enumerate(reasons(keep)) if w == word)


def reasons(keep):
    global WORDS
    if WORDS is None:
        here = os.path.dirname(os.path.abspath(__file__))
        with open(os.path.join(here, "..", "..", "src", "core", "model.h")) as f:
            body = f.read().split("enum reason {")[1].split("}")[0]
        WORDS = [w.split("/*")[0].strip().rstrip(",").removeprefix("REASON_").lower()
                 for w in body.split("\n") if "REASON_" in w]
    return WORDS


def load(keep):
    for n in range(6):
        keep.add(f"second-{n}", "@every 1s", overlap="allow")
    for n in range(3):
        keep.add(f"catchup-{n}", "@every 1s", missed_schedule_policy="catch_up", overlap="allow")
    for n in range(3):
        keep.rig.add({"id": f"event-{n}", "expression": "@every 1s", "action": {"type": "event", "name": "x"}})
    follower = keep.document("follower", overlap="allow", after={"schedule": "event-0", "outcome": "done"})
    del follower["expression"]
    keep.rig.add(follower)


def accounted(keep, before, restored_run, what):
    """Nothing fired twice, and what had fired is not taken for what never was."""
    fired = keep.fired()
    keep.learn(keep.database)
    twice = {k: v for k, v in fired.items() if len(v) > 1 and not k[0].startswith("hand") and
             (k[0] != "follower" or keep.at_one_time(v))}
    check(not twice, f"{what}: nothing fires twice", dict(list(twice.items())[:5]))
    ids = dict(keep.sql("SELECT id, sid FROM document WHERE dropped = 0"))
    code = reason(keep, "restored")
    ranges = collections.defaultdict(list)
    for sid, first, last in keep.sql("SELECT sid, first, last FROM range WHERE state = ? AND reason = ?", MISSED, code):
        ranges[sid].append((first, last))
    known = {(sid, nominal) for sid, nominal in keep.sql("SELECT sid, nominal FROM run WHERE kind <> 4")}
    # A follower's times are ends of others, of which the store has not heard: there is nothing to be recorded.
    lost = [k for k in before if k[0].startswith(("second", "catchup")) and (ids[k[0]], k[1]) not in known]
    check(lost, f"{what}: something ran that the store does not know")
    for schedule, nominal in lost:
        covered = [g for g in ranges[ids[schedule]] if g[0] <= nominal <= g[1]]
        if not check(len(covered) == 1, f"{what}: {schedule} at {nominal} is missed/restored",
                     (ranges[ids[schedule]],)):
            break
    for schedule in ids:
        if schedule.startswith(("second", "catchup", "event")):
            check(len(ranges[ids[schedule]]) == 1, f"{what}: one range for {schedule}", ranges[ids[schedule]])
    later = keep.sql("SELECT min(run) FROM run WHERE run > ?", restored_run)[0][0]
    largest = max(int(os.path.basename(p).split(".")[0]) for p in glob.glob(f"{keep.rig.data}/runs/*/*.run"))
    check(later is not None and largest >= later, f"{what}: it goes on", (later, largest))


def under_load():
    with Keep() as keep, Keep() as other:
        rig = keep.rig
        rig.start()
        load(keep)
        keep.add("hand-known", seconds=600)
        keep.add("hand-lost", seconds=600)
        keep.rig.add(keep.document("hand-again", seconds=2, failing=1,
                                   retry={"max_attempts": 1, "backoff": "fixed", "initial_delay": 1}))
        known, again = keep.run("hand-known"), keep.run("hand-again")
        check(wait_until(30, lambda: keep.marks_of(known) and keep.marks_of(again)), "they run")
        keep.wait_marks(20)

        copy = os.path.join(rig.dir, "copy.db")
        r = keep.verb("backup", copy)
        check(r.returncode == 0 and copy in r.stdout, "a backup under load", r)
        check(os.stat(copy).st_mode & 0o777 == 0o600, "it is for its owner only")
        with sqlite3.connect(copy) as db:
            check(db.execute("PRAGMA integrity_check").fetchone()[0] == "ok", "it is whole")
            last = db.execute("SELECT max(run) FROM run").fetchone()[0]
        before = open(copy, "rb").read()
        r = keep.verb("backup", copy)
        check(r.returncode == 1 and "not overwritten" in r.stderr, "it is not overwritten", r)
        check(open(copy, "rb").read() == before, "nor changed")
        check(not glob.glob(copy + ".part*"), "nothing half-made is left")
        n = len(keep.fired())
        check(keep.wait_marks(n + 20), "triggers go on")
        # Its second attempt begins when the copy knows only of the first.
        check(wait_until(30, lambda: len(keep.marks_of(again)) == 2), "it is tried again")
        lost = keep.run("hand-lost")
        check(wait_until(30, lambda: keep.marks_of(lost)), "a run the copy does not know")
        stray = int(keep.marks_of(lost)[0][4])

        r = keep.verb("restore", copy)
        check(r.returncode == 75 and str(rig.daemon.pid) in r.stderr, "no restore while a daemon serves", r)
        rig.kill()
        fired = keep.fired()
        check(is_alive(stray), "it outlives the daemon")

        r = keep.verb("restore", copy, "--json")
        answer = json.loads(r.stdout) if r.returncode == 0 else {}
        check(r.returncode == 0 and os.path.exists(answer.get("before", "")), "restored, the old one is kept", r)
        with sqlite3.connect(answer["before"]) as db:
            check(db.execute("SELECT max(run) FROM run").fetchone()[0] >= lost, "the old one is whole")
        keep.learn(answer["before"])
        rig.start()
        check(not is_alive(stray), "a run the store does not know is stopped")
        n = len(keep.fired())
        check(keep.wait_marks(n + 20), "it goes on")
        accounted(keep, fired, last, "in the same place")
        run = rig.ask("GET", f"/runs/r{known}")
        check((run["state"], run["attempt"]) == ("running", 1), "a run it knows is adopted", run)
        run = wait_until(30, lambda: (r := rig.ask("GET", f"/runs/r{again}"))["state"] == "finished" and r)
        check(run and (run["attempt"], run["outcome"]) == (2, "done"), "and so is its later attempt", run)
        problems = rig.ask("GET", "/problems")["problems"]
        check(any(p["key"] == "restored" and "1 was" in p["text"] for p in problems), "it is a problem", problems)
        rig.ask("POST", f"/runs/r{known}/stop", {})
        why = rig.cli("why", "second-0", time_text(first_lost(keep, fired, "second-0")))
        check("restored" in why.stdout, "why says so", why)
        check((code := rig.stop()) == 0, f"stopped: {code}", rig.log_text()[-2000:])
        rig.start()
        check(wait_until(60, lambda: not any(p["key"] == "restored" for p in rig.ask("GET", "/problems")["problems"])),
              "until the next start")
        check((code := rig.stop()) == 0, f"stopped again: {code}", rig.log_text()[-2000:])
        accounted(keep, fired, last, "in the same place, later")

        # Elsewhere, with the same commands. What fired anywhere must not fire there.
        os.makedirs(other.rig.data)
        r = other.verb("restore", copy)
        check(r.returncode == 0 and "before" not in r.stdout, "restored elsewhere", r)
        other.marks, other.times, fired = keep.marks, keep.times, keep.fired()
        at = time.time()
        other.rig.start()
        check(wait_until(60, lambda: sum(k[1] > (at + 1) * 10**6 for k in keep.fired()) >= 20), "it goes on there")
        accounted(other, {k: v for k, v in fired.items() if k[1] < at * 10**6 and min(v) > last}, last, "elsewhere")
        check(len(keep.marks_of(known)) == 1 and len(keep.marks_of(again)) == 2, "no run is tried again elsewhere")
        run = other.rig.ask("GET", f"/runs/r{known}")
        check((run["outcome"], run["reason"]) == ("failed", "lost"), "of which nobody knows how they ended", run)


def time_text(us):
    return datetime.datetime.fromtimestamp(us / 10**6, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def first_lost(keep, fired, schedule):
    sid = keep.sql("SELECT sid FROM document WHERE id = ?", schedule)[0][0]
    known = {n for n, in keep.sql("SELECT nominal FROM run WHERE sid = ?", sid)}
    return min(n for s, n in fired if s == schedule and n not in known)


def put_back(same_life):
    with Keep() as keep:
        rig = keep.rig
        rig.start()
        load(keep)
        keep.wait_marks(10)
        check((code := rig.stop()) == 0, f"stopped: {code}", rig.log_text()[-2000:])
        with open(keep.database, "rb") as f:
            old = f.read()
        last = keep.sql("SELECT max(run) FROM run")[0][0]
        beside = os.path.join(rig.data, "generation")
        with open(beside) as f:
            number = f.read()
        rig.start()
        n = len(keep.fired())
        keep.wait_marks(n + 20)
        check((code := rig.stop()) == 0, f"stopped: {code}", rig.log_text()[-2000:])
        fired = keep.fired()
        for path in glob.glob(keep.database + "*"):
            os.unlink(path)
        with open(keep.database, "wb") as f:
            f.write(old)
        if same_life:
            with open(beside, "w") as f:
                f.write(number)
        rig.start()
        n = len(keep.fired())
        check(keep.wait_marks(n + 20), "it goes on")
        accounted(keep, fired, last, f"put back by hand ({same_life})")
        check("by hand" in rig.log_text(), "it is said", rig.log_text())


def by_hand():
    """The database file is copied back: the number beside it tells."""
    put_back(False)


def by_hand_in_one_life():
    """It was copied and put back in one life of the daemon: the runs' files tell."""
    put_back(True)


def interrupted():
    """kill -9 in the midst of a restore: what is there then is the old one, or the new one."""
    rng = random.Random(7)
    with Keep() as keep:
        rig, seen = keep.rig, collections.Counter()
        rig.start()
        rig.add(keep.document("old"))
        check((code := rig.stop()) == 0, f"stopped: {code}", rig.log_text()[-2000:])
        with open(keep.database, "rb") as f:
            whole = f.read()
        copy = os.path.join(rig.dir, "copy.db")
        with sqlite3.connect(":memory:") as db, sqlite3.connect(keep.database) as source:
            source.backup(db)
            db.execute("UPDATE document SET id = 'new'")
            db.commit()
            with sqlite3.connect(copy) as to:
                db.backup(to)
        start = time.monotonic()
        check(keep.verb("restore", copy).returncode == 0, "one that is let be")
        lasts = time.monotonic() - start
        for n in range(25):
            for path in glob.glob(keep.database + "*"):
                os.unlink(path)
            with open(keep.database, "wb") as f:
                f.write(whole)
            p = subprocess.Popen([ROTA, "restore", copy, "--data", rig.data], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, env=rig.env)
            time.sleep(rng.uniform(0, lasts * 1.1))
            p.send_signal(signal.SIGKILL)
            p.wait()
            left = {os.path.basename(q) for q in glob.glob(keep.database + "*")}
            rig.start()
            ids = [s["id"] for s in rig.ask("GET", "/schedules")["schedules"]]
            seen[ids[0], *sorted(left)] += 1
            if not check(ids in (["old"], ["new"]), "the old one or the new one", (ids, left)):
                break
            if not check(rig.stop() == 0, "stopped", rig.log_text()[-300:]):
                break
            check(keep.sql("PRAGMA integrity_check")[0][0] == "ok", "whole")
            check(not glob.glob(keep.database + ".part*") + glob.glob(keep.database + ".restored*"), "nothing half-made is left")
        if os.environ.get("SHOW"):
            print(*seen.items(), sep="\n")
        # What a kill hardly ever hits: all that was left to do is to put it in its place.
        os.rename(keep.database, keep.database + ".restored")
        with open(keep.database, "wb") as f:
            f.write(whole)
        with open(keep.database + "-wal", "wb") as f:
            f.write(b"the log of the old one")
        rig.start()
        check(rig.ask("GET", "/schedules")["schedules"], "a restore that was decided is done by the next start")
        check(not os.path.exists(keep.database + ".restored"), "once")


def refusals():
    with Keep() as keep:
        rig = keep.rig
        r = keep.verb("backup", os.path.join(rig.dir, "none.db"))
        check(r.returncode == 1 and "there is no" in r.stderr, "nothing to be copied", r)
        rig.start()
        for n in range(200):
            rig.add(keep.document(f"s{n}"))
        copy = os.path.join(rig.dir, "copy.db")
        check(keep.verb("backup", copy).returncode == 0, "a backup")
        r = keep.verb("backup", os.path.join(rig.dir, "no", "such", "place.db"))
        check(r.returncode == 1 and "place.db" in r.stderr, "a place that is not there", r)
        r = keep.verb("backup")
        check(r.returncode == 2 and "FILE" in r.stderr, "no file is named", r)
        check((code := rig.stop()) == 0, f"stopped: {code}", rig.log_text()[-2000:])
        good = open(copy, "rb").read()
        newer = bytearray(good)
        newer[60:64] = (99).to_bytes(4, "big")
        damaged = bytearray(good)
        damaged[8192:12288] = os.urandom(4096)
        with sqlite3.connect(os.path.join(rig.dir, "foreign")) as db:
            db.execute("CREATE TABLE x (y)")
        foreign = open(os.path.join(rig.dir, "foreign"), "rb").read()
        before = open(keep.database, "rb").read()
        for what, body, code, word in (("newer", newer, 2, "version 99"), ("damaged", damaged, 2, "damaged"),
                                       ("cut", good[:len(good) // 2], 1, "malformed"), ("empty", b"", 2, "empty"),
                                       ("text", b"once upon a time " * 1000, 2, "not a database"),
                                       ("foreign", foreign, 2, "another program"), ("missing", None, 1, "there is no")):
            path = os.path.join(rig.dir, "bad-" + what)
            if body is not None:
                with open(path, "wb") as f:
                    f.write(body)
            r = keep.verb("restore", path)
            check(r.returncode == code and path in r.stderr and word in r.stderr, f"a copy that is {what} is refused", r)
            check(open(keep.database, "rb").read() == before, f"{what}: nothing was changed")
            check({os.path.basename(p) for p in glob.glob(keep.database + "*")} <=
                  {"rota.db", "rota.db-wal", "rota.db-shm"}, f"{what}: nothing is left", glob.glob(keep.database + "*"))
        r = keep.verb("restore", copy, most=65536)
        check(r.returncode == 1 and open(keep.database, "rb").read() == before, "no room for the restore", r)
        r = keep.verb("backup", copy + "2", most=65536)
        check(r.returncode == 1 and not glob.glob(copy + "2*"), "no room for the backup", r)
        rig.start()
        check(len(rig.ask("GET", "/schedules?limit=1000")["schedules"]) == 200, "all is as it was")
        check((code := rig.stop()) == 0, f"stopped: {code}", rig.log_text()[-2000:])
        with open(keep.database, "r+b") as f:
            f.write(os.urandom(65536))
        r = keep.verb("restore", copy)
        check(r.returncode == 0 and "before-1" in r.stdout, "in the place of one that is damaged", r)
        rig.start()
        check(len(rig.ask("GET", "/schedules?limit=1000")["schedules"]) == 200, "all is as it was copied")


def retention():
    with Keep(ROTA_KEPT_EVERY="1s") as keep:
        rig = keep.rig
        rig.start()
        keep.add("one")
        keep.add("gone")
        keep.add("minutely", "* * * * *")
        keep.add("long", seconds=600)
        runs = [keep.run("one") for _ in range(3) if wait_until(
            30, lambda: not rig.ask("GET", "/status")["running"])]
        removed = keep.run("gone")
        wait_until(30, lambda: not rig.ask("GET", "/status")["running"])
        rig.ask("DELETE", "/schedules/gone")
        live = keep.run("long")
        wait_until(30, lambda: keep.marks_of(live))
        check((code := rig.stop()) == 0, f"stopped: {code}", rig.log_text()[-2000:])
        # A hundred days pass: for the records, and for the files.
        past = 100 * DAY
        keep.sql("UPDATE run SET nominal = nominal - ?1, due = due - ?1, claimed = claimed - ?1,"
                 " started = started - ?1, ended = ended - ?1 * (ended > 0)", past)
        keep.sql("UPDATE schedule SET dropped = dropped - ?1 WHERE dropped IS NOT NULL", past)
        sid = dict(keep.sql("SELECT id, sid FROM document"))
        now = int(time.time() * 10**6)
        keep.sql("INSERT INTO range VALUES (?, ?, ?, 5, 14)", sid["minutely"], now - 120 * DAY, now - 110 * DAY)
        keep.sql("INSERT INTO problem VALUES (7, 'old', NULL, NULL, 1, ?1, ?1, ?2, ?1, NULL, NULL)", now - past, 2**63 - 1)
        for path in glob.glob(f"{rig.data}/runs/*/*"):
            os.utime(path, (time.time() - 100 * 86400,) * 2)

        def files(run):
            return {os.path.basename(p).split(".")[2] for p in glob.glob(f"{rig.data}/runs/*/{run}.*")}

        rig.start()
        left = lambda: {n for n, in keep.sql("SELECT run FROM run WHERE run <= ?", live)}  # noqa: E731; a minute may begin
        check(wait_until(60, lambda: left() == {runs[-1], live}), "old runs go, the latest and the live one stay",
              (left(), runs, live))
        check(wait_until(60, lambda: not files(runs[0]) and not files(removed)), "and their files", files(runs[0]))
        check(wait_until(60, lambda: not keep.sql("SELECT 1 FROM schedule WHERE sid = ?", sid["gone"])), "a tombstone")
        check(wait_until(60, lambda: not keep.sql("SELECT 1 FROM problem WHERE number = 7")), "a closed problem")
        check(files(live) >= {"run", "log"}, "not those of a live one", files(live))
        check(files(runs[-1]) >= {"run", "log"}, "nor of the latest", files(runs[-1]))
        check(rig.ask("GET", f"/runs/r{live}")["state"] == "running", "which is alive")
        kept = keep.sql("SELECT kept FROM schedule WHERE sid = ?", sid["minutely"])[0][0]
        check(kept == now - 110 * DAY, "a mark is left", kept)
        r = rig.cli("why", "minutely", time_text((now - 115 * DAY) // (60 * 10**6) * 60 * 10**6))
        check("so long ago" in r.stdout, "why says that it is long ago", r)
        rig.ask("POST", "/schedules/minutely/backfill", {"from": time_text(now - 115 * DAY), "to": time_text(now - 111 * DAY)})
        check(not keep.sql("SELECT 1 FROM run WHERE sid = ? AND kind = 3", sid["minutely"]), "nothing below it is run")
        for path in glob.glob(f"{rig.data}/runs/*/{runs[-1]}.*"):
            os.unlink(path)
        r = rig.cli("logs", f"r{runs[-1]}")
        check(r.returncode == 1 and "no longer kept" in r.stderr, "a log that is gone", r)
        rig.ask("POST", f"/runs/r{live}/stop", {})


def blocks(path):
    """What a file takes on the disk; nothing, once it has been removed under our hands."""
    try:
        return os.stat(path).st_blocks * 512
    except FileNotFoundError:
        return 0


def by_size():
    with Keep(ROTA_KEPT_EVERY="1s", ROTA_KEPT_LOGS="1MiB") as keep:
        rig = keep.rig
        rig.start()
        line = "head -c 300000 /dev/urandom | base64"
        rig.add({"id": "loud", "expression": "0 0 29 2 *", "action": {"type": "command", "command": line}})
        rig.add({"id": "live", "expression": "0 0 29 2 *", "action": {"type": "command", "command": line + "; sleep 600"}})
        live, runs = keep.run("live"), []
        for _ in range(8):
            run = keep.run("loud")
            wait_until(30, lambda: rig.ask("GET", f"/runs/r{run}")["state"] == "finished")
            runs.append(run)
        logs = lambda: {int(os.path.basename(p).split(".")[0]) for p in glob.glob(f"{rig.data}/runs/*/*.log")}  # noqa: E731
        size = lambda: sum(map(blocks, glob.glob(f"{rig.data}/runs/*/*")))  # noqa: E731
        check(wait_until(60, lambda: size() <= 1 << 20), "logs in all are bounded", size())
        check(live in logs(), "a live one's stays", logs())
        check(runs[0] not in logs(), "the oldest go first", logs())
        check(sorted(logs() - {live}) == runs[-len(logs() - {live}):], "and the youngest stay", logs())
        check(keep.sql("SELECT count(*) FROM run")[0][0] == 9, "records are another matter")
        rig.ask("POST", f"/runs/r{live}/stop", {})


PARTS = [under_load, by_hand, by_hand_in_one_life, interrupted, refusals, retention, by_size]


def play(part):
    start = time.monotonic()
    try:
        part()
    except Exception:  # noqa: BLE001
        check(False, part.__name__, traceback.format_exc())
    if os.environ.get("SHOW"):
        print(f"{part.__name__}: {time.monotonic() - start:.1f} s", flush=True)


def main():
    wanted = sys.argv[2:]
    threads = [threading.Thread(target=play, args=(p,)) for p in PARTS if not wanted or p.__name__ in wanted]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
