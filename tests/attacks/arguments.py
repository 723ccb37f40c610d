#!/usr/bin/env python3
"""Attacks by arguments of requests: given twice, in the wrong place, of the wrong kind, or unknown. Each is refused and
changes nothing, for every operation of the table.

usage: arguments.py ROTA
"""
import json
import os
import pathlib
import re
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check  # noqa: E402
from rig import Refused, Rig, run_parts  # noqa: E402

ROTA = os.path.abspath(sys.argv[1])
ROWS = pathlib.Path(__file__).resolve().parents[2] / "src/op/rows"


def operations():
    """The method, the route and the arguments of every row that has a route."""
    text = "".join(f.read_text(encoding="utf-8") for f in sorted(ROWS.iterdir()))
    for row in re.findall(r"\n\[OP_\w+\] = \{\n(.*?)\n\},", text, re.S):
        route = re.search(r'\.route = "/api/v1([^"]*)"', row)
        if route:
            takes = re.search(r"\.takes = \{(.*?)\},\n", row, re.S)
            yield (re.search(r'\.method = "(\w+)"', row)[1], route[1], re.findall(r'\{ "(\w+)"', takes[1]) if takes else [])


def document(name):
    return {"id": name, "expression": "0 0 1 1 *", "action": {"type": "command", "command": ["true"]}}


def refused(rig, what, method, path, body=None, has=None):
    try:
        answer = rig.ask(method, path, body)
        check(False, f"{what}: {method} {path} was carried out", answer)
    except Refused as e:
        check(e.status == 400 and (not has or has in e.body["detail"]), f"{what}: {method} {path}", e)


def with_query(path, *pairs):
    return path + "?" + "&".join(f"{k}={v}" for k, v in pairs)


def every_operation():
    with Rig(ROTA) as rig:
        rig.start()
        for name in ("a", "b"):
            rig.add(document(name))
        before = rig.ask("GET", "/schedules")
        rows = list(operations())
        check(len(rows) > 35, f"rows of the table: {len(rows)}")
        for method, route, takes in rows:
            path = re.sub(r"\{\w+\}", "a", route)
            in_query = method in ("GET", "DELETE")
            refused(rig, "unknown in the query", method, with_query(path, ("nonsense", 1)), has="nonsense")
            for name in re.findall(r"\{(\w+)\}", route):
                refused(rig, "of the path, in the query", method, with_query(path, (name, "b")), has=name)
                if not in_query:
                    refused(rig, "of the path, in the body", method, path, {name: "b"}, has=name)
            if in_query:
                refused(rig, "a body", method, path, {"nonsense": 1}, has="body")
                for name in takes:
                    refused(rig, "twice in the query", method, with_query(path, (name, 1), (name, 2)), has=name)
                    refused(rig, "of the query, in the body", method, path, {name: 1})
            else:
                refused(rig, "unknown in the body", method, path, {"nonsense": 1}, has="nonsense")
                for name in takes:
                    refused(rig, "of the body, in the query", method, with_query(path, (name, "true")), has=name)
                    refused(rig, "of no kind", method, path, {name: None}, has=name)
        check(rig.ask("GET", "/schedules") == before, "nothing has changed")


def the_cases():
    with Rig(ROTA) as rig:
        rig.start()
        for name in ("a", "b"):
            rig.add(document(name))
        refused(rig, "a dry run", "POST", "/apply?dry-run=true", {"documents": [document("c")]})
        refused(rig, "a dry run", "POST", "/apply?dry_run=true", {"documents": [document("c")]})
        refused(rig, "a dry run", "POST", "/apply", {"documents": [document("c")], "dry-run": True})
        refused(rig, "a dry run", "POST", "/apply", {"documents": [document("c")], "dry_run": "yes"})
        refused(rig, "another schedule", "DELETE", "/schedules/a?schedule=b")
        refused(rig, "another schedule", "POST", "/schedules/a/run", {"schedule": "b"})
        refused(rig, "update", "POST", "/schedules", {"document": document("a"), "update": "false"})
        refused(rig, "a flag", "GET", "/runs?failed=maybe")
        check({s["id"] for s in rig.ask("GET", "/schedules")["schedules"]} == {"a", "b"}, "both are there, and no other")
        check(not rig.runs(), "nothing ran")
        # A member that is twice in the body, which a Python dictionary cannot express.
        twice = json.dumps({"document": document("d")})[:-1] + ',"document":' + json.dumps(document("e")) + "}"
        check(status_of(rig, "POST", "/schedules", twice) == 400, "a member that is given twice is refused")


