#!/usr/bin/env python3
"""Backups made under load and restored, in the same directory and in another; databases copied back by hand; retention of
records and files. The marks that commands leave behind are compared with the store.

usage: backup_retention.py ROTA [PART...]"""
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
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check  # noqa: E402
from rig import Rig, is_alive, run_parts, wait_until  # noqa: E402

ROTA = os.path.abspath(sys.argv[1])
DAY = 86400 * 10**6
MISSED = 5
REASON_WORDS = None  # the words of core/model.h in the order of their numbers; read when they are needed

WORK = """#!/bin/sh
# work.sh MARKS SECONDS [FAILING]: appends a mark, in one write; its first FAILING attempts fail
echo "$ROTA_SCHEDULE_ID $ROTA_NOMINAL_TIME $ROTA_RUN_ID $ROTA_ATTEMPT $$" >>"$1"
sleep "$2"
[ "$ROTA_ATTEMPT" -gt "${3:-0}" ]
"""


class MarkRig(Rig):
    """A rig with commands that append a line per attempt, a mark, to a file."""

    def __init__(self, **env):
        super().__init__(ROTA, "--slots", "64", env=env)
        self.marks = os.path.join(self.dir, "marks")
        self.work = os.path.join(self.dir, "work.sh")
        with open(self.work, "w") as f:
            f.write(WORK)
        open(self.marks, "a").close()
        self.database = os.path.join(self.data, "rota.db")
        self.times = {}  # nominal times by run, in microseconds

    def document(self, id, expression="0 0 29 2 *", seconds=0.05, failing=0, **more):
        return {"id": id, "expression": expression, "action": {"type": "command", "command": [
            "/bin/sh", self.work, self.marks, str(seconds), str(failing)]}, **more}

    def add_command(self, *words, **more):
        self.add(self.document(*words, **more))

    def run_now(self, id):
        return int(self.ask("POST", f"/schedules/{id}/run", {})["run"][1:])

    def runs_by_time(self):
        """The runs that left a mark, by schedule and nominal time."""
        found = collections.defaultdict(set)
        with open(self.marks) as f:
            for line in f:
                schedule, nominal, run, _, _ = line.split()
                at = datetime.datetime.fromisoformat(nominal.replace("Z", "+00:00"))
                found[schedule, int(at.timestamp()) * 10**6].add(int(run))
        return found

    def learn_times(self, database):
        with sqlite3.connect(database, timeout=30) as db:
            self.times.update(db.execute("SELECT run, nominal FROM run"))

    def have_same_time(self, runs):
        """Whether two of the runs have the same nominal time. Marks have seconds only, and the nominal times of a follower
        are the ends of other runs, several of which may fall into one second."""
        times = [self.times[r] for r in runs if r in self.times]
        return len(set(times)) < len(times)

    def marks_of(self, run):
        with open(self.marks) as f:
            return [line.split() for line in f if line.split()[2] == str(run)]

    def rota_data(self, *words, most=None):
        """Runs rota on the data directory. With `most`, no file may grow beyond so many bytes, as on a full disk."""
        limit = ["/bin/sh", "-c", f"trap '' XFSZ; ulimit -f {most // 512}; exec \"$@\"", "sh"] if most else []
        return subprocess.run([*limit, ROTA, *words, "--data", self.data], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120, env=self.env, cwd=self.dir)

    def sql(self, text, *args):
        with sqlite3.connect(self.database, timeout=30) as db:
            return db.execute(text, args).fetchall()

    def wait_marks(self, n):
        return wait_until(60, lambda: len(self.runs_by_time()) >= n)


def reason_number(word):
    """The number of a reason, from core/model.h."""
    return next(n for n, w in enumerate(reason_words()) if w == word)


