#!/usr/bin/env python3
"""The numbers of names, which rules contain: the store decides them, and they survive a restart.

usage: names.py ROTA"""
import datetime
import os
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check  # noqa: E402
from rig import Rig, run_parts, wait_until  # noqa: E402

ROTA = os.path.abspath(sys.argv[1])
EPOCH = datetime.date(1970, 1, 1)


def document(id, **more):
    return {"id": id, "expression": "@every 1s", "action": {"type": "command", "command": "true"}, **more}


def rules_of(rig, id):
    return rig.rows("SELECT rules FROM schedule JOIN document USING (sid) WHERE id = ?", id)[0]["rules"]


def named_by_another_node():
    """Another node has named a zone, a set of days and a key since this daemon has loaded the names. This test is about rows
    that people do not see: it writes and reads the file."""
    excluded = datetime.date(2031, 5, 6)
    names = [(0, 70, "Asia/Tokyo"), (1, 80, str((excluded - EPOCH).days)), (2, 90, "key:shared")]
    keys = {"timezone": "Asia/Tokyo", "except": [excluded.isoformat()], "concurrency_key": "shared"}
    with Rig(ROTA) as rig:
        check(rig.start(), "the daemon starts", rig.log_text())
        with sqlite3.connect(os.path.join(rig.data, "rota.db"), timeout=30) as db:
            db.executemany("INSERT INTO name VALUES (?, ?, ?)", names)
        db.close()
        rig.add(document("first", **keys))
        check(wait_until(60, lambda: rig.ask("GET", "/status")["outdated"] == 0 and
                         any(r["outcome"] == "done" for r in rig.runs("first"))), "it is compiled again, and runs")
        rig.add(document("second", **keys))
        check(wait_until(60, lambda: rules_of(rig, "first") == rules_of(rig, "second")), "both use the numbers of the store",
              (rules_of(rig, "first"), rules_of(rig, "second")))
        stored = [tuple(r) for r in rig.rows("SELECT kind, number, text FROM name ORDER BY kind, number")]
        check(stored == names, "every name has one number", stored)
        check(rig.stop() == 0, "the daemon stops", rig.log_text())
        check(rig.start(), "it starts again", rig.log_text())
        check(rig.ask("GET", "/status")["outdated"] == 0, "no rules are outdated", rig.ask("GET", "/status"))
        before = len(rig.runs("second"))
        check(wait_until(60, lambda: len(rig.runs("second")) > before), "the schedules go on")


def many_excluded_days():
    """The longest list of excluded days that a document may have; today and the next days are among them."""
    today = datetime.datetime.now(datetime.timezone.utc).date()
    days = [(today + datetime.timedelta(days=n)).isoformat() for n in range(-1, 999)]
    with Rig(ROTA) as rig:
        check(rig.start(), "the daemon starts", rig.log_text())
        rig.add(document("never", **{"except": days}))
        rig.add(document("always"))
        for start in ("after it was added", "after a restart"):
            before = len(rig.runs("always"))
            check(wait_until(60, lambda: len(rig.runs("always")) > before + 2), "another schedule runs")
            check(all(r["state"] == "skipped" for r in rig.runs("never")), f"no excluded day runs {start}", rig.runs("never"))
            rig.kill()
            check(rig.start(), "the daemon starts", rig.log_text())


sys.exit(run_parts((named_by_another_node, many_excluded_days), sys.argv[2:], 2))
