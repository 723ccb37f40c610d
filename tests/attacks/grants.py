#!/usr/bin/env python3
"""Runs that may add schedules, and try to get more than that: other keys, more attempts, a higher priority, a longer
life.

usage: grants.py ROTA
"""
import json
import os
import sqlite3
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from fixture import FAR, ROTA, check, file_text, path_of, rota, rota_json, run_parts, start, stop, until, write  # noqa: E402

SOCKET = path_of("run/rota/rota.sock")
# Sends a document to the daemon; prints the status and the answer.
ADD = """
import http.client, json, os, socket, sys
c = http.client.HTTPConnection("localhost")
c.sock = socket.socket(socket.AF_UNIX)
c.sock.connect(os.environ["ROTA_SOCKET"])
c.request(sys.argv[1], sys.argv[2], sys.argv[3], {"Authorization": "Bearer " + os.environ["ROTA_TOKEN"]})
r = c.getresponse()
print(r.status, r.read().decode())
"""


def put(name, lines, **keys):
    """A schedule whose run executes these lines; each writes what it prints to NAME.N."""
    text = "".join(f"{line} > {path_of(name)}.{n} 2>&1; echo $? >> {path_of(name)}.{n}\n" for n, line in enumerate(lines))
    r = rota("apply", "-f", write(f"{name}.json", json.dumps({"id": name, "expression": FAR, **keys, "action": {
        "type": "command", "cwd": path_of(), "command": ["sh", write(f"{name}.sh", text)]}})))
    check(r.returncode == 0, f"{name} is accepted", r)


def run(name):
    r = rota("run", name, "--wait")
    check(r.returncode == 0, f"{name} runs", r)


def request(document, method="POST", route="/api/v1/schedules"):
    body = json.dumps({"document": document}).replace("'", "'\\''")
    return f"python3 {path_of('add.py')} {method} {route} '{body}'"


def made(name, **keys):
    return {"id": name, "expression": FAR, "action": {"type": "command", "command": "true"}, **keys}


def ids():
    return {s["id"] for s in rota_json("ls").get("schedules", [])}


def check_keys():
    write("add.py", ADD)
    denied = [
        made("k", notification={"on_failure": True, "to": [{"type": "command", "command": "touch PWNED"}]}),
        made("k", ping="http://127.0.0.1:9/x"), made("k", concurrency_key="all"), made("k", grants={"schedules": 1}),
        made("k", hooks={"before:schedule:trigger": {"command": "true"}}), made("k", priority=5),
        made("k", retry={"retries": 13, "backoff": "fixed", "initial_delay": 1}), made("k", expression=FAR + " RETRY 2"),
        made("k", retry={"retries": 1, "initial_delay": "48h"}),  # max_delay is 1h
        made("k", missed_schedule_policy="catch_up"), made("k", timeout=7200), made("k", expression=FAR + " TIMEOUT 2h"),
    ]
    allowed = made("fine", retry={"retries": 1, "initial_delay": "48h", "max_delay": "48h"}, priority=-1, condition="true", tags=["x"],
                   check="true", timeout=60)
    put("keys", [request(d) for d in denied] + [request(allowed), request({"notification": {"to": [{"type": "event", "name": "x"}]}}, "PATCH", "/api/v1/schedules/fine"),
                                                request(made("plain"))],
        grants={"schedules": 3, "interval": "24h"}, timeout=600)
    run("keys")
    for n, document in enumerate(denied):
        check(file_text(f"keys.{n}").startswith("403 "), f"refused: {document}", file_text(f"keys.{n}"))
    n = len(denied)
    check(file_text(f"keys.{n}").startswith(("200 ", "201 ")), "a schedule within the bounds is added", file_text(f"keys.{n}"))
    check(file_text(f"keys.{n + 1}").startswith("403 "), "a change is checked, too", file_text(f"keys.{n + 1}"))
    plain = rota_json("show", "plain").get("document", {})
    check(plain.get("timeout") in (600, "10m"), "an added schedule inherits the timeout", plain)


def check_replacing():
    """Schedules that ran and were removed or changed do not make room for more runs."""
    soon = 'sh -c \'date -u -d "+2 seconds" +%Y-%m-%dT%H:%M:%SZ\''
    steps = []
    for n in range(3):
        steps += [f'{ROTA} add "$({soon})" --id shot -- sh -c "echo x >> {path_of("shots")}"', "sleep 3", f"{ROTA} rm shot"]
    steps += [f'{ROTA} add "$({soon})" --id other -- sh -c "echo x >> {path_of("shots")}"', "sleep 3"]
    put("replacing", steps, grants={"schedules": 1, "interval": "24h"})
    run("replacing")
    check(file_text("shots").count("x") == 1, "one run within the interval", [file_text(f"replacing.{n}") for n in range(len(steps))])
    put("moving", [f'{ROTA} add "$({soon})" --id moved -- sh -c "echo x >> {path_of("moves")}"', "sleep 3",
                   f'{ROTA} edit moved --when "$({soon})"', "sleep 3"], grants={"schedules": 1, "interval": "24h"})
    run("moving")
    check(file_text("moves").count("x") == 1 and "apart" in file_text("moving.2"), "a changed time counts from the last one", file_text("moving.2"))


def check_end():
    """Schedules end with the schedule whose runs added them."""
    for maker in ("removed", "stripped", "killed", "expired"):
        put(maker, [f'{ROTA} add "{FAR}" --id by-{maker} -- true'], grants={"schedules": 1, "interval": "1h"})
        run(maker)
        check(f"by-{maker}" in ids(), f"{maker}: a schedule is added", ids())
    os.unlink(path_of("removed.json"))
    r = rota("rm", "removed")
    check(r.returncode == 0, "the maker is removed", r)
    until("what was made is removed with its maker", lambda: "by-removed" not in ids())
    put("stripped", ["true"])
    until("what was made is removed with the grants", lambda: "by-stripped" not in ids())
    put("expired", ["true"], grants={"schedules": 1, "interval": "1h"}, end_date=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3)))
    until("what was made is removed when its maker expires", lambda: "by-expired" not in ids())
    check("by-killed" in ids(), "other schedules stay", ids())
    # The maker is removed, and the daemon dies before it could do the rest.
    stop()
    with sqlite3.connect(path_of("share/rota/rota.db")) as db:
        sid = db.execute("SELECT sid FROM document WHERE id = 'killed' AND dropped = 0").fetchone()
        check(sid, "the maker is in the database")
        db.execute("UPDATE schedule SET dropped = 1 WHERE sid = ?", sid)
        db.execute("UPDATE document SET dropped = 1 WHERE sid = ?", sid)
    db.close()
    start()
    until("what was made is removed at the start", lambda: "by-killed" not in ids())


sys.exit(run_parts(check_keys, check_replacing, check_end))
