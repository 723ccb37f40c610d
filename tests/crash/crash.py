#!/usr/bin/env python3
"""The daemon is killed -9 at random moments under load, and its launcher with it; then the marks that its runs left
behind are compared with its store. Usage: crash.py ROTA [--kills N] [--seed S] [--schedules N] [--keep]

What must hold, however often it is killed:
  - every nominal time that came has exactly one run, or lies in exactly one range;
  - no attempt was started twice, none overlaps the next attempt, none was early;
  - no run was ended by our crashes: what started also ended, unless it was stopped, ran out of time, or its own
    shim was killed, which no crash of ours does;
  - the store says of every run what the run's own marks say;
  - what was acknowledged is there;
  - nothing is left behind.
Which moments are hit depends on the machine; the seed gives schedules, pauses and kinds of kills."""
import argparse
import collections
import glob
import os
import random
import re
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from rig import KINDS, RUN_STATES, NoAnswer, Refused, Rig, kill, name_of, wait_until  # noqa: E402

OUTCOMES = [None, "done", "failed", "killed", "no_work"]

# Marks are appended in one write each, so that their order in the file is the order in which they were made.
WORK = """#!/bin/sh
# work.sh MARKS SECONDS EVERY UPTO: fails for every EVERY-th run, up to its attempt UPTO
read -r up _ </proc/uptime
echo "S $ROTA_RUN_ID $ROTA_ATTEMPT $up $$ $ROTA_SCHEDULE_ID" >>"$1"
sleep "$2"
code=0
if [ "$3" -gt 0 ] && [ $((ROTA_RUN_ID % $3)) -eq 0 ] && [ "$ROTA_ATTEMPT" -le "$4" ]; then code=1; fi
read -r up _ </proc/uptime
echo "E $ROTA_RUN_ID $ROTA_ATTEMPT $up $$ $code" >>"$1"
exit $code
"""


class Plan:
    """One schedule, and what we know of it."""

    def __init__(self, group, number, interval, seconds, **document):
        self.group, self.id, self.interval = group, f"{group}-{number}", interval
        self.seconds, self.every, self.upto = seconds, 0, 0
        self.document = document
        self.added = None      # (before, after) the call that added it
        self.paused_at = None  # before the call that paused it in the end
        self.leader = None
        self.acked = False

    def fails(self, every, upto):
        self.every, self.upto = every, upto
        return self

    def whole(self, marks, work):
        d = {"id": self.id, "action": {"type": "command", "command": [
            "/bin/sh", work, marks, f"{self.seconds:.3f}", str(self.every), str(self.upto)]}}
        if self.interval and not self.leader:
            d["expression"] = f"@every {self.interval}s"
        if self.group == "event":
            d["action"] = {"type": "event", "name": self.id}
        d.update(self.document)
        return d


