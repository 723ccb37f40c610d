#!/usr/bin/env python3
"""The log of events: what is logged, lists and filters, followers across kill -9 and restarts of the daemon, pruning,
events of the action `event`, readers and writers at the same time.

usage: events.py ROTA [PART...] [--kills N]      --kills N: the long form (`./dev test events` uses 50)
"""
import json
import os
import random
import sqlite3
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check  # noqa: E402
from rig import Connection, NoAnswer, Refused, Rig, run_parts, wait_until  # noqa: E402

ARGS = sys.argv[1:]
KILLS = 4
if "--kills" in ARGS:
    KILLS = int(ARGS.pop(ARGS.index("--kills") + 1))
    ARGS.remove("--kills")
ROTA = os.path.abspath(ARGS[0])
PARTS = []


def part(fn):
    PARTS.append(fn)
    return fn


def event_schedule(id, when="@every 1s", **more):
    return {"id": id, "expression": when, "action": {"type": "event", "name": id, "data": {"by": id}}, **more}


def log_of(rig, after=0, query=""):
    """All events after a number, read page by page."""
    found = []
    while True:
        page = rig.ask("GET", f"/events?limit=1000&after={after}{query}")
        found += page["events"]
        check(page["next"] >= after, "pages go on", page["next"])
        after = page["next"]
        if after >= page["last"]:
            return found


class Stream:
    """A stream of events over one connection."""

    def __init__(self, rig, last=None, query=""):
        self.connection = Connection(rig.socket, 30)
        headers = {"Last-Event-ID": str(last)} if last is not None else {}
        self.connection.request("GET", "/api/v1/events?follow=true" + query, headers=headers)
        self.answer = self.connection.getresponse()
        if self.answer.status != 200:
            raise OSError(f"{self.answer.status}")

    def messages(self):
        """(event, id, data) of each message, until the stream ends."""
        event, number, data = "", None, ""
        while True:
            line = self.answer.readline()
            if not line.endswith(b"\n"):
                return
            line = line.rstrip(b"\r\n").decode()
            name, _, value = line.partition(": ")
            if not line:
                if data:
                    yield event, number, json.loads(data)
                event, data = "", ""
            elif name == "event":
                event = value
            elif name == "id":
                number = int(value)
            elif name == "data":
                data += value

    def close(self):
        self.connection.close()


class Follower(threading.Thread):
    """Follows events across restarts of the daemon, by Last-Event-ID."""

    def __init__(self, rig):
        super().__init__(daemon=True)
        self.rig, self.events, self.last, self.told, self.stop = rig, [], 0, [], False

    def run(self):
        while not self.stop:
            try:
                stream = Stream(self.rig, self.last)
                for event, number, data in stream.messages():
                    if event:
                        self.told += [event] if event != "hello" else []
                    else:
                        self.events.append(data)
                    self.last = number if number is not None else self.last
                stream.close()
            except (OSError, ValueError):
                pass
            except Exception as e:  # noqa: BLE001  http.client raises several kinds when the daemon dies
                self.told += [repr(e)] if type(e).__module__ != "http.client" else []
            time.sleep(0.01)


def without_gap(events, first=None):
    numbers = [e["seq"] for e in events]
    first = first if first is not None else numbers[0] if numbers else 0
    return numbers == list(range(first, first + len(numbers)))


def check_against_records(rig, events):
    """An event exists exactly if its cause was committed: compares the log with the records of the store."""
    rows = {r["run"]: r for r in rig.rows("SELECT * FROM run")}
    by_type = {}
    for e in events:
        run = e["data"].get("run") if isinstance(e["data"], dict) else None
        by_type.setdefault(e["type"], []).append(int(run[1:]) if run else None)
    for type, state in (("run:claimed", (0, 1, 2, 3)), ("run:finished", (3,))):
        logged = by_type.get(type, [])
        recorded = {n for n, r in rows.items() if r["state"] in state}
        # A run that was claimed and not yet started is skipped by the pause that ends the load.
        skipped = {n for n, r in rows.items() if type == "run:claimed" and (r["state"], r["attempt"]) == (4, 0)}
        check(len(logged) == len(set(logged)), f"{type}: none twice")
        check(set(logged) - skipped == recorded, f"{type}: exactly the runs of the store",
              [(n, rows.get(n)) for n in sorted((set(logged) - skipped) ^ recorded)[:5]])
    check(len(by_type.get("schedule:completed", [])) == len(by_type.get("run:finished", [])), "completed as often as finished")
    for sid, rev in [(r["sid"], r["rev"]) for r in rig.rows("SELECT sid, rev FROM schedule")]:
        changes = rig.rows("SELECT count(*) AS n FROM event WHERE sid = ? AND cause IN (0, 1)", sid)[0]["n"]
        check(changes == rev, f"schedule {sid}: {changes} events of changes for rev {rev}")


