#!/usr/bin/env python3
"""`rota eval` and `rota render`, with the real binary.

usage: eval.py ROTA FAIL_ALLOC"""
import json
import os
import re
import subprocess
import sys
import tempfile
from datetime import datetime, timezone

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check, finish  # noqa: E402

ROTA = os.path.abspath(sys.argv[1])
FAIL_ALLOC = os.path.abspath(sys.argv[2])


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


def rota(*argv, stdin=b"", **more):
    done = subprocess.run([ROTA, *argv], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, **more)
    return Result(done.returncode, done.stdout.decode(errors="surrogateescape"),
                  done.stderr.decode(errors="surrogateescape"))


def expect_output(argv, out, **more):
    r = rota(*argv, **more)
    check(r.code == 0 and r.out == out and r.err == "", f"rota {argv}: expected {out!r}", r)


def expect_error(argv, code, text, **more):
    """Expects this exit code, nothing on stdout, and one line on stderr that ends with the text."""
    r = rota(*argv, **more)
    check(r.code == code and r.out == "" and r.err.startswith("rota: ") and r.err.count("\n") == 1 and
          r.err.endswith(text + "\n"), f"rota {argv}: expected exit code {code} and {text!r}", r)
    check(not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\udc00-\udfff]", r.err), f"rota {argv}: raw bytes on stderr", r)


def write(directory, name, text):
    path = os.path.join(directory, name)
    with open(path, "wb") as f:
        f.write(text if isinstance(text, bytes) else text.encode())
    return path


def check_eval(d):
    context = write(d, "c.yaml", "agent:\n  user: {preferences: {morning_summary: true}}\nitems: [1, 2.0, yes]\nn: 3\n")
    same = write(d, "c.json", '{"items": [1, 2.0, "yes"], "n": 3, "pair": "\\ud83d\\ude00"}')
    with_context = lambda text: ("eval", text, "--context", context)
    # A condition of the specification, and every kind of value as JSON.
    expect_output(with_context("agent.user.preferences.morning_summary == true"), "true\n")
    expect_output(with_context("items"), '[1,2.0,"yes"]\n')
    expect_output(("eval", "items + [pair]", "--context", same), '[1,2.0,"yes","😀"]\n')
    expect_output(("eval", "--context", same, "n * 2"), "6\n")
    expect_output(("eval", "n", "--context", "-"), "9\n", stdin=b"n: 9")
    for text, value in [("1", 1), ("-1", -1), ("1.5", 1.5), ("18446744073709551615u", 2**64 - 1), ("null", None),
                        ("'a\\n\\u00fc\\u0000'", "a\nü\0"), ("b'abc'", "YWJj"), ("[1, [], {}]", [1, [], {}]),
                        ("{'b': 1, 2: 3, true: null}", {"2": 3, "b": 1, "true": None}), ("0.1 + 0.2", 0.1 + 0.2),
                        ("duration('90m')", "5400s"), ("timestamp('2026-11-16T09:00:00.5+01:00')", "2026-11-16T08:00:00.500Z"),
                        ("1.0 / 0.0", "Infinity")]:
        for more in ((), ("--json",)):
            r = rota("eval", *more, "--", text)
            check(r.code == 0 and r.out.count("\n") == 1 and json.loads(r.out) == value, f"rota eval {text}", r)
    expect_output(("eval", "1.0"), "1.0\n")
    # now is the current time, unless the context has a value for it.
    before, r, after = datetime.now(timezone.utc), rota("eval", "now"), datetime.now(timezone.utc)
    now = datetime.fromisoformat(json.loads(r.out).replace("Z", "+00:00"))
    check(before <= now <= after, "now is the current time", r)
    expect_output(("eval", "now + 1", "--context", "-"), "2\n", stdin=b'{"now": 1}')
    expect_output(("eval", "now.getHours('Asia/Kolkata') == (now + duration('5h30m')).getHours()"), "true\n")
    # An expression without a value: exit code 1. A wrong expression: exit code 2. Both have a position.
    expect_error(with_context("agent.user.preference.x"), 1, "there is no field 'preference' (near: preferences), at column 12")
    expect_error(with_context("itms"), 1, "'itms' is not a name in scope (near: items), at column 1")
    expect_error(("eval", "x"), 1, "'x' is not a name in scope, at column 1")
    expect_error(("eval", "ü\n+ 1 / 0"), 2, "'ü' does not belong in an expression, at line 1, column 1")
    expect_error(("eval", "'ü' +\n 1 / 0"), 1, "division by zero, at line 2, column 4")
    expect_error(("eval", "1 +"), 2, "found the end, at column 4")
    expect_error(("eval", "'ü' = 1"), 2, "'=' is not an operator; write '==', at column 5")
    expect_error(("eval", ""), 2, "an expression is missing, at column 1")
    expect_error(("eval", "1 \x1b[31m"), 2, "at column 3")
    expect_error(("eval", "'a'.matches('a')"), 1, "matches() is part of CEL, but rota does not support it, at column 5")
    expect_error(("eval", b"'\xff'"), 2, "not valid UTF-8, at column 2")
    expect_error(("eval", "1" * 5000), 2, "at column 1")
    expect_error(("eval", "(" * 3000), 2, "nested more than 64 deep, at column 65")
    expect_error(("eval", "{1: 2, '1': 3}"), 1, 'two keys of a map are "1" in JSON')
    expect_error(("eval",), 2, "--context state.yaml")
    # The expression is compiled before the context is read.
    expect_error(("eval", "1 +", "--context", "/nowhere"), 2, "at column 4")
    expect_error(("eval", "1", "--context", "/nowhere"), 1, "cannot read /nowhere: No such file or directory")
    expect_error(("eval", "1", "--context", d), 1, "Is a directory")
    expect_error(("eval", "1", "--context", "-"), 2, "a context must be one map, such as {\"user\": {\"name\": \"Ann\"}}, at column 1",
            stdin=b"[1]")
    expect_error(("eval", "1", "--context", "-"), 2, "at line 2, column 1", stdin=b"a: 1\na: 2\n")
    expect_error(("eval", "1", "--context", "-"), 2, "standard input has more than 67108864 bytes", stdin=b" " * (64 << 20) + b" ")
    expect_error(("eval", "1", "--context", write(d, "bad.json", '{"a": }')), 2, "expected a value, at column 7")