def plans(rng, most):
    """The mix, for `most` schedules: about 35 runs a second for 200 of them."""
    def retry(n):
        return {"max_attempts": n, "backoff": "fixed", "initial_delay": 1}

    def some(group, share, make):
        for n in range(max(1, round(share * most / 200))):
            found.append(make(group, n))

    found = []
    short = lambda: rng.uniform(0.05, 0.3)
    some("second", 8, lambda g, n: Plan(g, n, 1, 0.05))
    some("plain", 25, lambda g, n: Plan(g, n, rng.randint(2, 4), short()).fails(rng.choice([0, 0, 3]), 9))
    some("event", 18, lambda g, n: Plan(g, n, rng.randint(1, 5), 0))
    some("retry", 20, lambda g, n: Plan(g, n, rng.randint(5, 15), short(), retry=retry(2)).fails(2, rng.randint(1, 3)))
    some("retryall", 8, lambda g, n: Plan(g, n, rng.randint(3, 6), short(), retry=retry(2),
                                          overlap=rng.choice(["queue_all", "allow"])).fails(2, rng.randint(1, 3)))
    some("queueall", 12, lambda g, n: Plan(g, n, rng.randint(2, 4), rng.uniform(0.5, 2), overlap="queue_all"))
    some("queueone", 6, lambda g, n: Plan(g, n, rng.randint(2, 4), rng.uniform(1, 6), overlap="queue_one"))
    some("allow", 10, lambda g, n: Plan(g, n, rng.randint(4, 9), rng.uniform(2, 20), overlap="allow"))
    some("replace", 4, lambda g, n: Plan(g, n, rng.randint(3, 5), rng.uniform(2, 7), overlap="cancel_running"))
    some("catchup", 14, lambda g, n: Plan(g, n, rng.randint(2, 6), short(), missed_schedule_policy="catch_up",
                                          catch_up_limit=rng.randint(5, 50)))
    some("next", 4, lambda g, n: Plan(g, n, rng.randint(2, 6), short(), missed_schedule_policy="execute_next"))
    some("drop", 4, lambda g, n: Plan(g, n, rng.randint(2, 6), short(), missed_schedule_policy="skip"))
    some("window", 8, lambda g, n: Plan(g, n, rng.randint(3, 6), short(), window="2s"))
    some("timeout", 8, lambda g, n: Plan(g, n, rng.randint(8, 12), 20, timeout="2s",
                                         **({"retry": retry(1)} if n % 2 else {})))
    some("cron", 8, lambda g, n: Plan(g, n, k := rng.choice([2, 3, 4, 5, 6, 10]), short(),
                                      expression=f"*/{k} * * * * *",
                                      timezone=rng.choice(["Europe/Berlin", "America/New_York", "Asia/Kolkata"])))
    some("victim", 6, lambda g, n: Plan(g, n, rng.randint(4, 8), rng.uniform(1, 3), overlap="queue_all", retry=retry(1)))
    some("pause", 5, lambda g, n: Plan(g, n, rng.randint(1, 4), short()))
    some("manual", 5, lambda g, n: Plan(g, n, 0, short(), expression="0 0 29 2 *", retry=retry(1)).fails(3, 1))
    leaders = [p for p in found if p.group in ("plain", "retry", "event", "queueall", "catchup")]

    def follower(g, n):
        leader = rng.choice(leaders)
        p = Plan(g, n, 0, short(), overlap=rng.choice(["allow", "skip", "queue_all"]),
                 after={"schedule": leader.id, "outcome": rng.choice(["done", "failed", "any"])})
        p.leader = leader
        return p
    some("after", 10, follower)
    some("slow", max(0, most - len(found)) * 200 / most if most > len(found) else 0,
         lambda g, n: Plan(g, n, rng.randint(20, 180), rng.uniform(1, 20)))
    return found


