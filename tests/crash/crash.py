#!/usr/bin/env python3
"""The daemon, and sometimes its launcher, is killed with kill -9 at random moments under load; then the marks that its runs
left behind are compared with its records, as people get them. Usage: crash.py ROTA [--kills N] [--seed S] [--schedules N] [--keep]

However often it is killed:
  - every nominal time up to the end has exactly one run, or lies in exactly one range;
  - no attempt was started twice, overlaps the next attempt, or was early;
  - kills of the daemon end no run: a run that started also ended, unless it was stopped, timed out, or its own shim was
    killed;
  - the record of every run agrees with the run's own marks;
  - everything that was acknowledged is recorded;
  - no process is left behind.
The moments of the kills depend on the machine; the seed determines schedules, pauses and kinds of kills."""
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
from rig import NoAnswer, Refused, Rig, kill, name_of, seconds_of, wait_until  # noqa: E402

# Each mark is appended in one write, so the order in the file is the order of the events.
WORK = """#!/bin/sh
# work.sh MARKS SECONDS EVERY UPTO: every EVERY-th run fails, up to its attempt UPTO
read -r up _ </proc/uptime
echo "S $ROTA_RUN_ID $ROTA_ATTEMPT $up $$ $ROTA_SCHEDULE_ID" >>"$1"
sleep "$2"
code=0
if [ "$3" -gt 0 ] && [ $((ROTA_RUN_ID % $3)) -eq 0 ] && [ "$ROTA_ATTEMPT" -le "$4" ]; then code=1; fi
read -r up _ </proc/uptime
echo "E $ROTA_RUN_ID $ROTA_ATTEMPT $up $$ $code" >>"$1"
exit $code
"""


def time_of(text):
    """A time of an answer in whole seconds since 1970; None: there is none."""
    return seconds_of(text) if text else None


class Run:
    """A run as an answer describes it."""

    def __init__(self, answer):
        self.number, self.schedule, self.kind = int(answer["id"][1:]), answer["schedule"], answer["kind"]
        self.state, self.outcome, self.reason = answer["state"], answer["outcome"], answer["reason"]
        self.attempt, self.exit_code = answer["attempt"], answer["exit_code"]
        self.nominal, self.claimed, self.ended = (time_of(answer[k]) for k in ("nominal", "claimed_at", "ended_at"))
        # A run whose retry was given up ended at that time, not with its last attempt.
        self.final = time_of(answer.get("retry_dropped_at")) or self.ended

    def facts(self):
        return vars(self)


class Plan:
    """One schedule, and the facts that the test knows about it."""

    def __init__(self, group, number, interval, seconds, **document):
        self.group, self.id, self.interval = group, f"{group}-{number}", interval
        self.seconds, self.every, self.upto = seconds, 0, 0
        self.document = document
        self.added = None      # times before and after the request that added it
        self.paused_at = None  # the time before the request that paused it at the end
        self.leader = None
        self.acked = False

    def failing(self, every, upto):
        self.every, self.upto = every, upto
        return self

    def full_document(self, marks, work):
        d = {"id": self.id, "action": {"type": "command", "command": [
            "/bin/sh", work, marks, f"{self.seconds:.3f}", str(self.every), str(self.upto)]}}
        if self.interval and not self.leader:
            d["expression"] = f"@every {self.interval}s"
        if self.group == "event":
            d["action"] = {"type": "event", "name": self.id}
        d.update(self.document)
        return d