def check_render(d):
    context = write(d, "context.yaml", "user: {name: Ann, tags: [1, b]}\ndate: 2026-11-16\nagent: {name: desk}\n"
                                       "variables: {greeting: 'Hello {{ user }}', raw: '{{ \"{{ date }}\" }}'}\n")
    template = write(d, "message.txt", "Generate a daily summary for {{ date }}\r\nto {{ user }} {{ user.tags }}\n")
    expect_output(("render", template, "--context", context), "Generate a daily summary for 2026-11-16\r\nto Ann [1,\"b\"]\n")
    r = rota("render", template, "--context", context, "--json")
    check(json.loads(r.out) == {"text": "Generate a daily summary for 2026-11-16\r\nto Ann [1,\"b\"]\n"}, "render --json", r)
    expect_output(("render", "-", "--context", context), "{{ and Hello Ann, {{ date }}",
         stdin=b"{{ '{{' }} and {{ variables.greeting }}, {{ variables.raw }}")
    expect_output(("render", "-"), "", stdin=b"")
    expect_output(("render", "-"), "no newline }}", stdin=b"no newline }}")
    r = subprocess.run([ROTA, "render", "-"], input=b"\xff{{ 1 }}\x00", stdout=subprocess.PIPE)
    check(r.returncode == 0 and r.stdout == b"\xff1\x00", "text outside of expressions is not changed")
    # A missing value is an error, never an empty string.
    expect_error(("render", "-", "--context", context), 1, "standard input: 'nobody' is not a name in scope, at column 7",
            stdin=b"to {{ nobody }}")
    expect_error(("render", "-", "--context", context), 1,
            "standard input: there is no field 'nme' (near: name), at line 2, column 9", stdin=b"a\n{{ user.nme }}\n")
    expect_error(("render", "-"), 2, "standard input: '{{' has no closing '}}'; a literal {{ is written {{ \"{{\" }}, at column 3",
            stdin=b"a {{ 1")
    expect_error(("render", "-"), 2, "an expression is missing between {{ and }}, at column 1", stdin=b"{{ }}")
    expect_error(("render", template, "--context", "-"), 1, "variable a: 'variables' is not a name in scope, at column 4",
            stdin=b"variables: {a: '{{ variables.b }}', b: 1}")
    expect_error(("render", "-", "--context", "-"), 2, "standard input can be the template or the context, not both")
    expect_error(("render", os.path.join(d, "nothing")), 1, "No such file or directory")
    expect_error(("render",), 2, "--context state.yaml")
    expect_error(("render", "-"), 2, "a template has at most 1048576 bytes, at column 1048577", stdin=b"a" * (1 << 20) + b"b")


def check_no_daemon(d):
    """Neither verb needs a daemon."""
    r = rota("eval", "1 + 1", env={"ROTA_SOCKET": os.path.join(d, "none"), "HOME": d})
    check(r.code == 0 and r.out == "2\n", "eval needs no daemon", r)
    # The help explains the exit codes.
    r = rota("eval", "--help")
    check(r.code == 0 and "exits with 1" in r.out, "rota eval --help", r)


def check_out_of_memory(d):
    """Whichever allocation fails, the result is an error or the right answer."""
    context = write(d, "large.json", json.dumps({"s": "x" * 20000, "variables": {"v": "{{ s + s }}"}}))
    template = write(d, "large.txt", "{{ s }} {{ variables.v }} {{ [s, {'a': s}] }}")
    for argv in (("eval", "[s + s, {'s': s + 'a'}, 1 / 0 == 1 || true, b'abc']", "--context", context),
                 ("render", template, "--context", context), ("render", template, "--json", "--context", context)):
        whole = rota(*argv)
        check(whole.code == 0, f"rota {argv}", whole)
        for n in range(1, 90):
            r = rota(*argv, env=os.environ | {"LD_PRELOAD": FAIL_ALLOC, "FAIL_ALLOC": str(n)})
            good = r.code in (1, 2) and r.err.startswith("rota: ") and r.out == "" or (r.code, r.out) == (0, whole.out)
            check(good, f"allocation {n} fails: rota {argv}", r)


with tempfile.TemporaryDirectory() as directory:
    check_eval(directory)
    check_render(directory)
    check_no_daemon(directory)
    check_out_of_memory(directory)
sys.exit(finish())
