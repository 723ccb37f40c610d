#!/usr/bin/env python3
"""Compares simple cron expressions with systemd's calendar events, which can express the same times.

usage: systemd.py ROTA

systemd 252 treats the days of a clock change differently. Each such difference is a predicate that quotes the deciding
sentence of the specification. The test fails if a difference matches no predicate, or if a predicate never matches."""
import concurrent.futures
import json
import os
import random
import re
import shutil
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

ROTA = sys.argv[1]
COUNT = 12
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Europe/Dublin", "America/Havana",
         "Asia/Kathmandu",
         "Asia/Tokyo", "America/Sao_Paulo", "Pacific/Chatham", "America/St_Johns"]
BASES = ["2026-01-01T00:00:00", "2026-06-30T23:59:59", "2028-02-28T22:00:00", "2026-10-24T00:00:00",
         "2027-04-03T00:00:00", "2036-12-31T00:00:00"]
# A few hours before clock changes, forward and back.
CHANGES = [("Europe/Berlin", "2026-03-28T22:00:00"), ("Europe/Berlin", "2026-10-24T21:00:00"),
           ("America/New_York", "2027-03-14T03:00:00"),
           ("America/New_York", "2026-11-01T02:00:00"), ("Australia/Lord_Howe", "2027-10-02T12:00:00"),
           ("Australia/Lord_Howe", "2027-04-03T12:00:00"),
           ("America/Havana", "2027-03-14T01:00:00"), ("America/Havana", "2026-11-01T02:00:00"),
           ("Europe/Dublin", "2027-03-27T20:00:00"),
           ("Pacific/Chatham", "2026-09-26T10:00:00"), ("Pacific/Chatham", "2027-04-03T10:00:00"),
           ("America/St_Johns", "2026-11-01T01:00:00")]
WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
rng = random.Random(41)