@part
def kills():
    """Kill -9 of the daemon again and again: no event is lost or repeated for a follower."""
    with Rig(ROTA) as rig:
        rig.start()
        for i in range(20):
            rig.add(event_schedule(f"e{i}"))
        for i in range(4):
            rig.add({"id": f"c{i}", "expression": "@every 1s", "overlap": "skip", "retry": {"retries": 1, "initial_delay": 1},
                     "action": {"type": "command", "command": ["/bin/sh", "-c", "exit $(($ROTA_ATTEMPT % 2))"]}})
        follower = Follower(rig)
        follower.start()
        rng = random.Random(KILLS)
        for n in range(KILLS):
            time.sleep(rng.random() * 1.2)
            try:
                rig.ask("POST", f"/schedules/e{n % 20}/pause", {"note": str(n)})
                rig.ask("POST", f"/schedules/e{n % 20}/resume", {})
            except (NoAnswer, Refused):
                pass
            rig.kill()
            check(rig.start(), f"start after kill {n}", rig.log_text()[-500:])
        last = rig.ask("GET", "/events")["last"]
        check(wait_until(60, lambda: follower.last >= last), f"the follower reaches {last}", follower.last)
        follower.stop = True
        events = list(follower.events)
        check(without_gap(events, 1), f"{len(events)} events: none lost, none repeated", follower.told[:3])
        kept = log_of(rig)
        check(kept[:len(events)] == events[:len(kept)], "what was sent is what the log has")
        check(not follower.told, f"the follower is told nothing else: {follower.told[:3]}")
        check(rig.cli("pause", "--all").returncode == 0, "no run is claimed any more")

        def at_rest():
            before = rig.ask("GET", "/events")["last"]
            time.sleep(1.5)
            return before == rig.ask("GET", "/events")["last"] and not rig.rows("SELECT 1 FROM run WHERE state < 3")
        check(wait_until(60, at_rest), "all runs have ended")
        events = log_of(rig)
        check(rig.stop() == 0, "the daemon stops")
        check_against_records(rig, events)
        print(f"kills: {KILLS}, events: {len(events)}", flush=True)