def status_of(rig, method, path, text):
    from rig import Connection  # noqa: PLC0415
    c = Connection(rig.socket, 30)
    c.request(method, "/api/v1" + path, text)
    try:
        return c.getresponse().status
    finally:
        c.close()


def hidden_requests():
    """Request smuggling: a second request, in bytes that a proxy could take for the body of the first, is not carried out."""
    hidden = b"DELETE /api/v1/schedules/a HTTP/1.1\r\nHost: x\r\n\r\n"
    with Rig(ROTA) as rig:
        rig.start()
        rig.add(document("a"))
        for fields in (f"Content-Length: 0\r\nContent-Length: {len(hidden)}", f"Content-Length : {len(hidden)}",
                       "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", "Content-Length: 0\r\nHost: y"):
            with socket.socket(socket.AF_UNIX) as s:
                s.settimeout(30)
                s.connect(rig.socket)
                s.sendall(f"POST /api/v1/schedules/a/pause HTTP/1.1\r\nHost: x\r\n{fields}\r\n\r\n".encode())
                answer = s.recv(4096)
                try:
                    s.sendall((b"0\r\n\r\n" if b"chunked" in fields.encode() else b"") + hidden)
                    while more := s.recv(4096):
                        answer += more
                except OSError:
                    pass  # the daemon has closed the connection
            check(answer.count(b"HTTP/1.1 ") == 1 and answer.startswith(b"HTTP/1.1 400"), f"{fields!r}: refused", answer)
            check(rig.schedules() == ["a"], f"{fields!r}: the hidden request is not carried out")


def crowded_heads():
    """Very many short values use up the memory of the HTTP library; they must be refused, and at once: the limit for
    reading a request is longer than the wait here."""
    heads = {"values": "GET /api/v1/status?" + "&" * 1000 + " HTTP/1.1\r\nHost: x\r\n\r\n",
             "names": "GET /api/v1/status?" + "a&" * 1000 + " HTTP/1.1\r\nHost: x\r\n\r\n",
             "pairs": "DELETE /api/v1/schedules/a?" + "b=c&" * 500 + " HTTP/1.1\r\nHost: x\r\n\r\n",
             "headers": "GET /api/v1/status HTTP/1.1\r\nHost: x\r\n" + "a:\r\n" * 1500 + "\r\n",
             "cookies": "GET /api/v1/status HTTP/1.1\r\nHost: x\r\nCookie: " + "a;" * 3000 + "\r\n\r\n",
             "lines": "\r\n" * 4000 + "GET /api/v1/nothing HTTP/1.1\r\nHost: x\r\n\r\n",
             "long line": "GET /" + "a" * 60000}
    with Rig(ROTA) as rig:
        rig.start()
        rig.add(document("a"))
        for name, head in heads.items():
            with socket.socket(socket.AF_UNIX) as s:
                s.settimeout(10)
                s.connect(rig.socket)
                try:
                    s.sendall(head.encode())
                except OSError:
                    pass  # it was refused before its end
                try:
                    answer = s.recv(4096)
                except OSError as e:
                    answer = repr(e).encode()
            check(answer.startswith(b"HTTP/1.1 4"), f"very many {name} are refused", answer[:200])
            check(rig.schedules() == ["a"], f"{name}: nothing was removed")


sys.exit(run_parts([hidden_requests, crowded_heads, every_operation, the_cases], sys.argv[2:], 2))