def reason_words():
    global REASON_WORDS
    if REASON_WORDS is None:
        here = os.path.dirname(os.path.abspath(__file__))
        with open(os.path.join(here, "..", "..", "src", "core", "model.h")) as f:
            body = f.read().split("enum reason {")[1].split("}")[0]
        REASON_WORDS = [w.split("/*")[0].strip().rstrip(",").removeprefix("REASON_").lower()
                 for w in body.split("\n") if "REASON_" in w]
    return REASON_WORDS


def add_load(rig):
    for n in range(6):
        rig.add_command(f"second-{n}", "@every 1s", overlap="allow")
    for n in range(3):
        rig.add_command(f"catchup-{n}", "@every 1s", missed_schedule_policy="catch_up", overlap="allow")
    for n in range(3):
        rig.add({"id": f"event-{n}", "expression": "@every 1s", "action": {"type": "event", "name": "x"}})
    follower = rig.document("follower", overlap="allow", after={"schedule": "event-0", "outcome": "done"})
    del follower["expression"]
    rig.add(follower)


def check_accounts(rig, before, restored_run, what):
    """No nominal time ran twice, and those that ran after the backup are recorded as missed/restored."""
    fired = rig.runs_by_time()
    rig.learn_times(rig.database)
    twice = {k: v for k, v in fired.items() if len(v) > 1 and not k[0].startswith("hand") and
             (k[0] != "follower" or rig.have_same_time(v))}
    check(not twice, f"{what}: no time runs twice", dict(list(twice.items())[:5]))
    ids = dict(rig.sql("SELECT id, sid FROM document WHERE dropped = 0"))
    code = reason_number("restored")
    ranges = collections.defaultdict(list)
    for sid, first, last in rig.sql("SELECT sid, first, last FROM range WHERE state = ? AND reason = ?", MISSED, code):
        ranges[sid].append((first, last))
    known = {(sid, nominal) for sid, nominal in rig.sql("SELECT sid, nominal FROM run WHERE kind <> 4")}
    # The times of a follower are ends of other runs that the restored store does not know, so it records nothing for them.
    lost = [k for k in before if k[0].startswith(("second", "catchup")) and (ids[k[0]], k[1]) not in known]
    check(lost, f"{what}: some runs are not in the store")
    for schedule, nominal in lost:
        covered = [g for g in ranges[ids[schedule]] if g[0] <= nominal <= g[1]]
        if not check(len(covered) == 1, f"{what}: {schedule} at {nominal} is missed/restored",
                     (ranges[ids[schedule]],)):
            break
    for schedule in ids:
        if schedule.startswith(("second", "catchup", "event")):
            check(len(ranges[ids[schedule]]) == 1, f"{what}: one range for {schedule}", ranges[ids[schedule]])
    later = rig.sql("SELECT min(run) FROM run WHERE run > ?", restored_run)[0][0]
    largest = max(int(os.path.basename(p).split(".")[0]) for p in glob.glob(f"{rig.data}/runs/*/*.run"))
    check(later is not None and largest >= later, f"{what}: new runs are recorded", (later, largest))