@part
def lists():
    """Lists, filters and errors; data as of the commit."""
    with Rig(ROTA) as rig:
        rig.start()
        rig.add(event_schedule("tick", "0 0 1 1 *"))
        rig.add({"id": "cmd", "expression": "0 0 1 1 *", "end_date": "2099-01-01",
                 "action": {"type": "command", "command": ["true"]}})
        rig.ask("POST", "/schedules/tick/run", {})
        rig.ask("POST", "/schedules/cmd/run", {})
        finished = wait_until(30, lambda: [e for e in log_of(rig) if e["type"] == "run:finished" and e["data"]["schedule"] == "cmd"])
        check(finished and finished[0]["data"]["outcome"] == "done" and finished[0]["data"]["attempt"] == 1, f"{finished}")
        events = log_of(rig)
        check(without_gap(events, 1), "numbers begin at 1 and have no gap")
        check(all(set(e) == {"seq", "ts", "type", "data"} for e in events), "the envelope")
        tick = [(e["type"], e["data"]) for e in events if e["type"].startswith("schedule:") and e["data"]["scheduleId"] == "tick"
                or e["type"] == "custom:tick"]
        check([t for t, _ in tick] == ["schedule:created", "schedule:triggered", "custom:tick", "schedule:completed"], f"{tick}")
        check(tick[1][1] == {"scheduleId": "tick", "missionId": None, "expression": "0 0 1 1 *"}, f"{tick[1]}")
        check(tick[2][1] == {"by": "tick"}, f"the data of a custom event: {tick[2]}")
        # Data is as of the commit: the expression and the data of the event stay when the document changes.
        document = event_schedule("tick", "0 0 2 2 *")
        document["action"]["data"] = {"by": "another"}
        rig.add(document, update=True)
        rig.ask("POST", "/schedules/tick/run", {})
        later = log_of(rig)
        check(later[:len(events)] == events, "old events are worded as before")
        custom = [e["data"] for e in later if e["type"] == "custom:tick"]
        check(custom == [{"by": "tick"}, {"by": "another"}], f"{custom}")
        check([e["data"]["expression"] for e in later if e["type"] == "schedule:triggered" and e["data"]["scheduleId"] == "tick"] ==
              ["0 0 1 1 *", "0 0 2 2 *"], "the expression of each time")
        # Filters.
        for query, want in (("&type=run:*", lambda e: e["type"].startswith("run:")),
                            ("&type=run:finished,custom:tick", lambda e: e["type"] in ("run:finished", "custom:tick")),
                            ("&schedule=cmd", lambda e: "cmd" in (e["data"].get("schedule"), e["data"].get("scheduleId"))),
                            ("&schedule=cmd&type=schedule:*", lambda e: e["data"].get("scheduleId") == "cmd")):
            got = log_of(rig, query=query)
            check(got == [e for e in later if want(e)] and got, f"{query}: {len(got)}")
        rig.ask("DELETE", "/schedules/cmd")
        check(log_of(rig, query="&schedule=cmd")[-1]["type"] == "schedule:deleted", "events of a removed schedule")
        for query, text in (("type=run.finished", "there is no event type 'run.finished'"), ("after=x", "not the number of an event"),
                            ("type=run:done", "run:claimed"), ("schedule=nobody", "no schedule is called")):
            try:
                rig.ask("GET", "/events?" + query)
                check(False, f"{query} is refused")
            except Refused as e:
                check(text in e.body["detail"], f"{query}: {e.body['detail']}")
        r = rig.cli("events", "--after", "1", "--type", "run:finished")
        check(r.returncode == 0 and "run:finished" in r.stdout and "custom" not in r.stdout, "rota events --type", r.stdout)
        check(rig.cli("events", "--type", "nothing").returncode == 2, "a wrong type is bad usage")
        # As a stream, also by the header Accept.
        c = Connection(rig.socket, 30)
        c.request("GET", "/api/v1/events?type=schedule:deleted&after=0", headers={"Accept": "text/event-stream"})
        got = c.getresponse()
        check(got.getheader("Content-Type") == "text/event-stream", "Accept asks for a stream")
        text = b""
        while b"schedule:deleted" not in text:
            text += got.readline()
        check(b"run:" not in text, "the filter of a stream")
        c.close()


@part
def pruned():
    """Events are pruned after kept_events_days; who asks for them is told the oldest that is kept."""
    env = {"ROTA_KEPT_EVENTS_DAYS": "1", "ROTA_KEPT_EVERY": "1s"}
    with Rig(ROTA, env=env) as rig:
        rig.start()
        for i in range(5):
            rig.add(event_schedule(f"e{i}", "0 0 1 1 *"))
        check(rig.stop() == 0, "the daemon stops")
        with sqlite3.connect(os.path.join(rig.data, "rota.db")) as db:
            db.execute("UPDATE event SET at = at - 2 * 86400000000 WHERE number <= 3")
        rig.start()
        check(wait_until(30, lambda: rig.ask("GET", "/events")["oldest"] == 4), "old events are pruned",
              rig.ask("GET", "/events"))
        check([e["seq"] for e in log_of(rig)] == [4, 5], "the others are kept")
        r = rig.cli("events", "--after", "1")
        check("the oldest that is kept is 4" in r.stderr, "a reader is told", r.stderr)
        stream = Stream(rig, 1)
        messages = stream.messages()
        first = [next(messages) for _ in range(3)]
        check([m[0] for m in first] == ["hello", "pruned", ""] and first[1][2] == {"after": 1, "oldest": 4} and first[2][1] == 4,
              f"a follower is told: {first}")
        stream.close()
        rig.add(event_schedule("next", "0 0 1 1 *"))
        check(rig.ask("GET", "/events")["last"] == 6, "numbers go on")


