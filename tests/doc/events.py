#!/usr/bin/env python3
"""docs/events.md has the table of all events, with their data and causes, as core/event has it.

usage: events.py EVENT_TABLE
"""
import pathlib
import subprocess
import sys

DOC = pathlib.Path(__file__).resolve().parent.parent.parent / "docs/events.md"

want = subprocess.run([sys.argv[1]], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
have = [line for line in DOC.read_text().splitlines() if line.startswith("| `")]
for line in want:
    if line not in have:
        print(f"docs/events.md lacks the row:\n{line}")
for line in have:
    if line not in want:
        print(f"docs/events.md has a row that is not in core/event/event.c:\n{line}")
if have != want:
    print("the rows differ, or are in another order")
    sys.exit(1)
