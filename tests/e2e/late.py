#!/usr/bin/env python3
"""Late and missed times as people see them, with a daemon that is killed and started again later.

usage: late.py ROTA MACHINE [PART...]; MACHINE is the preload of tests/hostile/machine.c, which sets the daemon's clock"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check  # noqa: E402
from rig import Clock, Rig, run_parts, seconds_of, wait_until  # noqa: E402

ROTA, MACHINE = sys.argv[1:3]


class LateRig(Rig):
    """A daemon whose clock can be set ahead while it is down."""

    def __init__(self):
        super().__init__(ROTA)
        self.ahead, self.clock = 0, Clock(self, MACHINE)
        self.start()

    def down_for(self, seconds):
        """Kills the daemon, and starts it again when its clock shows so many seconds more."""
        self.kill()
        self.ahead += seconds
        self.clock.set_ahead(self.ahead)
        self.start()


def by_state(runs):
    """How many runs there are of each state or outcome, with its reason."""
    counts = {}
    for r in runs:
        word = "/".join(filter(None, [r["outcome"] or r["state"], r["reason"]]))
        counts[word] = counts.get(word, 0) + r.get("count", 1)
    return counts


# --- catch-up ----------------------------------------------------------------------------------------------------

def catch_up():
    with LateRig() as rig:
        rig.cli("add", "@every 2s MISSED catch_up", "--id", "tick", "--", "sleep", "0.1")
        check(wait_until(60, lambda: len(rig.runs("tick")) > 1), "it runs")
        rig.down_for(100)
        # Regular times come due meanwhile, as catch-up runs too; the first timer run is the end of the catch-up.
        done = wait_until(60, lambda: (rs := rig.runs("tick")) and rs[0]["kind"] == "timer" and
                          rs[0]["state"] == "finished" and sum(r["kind"] == "catch_up" for r in rs) > 45 and rs)
        check(done, "the missed times are run one by one", rig.runs("tick")[:3])
        counts = by_state(rig.runs("tick"))
        check(set(counts) <= {"done", "claimed"}, "every time runs; none is skipped or missed", counts)


# --- late runs -----------------------------------------------------------------------------------------------------

def after_restart(rig, id):
    """The first run of the schedule that was claimed after a restart; the daemon's clock had jumped before."""
    known = {r["id"] for r in rig.runs(id)}
    return lambda: next((r for r in reversed(rig.runs(id)) if r["id"] not in known and r["state"] == "finished"), None)


def within_the_grace():
    with LateRig() as rig:
        rig.cli("add", "@every 20s MISSED skip", "--id", "tick", "--", "true")
        check(wait_until(90, lambda: by_state(rig.runs("tick")) == {"done": 1}), "it runs")
        found = after_restart(rig, "tick")
        rig.down_for(30)
        run = wait_until(60, found)
        check(run and run["kind"] == "timer" and 5 < run.get("late_s", 0) <= 60, "its record says that it ran late", run)
        shown = rig.cli("show", run["id"]).stdout
        check("within the grace of 60 s" in shown, "people see that it ran late within the grace", shown)