@part
def readers_and_writers():
    """Who has read up to N never meets a new number <= N, while many write."""
    with Rig(ROTA) as rig:
        rig.start()
        for i in range(10):
            rig.add(event_schedule(f"e{i}"))
        stop, wrong = threading.Event(), []

        def write(n):
            while not stop.is_set():
                try:
                    rig.ask("POST", f"/schedules/e{n}/pause", {})
                    rig.ask("POST", f"/schedules/e{n}/resume", {})
                except (NoAnswer, Refused):
                    pass

        def read():
            at, seen = 0, 0
            while not stop.is_set():
                page = rig.ask("GET", f"/events?after={at}&limit=1000")
                numbers = [e["seq"] for e in page["events"]]
                if numbers and numbers != list(range(at + 1, at + 1 + len(numbers))):
                    wrong.append(f"after {at}: {numbers[:3]} … {numbers[-1]}")
                at = page["next"]
                seen += len(numbers)
            if seen != at:
                wrong.append(f"{seen} events up to {at}")
        threads = [threading.Thread(target=write, args=(n,)) for n in range(4)] + [threading.Thread(target=read) for _ in range(4)]
        for t in threads:
            t.start()
        time.sleep(5)
        stop.set()
        for t in threads:
            t.join()
        check(not wrong, f"readers and writers: {wrong[:3]}")
        last = rig.ask("GET", "/events")["last"]
        check(last > 100 and without_gap(log_of(rig), 1), f"{last} events without a gap")


def on_data(rig, *argv):
    return subprocess.run([ROTA, *argv, "--data", rig.data], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                          env=rig.env, cwd=rig.dir)


@part
def restored():
    """After a restore the numbers go on far above those that readers may know."""
    with Rig(ROTA) as rig:
        rig.start()
        rig.add(event_schedule("a", "0 0 1 1 *"))
        copy = os.path.join(rig.dir, "copy.db")
        check(on_data(rig, "backup", copy).returncode == 0, "a backup")
        for i in range(5):
            rig.add(event_schedule(f"later{i}", "0 0 1 1 *"))
        known = rig.ask("GET", "/events")["last"]
        check(rig.stop() == 0, "the daemon stops")
        r = on_data(rig, "restore", copy)
        check(r.returncode == 0, "the backup is restored", r.stderr)
        rig.start()
        rig.add(event_schedule("b", "0 0 1 1 *"))
        fresh = [e for e in log_of(rig, known) if e["type"] == "schedule:created"]
        check([e["data"]["scheduleId"] for e in fresh] == ["b"] and fresh[0]["seq"] > known, f"{known}: {fresh}")


@part
def documents():
    """The name and the data of an event are checked."""
    with Rig(ROTA) as rig:
        rig.start()
        for action, text in (({"name": "a,b"}, "the name of an event"), ({"name": " x"}, "the name of an event"),
                             ({"name": "x" * 200}, "the name of an event"), ({"name": "x", "data": "y" * 70000}, "at most 65536")):
            try:
                rig.add({"id": "bad", "expression": "0 0 1 1 *", "action": {"type": "event", **action}})
                check(False, f"{action} is refused")
            except Refused as e:
                check(text in e.body["detail"], e.body["detail"])
        rig.add({"id": "odd", "expression": "0 0 1 1 *", "action": {"type": "event", "name": 'sp "ace', "data": [1, {"ü": None}]}})
        rig.ask("POST", "/schedules/odd/run", {})
        got = [e for e in log_of(rig) if e["type"].startswith("custom:")]
        check([(e["type"], e["data"]) for e in got] == [('custom:sp "ace', [1, {"ü": None}])], f"{got}")


if __name__ == "__main__":
    sys.exit(run_parts(PARTS, ARGS[1:], 3))