def backup_under_load():
    with MarkRig() as rig, MarkRig() as other:
        rig.start()
        add_load(rig)
        rig.add_command("hand-known", seconds=600)
        rig.add_command("hand-lost", seconds=600)
        rig.add(rig.document("hand-again", seconds=2, failing=1,
                             retry={"max_attempts": 1, "backoff": "fixed", "initial_delay": 1}))
        known, again = rig.run_now("hand-known"), rig.run_now("hand-again")
        check(wait_until(30, lambda: rig.marks_of(known) and rig.marks_of(again)), "both runs are running")
        rig.wait_marks(20)

        copy = os.path.join(rig.dir, "copy.db")
        r = rig.rota_data("backup", copy)
        check(r.returncode == 0 and copy in r.stdout, "a backup is made under load", r)
        check(os.stat(copy).st_mode & 0o777 == 0o600, "only the owner may read the backup")
        with sqlite3.connect(copy) as db:
            check(db.execute("PRAGMA integrity_check").fetchone()[0] == "ok", "its integrity")
            last = db.execute("SELECT max(run) FROM run").fetchone()[0]
        before = open(copy, "rb").read()
        r = rig.rota_data("backup", copy)
        check(r.returncode == 1 and "not overwritten" in r.stderr, "an existing file is refused", r)
        check(open(copy, "rb").read() == before, "an existing file is unchanged")
        check(not glob.glob(copy + ".part*"), "no partial file is left")
        n = len(rig.runs_by_time())
        check(rig.wait_marks(n + 20), "schedules go on")
        # The second attempt of the run begins after the copy was made.
        check(wait_until(30, lambda: len(rig.marks_of(again)) == 2), "the second attempt runs")
        lost = rig.run_now("hand-lost")
        check(wait_until(30, lambda: rig.marks_of(lost)), "a run is started that is not in the copy")
        stray = int(rig.marks_of(lost)[0][4])

        r = rig.rota_data("restore", copy)
        check(r.returncode == 75 and str(rig.daemon.pid) in r.stderr, "restore is refused while a daemon is running", r)
        rig.kill()
        fired = rig.runs_by_time()
        check(is_alive(stray), "the run outlives the daemon")

        r = rig.rota_data("restore", copy, "--json")
        answer = json.loads(r.stdout) if r.returncode == 0 else {}
        check(r.returncode == 0 and os.path.exists(answer.get("before", "")), "the backup is restored, and the old database is kept", r)
        with sqlite3.connect(answer["before"]) as db:
            check(db.execute("SELECT max(run) FROM run").fetchone()[0] >= lost, "the old database is complete")
        rig.learn_times(answer["before"])
        rig.start()
        check(not is_alive(stray), "a run that the store does not know is stopped")
        n = len(rig.runs_by_time())
        check(rig.wait_marks(n + 20), "schedules go on")
        check_accounts(rig, fired, last, "in the same directory")
        run = rig.ask("GET", f"/runs/r{known}")
        check((run["state"], run["attempt"]) == ("running", 1), "a run that the store knows is adopted", run)
        run = wait_until(30, lambda: (r := rig.ask("GET", f"/runs/r{again}"))["state"] == "finished" and r)
        check(run and (run["attempt"], run["outcome"]) == (2, "done"), "the later attempt of a known run is adopted", run)
        problems = rig.ask("GET", "/problems")["problems"]
        check(any(p["key"] == "restored" and "1 run that the store does not know was" in p["text"] for p in problems), "the restore is a problem", problems)
        rig.ask("POST", f"/runs/r{known}/stop", {})
        why = rig.cli("why", "second-0", iso_time(first_lost(rig, fired, "second-0")))
        check("restored" in why.stdout, "why says restored", why)
        check((code := rig.stop()) == 0, f"stopped: {code}", rig.log_text()[-2000:])
        rig.start()
        check(wait_until(60, lambda: not any(p["key"] == "restored" for p in rig.ask("GET", "/problems")["problems"])),
              "the problem closes at the next start")
        check((code := rig.stop()) == 0, f"stopped again: {code}", rig.log_text()[-2000:])
        check_accounts(rig, fired, last, "in the same directory, later")

        # The backup is restored in another directory, with the same commands. Times that have run in the first directory must not run again.
        os.makedirs(other.data)
        r = other.rota_data("restore", copy)
        check(r.returncode == 0 and "before" not in r.stdout, "the backup is restored in another directory", r)
        other.marks, other.times, fired = rig.marks, rig.times, rig.runs_by_time()
        at = time.time()
        other.start()
        check(wait_until(60, lambda: sum(k[1] > (at + 1) * 10**6 for k in rig.runs_by_time()) >= 20), "schedules continue in the other directory")
        check_accounts(other, {k: v for k, v in fired.items() if k[1] < at * 10**6 and min(v) > last}, last, "in another directory")
        check(len(rig.marks_of(known)) == 1 and len(rig.marks_of(again)) == 2, "no run is retried in another directory")
        run = other.ask("GET", f"/runs/r{known}")
        check((run["outcome"], run["reason"]) == ("failed", "lost"), "a run whose end is unknown is lost", run)


