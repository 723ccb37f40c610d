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


def plans():
    """Texts of 1 MB that would take a square of steps: each verb ends, with an answer or with an error about a limit."""
    size = BYTES // 2
    head = "* TODO x\n:PROPERTIES:\n:ID: x\n:END:\n* TODO y\n:PROPERTIES:\n"
    texts = {"words": head + ":DEPENDS: " + "x " * (size // 2) + "\n:END:\n", "commas": head + ":DEPENDS: " + "x," * (size // 2) + "\n:END:\n",
             "lists": head + ":DEPENDS: " + ("x " * 250 + ",") * (size // 501) + "\n:END:\n",
             "workflows": "* w :workflow:\n" * (size // 15), "inner": "* w :workflow:\n" + "** v :workflow:\n" * (size // 16),
             "arguments": "* w :workflow:\n** c :component:\n#+begin_src sh :in " + "a," * (size // 2) + "\n#+end_src\n",
             "stars": "*" * size + " x\n", "levels": "".join("*" * (i % 400 + 1) + " TODO x\n" for i in range(size // 200)),
             "tags": "* TODO x " + ":a" * (size // 2) + ":\n", "blocks": "#+begin_src\n" * (size // 12), "drawers": ":a:\n" * (size // 4),
             "properties": "* a\n:PROPERTIES:\n" + ":a: b\n" * (size // 6) + ":END:\n", "twins": "".join(f"* TODO t{i % 20000}\n" for i in range(60000)),
             "keywords": "#+TODO: " + "A " * (size // 2) + "\n* A x\n", "lines": "#+TODO: A | B\n" * (size // 14) + "* A x\n",
             "repeater": "* TODO x\nSCHEDULED: <0001-01-01 +1h>\n" * 2000, "footnotes": "[fn:1] a\n" * (size // 9)}
    verbs = (("org", "parse"), ("agenda",), ("plan", "check"), ("agent", "check"))
    with tempfile.TemporaryDirectory() as d:
        for name, text in texts.items():
            path = os.path.join(d, name + ".org")
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            for verb in verbs:
                try:
                    r = subprocess.run([ROTA, *verb, path], capture_output=True, timeout=60, check=False)
                    check(r.returncode in (0, 1, 2) and b"Sanitizer" not in r.stderr, f"{name}: {verb} ends", (r.returncode, r.stderr[-300:]))
                except subprocess.TimeoutExpired:
                    check(False, f"{name}: {verb} takes more than a minute")


sys.exit(run_parts([many_tags, plans, watched_directory], sys.argv[2:], 2))
