#!/usr/bin/env python3
"""An hour of the real daemon on the real clock under load: a thousand schedules every minute, commands every few seconds,
some of which fail and are retried, conditions, clients that add, change, pause, remove and read, and one that follows
events. Memory, descriptors and threads must not grow, no time may be lost or run twice; lateness is printed.

usage: soak.py ROTA [--seconds N]"""
import argparse
import datetime
import json
import os
import random
import re
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from rig import Connection, NoAnswer, Refused, Rig, seconds_of  # noqa: E402

EVENTS, COMMANDS, CHANGING = 1000, 40, 60
CACHE_MB = 32 + 6  # STORE_CACHE_KIB, and the caches of three readers


def event(id, when, **more):
    return {"id": id, "expression": when, "action": {"type": "event", "name": "soak"}, **more}


def command(id, when, line, **more):
    return {"id": id, "expression": when, "action": {"type": "command", "command": line}, "timeout": "1m", **more}


def documents():
    for n in range(EVENTS):
        yield event(f"e{n}", f"{n % 60} * * * * *")
    for n in range(COMMANDS):
        yield command(f"c{n}", f"{n % 5}/5 * * * * *", "echo $ROTA_RUN_ID")
    for n in range(10):
        yield command(f"f{n}", f"{n} * * * * *", '[ "$ROTA_ATTEMPT" -gt 2 ]', retry={"retries": 3, "backoff": "fixed", "initial_delay": 1})
        yield event(f"q{n}", f"{n}/10 * * * * *", condition=f"has(user.k) && user.k % 10 == {n}", window="5s")


class Follower(threading.Thread):
    """Follows events and collects the lateness of each occurrence."""

    def __init__(self, rig):
        super().__init__(daemon=True)
        self.rig, self.late, self.lost, self.number, self.last = rig, [], 0, None, None

    def run(self):
        while True:
            try:
                self.read()
            except (OSError, ValueError):
                time.sleep(1)

    def read(self):
        c = Connection(self.rig.socket, 60)
        c.request("GET", "/api/v1/events?follow=true", headers={"Last-Event-ID": self.last} if self.last else {})
        stream, marks = c.getresponse(), []
        while True:
            line = stream.readline()
            if not line:
                raise OSError("the stream ended")
            if line.startswith(b"id:"):
                self.last = line[3:].strip().decode()
            elif line.startswith(b":durable "):
                number, us = map(int, line.split()[1:])
                marks.append((number, us))
            elif line.startswith(b'data: {"seq"'):
                e = json.loads(line[5:])
                self.lost += self.number is not None and e["seq"] != self.number + 1
                self.number = e["seq"]
                while marks and marks[0][0] < e["seq"]:
                    marks.pop(0)
                if e["type"] == "run:claimed" and marks:
                    due = datetime.datetime.fromisoformat(e["data"]["due"].replace("Z", "+00:00")).timestamp()
                    self.late.append((time.monotonic(), marks[0][1] / 1000 - due * 1000))


class Client(threading.Thread):
    def __init__(self, rig, seed):
        super().__init__(daemon=True)
        self.rig, self.random, self.done, self.busy, self.wrong, self.stop = rig, random.Random(seed), 0, 0, [], False

    def run(self):
        while not self.stop:
            try:
                self.send_request(f"p{self.random.randrange(CHANGING)}")
                self.done += 1
            except Refused as e:
                if e.status in (404, 409):
                    self.done += 1  # the schedule does not exist, or exists already
                elif e.status == 503:
                    self.busy += 1
                else:
                    self.wrong.append(str(e))
            except NoAnswer as e:
                self.wrong.append(str(e))
            time.sleep(self.random.random() * 0.2)

    def send_request(self, name):
        r = self.random
        choice = r.randrange(12)
        if choice < 3:
            self.rig.add(event(name, f"{r.randrange(60)} * * * * *", priority=r.randrange(10)), update=True)
        elif choice == 3:
            self.rig.ask("DELETE", f"/schedules/{name}")
        elif choice == 4:
            self.rig.ask("POST", f"/schedules/{name}/pause", {"for": "5s"})
        elif choice == 5:
            self.rig.ask("POST", f"/schedules/{name}/resume", {})
        elif choice == 6:
            self.rig.ask("POST", f"/schedules/c{r.randrange(COMMANDS)}/run", {})
        elif choice == 7:
            self.rig.ask("PATCH", "/state", {"user": True, "patch": {"k": r.randrange(1000)}})
        else:
            self.rig.ask("GET", r.choice(["/status", "/runs?limit=50", "/schedules?limit=100", f"/schedules/e{r.randrange(EVENTS)}/why",
                                          "/problems", "/doctor"]))


def sample(rig):
    pid = rig.daemon.pid
    with open(f"/proc/{pid}/status") as f:
        status = dict(line.split(":", 1) for line in f if ":" in line)
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return {"t": time.monotonic(), "rss": int(status["VmRSS"].split()[0]) / 1024, "threads": int(status["Threads"]),
            "fds": len(os.listdir(f"/proc/{pid}/fd")), "cpu": (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"),
            "wal": os.path.getsize(os.path.join(rig.data, "rota.db-wal")) / 2**20,
            "database": os.path.getsize(os.path.join(rig.data, "rota.db")) / 2**20}


def percentile(values, p):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * p))] if values else float("nan")


