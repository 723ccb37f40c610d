#!/usr/bin/env python3
"""`rota why` for every reason. Most reasons need hours, a suspended machine or a provider that refuses; so one record for
each reason is written into the database of a stopped daemon, and `why` is asked for each.

usage: why.py ROTA"""
import json
import os
import sqlite3
import sys
import time
from datetime import datetime, timezone

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check, finish  # noqa: E402
from rig import Rig, seconds_of, wait_until  # noqa: E402

# The numbers of core/model.h. They are stored, so they never change.
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


def why(rig, name, seconds):
    """The answer as JSON, and as people see it."""
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
    got, shown = rig.cli("why", name, at, "--json"), rig.cli("why", name, at)
    check(got.returncode == 0 and shown.returncode == 0, f"why {name} {at}: {got.stderr}{shown.stderr}")
    return json.loads(got.stdout or "{}"), shown.stdout


def insert(db, table, **row):
    db.execute(f'INSERT INTO {table} ({", ".join(chr(34) + k + chr(34) for k in row)}) '
               f'VALUES ({", ".join("?" * len(row))})', list(row.values()))


def insert_reasons(path, start):
    """Inserts one nominal time per reason, an hour apart. Returns the expected answers by time, and the end."""
    db = sqlite3.connect(path)
    sid, = db.execute("SELECT sid FROM document WHERE id = 'hourly'").fetchone()
    run, = db.execute("SELECT ifnull(max(run), 0) FROM run").fetchone()
    wanted, at = {}, start

    def record(state, outcome, reason, word, kind):
        nonlocal run, at
        run += 1
        us = at * USEC
        insert(db, "run", run=run, sid=sid, rev=1, attempt=1 if state == STATE_FINISHED else 0, reason=reason, kind=0,
            state=state, outcome=outcome, uncounted=0, replaced=0, missed=0, nominal=us, due=us, claimed=us,
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
        for number, word in reasons.items():  # a range of three times for each reason; why is asked for the middle one
            insert(db, "range", sid=sid, first=at * USEC, last=(at + 2 * HOUR) * USEC, state=state, reason=number)
            wanted[at + HOUR] = (kind, word)
            at += 3 * HOUR
    # The schedule is older than these times, and all of them have been handled.
    db.execute("UPDATE schedule SET changed = ?, high = ? WHERE sid = ?", ((start - HOUR) * USEC, at * USEC, sid))
    db.commit()
    db.close()
    return wanted, at


def check_reasons():
    rig = Rig(sys.argv[1])
    try:
        check(rig.start(), "the daemon starts", rig.log_text())
        check(rig.cli("add", "0 * * * *", "--id", "hourly", "--tz", "UTC", "--", "true").returncode == 0, "add")
        rig.stop()
        start = int(time.time()) // HOUR * HOUR - 400 * HOUR
        wanted, _ = insert_reasons(os.path.join(rig.data, "rota.db"), start)
        check(rig.start(), "the daemon starts again", rig.log_text())
        for at, (kind, word) in wanted.items():
            got, shown = why(rig, "hourly", at)
            if kind in ("skipped", "missed"):
                check((got.get("answer"), got.get("disposition"), got.get("reason")) == ("refused", kind, word),
                      f"{kind}/{word}: {got}")
            else:
                run = got.get("run") or {}
                check((got.get("answer"), run.get("outcome"), run.get("reason")) == ("run", kind, word),
                      f"{kind}/{word}: {got}")
            check(word in shown, f"{kind}/{word} is not in: {shown}")
        got, shown = why(rig, "hourly", start + 60)
        check(got.get("answer") == "no_time" and got.get("before") and got.get("after"), f"not a nominal time: {got}")
        check("nearest" in shown, f"no nearest time in: {shown}")
        ahead = int(time.time()) // HOUR * HOUR + 2 * HOUR
        check(why(rig, "hourly", ahead)[0].get("answer") == "will_run", "a future time")
        rig.cli("pause", "hourly")
        got, _ = why(rig, "hourly", ahead)
        check((got.get("answer"), got.get("reason")) == ("will_not_run", "paused"), f"paused: {got}")
        check((code := rig.stop()) == 0, f"the daemon's exit code: {code}", rig.log_text()[-500:])
    finally:
        rig.close()


def wait_past(second):
    while time.time() <= second + 0.5:
        time.sleep(0.1)


def check_edited():
    """After an edit of the expression, `why` of an earlier time is answered by the records and by the version in force then."""
    with Rig(sys.argv[1]) as rig:
        check(rig.start(), "the daemon starts", rig.log_text())
        check(rig.cli("add", "@every 2s", "--id", "even", "--", "true").returncode == 0, "add")
        finished = wait_until(30, lambda: [r for r in rig.runs("even") if r["state"] == "finished"])
        ran = seconds_of(finished[0]["nominal"])
        check(rig.cli("pause", "even").returncode == 0, "pause")
        paused = int(time.time()) // 2 * 2 + 2
        wait_past(paused + 4)  # three times are skipped
        check(rig.cli("resume", "even").returncode == 0, "resume")
        check(rig.cli("edit", "even", "--when", "0 0 1 1 *").returncode == 0, "edit")
        check(rig.cli("edit", "even", "--when", "0 0 2 1 *").returncode == 0, "a second edit")
        for when in ("an expression", "following another schedule"):
            got, _ = why(rig, "even", ran)
            check(got.get("answer") == "run" and got["run"]["state"] == "finished", f"a run before the edit, now {when}", got)
            for at in (paused, paused + 2, paused + 4):
                got, _ = why(rig, "even", at)
                check((got.get("answer"), got.get("disposition"), got.get("reason")) == ("refused", "skipped", "paused"),
                      f"a time of a range before the edit, now {when}", got)
            got, _ = why(rig, "even", paused + 1)
            check(got.get("answer") == "no_time" and got["before"] and got["after"], f"not a time then, now {when}", got)
            if when == "an expression":
                check(rig.cli("add", "0 0 1 1 *", "--id", "leader", "--tz", "UTC", "--", "true").returncode == 0, "add")
                rig.add({"id": "even", "after": {"schedule": "leader"}, "action": {"type": "command", "command": "true"}}, True)
        got, _ = why(rig, "leader", int(datetime(2099, 1, 1, tzinfo=timezone.utc).timestamp()))
        check(got.get("answer") == "will_run", "a future time is answered by the present version", got)


def check_forecast():
    """A time that has not come is answered by what would happen now: to its condition, and to its secrets."""
    with Rig(sys.argv[1]) as rig:
        key = os.path.join(rig.dir, "key")
        with open(os.path.join(rig.dir, "rota.yaml"), "w") as f:
            json.dump({"secrets": {"API_KEY": {"file": key}}}, f)
        rig.env["ROTA_CONFIG"] = os.path.join(rig.dir, "rota.yaml")
        check(rig.start(), "the daemon starts", rig.log_text())
        file = os.path.join(rig.dir, "agents.json")
        with open(file, "w") as f:
            json.dump({"agents": [{"name": name, "prompt": "x", "command": "true", "secrets": [secret]}
                                  for name, secret in (("keyed", "API_KEY"), ("lost", "OTHER"))],
                       "schedules": [{"id": i, "expression": "0 0 1 1 *", "timezone": "UTC", "agent": i,
                                      "action": {"type": "agent_turn", "message": "x"}} for i in ("keyed", "lost")]}, f)
        r = rig.cli("apply", "-f", file)
        check(r.returncode == 0, "apply", r)
        check(rig.cli("add", "0 0 1 1 * IF agent.ready || user.ready", "--tz", "UTC", "--id", "if", "--agent",
                      "keyed", "--", "true").returncode == 0, "add")
        at = int(datetime(2099, 1, 1, tzinfo=timezone.utc).timestamp())
        got, shown = why(rig, "if", at)
        check(got.get("answer") == "will_run_if" and got["condition"]["holds"] is False and got["condition"]["error"],
              "a condition that has no value", got)
        check("only if its condition holds" in shown and "agent.ready" in shown, "a condition that has no value", shown)
        for value, answer in (("true", "will_run"), ("false", "will_run_if")):
            for owner, ready in ((("--agent", "keyed"), value), (("--user",), "false")):
                r = rig.cli("state", "set", "ready", ready, *owner)
                check(r.returncode == 0, "state set", r)
            got, shown = why(rig, "if", at)
            check((got.get("answer"), got["condition"]["holds"]) == (answer, value == "true"), f"the condition is {value}", got)
        for name, word in (("keyed", "No such file"), ("lost", "no secret of that name")):
            got, shown = why(rig, name, at)
            check(got.get("answer") == "will_fail" and word in got.get("detail", "") and word in shown, f"a secret of {name}", got)
        with open(key, "w") as f:
            f.write("x")
        os.chmod(key, 0o600)
        got, _ = why(rig, "keyed", at)
        check(got.get("answer") == "will_run" and "detail" not in got, "the secret is there", got)


def main():
    check_reasons()
    check_edited()
    check_forecast()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
