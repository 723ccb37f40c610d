#!/usr/bin/env python3
"""One poisoned schedule never delays or stops the others (G6): a document that cannot be read any more, a program that is
not there, a directory that is not, and for a while no place for the files of runs. All others run at each of their times,
and the poisoned ones fail with their reasons.

usage: poison.py ROTA"""
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check, finish  # noqa: E402

ROTA = os.path.abspath(sys.argv[1])
OTHERS = 100
USEC = 1_000_000
EVERY_SECOND = "* * * * * *"
STATE_FINISHED, OUTCOME_DONE = 3, 1
POISONED = {"no-document": "definition", "no-program": "exit", "no-directory": "exit"}



class Place:
    def __init__(self, root):
        self.root, self.data = root, os.path.join(root, "data")
        self.socket = os.path.join(root, "run", "rota.sock")
        self.database = os.path.join(self.data, "rota.db")
        self.daemon = None

    def start(self):
        self.daemon = subprocess.Popen([ROTA, "serve", "--data", self.data, "--socket", self.socket],
                                       stdout=subprocess.DEVNULL)
        self.until("the daemon answers", lambda: self.rota("status").returncode == 0)

    def stop(self):
        if self.daemon:
            self.daemon.terminate()
            self.daemon.wait()
        self.daemon = None

    def rota(self, *words):
        return subprocess.run([ROTA, *words, "--socket", self.socket], capture_output=True, check=False)

    def ask(self, *words):
        done = self.rota(*words, "--json")
        check(done.returncode == 0, f"rota {' '.join(words)}: {done.stderr}")
        return json.loads(done.stdout or b"{}")

    def rows(self, sql, *values):
        db = sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)
        try:
            return db.execute(sql, values).fetchall()
        finally:
            db.close()

    def runs(self, schedule, state=STATE_FINISHED):
        return self.rows("SELECT nominal / 1000000, outcome FROM run JOIN document USING (sid) WHERE id = ? AND state = ?"
                         " ORDER BY nominal", schedule, state)

    def until(self, what, fn):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if fn():
                return
            time.sleep(0.1)
        sys.exit(f"poison.py: did not come about: {what}")


def apply(place):
    event = {"type": "event", "name": "x"}
    schedules = [{"id": f"other{i}", "expression": EVERY_SECOND, "action": event} for i in range(OTHERS)]
    for name, action in {"no-document": {"type": "command", "command": "true"},
                         "no-program": {"type": "command", "command": ["/nonexistent/program"]},
                         "no-directory": {"type": "command", "command": "true", "cwd": "/nonexistent/directory"},
                         "process": {"type": "command", "command": "true"}}.items():
        schedules.append({"id": name, "expression": EVERY_SECOND, "action": action})
    path = os.path.join(place.root, "all.json")
    with open(path, "w", encoding="utf-8") as out:
        json.dump({"schedules": schedules}, out)
    done = place.rota("apply", "-f", path)
    check(done.returncode == 0, f"apply: {done.stderr}")


def break_document(place):
    db = sqlite3.connect(place.database)
    db.execute("UPDATE document SET body = '{\"id\":' WHERE id = 'no-document'")
    db.commit()
    db.close()


def look_at_others(place, since):
    """From the first on there is one for every second, done, up to now."""
    until = time.time()
    place.until("what is due by now is recorded",
                lambda: all(place.runs(f"other{i}")[-1][0] >= int(until) for i in range(OTHERS)))
    for i in range(OTHERS):
        runs = [r for r in place.runs(f"other{i}") if since <= r[0] <= until]
        times = [nominal for nominal, _ in runs]
        check(times == list(range(times[0], times[0] + len(times))) and times[0] <= since + 1,
              f"other{i} has left out times: {times}")
        check(all(outcome == OUTCOME_DONE for _, outcome in runs), f"other{i} is not always done")


def look_at_poisoned(place):
    for name, reason in POISONED.items():
        runs = place.ask("runs", name, "--limit", "1000")["runs"]
        ended = [r for r in runs if r["state"] == "finished" and "outcome" in r]
        check(len(ended) >= 3, f"{name} has run {len(ended)} times")
        check(all(r["outcome"] == "failed" and r["reason"] == reason for r in ended[:3]), f"{name}: {ended[:3]}")
        subjects = [p["subject"] for p in place.ask("status")["problems"]]
        check(name in subjects, f"nobody is told of {name}: {subjects}")


def without_runs(place):
    """A file where the directory of runs was: nothing can be born, and what needs no birth goes on."""
    runs, away = os.path.join(place.data, "runs"), os.path.join(place.root, "away")
    os.rename(runs, away)
    with open(runs, "w", encoding="ascii"):
        pass
    since = int(time.time()) + 1
    place.until("others run without a place for runs", lambda: len(
        [r for r in place.runs("other0") if r[0] > since]) >= 3)
    os.remove(runs)
    os.rename(away, runs)
    back = time.time()
    place.until("processes run again", lambda: any(nominal > back and outcome == OUTCOME_DONE
                                                   for nominal, outcome in place.runs("process")))


def main():
    place = Place(tempfile.mkdtemp(prefix="rota-poison-"))
    try:
        place.start()
        apply(place)
        place.stop()
        break_document(place)
        place.start()
        since = int(time.time()) + 2
        for name in POISONED:
            place.until(f"{name} fails", lambda name=name: len([r for r in place.runs(name) if r[0] >= since]) >= 3)
        look_at_poisoned(place)
        without_runs(place)
        look_at_others(place, since)
    finally:
        place.stop()
        shutil.rmtree(place.root, ignore_errors=True)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