def count_times(rig, since, until):
    """Compares every minute of every event schedule with the recorded runs."""
    seen = {}
    for r in rig.runs():
        if re.fullmatch("e[0-9]+", r["schedule"]):
            at = (r["schedule"], seconds_of(r["nominal"]))
            seen[at] = (seen.get(at, (0, ""))[0] + 1, r["state"])
    lost = twice = wanted = 0
    for n in range(EVENTS):
        first = since + (n % 60 - since) % 60
        for t in range(first, until, 60):
            wanted += 1
            lost += (f"e{n}", t) not in seen
    twice = sum(n > 1 for n, _ in seen.values())
    odd = sum(t % 60 != int(id[1:]) % 60 for id, t in seen)
    return wanted, lost, twice, odd


def main():
    p = argparse.ArgumentParser()
    p.add_argument("rota")
    p.add_argument("--seconds", type=int, default=3600)
    p.add_argument("--held", type=int, default=0, help="so many more schedules that are not due, to fill the store's cache at the start")
    p.add_argument("--seed", type=int, default=int(time.time()))
    a = p.parse_args()
    rig = Rig(a.rota)
    wrong = []
    try:
        rig.start()
        rig.ask("POST", "/apply", {"documents": list(documents())})
        for n in range(0, a.held, 20000):
            rig.ask("POST", "/apply", {"documents": [event(f"held{m}", "0 0 1 1 *") for m in range(n, min(n + 20000, a.held))]}, timeout=60)
        since = int(time.time()) + 2
        follower, clients = Follower(rig), [Client(rig, a.seed + n) for n in range(2)]
        for t in (follower, *clients):
            t.start()
        print(f"soak: {a.seconds} s, seed {a.seed}, {EVENTS + COMMANDS + 20} schedules", flush=True)
        samples, begun, printed_at = [], time.monotonic(), 0
        while time.monotonic() - begun < a.seconds:
            time.sleep(min(5, a.seconds / 20))
            samples.append(sample(rig))
            if time.monotonic() - begun > printed_at + 300 or len(samples) == 1:
                s, printed_at = samples[-1], time.monotonic() - begun
                print(f"  {printed_at:5.0f} s: {s['rss']:.1f} MB (database {s['database']:.1f}), {s['fds']} descriptors, {s['threads']} threads, log {s['wal']:.1f} MB,"
                      f" {len(follower.late)} occurrences, p99 {percentile([m for _, m in follower.late], .99):.2f} ms", flush=True)
        until = int(time.time()) - 5
        for t in clients:
            t.stop = True
        for t in clients:
            t.join()
        wanted, lost, twice, odd = count_times(rig, since, until)
        quarter = len(samples) // 4
        second, last = samples[quarter:2 * quarter], samples[-quarter:]
        # The store caches pages up to its limit. So memory may grow with the database up to that limit, and no further.
        for s in samples:
            s["memory beyond the store's cache"] = s["rss"] - 1.1 * min(s["database"], CACHE_MB)
        for what, slack in (("memory beyond the store's cache", 2), ("fds", 24), ("threads", 2), ("wal", 16)):
            before, after = max(s[what] for s in second), max(s[what] for s in last)
            print(f"{what}: {before:.1f} at most in the second quarter, {after:.1f} in the last")
            if after > before * 1.1 + slack:
                wrong.append(f"{what} grows: {before:.1f} to {after:.1f}")
        half = [m for t, m in follower.late if t < begun + a.seconds / 2], [m for t, m in follower.late if t >= begun + a.seconds / 2]
        for name, late in (("first half", half[0]), ("second half", half[1])):
            print(f"lateness, {name}: median {percentile(late, .5):.2f} ms, p99 {percentile(late, .99):.2f} ms, most {max(late or [0]):.1f} ms,"
                  f" of {len(late)}")
        cpu = (samples[-1]["cpu"] - samples[0]["cpu"]) / (samples[-1]["t"] - samples[0]["t"])
        print(f"cpu: {100 * cpu:.1f} % of one; clients: {sum(p.done for p in clients)} requests, {sum(p.busy for p in clients)} answered 503;"
              f" gaps in the events: {follower.lost}")
        print(f"times: {wanted} wanted, {lost} lost, {twice} twice, {odd} at a wrong second")
        wrong += [f"{lost} times are not recorded"] * (lost > 0) + [f"{twice} times ran twice"] * (twice > 0)
        wrong += [f"{odd} times drifted"] * (odd > 0)
        wrong += [f"{follower.lost} gaps in the followed events"] * (follower.lost > 0)
        wrong += [f"unexpected answers: {[x for q in clients for x in q.wrong][:3]}"] * any(q.wrong for q in clients)
        code = rig.stop()
        wrong += [f"the daemon's exit code is {code}: {rig.log_text()[-500:]}"] * (code != 0)
    finally:
        rig.close()
    for w in wrong:
        print(f"FAILED: {w}")
    print("soak: " + ("failed" if wrong else "passed"))
    sys.exit(bool(wrong))


main()