def make_plans(rng, most):
    """A mix of `most` schedules; 200 of them make about 35 runs a second."""
    def retry(n):
        return {"max_attempts": n, "backoff": "fixed", "initial_delay": 1}

    def add_group(group, share, make):
        for n in range(max(1, round(share * most / 200))):
            found.append(make(group, n))

    found = []
    short = lambda: rng.uniform(0.05, 0.3)
    add_group("second", 8, lambda g, n: Plan(g, n, 1, 0.05))
    add_group("plain", 25, lambda g, n: Plan(g, n, rng.randint(2, 4), short()).failing(rng.choice([0, 0, 3]), 9))
    add_group("event", 18, lambda g, n: Plan(g, n, rng.randint(1, 5), 0))
    add_group("retry", 20, lambda g, n: Plan(g, n, rng.randint(5, 15), short(), retry=retry(2)).failing(2, rng.randint(1, 3)))
    add_group("retryall", 8, lambda g, n: Plan(g, n, rng.randint(3, 6), short(), retry=retry(2),
                                          overlap=rng.choice(["queue_all", "allow"])).failing(2, rng.randint(1, 3)))
    add_group("queueall", 12, lambda g, n: Plan(g, n, rng.randint(2, 4), rng.uniform(0.5, 2), overlap="queue_all"))
    add_group("queueone", 6, lambda g, n: Plan(g, n, rng.randint(2, 4), rng.uniform(1, 6), overlap="queue_one"))
    add_group("allow", 10, lambda g, n: Plan(g, n, rng.randint(4, 9), rng.uniform(2, 20), overlap="allow"))
    add_group("replace", 4, lambda g, n: Plan(g, n, rng.randint(3, 5), rng.uniform(2, 7), overlap="cancel_running"))
    add_group("catchup", 14, lambda g, n: Plan(g, n, rng.randint(2, 6), short(), missed_schedule_policy="catch_up",
                                          catch_up_limit=rng.randint(5, 50)))
    add_group("next", 4, lambda g, n: Plan(g, n, rng.randint(2, 6), short(), missed_schedule_policy="execute_next"))
    add_group("drop", 4, lambda g, n: Plan(g, n, rng.randint(2, 6), short(), missed_schedule_policy="skip"))
    add_group("window", 8, lambda g, n: Plan(g, n, rng.randint(3, 6), short(), window="2s"))
    add_group("timeout", 8, lambda g, n: Plan(g, n, rng.randint(8, 12), 20, timeout="2s",
                                         **({"retry": retry(1)} if n % 2 else {})))
    add_group("cron", 8, lambda g, n: Plan(g, n, k := rng.choice([2, 3, 4, 5, 6, 10]), short(),
                                      expression=f"*/{k} * * * * *",
                                      timezone=rng.choice(["Europe/Berlin", "America/New_York", "Asia/Kolkata"])))
    add_group("victim", 6, lambda g, n: Plan(g, n, rng.randint(4, 8), rng.uniform(1, 3), overlap="queue_all", retry=retry(1)))
    add_group("pause", 5, lambda g, n: Plan(g, n, rng.randint(1, 4), short()))
    add_group("manual", 5, lambda g, n: Plan(g, n, 0, short(), expression="0 0 29 2 *", retry=retry(1)).failing(3, 1))
    leaders = [p for p in found if p.group in ("plain", "retry", "event", "queueall", "catchup")]

    def follower(g, n):
        leader = rng.choice(leaders)
        p = Plan(g, n, 0, short(), overlap=rng.choice(["allow", "skip", "queue_all"]),
                 after={"schedule": leader.id, "outcome": rng.choice(["done", "failed", "any"])})
        p.leader = leader
        return p
    add_group("after", 10, follower)
    add_group("slow", max(0, most - len(found)) * 200 / most if most > len(found) else 0,
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
        self.rig.add(p.full_document(self.marks, self.work))
        p.added, p.acked = (before, time.time()), True

    def send_request(self, rng):
        """Sends one random request."""
        kind = self.request = rng.choice(["run", "run", "pause", "resume", "stop", "add", "look", "shim"])
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
                self.stopped.add(run)  # even without an answer, it may have been carried out
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

    def send_requests(self, stop, seed):
        rng = random.Random(seed)
        while not stop.is_set():
            try:
                self.send_request(rng)
            except Refused as e:
                # A running schedule is not run again, and an ended run not stopped. No other request may be refused.
                self.count["refused"] += 1
                self.check(self.request in ("run", "stop"), f"{self.request} is refused: {e}")
            except NoAnswer:
                self.count["unanswered"] += 1
            stop.wait(rng.uniform(0, 0.3))

    def kill_shim(self, run, attempt):
        """Kills the process that wrote the run file, if the process with that pid is still a shim."""
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

    def run_one_life(self, number):
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
                self.finding(f"life {number}: the daemon does not start: {rig.log_text()[-500:]}")
            stop = threading.Event()
            client = threading.Thread(target=self.send_requests, args=(stop, rng.random()))
            client.start()
            for _ in range(rng.randint(1, 3)):
                time.sleep(rng.uniform(0.05, self.args.life))
                if rng.random() < 0.2:
                    self.kill_launcher()  # only the launcher is killed
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
            client.join()
        down = rng.choice([0, 0, 0, 0.05, 0.2, 0.5, 1.5, 4])
        if number in self.args.long_down:
            down = 66  # beyond the grace period, so that the policies for missed times apply
        time.sleep(down)
        self.longest_down = max(self.longest_down, down)

    def drain(self):
        rig = self.rig
        if not rig.start():
            self.finding(f"the daemon does not start at the end: {rig.log_text()[-500:]}")
            return
        for p in self.all:
            if p.leader:
                continue  # followers have no times of their own: they end when their leaders are paused
            p.paused_at = time.time()
            try:
                rig.ask("POST", f"/schedules/{p.id}/pause", {})
            except Refused as e:
                if p.acked:
                    self.finding(f"{p.id} was acknowledged, and cannot be paused: {e}")

        def quiet():
            s = rig.ask("GET", "/status")
            return not s["runs"] and not s["slots_used"]
        # Waiting runs are skipped, running ones take 20 s at most, and followers come after them.
        if not wait_until(90, quiet, 0.2):
            self.finding(f"runs do not end: {rig.ask('GET', '/status')}")
        self.read_records()
        code = rig.stop()
        self.check(code == 0, f"SIGTERM: exit {code}: {rig.log_text()[-500:]}")
        left = wait_until(5, lambda: not rig.processes(), 0.1) or rig.processes()
        self.check(left is True, f"processes are left: {left}")

    # --- comparing marks and records ---

    def read_records(self):
        """Reads into self.runs and self.ranges: schedule -> [Run], [(first, last)], while the daemon is quiet."""
        self.runs, self.ranges = {}, {}
        for id in self.rig.schedules():
            runs, ranges = self.rig.records(id)
            self.runs[id] = [Run(r) for r in runs]
            self.ranges[id] = [(time_of(g["first"]), time_of(g["last"]) or float("inf")) for g in ranges]
        listed = self.rig.runs()
        self.listed = {r.number: r for r in map(Run, listed)}
        self.check(len(self.listed) == len(listed), "a run is listed twice")

    def read_marks(self):
        """Reads into self.mark: (run, attempt) -> [[(line, time, pid)], [(line, time, pid, code)]]"""
        self.mark = collections.defaultdict(lambda: ([], []))
        with open(self.marks) as f:
            for number, line in enumerate(f):
                words = line.split()
                self.check(words[0] in "SE" and len(words) == 6, f"an incomplete mark: {line!r}")
                if words[0] == "S":
                    self.mark[int(words[1]), int(words[2])][0].append((number, float(words[3]), words[4], words[5]))
                else:
                    self.mark[int(words[1]), int(words[2])][1].append((number, float(words[3]), words[4], int(words[5])))
        self.count["marks"] = number + 1 if self.mark else 0

    def check_listed_runs(self, runs):
        """The list of all runs agrees with the lists of the schedules, which are read by another index."""
        self.check(set(runs) == set(self.listed), f"runs in one list only: {set(runs) ^ set(self.listed)}")
        for number in set(runs) & set(self.listed):
            one, other = runs[number].facts(), self.listed[number].facts()
            self.check(one == other, f"run {number}: {one} in the list of its schedule, {other} in that of all")

    def was_prevented(self, run, attempt):
        for path in glob.glob(f"{self.rig.data}/runs/*/{run}.{attempt}.run"):
            with open(path, "rb") as f:
                return b"\ncause burnt\n" in f.read()
        return False

    def check_run(self, r, p):
        name = f"run {r.number} of {p.id}"
        state, outcome, reason = r.state, r.outcome, r.reason
        self.count[f"{state} {outcome or ''}{'/' + reason if reason else ''}"] += 1
        attempts = sorted(a for a in self.attempts_of[r.number])
        # An attempt that was prevented from starting before a crash is passed over: the next one replaces it.
        passed_over = [a for a in range(1, r.attempt) if a not in attempts and self.was_prevented(r.number, a)]
        if state in ("skipped", "missed"):
            self.check(not attempts, f"{name} is {state}/{reason}, and was started")
            if state == "missed" and p.group != "window":
                self.check(self.longest_down > 50, f"{name} is missed/{reason}, but the daemon was never down for long")
            return
        self.check(state == "finished", f"{name} is {state} at the end")
        if p.group == "event":
            self.check(outcome == "done" and not attempts, f"{name}: {outcome}, attempts {attempts}")
            return
        killed_unborn = outcome == "killed" and reason in ("cancelled", "replaced") and len(attempts) == r.attempt - 1
        # If its shim was killed at once, an attempt may have had no time for its mark.
        no_time = [a for a in range(1, r.attempt + 1) if a not in attempts + passed_over and (r.number, a) in self.shims]
        self.count["attempts passed over"] += len(passed_over)
        self.check(sorted(attempts + passed_over + no_time) == list(range(1, r.attempt + 1)) or killed_unborn or
                   (r.attempt == 0 and not attempts and outcome == "killed"),
                   f"{name}: attempt {r.attempt} ({state} {outcome}/{reason}), but marks of {attempts}")
        for a in attempts:
            starts, ends = self.mark[r.number, a]
            self.check(len(starts) == 1, f"{name}, attempt {a}: started {len(starts)} times: {starts}")
            self.check(len(ends) <= 1, f"{name}, attempt {a}: ended {len(ends)} times")
            self.check(starts and self.boot + starts[0][1] > r.nominal - 0.03, f"{name}: started early")
            last = a == r.attempt
            if not ends:
                excused = p.group == "timeout" or (last and outcome == "killed") or (r.number, a) in self.shims
                self.check(excused, f"{name}, attempt {a}: started and never ended; it is {outcome}/{reason}")
            elif starts:
                self.check(ends[0][2] == starts[0][2], f"{name}, attempt {a}: ended by another process")
            if a > 1 and starts:
                earlier = self.mark[r.number, a - 1][1]
                self.check(not earlier or earlier[0][0] < starts[0][0], f"{name}: attempt {a} overlaps the one before")
            if last and (r.number, a) in self.shims and reason == "lost":
                continue  # the mark may have been its last action
            if last and ends and outcome != "killed":
                want = ("done", None, 0) if ends[0][3] == 0 else ("failed", "exit", 1)
                self.check((outcome, reason, r.exit_code) == want,
                           f"{name}: marks say {want}, the record {outcome}/{reason} {r.exit_code}")
        if outcome == "killed":
            allowed = {"timeout": p.group == "timeout", "cancelled": r.number in self.stopped,
                       "replaced": p.group == "replace"}
            self.check(allowed.get(reason), f"{name}: killed/{reason}")
        elif not no_time:
            self.check(bool(attempts), f"{name}: {outcome}/{reason} without a mark")
        if reason == "lost":
            self.check((r.number, r.attempt) in self.shims, f"{name} is lost, and its shim was not killed")

    def check_times(self, p, runs, ranges):
        """Every nominal time up to the pause has one run or range. The times are computed here: multiples of the interval
        since 1970."""
        mine = collections.Counter(r.nominal for r in runs if r.kind != "manual")
        for t, n in mine.items():
            self.check(n == 1, f"{p.id}: {n} runs of {t}")
            self.check(t % p.interval == 0, f"{p.id}: a run of {t}, which is not one of its nominal times")
            self.check(t > p.added[0] if p.added else True, f"{p.id}: a run of {t}, before it was added")
        first = p.added[1] if p.added else min(mine, default=None)
        if first is None or p.paused_at is None:
            return
        t = (int(first) // p.interval + 1) * p.interval
        lost = []
        while t <= p.paused_at:
            covered = mine[t] + sum(f <= t <= l for f, l in ranges)
            self.count["nominal times"] += 1
            self.checked += 1
            if covered == 0:
                lost.append(t)
            elif covered > 1:
                self.finding(f"{p.id}: {t} has {mine[t]} runs and lies in {covered - mine[t]} ranges")
            t += p.interval
        if lost:
            self.finding(f"{p.id}: {len(lost)} times are lost, from {lost[0]} to {lost[-1]} (added {p.added}, paused {p.paused_at})")

    def check_follower(self, p, runs, ranges, leader_runs):
        """Every end of the leader is followed once. Answers have whole seconds, so the ends of each second are counted. In a
        second with a range, some of its ends may lie in the range."""
        want = {"done": ("done", "no_work"), "failed": ("failed", "killed"), "any": ("done", "no_work", "failed", "killed")}
        want = want[p.document["after"].get("outcome", "done")]
        ends = collections.Counter(r.final for r in leader_runs if r.outcome in want)
        mine = collections.Counter(r.nominal for r in runs)
        for t in ends.keys() | mine.keys():
            in_range = any(f <= t <= l for f, l in ranges)
            self.check(mine[t] <= ends[t], f"{p.id}: {mine[t]} runs of {t}, when {ends[t]} runs of {p.leader.id} ended")
            if t > p.added[1]:
                self.count["ends followed"] += ends[t]
                self.check(mine[t] == ends[t] or in_range, f"{p.id}: {ends[t]} ends of {p.leader.id} at {t}, {mine[t]} runs")

    def check_overlap(self, p, runs):
        """Runs of a schedule do not overlap, by the order of the marks."""
        if p.group in ("timeout", "replace", "allow", "catchup") or p.document.get("overlap") == "allow":
            return
        marks = []
        for r in runs:
            if r.state == "skipped" and r.reason == "overlap":
                # An earlier run was running then, or its end was just being recorded. A run that was refused later
                # (window closed, schedule paused) has no end.
                alive = any(o.number < r.number and (not o.ended or o.ended >= r.claimed - 2) and
                            r.nominal - o.nominal < 120 for o in runs)
                self.check(alive, f"{p.id}: run {r.number} is skipped/overlap, but no run was running")
            for a in self.attempts_of[r.number]:
                starts, ends = self.mark[r.number, a]
                if starts and ends:
                    marks += [(starts[0][0], 1, r.number), (ends[0][0], -1, r.number)]
        open_now = 0
        for _, what, run in sorted(marks):
            open_now += what
            self.check(open_now <= 1, f"{p.id}: run {run} overlaps another")

    def compare(self):
        # The time of boot: uptime and time of day are read together.
        with open("/proc/uptime") as f:
            self.boot = time.time() - float(f.read().split()[0])
        self.read_marks()
        self.attempts_of = collections.defaultdict(set)
        for run, attempt in self.mark:
            self.attempts_of[run].add(attempt)
        # This is about the file itself: `rota doctor` does not compare the indices with the rows.
        self.check(self.rig.rows("PRAGMA integrity_check")[0][0] == "ok", "the database is damaged")
        runs = {r.number: r for all in self.runs.values() for r in all}
        self.count["runs"], self.count["ranges"] = len(runs), sum(map(len, self.ranges.values()))
        for run in self.attempts_of:
            self.check(run in runs, f"run {run} left marks, but is not recorded")
        for p in self.all:
            if p.id not in self.runs:
                self.check(not p.acked, f"{p.id} was acknowledged, but is not recorded")
                continue
            for r in self.runs[p.id]:
                self.check_run(r, p)
            if p.leader:
                self.check_follower(p, self.runs[p.id], self.ranges[p.id], self.runs[p.leader.id])
            elif p.interval:
                self.check_times(p, self.runs[p.id], self.ranges[p.id])
            self.check_overlap(p, self.runs[p.id])
        for schedule, run in self.manual:
            self.check(run in runs and runs[run].schedule == schedule, f"run {run} of {schedule} was acknowledged, but is not recorded")
        self.check_listed_runs(runs)

    def run(self):
        rig = self.rig
        if not rig.start():
            raise SystemExit(f"the daemon does not start: {rig.log_text()}")
        for p in make_plans(self.rng, self.args.schedules):
            self.add(p)
        self.count["schedules"] = len(self.all)
        rig.kill()
        self.count["daemons killed"] += 1
        for n in range(1, self.args.kills):
            self.run_one_life(n)
            if n % 20 == 0:
                print(f"{n} kills, {len(self.findings)} findings", flush=True)
        self.drain()
        self.compare()


def main():
    a = argparse.ArgumentParser()
    a.add_argument("rota")
    a.add_argument("--kills", type=int, default=12)
    a.add_argument("--seed", type=int, default=random.randrange(10**6))
    a.add_argument("--schedules", type=int, default=200)
    a.add_argument("--life", type=float, default=0.9, help="at most so many seconds between two actions")
    a.add_argument("--keep", action="store_true", help="keep the directory")
    args = a.parse_args()
    # Some pauses are longer than the grace period of 60 s; short runs of this test have none.
    args.long_down = set(range(60, args.kills, 70))
    print(f"crash: seed {args.seed}, {args.kills} kills", flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("crash: terminated"))
    c = Crash(args)
    try:
        c.run()
    finally:
        left = c.rig.close(keep=args.keep)
    if left:
        c.finding(f"had to be killed: {left}")
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
