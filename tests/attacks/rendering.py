#!/usr/bin/env python3
"""A small document whose templates become very large: rendering has one budget for each attempt.

usage: rendering.py ROTA
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from fixture import ENV, FAR, ROTA, check, daemon_pid, rota, rota_json, run_parts, write  # noqa: E402

MEMORY_MAX = 300 << 20  # bytes: the daemon with everything else that it needs
with open(ROTA, "rb") as f:
    if b"__asan_init" in f.read():
        # The address sanitizer keeps freed memory, 256 MiB unless told otherwise, which would hide what the daemon needs. Its
        # shadow memory is an eighth of the rest.
        ENV["ASAN_OPTIONS"] = ":".join(filter(None, [ENV.get("ASAN_OPTIONS"), "quarantine_size_mb=16"]))
        MEMORY_MAX += MEMORY_MAX // 8 + (16 << 20)


def peak_memory():
    with open(f"/proc/{daemon_pid()}/status", encoding="ascii") as f:
        return next(int(line.split()[1]) << 10 for line in f if line.startswith("VmHWM"))


def put(name, **keys):
    r = rota("apply", "-f", write(f"{name}.json", json.dumps({"id": name, "expression": FAR, "retry": {"retries": 3, "initial_delay": 1}, **keys})))
    check(r.returncode == 0, f"{name} is accepted", r)


def fails(name):
    r = rota("run", name, "--wait")
    check(r.returncode == 1 and "failed/template" in r.stdout + r.stderr, f"{name}: the run is failed/template", r)
    runs = rota_json("runs", name).get("runs", [])
    check(len(runs) == 1 and runs[0].get("attempt") == 1, f"{name}: it is not retried", runs)


def check_sizes():
    piece, many = "x" * 65536, "{{ variables.a }}" * 60
    put("words", variables={"a": piece}, action={"type": "command", "command": ["echo"] + [many] * 60})
    fails("words")
    put("environment", variables={"a": piece}, action={"type": "command", "command": "true", "env": {f"V{i}": many for i in range(60)}})
    fails("environment")
    put("variables", variables={f"v{i}": "{{ schedule.description }}" * 40 for i in range(40)}, description=piece,
        action={"type": "command", "command": "true"})
    fails("variables")
    put("body", variables={"a": piece}, action={"type": "webhook", "url": "http://127.0.0.1:9/", "body": [many] * 60})
    fails("body")
    put("lists", variables={"a": piece}, action={"type": "command", "command": ["echo", "{{ [" + ",".join(["variables.a"] * 200) + "] }}"]})
    fails("lists")
    put("check", variables={"a": piece}, check=["echo"] + [many] * 60, action={"type": "command", "command": "true"})
    fails("check")
    peak = peak_memory()
    check(peak < MEMORY_MAX, f"the daemon needed at most {MEMORY_MAX >> 20} MiB", f"{peak >> 20} MiB")


def check_others():
    r = rota("add", FAR, "--id", "other", "--", "true")
    check(r.returncode == 0, "another schedule is added", r)
    r = rota("run", "other", "--wait")
    check(r.returncode == 0, "the others run", r)


sys.exit(run_parts(check_sizes, check_others))