# --- making expressions ----------------------------------------------------------------------------------------------
class Field:
    """One field of a cron expression: its text, the text for systemd, and its values."""

    def __init__(self, low, high, star):
        self.low, self.high = low, high
        if star:
            self.cron, self.systemd, self.values = "*", "*", set(range(low, high + 1))
            return
        cron, systemd, self.values = [], [], set()
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            a, b, step = rng.randint(low, high), rng.randint(low, high), rng.randint(1, max(2, (high - low) // 3))
            shape = rng.randrange(6)
            if shape == 0:
                values, text, other = range(low, high + 1, step), f"*/{step}", f"{low}..{high}/{step}"
            elif shape == 1 and a < b:
                values, text, other = range(a, b + 1), f"{a}-{b}", f"{a}..{b}"
            elif shape == 2 and a < b:
                values, text, other = range(a, b + 1, step), f"{a}-{b}/{step}", f"{a}..{b}/{step}"
            elif shape == 3 and a > b:  # systemd has no ranges that wrap
                values = [*range(a, high + 1), *range(low, b + 1)]
                text, other = f"{a}-{b}", ",".join(map(str, values))
            elif shape == 4:
                values, text, other = range(a, high + 1, step), f"{a}/{step}", f"{a}..{high}/{step}"
            else:
                values, text, other = [a], str(a), str(a)
            cron.append(text)
            systemd.append(other)
            self.values.update(values)
        self.cron, self.systemd = ",".join(cron), ",".join(systemd)


class Case:
    def __init__(self, change=None):
        """`change`: one of CHANGES. The schedule must be sparse enough to reach it within COUNT runs."""
        self.seconds = Field(0, 59, False) if rng.random() < 0.15 and not change else None
        self.minute = Field(0, 59, rng.random() < 0.1)
        while change and len(self.minute.values) > 3:
            self.minute = Field(0, 59, False)
        self.hour = Field(0, 23, rng.random() < 0.3)
        by_day = rng.random() < (0.1 if change else 0.35)
        self.day = Field(1, 31, not by_day)
        self.month = Field(1, 12, rng.random() < 0.7)
        self.weekday = Field(0, 6, by_day or rng.random() < (0.7 if change else 0.4))
        fields = [self.minute, self.hour, self.day, self.month, self.weekday]
        self.cron = " ".join(f.cron for f in ([self.seconds] if self.seconds else []) + fields)
        self.zone, self.base = change or (rng.choice(ZONES), rng.choice(BASES))
        days = "" if self.weekday.cron == "*" else ",".join(WEEKDAYS[d] for d in sorted(self.weekday.values)) + " "
        self.systemd = (f"{days}*-{self.month.systemd}-{self.day.systemd} {self.hour.systemd}:{self.minute.systemd}:"
                        f"{self.seconds.systemd if self.seconds else '00'} {self.zone}")

    def matches(self, wall):
        """Do the fields match this wall time, to the second?"""
        return (wall.second in (self.seconds.values if self.seconds else {0}) and wall.minute in self.minute.values and
                wall.hour in self.hour.values and wall.day in self.day.values and wall.month in self.month.values and
                wall.isoweekday() % 7 in self.weekday.values)

    def elapsed(self):
        return len(self.hour.values) == 24

    def fires(self):
        return self.day.values & set(range(1, 29))


# --- asking ----------------------------------------------------------------------------------------------------------
def parse(text):
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)


def ask_rota(cases):
    lines = "".join(json.dumps({"expr": c.cron, "tz": c.zone, "after": c.base + "Z", "count": COUNT}) +
                    "\n" for c in cases)
    done = subprocess.run([ROTA, "next", "--batch", "-"], input=lines, stdout=subprocess.PIPE, text=True, timeout=60,
                          check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def ask_systemd(cases):
    """A list of times, or the error of systemd, for each case. One process answers many cases with the same base time."""
    done = subprocess.run(["systemd-analyze", "calendar", f"--iterations={COUNT}", "--base-time=" +
                           cases[0].base.replace("T", " ") + " UTC",
                           *(c.systemd for c in cases)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60,
                          env={**os.environ, "TZ": "UTC", "LC_ALL": "C"})
    if done.returncode != 0:
        if len(cases) > 1:  # systemd refuses one of the cases; find out which one
            half = len(cases) // 2
            return ask_systemd(cases[:half]) + ask_systemd(cases[half:])
        return [done.stderr.strip()]
    answers = []
    for block in re.split(r"\n\n+", done.stdout.strip()):
        times = re.findall(r"(?:Next elapse|Iter\. #\d+): \w+ (\d+-\d+-\d+ \d+:\d+:\d+) UTC", block)
        answers.append([datetime.strptime(t, "%Y-%m-%d %H:%M:%S").replace(tzinfo=timezone.utc) for t in times])
    assert len(answers) == len(cases), f"{len(answers)} answers to {len(cases)} questions"
    return answers


# --- the differences -------------------------------------------------------------------------------------------------
def change_at(zone, t):
    """(offset before, offset after) an instant."""
    return [(t - d).astimezone(zone).utcoffset() for d in (timedelta(seconds=1), timedelta())]


def lost_in_gap(case, zone, t, ours):
    """"a time inside a gap at the first valid instant after it, several such coalescing into one\""""
    before, after = change_at(zone, t)
    if not ours or case.elapsed() or after <= before:
        return False
    wall = t.astimezone(zone).replace(tzinfo=None)
    missing = (wall - timedelta(seconds=s + 1) for s in range(int((after - before).total_seconds())))
    return any(case.matches(w) for w in missing)


def second_pass(case, zone, t, ours):
    """"If the hour field covers all 24 hours the schedule follows elapsed time: in a repeated hour both passes fire\""""
    wall = t.astimezone(zone)
    return ours and case.elapsed() and wall.fold == 1 and case.matches(wall)


def rest_of_hour(case, zone, t, ours):
    """"Real transitions from the zone's data": a gap may end within an hour (Chatham: 03:45); the rest of that hour
    exists"""
    wall = t.astimezone(zone)
    starts = (t - timedelta(minutes=m) for m in range(wall.minute + 1))
    gaps = (s for s in starts if change_at(zone, s)[0] < change_at(zone, s)[1])
    return ours and case.matches(wall) and any(s.astimezone(zone).minute > 0 for s in gaps)


def no_answer(case, zone, start, complaint):
    """"The search for the next run is bounded" (systemd 252 does not end its search if a gap ends within an hour)"""
    ends = (start + timedelta(minutes=m) for m in range(24 * 60))
    return "Resource deadlock avoided" in complaint and any(
        change_at(zone, e)[0] < change_at(zone, e)[1] and e.astimezone(zone).minute > 0 for e in ends)


DIFFERENCES = [lost_in_gap, second_pass, rest_of_hour]  # no_answer is checked separately, because it is not about one run


# --- comparing -------------------------------------------------------------------------------------------------------
def main():
    if not shutil.which("systemd-analyze"):
        print("FAIL: systemd-analyze is not installed (Debian: apt-get install systemd); the test compares with it")
        print("0 passed, 1 failed")
        return 1
    cases = [Case() for _ in range(500)] + [Case(change) for change in CHANGES for _ in range(35)]
    cases = [c for c in cases if c.fires()]
    groups = [[c for c in cases if c.base == base][i::2] for base in dict.fromkeys(c.base for c in cases)
              for i in range(2)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        theirs = {id(c): a for g, answers in zip(groups, pool.map(ask_systemd, groups)) for c, a in zip(g, answers)}
    passed = failed = 0
    hit = dict.fromkeys([*DIFFERENCES, no_answer], 0)
    for case, answer in zip(cases, ask_rota(cases)):
        zone, other, problem = ZoneInfo(case.zone), theirs[id(case)], None
        mine = [parse(t) for t in answer.get("next", [])]
        if isinstance(other, str):
            start = datetime.fromisoformat(case.base).replace(tzinfo=timezone.utc)
            if mine and no_answer(case, zone, start, other):
                hit[no_answer] += 1
            else:
                problem = other
            other = []
        elif not mine or not other:
            problem = f"rota {answer}, systemd {other}"
        else:
            # The list with more runs per day ends earlier, so only the time that both lists cover is compared.
            end = min(mine[-1] if len(mine) == COUNT else datetime.max.replace(tzinfo=timezone.utc),
                      other[-1] if len(other) == COUNT else datetime.max.replace(tzinfo=timezone.utc))
            for t in sorted(set(t for t in mine if t <= end) ^ set(t for t in other if t <= end)):
                reasons = [d for d in DIFFERENCES if d(case, zone, t, t in mine)]
                if not reasons:
                    problem = f"{'only rota' if t in mine else 'only systemd'} runs at {t:%Y-%m-%dT%H:%M:%SZ}"
                    break
                hit[reasons[0]] += 1
        if problem:
            failed += 1
            if failed <= 15:
                print(f"FAIL {case.cron!r} in {case.zone} after {case.base}Z: {problem}\n     systemd: {case.systemd!r}\n"
                      f"     rota    {answer}\n     systemd {[f'{t:%Y-%m-%dT%H:%M:%SZ}' for t in other]}")
        else:
            passed += 1
    for difference, times in hit.items():
        print(f"{times:5} differences: {difference.__name__}: {difference.__doc__}")
        if times:
            passed += 1
        else:
            failed += 1
            print(f"FAIL: no run differed by {difference.__name__}: either it does not exist, or no case tries it")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
