#!/usr/bin/env python3
"""Attacks on terminals by names, notes, reports, messages, logs and file names: control sequences, C1 and bidirectional
controls, and newlines that would make a line of the attacker look like one of rota's own.

usage: printing.py ROTA
"""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check  # noqa: E402
from rig import Rig, run_parts, wait_until  # noqa: E402

ROTA = os.path.abspath(sys.argv[1])
FORGED = "r999: done/forged"
EVIL = f"a\x1b[2Jb\x07\x9bc\u202edef\u2066g\u2028h\x7f\r\u061ci\U000e0041"
LINES = f"{EVIL}\n{FORGED}\n"
# What no output may have: C0 but newline and tab, DEL, C1, separators, bidirectional controls, tags.
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f]")


def run(rig, *argv, env=None):
    r = subprocess.run([ROTA, *argv], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, env=rig.env | (env or {}),
                       cwd=rig.dir, check=False)
    r.stdout, r.stderr = r.stdout.decode("utf-8", "backslashreplace"), r.stderr.decode("utf-8", "backslashreplace")
    return r


def harmless(rig, *argv, lines=False):
    """The output has no characters of HIDDEN and, unless it is a text of several lines, no line of the attacker."""
    r = run(rig, *argv)
    for text in (r.stdout, r.stderr):
        check(not HIDDEN.search(text), f"{argv}: characters that control a terminal", r)
        check(lines or FORGED not in text.split("\n"), f"{argv}: a forged line", r)
    if "--json" in argv and r.returncode == 0:
        for line in r.stdout.splitlines():
            json.loads(line)
    return r


def verbs():
    with Rig(ROTA) as rig:
        rig.start()
        report = "for k in step note fail; do %s report $k \"$TEXT\"; done; printf '%%s' \"$TEXT\"" % ROTA
        rig.add({"id": "a", "name": "n", "expression": "0 0 1 1 *", "tags": ["t"],
                 "action": {"type": "command", "command": ["sh", "-c", report], "env": {"TEXT": LINES}}})
        at = ("--socket", rig.socket)
        rig.ask("POST", "/schedules/a/run", {})
        wait_until(30, lambda: [r for r in rig.runs("a") if r["state"] == "finished"])
        rig.ask("POST", "/schedules/a/pause", {"note": LINES})
        rig.ask("POST", "/pause", {"all": True, "note": LINES})
        rig.ask("POST", "/memory", {"agent": "x", "text": LINES, "tags": ["t"]})
        rig.ask("PATCH", "/state", {"agent": "x", "patch": {EVIL: LINES}})
        rig.ask("PUT", "/notify", {"notify": {"to": [{"type": "command", "command": ["true", LINES]}]}})
        for json_too in ((), ("--json",)):
            for argv in (("status",), ("ls",), ("ls", "runs"), ("ls", "problems"), ("show", "a"), ("show", "r1"), ("runs",),
                         ("why", "a"), ("events",), ("memory", "ls", "--agent", "x"), ("memory", "search", "a", "--agent", "x"),
                         ("state", "get", "--agent", "x"), ("notify",), ("notify", "log"), ("doctor",)):
                harmless(rig, *argv, *at, *json_too)
        r = harmless(rig, "logs", "a", *at, lines=True)
        check(FORGED in r.stdout, "the log is shown with its lines", r)
        # Names that are not there, in errors.
        for argv in (("show", LINES), ("rm", LINES), ("run", LINES), ("why", LINES), (LINES,), ("ls", LINES), ("runs", LINES),
                     ("next", LINES), ("explain", LINES), ("zones", LINES)):
            harmless(rig, *argv, *(at if argv[0] in ("show", "rm", "run", "why", "ls", "runs") else ()))