class Crash:
    def __init__(self, args):
        self.args, self.rng = args, random.Random(args.seed)
        self.rig = Rig(args.rota, "--slots", "64")
        self.marks, self.work = os.path.join(self.rig.dir, "marks"), os.path.join(self.rig.dir, "work.sh")
        with open(self.work, "w") as f:
            f.write(WORK)
        open(self.marks, "w").close()
        self.findings = []
        self.count = collections.Counter()
        self.longest_down = 0
        self.manual, self.stopped, self.more = set(), set(), 0
        self.shims = set()  # (run, attempt) whose shim was killed
        self.all = []
        self.checked = 0

    def finding(self, text):
        self.findings.append(text)
        if len(self.findings) <= 40:
            print(f"FINDING: {text}", flush=True)

    def check(self, good, text):
        self.checked += 1
        if not good:
            self.finding(text)

    # --- under load ---

    def add(self, p):
        before = time.time()
        self.all.append(p)
        self.rig.add(p.whole(self.marks, self.work))
        p.added, p.acked = (before, time.time()), True

    def one_order(self, rng):
        """Something a person does meanwhile."""
        kind = self.order = rng.choice(["run", "run", "pause", "resume", "stop", "add", "look", "shim"])
        if kind == "run":
            target = rng.choice([p for p in self.all if p.group == "manual"])
            run = self.rig.ask("POST", f"/schedules/{target.id}/run", {})["run"]
            self.manual.add((target.id, int(run[1:])))
        elif kind in ("pause", "resume"):
            target = rng.choice([p for p in self.all if p.group == "pause"])
            self.rig.ask("POST", f"/schedules/{target.id}/{kind}", {})
        elif kind == "stop":
            open_runs = [r for r in self.rig.ask("GET", "/status")["open"] if r["schedule"].startswith("allow-")]
            if open_runs:
                run = int(rng.choice(open_runs)["id"][1:])
                self.stopped.add(run)  # even if nobody answers: it may have been heard
                self.rig.ask("POST", f"/runs/r{run}/stop", {})
        elif kind == "shim":
            target = rng.choice([p for p in self.all if p.group == "victim"])
            for r in self.rig.ask("GET", f"/runs?schedule={target.id}&limit=3")["runs"]:
                if r["state"] == "running" and self.kill_shim(int(r["id"][1:]), r["attempt"]):
                    self.count["shims killed"] += 1
        elif kind == "add" and self.more < 30:
            self.more += 1
            zone = rng.choice(["Asia/Tokyo", "Europe/Paris", "Africa/Cairo", "America/Lima", "Australia/Perth"])
            k = rng.choice([5, 6, 10, 12])
            self.add(Plan("more", self.more, k, 0.05, expression=f"*/{k} * * * * *", timezone=zone))
        else:
            self.rig.ask("GET", "/runs?limit=50")
        self.count[f"{kind} acknowledged"] += 1

    def orders(self, stop, seed):
        rng = random.Random(seed)
        while not stop.is_set():
            try:
                self.one_order(rng)
            except Refused as e:
                # A run that is alive is not run again, one that has ended not stopped. All else is obeyed.
                self.count["refused"] += 1
                self.check(self.order in ("run", "stop"), f"{self.order} is refused: {e}")
            except NoAnswer:
                self.count["unanswered"] += 1
            stop.wait(rng.uniform(0, 0.3))

    def kill_shim(self, run, attempt):
        """Who wrote the run file, if it is still that one."""
        for path in glob.glob(f"{self.rig.data}/runs/*/{run}.{attempt}.run"):
            with open(path, "rb") as f:
                pid = [int(line[4:]) for line in f.read().split(b"\n") if line.startswith(b"pid ")]
            if pid and re.fullmatch(r"r\d+\.\d+", name_of(pid[0])) and kill(pid[0]):
                self.shims.add((run, attempt))
                return True
        return False

    def kill_launcher(self):
        launcher = self.rig.launcher()
        if launcher and kill(launcher):
            self.count["launchers killed"] += 1

    def one_life(self, number):
        rng, rig = self.rng, self.rig
        early = rng.random() < 0.3
        begun = time.monotonic()
        rig.start(wait=False)
        if early:
            while time.monotonic() < begun + rng.uniform(0, 0.2):
                time.sleep(0.002)
            self.count["killed while starting"] += 1
        else:
            if not rig.wait_ready():
                self.finding(f"life {number}: the daemon does not come up: {rig.log_text()[-500:]}")
            stop = threading.Event()
            hands = threading.Thread(target=self.orders, args=(stop, rng.random()))
            hands.start()
            for _ in range(rng.randint(1, 3)):
                time.sleep(rng.uniform(0.05, self.args.life))
                if rng.random() < 0.2:
                    self.kill_launcher()  # and the daemon goes on
        how = rng.random()
        launcher = rig.launcher()
        if how < 0.15:
            self.kill_launcher()
        code = rig.kill()
        self.check(code == -signal.SIGKILL, f"life {number}: the daemon ended by itself with {code}: {rig.log_text()[-500:]}")
        if 0.15 <= how < 0.3 and launcher and kill(launcher):
            self.count["launchers killed"] += 1
        self.count["daemons killed"] += 1
        if not early:
            stop.set()
            hands.join()
        down = rng.choice([0, 0, 0, 0.05, 0.2, 0.5, 1.5, 4])
        if number in self.args.long_down:
            down = 66  # later than the grace: the policies decide
        time.sleep(down)
        self.longest_down = max(self.longest_down, down)

    def drain(self):
        rig = self.rig
        if not rig.start():
            self.finding(f"the daemon does not come up in the end: {rig.log_text()[-500:]}")
            return
        for p in self.all:
            if p.leader:
                continue  # they end when their leaders do
            p.paused_at = time.time()
            try:
                rig.ask("POST", f"/schedules/{p.id}/pause", {})
            except Refused as e:
                if p.acked:
                    self.finding(f"{p.id} was acknowledged, and cannot be paused: {e}")

        def quiet():
            s = rig.ask("GET", "/status")
            return not s["runs"] and not s["slots_used"]
        # What was waiting is skipped; what runs takes 20 s at most, and followers follow.
        if not wait_until(90, quiet, 0.2):
            self.finding(f"it does not drain: {rig.ask('GET', '/status')}")
        self.pages = rig.runs()
        code = rig.stop()
        self.check(code == 0, f"SIGTERM: exit {code}: {rig.log_text()[-500:]}")
        left = wait_until(5, lambda: not rig.processes(), 0.1) or rig.processes()
        self.check(left is True, f"left behind: {left}")

    # --- what must hold ---

    def read_marks(self):
        """(run, attempt) -> [[(place, time, pid)], [(place, time, pid, code)]]"""
        self.mark = collections.defaultdict(lambda: ([], []))
        with open(self.marks) as f:
            for place, line in enumerate(f):
                words = line.split()
                self.check(words[0] in "SE" and len(words) == 6, f"a torn mark: {line!r}")
                if words[0] == "S":
                    self.mark[int(words[1]), int(words[2])][0].append((place, float(words[3]), words[4], words[5]))
                else:
                    self.mark[int(words[1]), int(words[2])][1].append((place, float(words[3]), words[4], int(words[5])))
        self.count["marks"] = place + 1 if self.mark else 0

    def check_pages(self, runs):
        """The surface tells what the store has."""
        told = {int(r["id"][1:]): (r["state"], r["outcome"], r["attempt"]) for r in self.pages}
        for r in runs.values():
            want = (RUN_STATES[r["state"]], OUTCOMES[r["outcome"]], r["attempt"])
            self.check(told.get(r["run"]) == want, f"run {r['run']}: told as {told.get(r['run'])}, kept as {want}")

    def is_burnt(self, run, attempt):
        for path in glob.glob(f"{self.rig.data}/runs/*/{run}.{attempt}.run"):
            with open(path, "rb") as f:
                return b"\ncause burnt\n" in f.read()
        return False

    def check_run(self, r, p, reasons):
        name = f"run {r['run']} of {p.id}"
        state, outcome, reason = RUN_STATES[r["state"]], OUTCOMES[r["outcome"]], reasons[r["reason"]]
        self.count[f"{state} {outcome or ''}{'/' + reason if reason else ''}"] += 1
        attempts = sorted(a for a in self.attempts_of[r["run"]])
        # One that was made unstartable before a crash is passed over: the next goes in its place.
        passed_over = [a for a in range(1, r["attempt"]) if a not in attempts and self.is_burnt(r["run"], a)]
        if state in ("skipped", "missed"):
            self.check(not attempts, f"{name} is {state}/{reason}, and was started")
            if state == "missed" and p.group != "window":
                self.check(self.longest_down > 50, f"{name} is missed/{reason}, and it was never down for long")
            return
        self.check(state == "finished", f"{name} is {state} in the end")
        if p.group == "event":
            self.check(outcome == "done" and not attempts, f"{name}: {outcome}, attempts {attempts}")
            return
        killed_unborn = outcome == "killed" and reason in ("cancelled", "replaced") and len(attempts) == r["attempt"] - 1
        # Killed at once, a run may have had no time for its mark.
        no_time = [a for a in range(1, r["attempt"] + 1) if a not in attempts + passed_over and (r["run"], a) in self.shims]
        self.count["attempts passed over"] += len(passed_over)
        self.check(sorted(attempts + passed_over + no_time) == list(range(1, r["attempt"] + 1)) or killed_unborn or
                   (r["attempt"] == 0 and not attempts and outcome == "killed"),
                   f"{name}: attempt {r['attempt']} ({state} {outcome}/{reason}), but marks of {attempts}")
        for a in attempts:
            starts, ends = self.mark[r["run"], a]
            self.check(len(starts) == 1, f"{name}, attempt {a}: started {len(starts)} times: {starts}")
            self.check(len(ends) <= 1, f"{name}, attempt {a}: ended {len(ends)} times")
            self.check(starts and self.boot + starts[0][1] > r["nominal"] / 1e6 - 0.03, f"{name}: started early")
            last = a == r["attempt"]
            if not ends:
                excused = p.group == "timeout" or (last and outcome == "killed") or (r["run"], a) in self.shims
                self.check(excused, f"{name}, attempt {a}: started and never ended; it is {outcome}/{reason}")
            elif starts:
                self.check(ends[0][2] == starts[0][2], f"{name}, attempt {a}: ended by another process")
            if a > 1 and starts:
                earlier = self.mark[r["run"], a - 1][1]
                self.check(not earlier or earlier[0][0] < starts[0][0], f"{name}: attempt {a} overlaps the one before")
            if last and (r["run"], a) in self.shims and reason == "lost":
                continue  # the mark may have been its last deed
            if last and ends and outcome != "killed":
                want = ("done", None, 0) if ends[0][3] == 0 else ("failed", "exit", 1)
                self.check((outcome, reason, r["exit_code"]) == want,
                           f"{name}: marks say {want}, the store {outcome}/{reason} {r['exit_code']}")
        if outcome == "killed":
            allowed = {"timeout": p.group == "timeout", "cancelled": r["run"] in self.stopped,
                       "replaced": p.group == "replace"}
            self.check(allowed.get(reason), f"{name}: killed/{reason}")
        elif not no_time:
            self.check(bool(attempts), f"{name}: {outcome}/{reason} without a mark")
        if reason == "lost":
            self.check((r["run"], r["attempt"]) in self.shims, f"{name} is lost, and its shim was not killed")

    def check_times(self, p, sid, runs, ranges):
        """Every nominal time that came, by an oracle of our own: whole intervals since 1970."""
        mine = collections.Counter(r["nominal"] for r in runs if KINDS[r["kind"]] != "manual")
        step = p.interval * 1000000
        for t, n in mine.items():
            self.check(n == 1, f"{p.id}: {n} runs of {t}")
            self.check(t % step == 0, f"{p.id}: a run of {t}, which is no time of its")
            self.check(t > p.added[0] * 1e6 if p.added else True, f"{p.id}: a run of {t}, before it was added")
        first = p.added[1] * 1e6 if p.added else min(mine, default=None)
        if first is None or p.paused_at is None:
            return
        t = (int(first) // step + 1) * step
        lost = []
        while t <= p.paused_at * 1e6:
            covered = mine[t] + sum(f <= t <= l for f, l in ranges)
            self.count["nominal times"] += 1
            self.checked += 1
            if covered == 0:
                lost.append(t)
            elif covered > 1:
                self.finding(f"{p.id}: {t} has {mine[t]} runs and lies in {covered - mine[t]} ranges")
            t += step
        if lost:
            self.finding(f"{p.id}: {len(lost)} times are lost, from {lost[0]} to {lost[-1]} (added {p.added}, paused {p.paused_at})")

    def check_follower(self, p, runs, ranges, ends):
        want = {"done": (1, 4), "failed": (2, 3), "any": (1, 2, 3, 4)}[p.document["after"].get("outcome", "done")]
        # A run whose retry was given up ended then, not with its last attempt.
        ended = {e["retry_at"] or e["ended"] for e in ends if e["outcome"] in want}
        due = {t for t in ended if t > p.added[1] * 1e6}
        mine = collections.Counter(r["nominal"] for r in runs)
        for t in due:
            covered = mine[t] + sum(f <= t <= l for f, l in ranges)
            self.count["ends followed"] += 1
            self.check(covered == 1, f"{p.id}: the end of {p.leader.id} at {t} was followed {covered} times")
        for t in mine:
            self.check(t in ended, f"{p.id}: a run of {t}, when nothing of {p.leader.id} ended")

    def check_overlap(self, p, runs):
        """By the order of the marks: between a start and its end nothing of the same schedule starts."""
        if p.group in ("timeout", "replace", "allow", "catchup") or p.document.get("overlap") == "allow":
            return
        marks = []
        for r in runs:
            if RUN_STATES[r["state"]] == "skipped" and r["reason"] == self.overlap:
                # One that was recorded earlier was alive then, or its end was just being recorded.
                # One that was then refused (its window closed, its schedule was paused) has no end.
                alive = any(o["run"] < r["run"] and (o["ended"] > r["claimed"] - 2000000 or not o["ended"]) and
                            r["nominal"] - o["nominal"] < 120000000 for o in runs)
                self.check(alive, f"{p.id}: run {r['run']} is skipped/overlap, and nothing was alive")
            for a in self.attempts_of[r["run"]]:
                starts, ends = self.mark[r["run"], a]
                if starts and ends:
                    marks += [(starts[0][0], 1, r["run"]), (ends[0][0], -1, r["run"])]
        open_now = 0
        for _, what, run in sorted(marks):
            open_now += what
            self.check(open_now <= 1, f"{p.id}: run {run} overlaps another")

    def compare(self, reasons):
        rig = self.rig
        self.overlap = reasons.index("overlap")
        # Of one moment: uptime and time of day are read together.
        with open("/proc/uptime") as f:
            self.boot = time.time() - float(f.read().split()[0])
        self.read_marks()
        self.attempts_of = collections.defaultdict(set)
        for run, attempt in self.mark:
            self.attempts_of[run].add(attempt)
        self.check(rig.rows("PRAGMA integrity_check")[0][0] == "ok", "the database is damaged")
        sids = {r["id"]: r["sid"] for r in rig.rows("SELECT sid, id FROM document")}
        runs = {r["run"]: r for r in rig.rows("SELECT * FROM run")}
        ranges, of = collections.defaultdict(list), collections.defaultdict(list)
        for r in rig.rows("SELECT * FROM range"):
            ranges[r["sid"]].append((r["first"], r["last"]))
            self.count["ranges"] += 1
        for r in runs.values():
            of[r["sid"]].append(r)
        self.count["runs"] = len(runs)
        for run in self.attempts_of:
            self.check(run in runs, f"run {run} left marks, and is in no record")
        for p in self.all:
            sid = sids.get(p.id)
            if sid is None:
                self.check(not p.acked, f"{p.id} was acknowledged, and is gone")
                continue
            for r in of[sid]:
                self.check_run(r, p, reasons)
            if p.leader:
                self.check_follower(p, of[sid], ranges[sid], [r for r in of[sids[p.leader.id]] if r["end"]])
            elif p.interval:
                self.check_times(p, sid, of[sid], ranges[sid])
            self.check_overlap(p, of[sid])
        for schedule, run in self.manual:
            self.check(run in runs and runs[run]["sid"] == sids[schedule], f"run {run} of {schedule} was acknowledged, and is gone")
        self.check_pages(runs)

    def go(self, reasons):
        rig = self.rig
        if not rig.start():
            raise SystemExit(f"the daemon does not start: {rig.log_text()}")
        for p in plans(self.rng, self.args.schedules):
            self.add(p)
        self.count["schedules"] = len(self.all)
        rig.kill()
        self.count["daemons killed"] += 1
        for n in range(1, self.args.kills):
            self.one_life(n)
            if n % 20 == 0:
                print(f"{n} kills, {len(self.findings)} findings", flush=True)
        self.drain()
        self.compare(reasons)


def reason_words(root):
    """The words of core/model.h's numbers, in their order."""
    words, inside = [], False
    with open(os.path.join(root, "src/core/model.h")) as f:
        for line in f:
            word = line.strip().split(",")[0]
            inside = (inside or line.startswith("enum reason {")) and word != "REASON_COUNT"
            if inside and word.startswith("REASON_"):
                words.append(word[7:].lower())
    return [None] + words[1:]


def main():
    a = argparse.ArgumentParser()
    a.add_argument("rota")
    a.add_argument("--kills", type=int, default=12)
    a.add_argument("--seed", type=int, default=random.randrange(10**6))
    a.add_argument("--schedules", type=int, default=200)
    a.add_argument("--life", type=float, default=0.9, help="seconds between two deeds of a life, at most")
    a.add_argument("--keep", action="store_true", help="leave the directory")
    args = a.parse_args()
    # Now and then it is down for longer than the grace of 60 s; the short form has no time for that.
    args.long_down = set(range(60, args.kills, 70))
    print(f"crash: seed {args.seed}, {args.kills} kills", flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("crash: ended from outside"))
    c = Crash(args)
    try:
        c.go(reason_words(os.path.join(os.path.dirname(__file__), "..", "..")))
    finally:
        left = c.rig.close(keep=args.keep)
    if left:
        c.finding(f"had to be ended: {left}")
    for what, n in sorted(c.count.items()):
        print(f"{n:8} {what}")
    if c.findings:
        print(f"{len(c.findings)} findings; again with --seed {args.seed} --kills {args.kills}")
    if args.keep:
        print(f"kept: {c.rig.dir}")
    print(f"{c.checked - len(c.findings)} passed, {len(c.findings)} failed")
    return bool(c.findings)


if __name__ == "__main__":
    sys.exit(main())
