#!/usr/bin/env python3
"""A schedule that cannot run never delays or stops the others (G6): a document that can no longer be read, a missing
program, a missing directory, and for a while no directory for the files of runs. All other schedules run at each of their
times, and the broken ones fail with the right reasons.

usage: poison.py ROTA"""
import json
import os
import sqlite3
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check, finish  # noqa: E402
from rig import Rig, seconds_of, wait_until  # noqa: E402

OTHERS = 100
EVERY_SECOND = "* * * * * *"
OUTCOME_DONE = "done"
POISONED = {"no-document": "definition", "no-program": "exit", "no-directory": "exit"}


def ask(rig, *words):
    done = rig.cli(*words, "--json")
    check(done.returncode == 0, f"rota {' '.join(words)}: {done.stderr}")
    return json.loads(done.stdout or "{}")


def runs_of(rig, schedule):
    """(nominal time in seconds, outcome) of the finished runs of a schedule."""
    return [(seconds_of(r["nominal"]), r["outcome"]) for r in reversed(rig.runs(schedule)) if r["state"] == "finished"]


def until(what, condition):
    if not wait_until(60, condition, 0.1):
        sys.exit(f"poison.py: did not happen in 60 s: {what}")


def apply(rig):
    event = {"type": "event", "name": "x"}
    schedules = [{"id": f"other{i}", "expression": EVERY_SECOND, "action": event} for i in range(OTHERS)]
    for name, action in {"no-document": {"type": "command", "command": "true"},
                         "no-program": {"type": "command", "command": ["/nonexistent/program"]},
                         "no-directory": {"type": "command", "command": "true", "cwd": "/nonexistent/directory"},
                         "process": {"type": "command", "command": "true"}}.items():
        schedules.append({"id": name, "expression": EVERY_SECOND, "action": action})
    path = os.path.join(rig.dir, "all.json")
    with open(path, "w", encoding="utf-8") as out:
        json.dump({"schedules": schedules}, out)
    done = rig.cli("apply", "-f", path)
    check(done.returncode == 0, f"apply: {done.stderr}")


def break_document(rig):
    db = sqlite3.connect(os.path.join(rig.data, "rota.db"))
    db.execute("UPDATE document SET body = '{\"id\":' WHERE id = 'no-document'")
    db.commit()
    db.close()


def check_others(rig, since):
    """Checks that each of the other schedules has run with success in every second from its first run up to now."""
    now = time.time()
    until("all that is due by now is recorded",
          lambda: all(runs_of(rig, f"other{i}")[-1][0] >= int(now) for i in range(OTHERS)))
    for i in range(OTHERS):
        runs = [r for r in runs_of(rig, f"other{i}") if since <= r[0] <= now]
        times = [nominal for nominal, _ in runs]
        check(times == list(range(times[0], times[0] + len(times))) and times[0] <= since + 1,
              f"other{i} has no run at some of its times: {times}")
        check(all(outcome == OUTCOME_DONE for _, outcome in runs), f"other{i} has runs that failed")


def check_poisoned(rig):
    for name, reason in POISONED.items():
        runs = ask(rig, "runs", name, "--limit", "1000")["runs"]
        ended = [r for r in runs if r["state"] == "finished" and "outcome" in r]
        check(len(ended) >= 3, f"{name} has run {len(ended)} times")
        check(all(r["outcome"] == "failed" and r["reason"] == reason for r in ended[:3]), f"{name}: {ended[:3]}")
        subjects = [p["subject"] for p in ask(rig, "status")["problems"]]
        check(name in subjects, f"there is no problem for {name}: {subjects}")


def check_without_run_directory(rig):
    """With a file in place of the directory of runs no process can start; schedules without processes still run."""
    runs, away = os.path.join(rig.data, "runs"), os.path.join(rig.dir, "away")
    os.rename(runs, away)
    with open(runs, "w", encoding="ascii"):
        pass
    since = int(time.time()) + 1
    until("others run without a directory of runs", lambda: len([r for r in runs_of(rig, "other0") if r[0] > since]) >= 3)
    os.remove(runs)
    os.rename(away, runs)
    back = time.time()
    until("processes run again", lambda: any(nominal > back and outcome == OUTCOME_DONE
                                             for nominal, outcome in runs_of(rig, "process")))


def main():
    rig = Rig(sys.argv[1])
    try:
        check(rig.start(), "the daemon starts", rig.log_text())
        apply(rig)
        rig.stop()
        break_document(rig)
        check(rig.start(), "the daemon starts again", rig.log_text())
        since = int(time.time()) + 2
        for name in POISONED:
            until(f"{name} fails", lambda name=name: len([r for r in runs_of(rig, name) if r[0] >= since]) >= 3)
        check_poisoned(rig)
        check_without_run_directory(rig)
        check_others(rig, since)
    finally:
        rig.close()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
