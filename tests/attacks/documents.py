#!/usr/bin/env python3
"""Attacks by documents: texts that take a parser very long.

usage: documents.py ROTA
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check  # noqa: E402
from rig import Rig, run_parts, wait_until  # noqa: E402

ROTA = os.path.abspath(sys.argv[1])
BYTES = 2 << 20


def tag_directives(end):
    """libyaml compares each TAG directive with all others: 2 MB take it 10 seconds."""
    text, n = [], 0
    while n < BYTES:
        text.append(f"%TAG !{len(text):x}! tag:example.org,2000:{end}")
        n += len(text[-1])
    return "".join(text) + f"---{end}schedules: []{end}"


def many_tags():
    with tempfile.TemporaryDirectory() as d:
        for end in ("\n", "\r\n", "\r", "\x85", "\u2028"):
            path = os.path.join(d, "tags.yaml")
            with open(path, "w", encoding="utf-8", newline="") as f:
                f.write(tag_directives(end))
            r = subprocess.run([ROTA, "agent", "check", path], capture_output=True, text=True, timeout=120, check=False)
            check(r.returncode == 2 and "TAG directives" in r.stderr, f"{end!r}: very many tags are refused at once", r)


def watched_directory():
    """A file in a served directory: the daemon refuses it, serves the others, and stops when it is asked to."""
    with Rig(ROTA) as rig:
        docs = os.path.join(rig.dir, "docs")
        os.makedirs(docs)
        with open(os.path.join(docs, "bad.yaml"), "w", encoding="utf-8") as f:
            f.write(tag_directives("\n"))
        with open(os.path.join(docs, "good.yaml"), "w", encoding="utf-8") as f:
            f.write("id: good\nexpression: 0 0 1 1 *\naction: {type: command, command: 'true'}\n")
        rig.start(options=[docs])
        check(wait_until(30, lambda: [s["id"] for s in rig.ask("GET", "/schedules")["schedules"]] == ["good"]),
              "the other file is applied")
        found = wait_until(30, lambda: [p for p in rig.ask("GET", "/problems")["problems"] if "bad.yaml" in p["text"]])
        check(found and "TAG directives" in found[0]["text"], "the bad one is a problem", found)


sys.exit(run_parts([many_tags, watched_directory], sys.argv[2:], 2))
