#!/usr/bin/env python3
"""`rota why` for every reason there is. Most need hours, a machine that sleeps or a provider that refuses: so the
records are put into a stopped daemon's database, one for each reason, and asked for afterwards.

usage: why.py ROTA"""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check, finish  # noqa: E402

ROTA = os.path.abspath(sys.argv[1])

# The numbers are those of core/model.h, and are stored: they never change.
SKIPPED = {1: "paused", 2: "blocked", 3: "not_started", 4: "expired", 5: "max_runs", 6: "excluded", 7: "active_hours",
           8: "overlap", 9: "budget", 10: "condition", 11: "hook", 12: "gated", 13: "dependency"}
MISSED = {14: "down", 15: "suspended", 16: "clock", 17: "store", 18: "window_closed", 19: "superseded", 20: "limit",
          21: "edited", 22: "rate_limited", 23: "restored"}
FAILED = {24: "exit", 25: "auth", 26: "billing", 27: "denied", 28: "empty", 29: "expectation", 30: "check",
          31: "definition", 32: "template", 33: "lost", 34: "reported", 22: "rate_limited"}
KILLED = {35: "timeout", 36: "stalled", 37: "cancelled", 38: "replaced", 39: "fenced"}
STATE_FINISHED, STATE_SKIPPED, STATE_MISSED = 3, 4, 5
OUTCOME_FAILED, OUTCOME_KILLED = 2, 3
HOUR = 3600
USEC = 1_000_000



class Place:
    def __init__(self, tmp):
        self.data, self.socket = os.path.join(tmp, "data"), os.path.join(tmp, "run", "rota.sock")
        self.daemon = None

    def start(self):
        self.daemon = subprocess.Popen([ROTA, "serve", "--data", self.data, "--socket", self.socket],
                                       stdout=subprocess.DEVNULL)
        for _ in range(100):
            if self.rota("status").returncode == 0:
                return
            time.sleep(0.05)
        sys.exit("why.py: the daemon does not answer")

    def stop(self):
        if self.daemon:
            self.daemon.terminate()
            self.daemon.wait()
        self.daemon = None

    def rota(self, *words):
        return subprocess.run([ROTA, *words[:1], "--socket", self.socket, *words[1:]], text=True, timeout=30,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)

    def why(self, name, seconds):
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
        got = self.rota("why", name, at, "--json")
        shown = self.rota("why", name, at)
        check(got.returncode == 0 and shown.returncode == 0, f"why {name} {at}: {got.stderr}{shown.stderr}")
        return json.loads(got.stdout or "{}"), shown.stdout


def put(db, table, **row):
    db.execute(f'INSERT INTO {table} ({", ".join(chr(34) + k + chr(34) for k in row)}) '
               f'VALUES ({", ".join("?" * len(row))})', list(row.values()))


def fill(path, start):
    """One nominal time for each reason, hour by hour; what stands at which."""
    db = sqlite3.connect(path)
    sid, = db.execute("SELECT sid FROM document WHERE id = 'hourly'").fetchone()
    run, = db.execute("SELECT ifnull(max(run), 0) FROM run").fetchone()
    wanted, at = {}, start

    def record(state, outcome, reason, word, kind):
        nonlocal run, at
        run += 1
        us = at * USEC
        put(db, "run", run=run, sid=sid, rev=1, attempt=1 if state == STATE_FINISHED else 0, reason=reason, kind=0,
            state=state, outcome=outcome, limited=0, was=0, missed=0, nominal=us, due=us, claimed=us,
            started=us if state == STATE_FINISHED else 0, ended=us if state == STATE_FINISHED else 0, retry_at=0,
            end=0, fence=0, cost=-1, tokens_in=0, tokens_out=0, exit_code=-1)
        wanted[at] = (kind, word)
        at += HOUR

    for number, word in SKIPPED.items():
        record(STATE_SKIPPED, 0, number, word, "skipped")
    for number, word in MISSED.items():
        record(STATE_MISSED, 0, number, word, "missed")
    for number, word in FAILED.items():
        record(STATE_FINISHED, OUTCOME_FAILED, number, word, "failed")
    for number, word in KILLED.items():
        record(STATE_FINISHED, OUTCOME_KILLED, number, word, "killed")
    for reasons, state, kind in ((SKIPPED, STATE_SKIPPED, "skipped"), (MISSED, STATE_MISSED, "missed")):
        for number, word in reasons.items():  # and in a stretch of three, asked for in its middle
            put(db, "range", sid=sid, first=at * USEC, last=(at + 2 * HOUR) * USEC, state=state, reason=number)
            wanted[at + HOUR] = (kind, word)
            at += 3 * HOUR
    # They lie after the schedule was made, and have all been dealt with.
    db.execute("UPDATE schedule SET changed = ?, high = ? WHERE sid = ?", ((start - HOUR) * USEC, at * USEC, sid))
    db.commit()
    db.close()
    return wanted, at


def main():
    with tempfile.TemporaryDirectory(prefix="rota-why-") as tmp:
        place = Place(tmp)
        try:
            place.start()
            check(place.rota("add", "0 * * * *", "--id", "hourly", "--tz", "UTC", "--", "true").returncode == 0, "add")
            place.stop()
            start = int(time.time()) // HOUR * HOUR - 400 * HOUR
            wanted, _ = fill(os.path.join(place.data, "rota.db"), start)
            place.start()
            for at, (kind, word) in wanted.items():
                got, shown = place.why("hourly", at)
                if kind in ("skipped", "missed"):
                    check((got.get("answer"), got.get("disposition"), got.get("reason")) == ("refused", kind, word),
                          f"{kind}/{word}: {got}")
                else:
                    run = got.get("run") or {}
                    check((got.get("answer"), run.get("outcome"), run.get("reason")) == ("run", kind, word),
                          f"{kind}/{word}: {got}")
                check(word in shown, f"{kind}/{word} is not in: {shown}")
            got, shown = place.why("hourly", start + 60)
            check(got.get("answer") == "no_time" and got.get("before") and got.get("after"), f"no time: {got}")
            check("nearest" in shown, f"no nearest in: {shown}")
            ahead = int(time.time()) // HOUR * HOUR + 2 * HOUR
            check(place.why("hourly", ahead)[0].get("answer") == "will_run", "the future")
            place.rota("pause", "hourly")
            got, _ = place.why("hourly", ahead)
            check((got.get("answer"), got.get("reason")) == ("will_not_run", "paused"), f"paused: {got}")
        finally:
            place.stop()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