def zero_bytes():
    """A program that prints bytes of zero, which JSON strings may not have: its output and its answer can be shown."""
    with Rig(ROTA) as rig:
        rig.start()
        rig.add({"id": "a", "expression": "0 0 1 1 *", "action": {"type": "command", "command": ["printf", "x\\0y\\n"]}})
        rig.ask("POST", "/schedules/a/run", {})
        check(wait_until(30, lambda: [r for r in rig.runs("a") if r["state"] == "finished"]), "it ran")
        for argv in (("logs", "a"), ("logs", "a", "--json"), ("show", "r1")):
            r = harmless(rig, *argv, "--socket", rig.socket)
            check(r.returncode == 0, f"{argv} shows it", r)
        r = harmless(rig, "logs", "a", "--socket", rig.socket)
        check("x\ufffdy" in r.stdout, "the byte is replaced", r)


def files():
    """Names of files: on the command line, and in a directory that the daemon serves."""
    with Rig(ROTA) as rig:
        docs = os.path.join(rig.dir, "docs")
        os.makedirs(docs)
        name = os.path.join(docs, LINES.replace("/", "-") + ".yaml")
        with open(name, "w", encoding="utf-8") as f:
            f.write("id: a\nexpression: nonsense\n")
        harmless(rig, "agent", "check", name)
        harmless(rig, "apply", "-f", name, "--socket", rig.socket)
        rig.start(options=[docs])
        check(wait_until(30, lambda: rig.ask("GET", "/problems")["problems"]), "the file is a problem")
        harmless(rig, "status", "--socket", rig.socket)
        harmless(rig, "ls", "problems", "--socket", rig.socket)
        with open(rig.log, encoding="utf-8", errors="backslashreplace", newline="") as f:
            text = f.read()
        check("nonsense" in text or ".yaml" in text, "the daemon reports the file", text)
        check(not HIDDEN.search(text), "the daemon's messages have no such characters", repr(text))
        check(FORGED not in text.split("\n"), "nor a forged line", repr(text))


def expressions():
    """A value is printed as JSON, whoever reads it; a rendered text is unchanged unless a terminal shows it."""
    with Rig(ROTA) as rig:
        context = os.path.join(rig.dir, "context.json")
        with open(context, "w", encoding="utf-8") as f:
            json.dump({"x": LINES}, f)
        template = os.path.join(rig.dir, "template")
        with open(template, "w", encoding="utf-8") as f:
            f.write("{{ x }}")
        r = harmless(rig, "eval", "x", "--context", context)
        check(r.returncode == 0 and json.loads(r.stdout) == LINES, "the value is the same", r)
        r = harmless(rig, "render", template, "--context", context, "--json")
        check(r.returncode == 0 and json.loads(r.stdout)["text"] == LINES, "the text is the same", r)
        check(run(rig, "render", template, "--context", context).stdout == LINES, "a program gets it unchanged")
        for argv in (("eval", "x"), ("render", template)):
            text = on_terminal(rig, *argv, "--context", context)
            check(text and not HIDDEN.search(text.replace("\r\n", "\n")), f"{argv[0]} on a terminal", repr(text))


def on_terminal(rig, *argv):
    """What a verb prints on a terminal."""
    master, slave = os.openpty()
    p = subprocess.Popen([ROTA, *argv], stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, env=rig.env, cwd=rig.dir)
    os.close(slave)
    text = b""
    try:
        while piece := os.read(master, 65536):
            text += piece
    except OSError:
        pass  # the terminal is closed
    p.wait(60)
    os.close(master)
    return text.decode("utf-8", "backslashreplace")


def paths():
    """The data directory in the daemon's own first line, and in the configuration, which refuses C0 itself."""
    with Rig(ROTA) as rig:
        rig.data = os.path.join(rig.dir, "a\u202eb\u2066c\u2028d")
        rig.start()
        with open(rig.log, encoding="utf-8", errors="backslashreplace", newline="") as f:
            text = f.read()
        check("serving" in text and not HIDDEN.search(text) and text.count("\n") == 1, "the line at the start", repr(text))
        harmless(rig, "config", "--data", rig.data)
        harmless(rig, "doctor", "--data", rig.data, "--socket", rig.socket)


sys.exit(run_parts([verbs, zero_bytes, files, expressions, paths], sys.argv[2:], 3))