def told_of_missed_times():
    with LateRig() as rig:
        rig.cli("add", "@every 10s", "--id", "tick", "--", "true")
        for policy in ("execute_next", "execute_immediately"):
            rig.add({"id": policy, "expression": "@every 10s", "missed_schedule_policy": policy,
                     "action": {"type": "command", "command": 'cat "$ROTA_CONTEXT"'}})
        check(wait_until(60, lambda: all("done" in by_state(rig.runs(i)) for i in ("tick", "execute_next", "execute_immediately"))), "they run")
        found = after_restart(rig, "tick")
        next_found, now_found = after_restart(rig, "execute_next"), after_restart(rig, "execute_immediately")
        rig.down_for(600)
        for id, first_run in (("execute_next", next_found), ("execute_immediately", now_found)):
            run = wait_until(60, first_run)
            context = json.loads(rig.cli("logs", run["id"]).stdout)["run"]
            ranges = [g for g in rig.ask("GET", f"/runs?schedule={id}")["ranges"] if g["state"] == "missed"]
            first = min(seconds_of(g["first"]) for g in ranges)
            check(context["missed"] == run["missed"] > 50, f"{id}: the context says how many were missed", context)
            check(seconds_of(context["missed_since"]) == first, f"{id}: and since when", (context, ranges))
            later = wait_until(60, lambda i=id, r=run: next((x for x in rig.runs(i) if x["nominal"] > r["nominal"] and x["state"] == "finished"), None))
            context = json.loads(rig.cli("logs", later["id"]).stdout)["run"]
            check((context["missed"], context["missed_since"]) == (0, None), f"{id}: the run after it is told of none", context)
        run = wait_until(60, found)
        check(run and run["missed"] > 50, "the run that takes the place of missed times is told of them", run)
        ranges = rig.ask("GET", "/runs?schedule=tick")["ranges"]
        missed = [g for g in ranges if (g["state"], g["reason"]) == ("missed", "superseded")]
        check(missed and missed[0]["first"] < missed[0]["last"] < run["nominal"], "missed times are listed", ranges)
        for argv in (["runs"], ["runs", "tick"]):
            lines = rig.cli(*argv).stdout.splitlines()
            missed = [i for i, line in enumerate(lines) if "missed" in line and "superseded" in line]
            after = [i for i, line in enumerate(lines) if line.startswith(run["id"] + " ")]
            check(missed and after and missed[0] > after[0], "people see missed times in their place", lines)
        rig.cli("pause", "tick")
        check("skipped" in rig.cli("runs").stdout and "to now" in rig.cli("runs").stdout, "people see an open range",
              rig.cli("runs").stdout)


# --- retries -------------------------------------------------------------------------------------------------------

def retries_superseded():
    with LateRig() as rig:
        added = rig.cli("add", "@every 4s RETRY 3 fixed 7s", "--id", "tick", "--", "false")
        check("the retries do not fit" in added.stdout + added.stderr, "add warns that the retries do not fit", added)
        fits = rig.cli("add", "@every 1h RETRY 3 fixed 7s", "--id", "hourly", "--", "false")
        check("the retries do not fit" not in fits.stdout + fits.stderr, "add does not warn of retries that fit", fits)
        run = wait_until(60, lambda: next((r for r in rig.runs("tick") if r["state"] == "finished"), None))
        runs = {r["id"]: r for r in rig.runs("tick")}
        by = run.get("superseded_by")
        check(by in runs and runs[by]["nominal"] > run["nominal"], "the record names the run that took its place", run)
        check(f"superseded by {by}" in rig.cli("runs", "tick").stdout, "people see it in the list", by)
        check(f"dropped when {by} was claimed" in rig.cli("show", run["id"]).stdout, "people see it in the record", by)
        check(run["retry_dropped_at"] >= run["ended_at"], "the record says when", run)
        run = rig.ask("POST", "/schedules/hourly/run", {})["run"]
        check(wait_until(60, lambda: rig.ask("GET", f"/runs/{run}").get("retry_at")), "a retry is pending")
        rig.cli("stop", run)
        check(wait_until(60, lambda: "retry_dropped_at" in rig.ask("GET", f"/runs/{run}")), "a stop drops it",
              rig.ask("GET", f"/runs/{run}"))
        check("retries dropped" in rig.cli("show", run).stdout, "people see it", rig.cli("show", run).stdout)


# --- one-shots -----------------------------------------------------------------------------------------------------

def state_of(rig, id):
    return rig.ask("GET", f"/schedules/{id}")["state"]


def one_shots():
    with LateRig() as rig:
        rig.cli("add", "in 2s", "--id", "soon", "--", "true")
        rig.cli("add", "in 30m MISSED skip", "--id", "later", "--", "true")
        check(state_of(rig, "soon") == state_of(rig, "later") == "active", "they are active before their times")
        check(wait_until(60, lambda: state_of(rig, "soon") == "finished"), "one that ran is finished", state_of(rig, "soon"))
        rig.down_for(3600)
        check(wait_until(60, lambda: state_of(rig, "later") == "expired"), "one that is past is expired",
              state_of(rig, "later"))


sys.exit(run_parts([catch_up, within_the_grace, told_of_missed_times, retries_superseded, one_shots], sys.argv[3:], 5))