def iso_time(us):
    return datetime.datetime.fromtimestamp(us / 10**6, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def first_lost(rig, fired, schedule):
    sid = rig.sql("SELECT sid FROM document WHERE id = ?", schedule)[0][0]
    known = {n for n, in rig.sql("SELECT nominal FROM run WHERE sid = ?", sid)}
    return min(n for s, n in fired if s == schedule and n not in known)


def copy_back(with_generation):
    with MarkRig() as rig:
        rig.start()
        add_load(rig)
        rig.wait_marks(10)
        check((code := rig.stop()) == 0, f"stopped: {code}", rig.log_text()[-2000:])
        with open(rig.database, "rb") as f:
            old = f.read()
        last = rig.sql("SELECT max(run) FROM run")[0][0]
        generation = os.path.join(rig.data, "generation")
        with open(generation) as f:
            number = f.read()
        rig.start()
        n = len(rig.runs_by_time())
        rig.wait_marks(n + 20)
        check((code := rig.stop()) == 0, f"stopped: {code}", rig.log_text()[-2000:])
        fired = rig.runs_by_time()
        for path in glob.glob(rig.database + "*"):
            os.unlink(path)
        with open(rig.database, "wb") as f:
            f.write(old)
        if with_generation:
            with open(generation, "w") as f:
                f.write(number)
        rig.start()
        n = len(rig.runs_by_time())
        check(rig.wait_marks(n + 20), "schedules go on")
        check_accounts(rig, fired, last, f"copied back by hand ({with_generation})")
        check("by hand" in rig.log_text(), "the daemon reports the restored database", rig.log_text())


def database_copied_back():
    """An old database file is copied back: the restore is detected by the generation file."""
    copy_back(with_generation=False)


def database_and_generation_copied_back():
    """The generation file is copied back as well: the restore is detected by the files of runs."""
    copy_back(with_generation=True)


def interrupted_restore():
    """kill -9 during a restore leaves the old database or the new one."""
    rng = random.Random(7)
    with MarkRig() as rig:
        seen = collections.Counter()
        rig.start()
        rig.add(rig.document("old"))
        check((code := rig.stop()) == 0, f"stopped: {code}", rig.log_text()[-2000:])
        with open(rig.database, "rb") as f:
            whole = f.read()
        copy = os.path.join(rig.dir, "copy.db")
        with sqlite3.connect(":memory:") as db, sqlite3.connect(rig.database) as source:
            source.backup(db)
            db.execute("UPDATE document SET id = 'new'")
            db.commit()
            with sqlite3.connect(copy) as to:
                db.backup(to)
        start = time.monotonic()
        check(rig.rota_data("restore", copy).returncode == 0, "a restore that is not killed succeeds")
        lasts = time.monotonic() - start
        for n in range(25):
            for path in glob.glob(rig.database + "*"):
                os.unlink(path)
            with open(rig.database, "wb") as f:
                f.write(whole)
            p = subprocess.Popen([ROTA, "restore", copy, "--data", rig.data], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, env=rig.env)
            time.sleep(rng.uniform(0, lasts * 1.1))
            p.send_signal(signal.SIGKILL)
            p.wait()
            left = {os.path.basename(q) for q in glob.glob(rig.database + "*")}
            rig.start()
            ids = [s["id"] for s in rig.ask("GET", "/schedules")["schedules"]]
            seen[ids[0], *sorted(left)] += 1
            if not check(ids in (["old"], ["new"]), "the database is the old one or the new one", (ids, left)):
                break
            if not check(rig.stop() == 0, "stopped", rig.log_text()[-300:]):
                break
            check(rig.sql("PRAGMA integrity_check")[0][0] == "ok", "its integrity")
            check(not glob.glob(rig.database + ".part*") + glob.glob(rig.database + ".restored*"), "no partial file is left")
        if os.environ.get("SHOW"):
            print(*seen.items(), sep="\n")
        # A kill rarely hits this moment: the restored file only has to be renamed.
        os.rename(rig.database, rig.database + ".restored")
        with open(rig.database, "wb") as f:
            f.write(whole)
        with open(rig.database + "-wal", "wb") as f:
            f.write(b"the log of the old one")
        rig.start()
        check(rig.ask("GET", "/schedules")["schedules"], "the next start completes the restore")
        check(not os.path.exists(rig.database + ".restored"), "the next start removes the restored file")


def restored_run_with_a_gap():
    """The first attempt of a run leaves no file, because its check fails; after a restore the second one is found alive."""
    with MarkRig() as rig:
        go, copy = os.path.join(rig.dir, "go"), os.path.join(rig.dir, "copy.db")
        rig.start()
        rig.add_command("a", seconds=120, retry={"retries": 1, "backoff": "fixed", "initial_delay": 1},
                        check=f'while [ ! -e "{go}" ]; do sleep 0.05; done; [ "$ROTA_ATTEMPT" -gt 1 ] || exit 3')
        run = rig.run_now("a")
        state = lambda: rig.sql("SELECT state, attempt FROM run WHERE run = ?", run)[0]
        check(wait_until(30, lambda: state() == (1, 0)), "the run waits for its check", state())
        r = rig.rota_data("backup", copy)
        check(r.returncode == 0, "a backup is made", r)
        open(go, "w").close()
        check(wait_until(60, lambda: rig.marks_of(run)), "its second attempt is alive", state())
        check((code := rig.stop()) == 0, f"stopped: {code}", rig.log_text()[-2000:])
        r = rig.rota_data("restore", copy)
        check(r.returncode == 0, "the backup is restored", r)
        rig.start()
        check(wait_until(30, lambda: state() == (1, 2)), "the second attempt is adopted", state())
        rig.ask("POST", f"/runs/r{run}/stop", {})
        check(wait_until(30, lambda: state() == (3, 2)), "its end is recorded", state())
        check(len(rig.marks_of(run)) == 1, "it ran once", rig.marks_of(run))


def refusals():
    with MarkRig() as rig:
        r = rig.rota_data("backup", os.path.join(rig.dir, "none.db"))
        check(r.returncode == 1 and "there is no" in r.stderr, "there is no database", r)
        rig.start()
        for n in range(200):
            rig.add(rig.document(f"s{n}"))
        copy = os.path.join(rig.dir, "copy.db")
        check(rig.rota_data("backup", copy).returncode == 0, "a backup")
        r = rig.rota_data("backup", os.path.join(rig.dir, "no", "such", "place.db"))
        check(r.returncode == 1 and "place.db" in r.stderr, "a directory that does not exist is refused", r)
        r = rig.rota_data("backup")
        check(r.returncode == 2 and "FILE" in r.stderr, "a missing argument FILE is refused", r)
        check((code := rig.stop()) == 0, f"stopped: {code}", rig.log_text()[-2000:])
        good = open(copy, "rb").read()
        newer = bytearray(good)
        newer[60:64] = (99).to_bytes(4, "big")
        damaged = bytearray(good)
        damaged[8192:12288] = os.urandom(4096)
        with sqlite3.connect(os.path.join(rig.dir, "foreign")) as db:
            db.execute("CREATE TABLE x (y)")
        foreign = open(os.path.join(rig.dir, "foreign"), "rb").read()
        before = open(rig.database, "rb").read()
        for what, body, code, word in (("newer", newer, 2, "version 99"), ("damaged", damaged, 2, "damaged"),
                                       ("cut", good[:len(good) // 2], 1, "malformed"), ("empty", b"", 2, "empty"),
                                       ("text", b"once upon a time " * 1000, 2, "not a database"),
                                       ("foreign", foreign, 2, "another program"), ("missing", None, 1, "does not exist")):
            path = os.path.join(rig.dir, "bad-" + what)
            if body is not None:
                with open(path, "wb") as f:
                    f.write(body)
            r = rig.rota_data("restore", path)
            check(r.returncode == code and path in r.stderr and word in r.stderr, f"a file that is {what} is refused", r)
            check(open(rig.database, "rb").read() == before, f"{what}: the database is unchanged")
            check({os.path.basename(p) for p in glob.glob(rig.database + "*")} <=
                  {"rota.db", "rota.db-wal", "rota.db-shm"}, f"{what}: no files are left", glob.glob(rig.database + "*"))
        r = rig.rota_data("restore", copy, most=65536)
        check(r.returncode == 1 and open(rig.database, "rb").read() == before, "a restore without free space is refused", r)
        r = rig.rota_data("backup", copy + "2", most=65536)
        check(r.returncode == 1 and not glob.glob(copy + "2*"), "a backup without free space is refused", r)
        rig.start()
        check(len(rig.ask("GET", "/schedules?limit=1000")["schedules"]) == 200, "the database is unchanged")
        check((code := rig.stop()) == 0, f"stopped: {code}", rig.log_text()[-2000:])
        with open(rig.database, "r+b") as f:
            f.write(os.urandom(65536))
        r = rig.rota_data("restore", copy)
        check(r.returncode == 0 and "before-1" in r.stdout, "a damaged database is replaced", r)
        rig.start()
        check(len(rig.ask("GET", "/schedules?limit=1000")["schedules"]) == 200, "the database is the restored copy")


def retention():
    with MarkRig(ROTA_KEPT_EVERY="1s") as rig:
        rig.start()
        rig.add_command("one")
        rig.add_command("gone")
        rig.add_command("minutely", "* * * * *")
        rig.add_command("long", seconds=600)
        runs = [rig.run_now("one") for _ in range(3) if wait_until(
            30, lambda: not rig.ask("GET", "/status")["running"])]
        removed = rig.run_now("gone")
        wait_until(30, lambda: not rig.ask("GET", "/status")["running"])
        rig.ask("DELETE", "/schedules/gone")
        live = rig.run_now("long")
        wait_until(30, lambda: rig.marks_of(live))
        check((code := rig.stop()) == 0, f"stopped: {code}", rig.log_text()[-2000:])
        # Records and files become a hundred days older.
        past = 100 * DAY
        rig.sql("UPDATE run SET nominal = nominal - ?1, due = due - ?1, claimed = claimed - ?1,"
                 " started = started - ?1, ended = ended - ?1 * (ended > 0)", past)
        rig.sql("UPDATE schedule SET dropped = dropped - ?1 WHERE dropped IS NOT NULL", past)
        sid = dict(rig.sql("SELECT id, sid FROM document"))
        now = int(time.time() * 10**6)
        rig.sql("INSERT INTO range VALUES (?, ?, ?, 5, 14)", sid["minutely"], now - 120 * DAY, now - 110 * DAY)
        rig.sql("INSERT INTO problem VALUES (7, 'old', NULL, NULL, 1, ?1, ?1, ?2, ?1, NULL, NULL)", now - past, 2**63 - 1)
        for path in glob.glob(f"{rig.data}/runs/*/*"):
            os.utime(path, (time.time() - 100 * 86400,) * 2)

        def files(run):
            return {os.path.basename(p).split(".")[2] for p in glob.glob(f"{rig.data}/runs/*/{run}.*")}

        rig.start()
        # Runs of the schedule `minutely` are left out, because a minute may begin while the test runs.
        left = lambda: {n for n, in rig.sql("SELECT run FROM run WHERE run <= ? AND sid <> ?", live, sid["minutely"])}  # noqa: E731
        check(wait_until(60, lambda: left() == {runs[-1], live}), "old runs are removed, except the latest and the running one",
              (left(), runs, live))
        check(wait_until(60, lambda: not files(runs[0]) and not files(removed)), "their files are removed", files(runs[0]))
        check(wait_until(60, lambda: not rig.sql("SELECT 1 FROM schedule WHERE sid = ?", sid["gone"])), "the record of a removed schedule is removed")
        check(wait_until(60, lambda: not rig.sql("SELECT 1 FROM problem WHERE number = 7")), "a closed problem is removed")
        check(files(live) >= {"run", "log"}, "files of a running run are kept", files(live))
        check(files(runs[-1]) >= {"run", "log"}, "files of the latest run are kept", files(runs[-1]))
        check(rig.ask("GET", f"/runs/r{live}")["state"] == "running", "the running run is still running")
        kept = rig.sql("SELECT pruned_to FROM schedule WHERE sid = ?", sid["minutely"])[0][0]
        check(kept == now - 110 * DAY, "the schedule records from when on it keeps runs", kept)
        r = rig.cli("why", "minutely", iso_time((now - 115 * DAY) // (60 * 10**6) * 60 * 10**6))
        check("removed because of its age" in r.stdout, "why says that older records were removed", r)
        rig.ask("POST", "/schedules/minutely/backfill", {"from": iso_time(now - 115 * DAY), "to": iso_time(now - 111 * DAY)})
        check(not rig.sql("SELECT 1 FROM run WHERE sid = ? AND kind = 3", sid["minutely"]), "nothing before that time is backfilled")
        for path in glob.glob(f"{rig.data}/runs/*/{runs[-1]}.*"):
            os.unlink(path)
        r = rig.cli("logs", f"r{runs[-1]}")
        check(r.returncode == 1 and "was removed for its age or size" in r.stderr, "logs says that the log was removed", r)
        rig.ask("POST", f"/runs/r{live}/stop", {})


def disk_bytes(path):
    """The disk space of a file; 0 if it was removed meanwhile."""
    try:
        return os.stat(path).st_blocks * 512
    except FileNotFoundError:
        return 0


def retention_by_size():
    with MarkRig(ROTA_KEPT_EVERY="1s", ROTA_KEPT_LOGS="1MiB") as rig:
        rig.start()
        line = "head -c 300000 /dev/urandom | base64"
        rig.add({"id": "loud", "expression": "0 0 29 2 *", "action": {"type": "command", "command": line}})
        rig.add({"id": "live", "expression": "0 0 29 2 *", "action": {"type": "command", "command": line + "; sleep 600"}})
        live, runs = rig.run_now("live"), []
        for _ in range(8):
            run = rig.run_now("loud")
            wait_until(30, lambda: rig.ask("GET", f"/runs/r{run}")["state"] == "finished")
            runs.append(run)
        logs = lambda: {int(os.path.basename(p).split(".")[0]) for p in glob.glob(f"{rig.data}/runs/*/*.log")}  # noqa: E731
        size = lambda: sum(map(disk_bytes, glob.glob(f"{rig.data}/runs/*/*")))  # noqa: E731
        check(wait_until(60, lambda: size() <= 1 << 20), "the total size of logs is bounded", size())
        check(live in logs(), "the log of a running run is kept", logs())
        check(runs[0] not in logs(), "the oldest are removed first", logs())
        check(sorted(logs() - {live}) == runs[-len(logs() - {live}):], "the newest are kept", logs())
        check(rig.sql("SELECT count(*) FROM run")[0][0] == 9, "records are not removed")
        rig.ask("POST", f"/runs/r{live}/stop", {})


PARTS = [backup_under_load, database_copied_back, database_and_generation_copied_back, interrupted_restore,
         restored_run_with_a_gap, refusals, retention, retention_by_size]

if __name__ == "__main__":
    sys.exit(run_parts(PARTS, sys.argv[2:], len(PARTS)))
