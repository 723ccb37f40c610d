#!/usr/bin/env python3
"""The command line without a daemon: what it refuses and with which message, what it prints, its exit codes.

usage: cli.py ROTA FAIL_ALLOC"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import zoneinfo
from datetime import datetime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import checks  # noqa: E402
from checks import check, finish  # noqa: E402

ROTA = os.path.abspath(sys.argv[1])
FAIL_ALLOC = os.path.abspath(sys.argv[2])
AFTER = ("--after", "2026-11-15T12:00:00Z")


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


def rota(*argv, stdin=b"", env=None, stdout=subprocess.PIPE, **more):
    """Runs rota; after a minute it counts as hanging."""
    environment = {k: v for k, v in os.environ.items() if k not in ("TZ", "TZDIR")} | (env or {})
    try:
        done = subprocess.run([ROTA, *argv], input=stdin, stdout=stdout, stderr=subprocess.PIPE, env=environment,
                              timeout=60, **more)
    except subprocess.TimeoutExpired:
        return Result("hangs", "", "")
    return Result(done.returncode, (done.stdout or b"").decode(errors="surrogateescape"),
                  done.stderr.decode(errors="surrogateescape"))


def command_line(argv):
    return "rota " + " ".join(repr(a) if not re.fullmatch(r"[\w./=:-]+", str(a)) else a
                              for a in map(lambda a: a if len(a) < 200 else a[:60] + "…", argv))


# --- refused input -------------------------------------------------------------------------------------------------
def refused(argv, *parts, at=None, exact=None, code=2):
    """Refused: exit code 2, nothing on stdout, one line on stderr with these parts, ending with this position.
    `at`: the column, or (line, column). A part is a text, or a tuple of alternatives."""
    r = rota(*argv)
    what = command_line(argv)
    check(r.code == code and r.out == "", f"{what}: expected exit code {code} and no output", r)
    check(r.err.startswith("rota: ") and r.err.endswith("\n") and r.err.count("\n") == 1,
          f"{what}: not one line of 'rota: …'", r)
    check(not re.search("[\x00-\x09\x0b-\x1f\x7f\x80-\x9f\udc00-\udfff]", r.err),
          f"{what}: raw control or invalid characters on stderr", r)
    if exact is not None:
        check(r.err == exact + "\n", f"{what}: expected exactly {exact!r}", r)
    for part in parts:
        choice = part if isinstance(part, tuple) else (part,)
        check(any(p in r.err for p in choice), f"{what}: expected {' or '.join(map(repr, choice))} in the message", r)
    if isinstance(at, tuple):
        check(r.err.endswith(f", at line {at[0]}, column {at[1]}\n"),
              f"{what}: expected the position: line {at[0]}, column {at[1]}", r)
    elif at is not None:
        check(r.err.endswith(f", at column {at}\n"), f"{what}: expected the position: column {at}", r)


def bad(expression, *parts, at=None, exact=None):
    refused(("next", *AFTER, "--", expression), *parts, at=at, exact=exact)


def check_bad_cron():
    # The one message that the specification gives word by word.
    bad("60 * * * *", exact="rota: minute 60 is out of range 0-59, at column 1")
    refused(("explain", "60 * * * *"), exact="rota: minute 60 is out of range 0-59, at column 1")
    # Out of range, in each field: alone, in a list, at either end of a range.
    for index, (name, low, high) in enumerate([("minute", 0, 59), ("hour", 0, 23), ("day", 1, 31), ("month", 1, 12),
                                               ("week", 0, 7)]):
        for value in [high + 1, 99, 100] + ([low - 1] if low else []):
            for before, after in [("", ""), (f"{low},{low + 1},", ""), (f"{low}-", ""), ("", f"-{high}"), ("", ",5")]:
                fields = ["*"] * 5
                fields[index] = f"{before}{value}{after}"
                bad(" ".join(fields), name, str(value), f"{low}-{high}", "out of range", at=2 * index + 1 + len(before))
        fields = ["*"] * 5
        fields[index] = "*/0"
        bad(" ".join(fields), name, "step", "0", "out of range", at=2 * index + 3)
        fields[index] = f"{low}-{high}/0"
        bad(" ".join(fields), "step 0", "out of range", at=2 * index + 2 + len(f"{low}-{high}"))
        fields[index] = f"*/{high + 50}"
        bad(" ".join(fields), "step", str(high + 50), "out of range", at=2 * index + 3)
        for junk in ("1x", "x", "-", "1-", "-1", "1,", ",1", "1,,2", "1--2", "1/", "*/", "/5", "**", "*5", "1-2-3",
                     "1/2/3", "1.5", "+1", "0x1", "½", "'"):
            fields[index] = junk
            r = rota("next", *AFTER, "--", " ".join(fields))
            check(r.code == 2 and r.out == "" and re.search(r"at column \d+\n$", r.err),
                  f"rota next {' '.join(fields)!r}: should be refused with a column", r)
    bad("1x * * * *", "minute", "1x", "0-59", at=2)
    bad("* * 1x * *", "day", "1x", "1-31", at=6)
    bad("60 * * * * *", "second 60", "0-59", at=1)
    bad("* 60 * * * *", "minute 60", "0-59", at=3)
    bad("* * 24 * * *", "hour 24", "0-23", at=5)
    # A name that the field does not have: the error names the field.
    bad("0 9 * foo *", "month", "foo", at=7)
    bad("0 9 * FOO *", "month", "FOO", at=7)
    bad("0 9 * * foo", "week", "foo", at=9)
    bad("0 9 * * MONDAY", "week", "MONDAY", at=9)
    bad("0 JAN * * *", "hour", "JAN", at=3)
    bad("0 9 MON * *", "day of month", "MON", at=5)
    bad("99999999999999999999 * * * *", "minute 99999999999999999999", "0-59", at=1)
    bad("*/99999999999999999999 * * * *", "step 99999999999999999999", at=3)
    # Numbers of fields.
    for text, count in [("*", 1), ("* *", 2), ("* * *", 3), ("* * * *", 4), ("* * * * * * *", 7),
                        ("0 0 * * * * * * *", 9)]:
        bad(text, f"{count} field", "5", "6", ("at column",))
    # ? and the special letters in the wrong fields.
    for text in ("? * * * *", "* ? * * *", "* * * ? *", "L * * * *", "* * * L *", "* * * * W", "15W * * * *",
                 "* * * 5#2 *", "* * 5#2 * *", "* * 5L * *"):
        bad(text, ("not understood", "out of range", "not allowed"), ("at column",))
    bad("0 0 * * 5#6", "6", "1-5", at=11)
    bad("0 0 * * 5#0", "0", "1-5", at=11)
    bad("0 0 * * 8L", "8", "0-7", at=9)
    bad("0 0 32W * *", "32", "1-31", at=5)
    bad("0 0 L-31 * *", "31", "1-30", at=7)
    bad("H(7-3) * * * *", "7-3", ("at column",))
    bad("H(0-60) * * * *", "60", "0-59", ("at column",))
    bad("H/0 * * * *", "step 0", at=3)
    bad("H( * * * *", ("at column",))
    # Expressions that never fire.
    for text in ("0 0 30 2 *", "0 0 31 2 *", "0 0 31 4,6,9,11 *", "0 0 31 2 ?", "0 0 30 2 */1", "0 0 30,31 FEB *"):
        bad(text, "never fires", at=5)
    bad("0 0 0 30 2 *", "never fires", ("at column",))
    bad("0 9 1 1 * FROM 2027-01-02 UNTIL 2027-06-01", "never fires", ("at column",))
    bad("0 9 1 1 * FROM 2027-06-01 UNTIL 2027-01-02", ("FROM", "never fires"), ("at column",))
    bad("2027-01-01T09:00 EXCEPT 2027-01-01", "never fires", ("at column",))
    # Unknown words with @.
    bad("@foo", "@foo", "@hourly", at=1)
    bad("@", ("@",), at=1)
    bad("@reboot", "@reboot", at=1)
    bad("@dailyx", "@dailyx", at=1)


def check_bad_forms():
    # Empty, or too long.
    for text in ("", " ", "\n", "\t \n"):
        bad(text, "no expression", ("at column", "at line"))
    bad("TZ=Europe/Berlin", ("no expression", "expression"), ("at column",))
    bad("TZ=Europe/Berlin WINDOW 5m", ("no expression", "expression"), ("at column",))
    bad("0 9 * * * IF " + "x" * 4084, "4096", "4097", at=4097)
    bad("a" * 100000, "4096", "100000", at=4097)
    longest = "0 9 * * * IF '" + "x" * 4075 + "' != ''"
    r = rota("next", longest, *AFTER)
    check(len(longest) == 4096 and r.code == 0, "an expression of 4096 bytes should be accepted", r)
    # Characters.
    for c in (1, 2, 7, 8, 11, 12, 14, 27, 31, 127):
        bad(f"0 9 * * *{chr(c)}", "control character", f"0x{c:02x}", at=10)
        bad(f"{chr(c)}0 9 * * *", "control character", f"0x{c:02x}", at=1)
    for raw in (b"0 9 * * \xff", b"\xc3", b"every day at \x80", b"0 9 * * *\xed\xa0\x80", b"\xc0\xaf 9 * * *",
                b"TZ=\xff 0 9 * * *", b"<2026-06-13 \xfe>"):
        r = rota("next", raw)
        check(r.code == 2 and r.out == "" and r.err.startswith("rota: ") and not re.search("[\udc00-\udfff]", r.err),
              f"rota next {raw!r}: invalid UTF-8", r)
        check(re.search(r"at column \d+\n$", r.err), f"rota next {raw!r}: no column", r)
    for raw in (b"0 9 * * * IF \xff", b"0 9 * * * IF \xed\xa0\x80", b"@daily"):  # the JSON must be valid UTF-8
        r = rota("next", raw, "--json", "--id", b"\xff")
        check(r.code == 2 or r.code == 0 and not re.search("[\udc00-\udfff]", r.out) and json.loads(r.out),
              f"rota next {raw!r} --json", r)
    bad("0 9 * * \u009b31m", ("at column",))
    bad("every day at \u202e9", ("at column",))
    # Zones.
    for text, near in [("Europe/Berln", "Europe/Berlin"), ("Berlin", "Europe/Berlin"),
                       ("europe/berlin", "Europe/Berlin"), ("America/NewYork", "America/New_York"),
                       ("Amercia/Chicago", "America/Chicago"), ("Asia/Tokio", "Asia/Tokyo")]:
        bad(f"TZ={text} 0 9 * * *", f"zone '{text}' is not known", near, at=4)
        refused(("next", "0 9 * * *", "--tz", text), f"zone '{text}' is not known", near)
        refused(("explain", "0 9 * * *", "--tz", text), f"zone '{text}' is not known", near)
    bad("0 9 * * * TZ=Mars/Phobos", "Mars/Phobos", at=14)
    for text in ("../../etc/passwd", "/etc/passwd", "Europe/../Europe/Berlin", "Europe", "Europe/", "/Europe/Berlin",
                 "tzdata.zi", "posix/UTC", "right/UTC", ".", "..",
                 "zone.tab", "EST5EDT,M3.2.0,M11.1.0", "+02:00", "A" * 3000, "\x1b[31m"):
        refused(("next", "0 9 * * *", "--tz", text), "is not known")
    bad("every day at 9 in Atlantiss", "Atlantiss", at=19)
    # Durations.
    for word in ("@every", "EVERY"):
        bad(word, ("duration", "missing", "at column"))
        for duration, part in [("0s", "1s"), ("5", "unit"), ("5x", "5x"), ("-5m", "-5m"), ("1.5h", "1.5h"), ("m", "m"),
                               ("1h30", "1h30"), ("5m5m", "5m5m"), ("99999999999999999999s", "at most")]:
            bad(f"{word} {duration}", part, ("at column",))
    for word in ("WINDOW", "JITTER", "TIMEOUT"):
        bad(f"0 9 * * * {word} 5", "duration", "5", "unit", at=12 + len(word))
        bad(f"0 9 * * * {word} foo", "foo", at=12 + len(word))
        bad(f"0 9 * * * {word} 99999999999w", ("out of range", "at most", "too long"), at=12 + len(word))
    # One-shots.
    bad("2026-13-01T00:00", "month 13", "01-12", at=6)
    bad("2026-00-01T00:00", "month 0", "01-12", at=6)
    bad("2026-02-30T00:00", "day 30", "01-28", at=9)
    bad("2028-02-30T00:00", "day 30", "01-29", at=9)
    bad("2026-11-31T00:00", "day 31", "01-30", at=9)
    bad("2026-02-28T24:00", "hour 24", "00-23", at=12)
    bad("2026-02-28T23:60", "minute 60", "00-59", at=15)
    bad("2026-02-28T23:59:60", "second 60", "00-59", at=18)
    bad("2026-02-28T23:59:59+24:00", ("24", "offset"), ("at column",))
    bad("2026-02-28T23:59:59+01:60", "60", ("at column",))
    for text in ("2026-02-28T", "2026-02-28T10", "2026-02-28T10:", "2026-2-28T10:00", "26-02-28T10:00",
                 "2026-02-28T10:00:00.", "2026-02-28T10:00X",
                 "2026-02-28T10:00+", "2026-02-28T10:00Z Z", "2026-02-28 10:00 UTC", "2026/02/28 10:00",
                 "-2026-02-28T10:00", "0000-01-01T00:00", "20260228T10:00"):
        bad(text, ("at column",))
    # Org timestamps.
    bad("[2026-06-13 Sat 09:00 +1w]", "inactive", "<", at=1)
    bad("[2026-06-13 Sat]", "inactive", at=1)
    bad("<2026-06-13 Sat 09:00 ++1w> MISSED catch_up", "++", "MISSED", "skip", at=36)
    bad("<2026-06-13 Sat 09:00 ++1w> MISSED execute_immediately", "++", "MISSED", at=36)
    bad("MISSED catch_up\n<2026-06-13 Sat 09:00 ++1w>", "++", "MISSED", at=(1, 8))
    r = rota("next", "<2026-06-13 Sat 09:00 ++1w> MISSED skip", *AFTER)
    check(r.code == 0, "++ with MISSED skip has the same meaning and should be accepted", r)
    bad("<2026-02-30 Mon 10:00>", "day 30", "1-28", at=10)
    bad("<2026-13-01 Mon 10:00>", "month 13", "1-12", at=7)
    bad("<2026-06-13 Sat 25:00>", "hour 25", "0-23", at=17)
    bad("<2026-06-13 Sat 09:60>", "minute 60", "0-59", at=20)
    bad("<2026-06-13 Sat 09:00 +0d>", "+0d", "1-", ("at column",))
    bad("<2026-06-13 Sat 09:00 +1x>", "+1x", "h d w m y", ("at column",))
    for text in ("<", "<>", "<2026-06-13", "<2026-06-13 Sat 09:00 +1w", "<Sat 09:00>", "<2026-06-13 Sat 09:00 +1w> x",
                 "<2026-06-13 Sat 09:00 +w>", "<2026-06-13 Sat 09:00 +>",
                 "<2026-06-13 Sat 09:00 +99999999999w>", "<2026-06-13 Sat 09:00 +1w +2w>",
                 "<2026-06-13 Sat 09:00 10:00>", "<06-13>"):
        bad(text, ("at column",))
    # Phrases.
    for text, part in [("foo bar", "foo"), ("every", "missing"), ("every day at", "missing"),
                       ("every day at 25:00", "0-23"), ("every day at 9:60", "59"),
                       ("every day at 13pm", "1-12"), ("every day at 0am", "1-12"),
                       ("every 0 minutes", "0 is out of range"), ("every day at 9 until 31 June", "1-30"),
                       ("every foo at 9", "foo"),
                       ("every day at 9 at 10", "at"), ("in 0 minutes", ("0",)), ("in -5 minutes", ("-5",)),
                       ("in foo", "foo"), ("tomorrow at 99", "99"), ("sixth monday of the month at 9", "sixth")]:
        bad(text, part, ("at column",))
    # Ambiguous phrases: the message names the possible readings.
    bad("monday at 9", "every monday at 9", "next monday at 9", at=1)
    bad("at 9", "every day at 9", "tomorrow at 9", at=1)
    bad("every second tuesday at 9", "second tuesday of the month", "2 weeks", ("at column",))
    bad("every day at 9 and 5pm", "9", "am or pm", ("at column",))


DIRECTIVES = ["IF", "WINDOW", "RETRY", "FROM", "UNTIL", "JITTER", "TIMEOUT", "MISSED", "OVERLAP", "EXCEPT", "GAP",
              "FOLD"]
VALUES = {"IF": "x", "WINDOW": "5m", "RETRY": "3", "FROM": "2026-01-01", "UNTIL": "2030-01-01", "JITTER": "5m",
          "TIMEOUT": "5m", "MISSED": "skip", "OVERLAP": "skip",
          "EXCEPT": "2026-12-25", "GAP": "skip", "FOLD": "both"}


def check_bad_directives():
    bad("FOO bar\n0 9 * * *", "'FOO' is not known", at=(1, 1))
    for text, at in [("0 9 * * *\nFOO bar", (2, 1)), ("0 9 * * *\nTZ=UTC\n  FOO", (3, 3)), ("0 9 * * * FOO bar", 11)]:
        bad(text, "FOO", "not known", *DIRECTIVES, "TZ=", at=at)
    bad("0 9 * * *\nfoo", "foo", at=(2, 1))
    bad("0 9 * * *\nwindow 5m", "window", at=(2, 1))  # "Directives are upper-case only."
    for name in DIRECTIVES:
        # A directive without a value: at the end, before another directive, on a line of its own.
        bad(f"0 9 * * * {name}", name, ("needs a value", "needs"), at=11 + len(name))
        bad(f"0 9 * * *\n{name}\nTZ=UTC", name, ("needs a value", "needs"), at=(2, 1 + len(name)))
        # A directive that is given twice: the message names both positions.
        value = VALUES[name]
        bad(f"0 9 * * *\n{name} {value}\nTZ=UTC\n{name} {value}", f"{name} is given twice",
            f"line 2, column {len(name) + 2}", at=(4, len(name) + 2))
        if name != "IF":
            first = 12 + len(name)
            second = first + len(value) + 2 + len(name)
            bad(f"0 9 * * * {name} {value} {name} {value}", f"{name} is given twice", f"column {first}", at=second)
    bad("0 9 * * *\nTZ=", "TZ=", at=(2, 4))
    bad("0 9 * * * TZ=", "TZ=", at=14)
    bad("TZ=UTC\n0 9 * * *\nTZ=Europe/Berlin", "TZ= is given twice", "line 1, column 4", at=(3, 4))
    bad("0 9 * * *\n0 10 * * *", "twice", "line 1, column 1", "0 10 * * *", at=(2, 1))
    bad("0 9 * * *\n@daily", "twice", "line 1, column 1", at=(2, 1))
    # A value that is given by the phrase and again by a directive: the message names both positions.
    bad("every day at 9 in Berlin TZ=Europe/Paris", "twice", "Europe/Paris", at=19)
    bad("every day at 9 until 30 June UNTIL 2027-01-01", "twice", "column 36", ("at column 16", "at column 22"))
    for name, value, part in [("GAP", "foo", "shift, skip"), ("FOLD", "foo", "first, second, both"),
                              ("MISSED", "foo", "catch_up"), ("OVERLAP", "foo", "queue_one"),
                              ("RETRY", "x", "x"), ("RETRY", "-1", "-1"), ("RETRY", "1000", "0-100"),
                              ("RETRY", "3 sometimes", "sometimes"), ("RETRY", "3 linear 5", "5"),
                              ("FROM", "foo", ("foo", "4 digits")), ("UNTIL", "foo", ("foo", "4 digits")),
                              ("FROM", "2026-02-30", "day 30"), ("UNTIL", "2026-13-01", "month 13"),
                              ("EXCEPT", "foo", "foo"), ("EXCEPT", "2026-13-01", "month 13"),
                              ("EXCEPT", "2026-12-24,,2026-12-25", ("date", "4 digits")),
                              ("EXCEPT", "2026-12-24,", ("date", "4 digits"))]:
        bad(f"0 9 * * * {name} {value}", part, ("at column",))
        bad(f"0 9 * * *\n{name} {value}", part, "at line 2, column")
    for name in ("gap", "GAP skip skip", "WINDOW 5m 6m", "TIMEOUT 5m x", "MISSED skip x"):
        bad(f"0 9 * * *\n{name}", ("at line 2, column",))
    # CRLF counts as one line end.
    bad("0 9 * * *\r\nTZ=UTC\r\nFOO bar\r\n", "FOO", at=(3, 1))
    bad("0 9 * * * IF ü\nFOO", "FOO", at=(2, 1))
    # The error is about the invalid value, not about its consequences.
    bad("0 9 * * * UNTIL 30 June", "30", ("date", "time", "digits"), at=17)
    bad("every day at 9 UNTIL 30 June", "30", ("date", "time", "digits"), at=22)
    bad("EVERY DAY AT 9 UNTIL 30 JUNE", "30", ("date", "time", "digits"),
        at=22)  # "Directives are upper-case only": this word is a directive
    # GAP and FOLD apply to cron only: with other forms they are refused, not ignored.
    for form in ("@every 7h", "2027-01-01T09:00", "<2026-06-13 Sat 09:00 +1d>", "in 20 minutes"):
        for directive in ("GAP skip", "FOLD both"):
            bad(f"{form} {directive}", directive[:4].strip(), "cron", ("at column",))


def check_bad_usage():
    for verb in ("next", "explain"):
        refused((verb,), "expression", ("rota " + verb,))
        refused((verb, "@daily", "@hourly"), ("one EXPR", "one expression"))
        refused((verb, "@daily", "--bogus"), "--bogus", "--help")
        refused((verb, "@daily", "-x"), "-x")
        for option in ("--tz", "--after", "--id"):
            refused((verb, "@daily", option), option, "value")
            refused((verb, "@daily", option, "x", option, "x"), option, "twice")
        for value in ("foo", "2026-13-01", "2026-02-30", "10000-01-01", "now", "12:00", "1763208000"):
            refused((verb, "@daily", "--after", value), "--after", value)
    for value in ("0", "-1", "x", "1.5", "100000000", "99999999999999999999", "1e3", " 1", "0x10", "+"):
        refused(("next", "@daily", "--count", value), "--count", value, "1-100000")
    refused(("next", "@daily", "--count"), "--count", "value")
    refused(("next", "@daily", "--json=1"), "--json", "value")
    refused(("explain", "@daily", "--count", "3"), "--count")
    refused(("next", "--batch"), "--batch", "value")
    refused(("next", "@daily", "--batch", "-"), "--batch")
    refused(("zones", "a", "b"), "PATTERN")
    refused(("zones", "--bogus"), "--bogus")
    refused(("version", "x"), "x")
    refused(("foo",), "foo", "--help")
    refused(("\x1b[31mfoo",), "is not a verb")
    refused(("next", "@daily", "--\x1b[31m"), "no option")
    refused(("nxt", "@daily"), "nxt")
    refused(("--bogus",), "--bogus")


# --- accepted input ------------------------------------------------------------------------------------------------
def check_answers():
    r = rota("next", "0 9 * * *", "--tz", "Europe/Berlin", "--after", "2026-11-15T14:00:00Z", "--json")
    answer = json.loads(r.out) if r.code == 0 else {}
    check(list(answer) == ["kind", "normalized", "timezone", "explain", "directives", "next", "warnings"],
          "the keys of rota next --json", r)
    check(answer.get("next", [])[:1] == ["2026-11-16T08:00:00Z"] and len(answer["next"]) == 5,
          "the times of rota next --json: RFC 3339, UTC, five by default", r)
    for kind, text in [("cron", "0 9 * * *"), ("cron", "@daily"), ("at", "2027-01-01T00:00"), ("every", "@every 10m"),
                       ("every", "EVERY 10m"),
                       ("org", "<2026-06-13 Sat 09:00 +1w>"), ("cron", "every tuesday at 9am"), ("at", "in 20m"),
                       ("at", "tomorrow at noon"), ("org", "every 2 weeks on monday at 10"),
                       ("every", "every 7 hours")]:
        r = rota("next", text, *AFTER, "--json")
        check(r.code == 0 and json.loads(r.out)["kind"] == kind, f"rota next {text!r} --json: kind should be {kind}", r)
    # Without --json: a sentence, and the time in the schedule's zone and in UTC.
    r = rota("next", "0 9 * * *", "--tz", "Europe/Berlin", "--after", "2026-11-15T14:00:00Z", "--count", "1")
    check(r.code == 0 and "09:00:00 +01:00" in r.out and "2026-11-16T08:00:00Z" in r.out and r.err == "",
          "rota next without --json", r)
    r = rota("explain", "0 9 * * 1", "--tz", "UTC", "--after", "2026-11-15T14:00:00Z")
    check(r.code == 0 and len(re.findall(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", r.out)) == 5
          and r.out.split("\n")[0].endswith("."), "rota explain: a sentence and five runs", r)
    r = rota("explain", "0 9 * * 1", "--json")
    check(r.code == 0 and len(json.loads(r.out)["next"]) == 5, "rota explain --json", r)
    # Without a zone the machine's is used, and named.
    r = rota("next", "0 9 * * *")
    check("machine" in r.out, "rota next without a zone should name the machine's zone", r)
    # "explain says in words which of the two applies", either or both.
    both, either = (json.loads(rota("next", e, "--json").out)["explain"] for e in ("0 0 */2 * 1", "0 0 1-31/2 * 1"))
    check("either" in either and "either" not in both, f"either or both: {either!r}, {both!r}")
    # Times in the past: no next time, and a warning.
    for text in ("2020-01-01T00:00", "<2020-01-01 Wed 09:00>", "0 9 * * * UNTIL 2020-01-01",
                 "@every 10m UNTIL 2020-01-01", "<2020-01-01 Wed +1d> UNTIL 2021-01-01",
                 "every day at 9 until 2020-01-01"):
        r = rota("next", text, "--json")
        answer = json.loads(r.out) if r.code == 0 else {}
        check(answer.get("next") == [] and any("expired" in w for w in answer["warnings"]),
              f"rota next {text!r}: should be expired, with no time", r)
        r = rota("next", text)
        check(r.code == 0 and "expired" in r.out + r.err, f"rota next {text!r}: should say 'expired' without --json", r)
    # Warnings.
    for text, part, more in [("H H * * *", "id", ()), ("<2026-06-13 Sat 09:00 .+1w>", ".+", ()),
                             ("0 9 * * * EXCEPT 2026-11-17", "EXCEPT", ()), ("0 9 * * * JITTER 5m", "id", ())]:
        r = rota("next", text, *AFTER, *more, "--json")
        check(r.code == 0 and any(part in w for w in json.loads(r.out)["warnings"]),
              f"rota next {text!r} should warn about {part}", r)
    for text, part in [("30 2 * * *", "does not exist"), ("30 2 * * *", "03:00")]:
        r = rota("explain", text, "--tz", "Europe/Berlin", "--after", "2026-03-27T12:00:00Z")
        check(r.code == 0 and "warning" in r.out and part in r.out, "explain should warn of a gap among the next runs",
              r)
    r = rota("explain", "30 2 * * *", "--tz", "Europe/Berlin", "--after", "2026-10-23T12:00:00Z")
    check(r.code == 0 and "warning" in r.out, "explain should warn of a repeated time among the next runs", r)
    r = rota("explain", "30 2 * * *", "--tz", "Europe/Berlin", "--after", "2026-06-01T12:00:00Z")
    check(r.code == 0 and "warning" not in r.out, "explain should not warn where no clock changes", r)
    r = rota("next", "H H * * *", "--id", "x", "--json")
    check(r.code == 0 and json.loads(r.out)["warnings"] == [], "H with an id needs no warning", r)
    # The edges of time.
    for text in ("@daily", "@every 10m", "2027-01-01", "<2026-06-13 Sat 09:00 +1h>", "0 0 29 2 *",
                 "every 2 weeks on monday at 9", "tomorrow at 9", "in 3d", "every day at 9 until 30 June"):
        for after in ("9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "9999-12-31T23:00:00-14:00",
                      "0001-01-01T00:00:00+14:00", "1969-12-31T23:59:59.999999Z"):
            for zone in ("UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago"):
                r = rota("next", text, "--after", after, "--tz", zone, "--json")
                good = r.code == 0 and all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", t)
                                           for t in json.loads(r.out)["next"])
                check(good or r.code == 2 and r.err.startswith("rota: "),
                      f"rota next {text!r} --after {after} --tz {zone}", r)
    # Distant times must be found quickly.
    for text, after, first in [("0 0 29 2 *", "2096-03-01", "2104-02-29T00:00:00Z"),
                               ("0 0 29 2 */7", "2026-01-01", "2032-02-29T00:00:00Z"),
                               ("0 0 0 29 2 */7", "2032-03-01", "2060-02-29T00:00:00Z"),
                               ("@every 1s", "9000-01-01", "9000-01-01T00:00:01Z"),
                               ("<1970-01-01 Thu +1h>", "9000-01-01", "9000-01-01T01:00:00Z"),
                               ("<1970-01-01 Thu +1d>", "9000-01-01", "9000-01-02T00:00:00Z"),
                               ("0 0 1 1 *", "8999-06-01", "9000-01-01T00:00:00Z")]:
        r = rota("next", text, "--after", after, "--count", "1", "--tz", "UTC", "--json")
        check(r.code == 0 and json.loads(r.out)["next"] == [first],
              f"rota next {text!r} --after {after}: expected {first}", r)
    r = rota("next", "* * * * * *", "--count", "100000", "--tz", "UTC", "--json")
    check(r.code == 0 and len(json.loads(r.out)["next"]) == 100000, "rota next prints 100000 runs", Result(r.code, r.out[:100], r.err))
    # Options before and after the expression, with = and without, and --.
    first = rota("next", "@daily", "--count", "2", "--tz", "UTC", *AFTER)
    for argv in (("next", "--count=2", "--tz=UTC", "@daily", "--after=2026-11-15T12:00:00Z"),
                 ("next", "--count", "2", "--tz", "UTC", *AFTER, "@daily"),
                 ("next", "--count", "2", "--tz", "UTC", *AFTER, "--", "@daily")):
        r = rota(*argv)
        check(r.code == 0 and r.out == first.out, command_line(argv), r)
    r = rota("next", "0\t9 * * *", *AFTER)
    check(r.code == 0, "a tab may separate fields", r)


def check_verbs():
    for argv in (("--help",), ("-h",), ("help",)):
        r = rota(*argv)
        check(r.code == 0 and "usage" in r.out and all(v in r.out for v in ("next", "explain", "zones", "version"))
              and r.err == "", command_line(argv) + ": help", r)
    for verb in ("next", "explain", "zones", "version"):
        for argv in ((verb, "--help"), ("help", verb), (verb, "-h"), (verb, "--json", "--help")):
            r = rota(*argv)
            check(r.code == 0 and f"usage: rota {verb}" in r.out and r.err == "", command_line(argv) + ": help", r)
            example = re.search(rf"example: (rota {verb}.*)", r.out)
            check(example is not None, command_line(argv) + ": no example", r)
        if example:  # the example must work as printed
            done = subprocess.run(["sh", "-c", example[1].replace("rota", '"$ROTA"', 1)], env=os.environ |
                                  {"ROTA": ROTA}, capture_output=True, timeout=60)
            check(done.returncode == 0 and done.stdout, f"the example does not work: {example[1]}",
                  Result(done.returncode, done.stdout.decode(), done.stderr.decode()))
    r = rota("version", "--json")
    check(r.code == 0 and re.fullmatch(r"\d+\.\d+.*", json.loads(r.out)["version"]), "rota version --json", r)
    for argv in (("version",), ("--version",)):
        one = rota(*argv)
        check(one.code == 0 and one.out == f"rota {json.loads(r.out)['version']}\n", command_line(argv), one)
    # Zones.
    r = rota("zones")
    names = [line.split()[0] for line in r.out.splitlines()]
    check(r.code == 0 and names == sorted(names) and all(re.fullmatch(r"\S+\s+[+-]\d\d:\d\d(:\d\d)?", line)
                                                         for line in r.out.splitlines()), "rota zones", r)
    known = {n for n in zoneinfo.available_timezones() if not n.startswith(("posix/", "right/"))} - {"localtime",
                                                                                                     "Factory",
                                                                                                     "posixrules"}
    check(known <= set(names), f"rota zones lacks {sorted(known - set(names))[:9]}")
    check(not [n for n in names if n.startswith(("posix/", "right/")) or "." in n], "rota zones lists only zones")
    r = rota("zones", "--json")
    listed = {z["name"]: z["offset"] for z in json.loads(r.out)}
    check(list(listed) == names, "rota zones --json lists the same zones as rota zones")
    for name in names[::25]:
        offset = datetime.now(zoneinfo.ZoneInfo(name)).strftime("%z")
        check(listed[name] == offset[:3] + ":" + offset[3:5],
              f"the offset of {name}: {listed[name]}, expected {offset}")
    for pattern in ("berlin", "BERLIN", "Europe/Ber", "erl"):
        r = rota("zones", pattern)
        check(r.code == 0 and r.out.splitlines() and all(pattern.lower() in line.lower()
                                                         for line in r.out.splitlines()) and "Europe/Berlin" in r.out,
              f"rota zones {pattern}", r)
    for argv in (("zones", "nonsuch"), ("zones", "nonsuch", "--json"), ("zones", "Eur*")):
        r = rota(*argv)
        check(r.code == 1 and r.out in ("", "[]\n") and argv[1] in r.err, command_line(argv) + ": exit code 1 and a message", r)


# --- batch -----------------------------------------------------------------------------------------------------------
def check_batch():
    good = b'{"expr":"@daily","after":"2026-01-01","count":1}'
    yes = '{"next":["2026-01-02T00:00:00Z"]}'
    wrong = [b"", b"   ", b"\t", b"xx", b"{", b"}", b"[]", b'"x"', b"5", b"null", b"true", b"{}", good[:-1], good +
             b" x", good + good, b"{'expr':'@daily'}",
             b'{"expr":5}', b'{"expr":null}', b'{"expr":["@daily"]}', b'{"EXPR":"@daily"}',
             b'{"expr":"@daily","foo":1}', b'{"expr":"@daily","expr":"@hourly"}',
             b'{"expr":"@daily","count":0}', b'{"expr":"@daily","count":-1}', b'{"expr":"@daily","count":1.5}',
             b'{"expr":"@daily","count":"1"}',
             b'{"expr":"@daily","count":1e9}', b'{"expr":"@daily","count":99999999999999999999999}',
             b'{"expr":"@daily","after":"foo"}', b'{"expr":"@daily","after":5}',
             b'{"expr":"@daily","tz":"Europe/Berln"}', b'{"expr":"@daily","tz":5}', b'{"expr":"@daily","id":5}',
             b'{"expr":"60 * * * *"}', b'{"expr":""}',
             b'{"expr":"a\\u0000b"}', b'{"expr":"\\u001b[31m"}', b'{"expr":"\x00"}', b"\x00", b"\x00\x00\x00", good +
             b"\x00", b"\xff\xfe", b'{"expr":"\xff"}', b'{"expr":"\\ud800"}',
             b'{"expr":"\\x"}', b"[" * 50000, b'{"a":' * 50000, b'{"expr":"' + b"a" * 4097 + b'"}', b'{"expr":"' +
             b"a" * 10 ** 6 + b'"}', b"x" * 3 * 10 ** 6,
             b'{"expr":"0 9 * * *\\nFOO"}', b'{"expr":"@daily",}', b'{"expr":"@daily"]', b'{expr:"@daily"}',
             b'// {"expr":"@daily"}', b'{"expr":"@daily","count":NaN}']
    lines = []
    for w in wrong:
        lines += [good, w]
    lines.append(good)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "batch")
        for end, last in ((b"\n", b"\n"), (b"\n", b""), (b"\r\n", b"\r\n")):
            data = end.join(lines) + last
            with open(path, "wb") as file:
                file.write(data)
            for argv, stdin in ((("next", "--batch", path), b""), (("next", "--batch", "-"), data),
                                (("next", "--batch=" + path, "--json"), b"")):
                r = rota(*argv, stdin=stdin)
                out = r.out.splitlines()
                check(r.code == 0 and len(out) == len(lines) and r.err == "",
                      f"{command_line(argv)}: {len(out)} answers to {len(lines)} lines", Result(r.code, "", r.err))
                if len(out) != len(lines):
                    continue
                check(all(o == yes for o in out[::2]),
                      f"{command_line(argv)}: an answer to a valid line is wrong, or out of order",
                      Result(r.code, next((o for o in out[::2] if o != yes), ""), ""))
                for line, answer in zip(wrong, out[1::2]):
                    try:
                        error = json.loads(answer)
                    except ValueError:
                        error = {}
                    check(list(error) == ["error"] and len(error["error"]) > 5 and len(answer) < 600,
                          f"--batch, line {line[:80]!r}: an error was expected", Result(r.code, answer, ""))
        for data in (b"", b"\n", b"\n\n\n", good, b"x"):
            r = rota("next", "--batch", "-", stdin=data)
            count = len(data.split(b"\n")) - (not data or data.endswith(b"\n"))
            check(r.code == 0 and len(r.out.splitlines()) == count, f"--batch of {data!r}: {count} answers expected", r)
        # The default zone is UTC; errors are those of the command line; count and id are used.
        r = rota("next", "--batch", "-",
                 stdin=b'{"expr":"0 9 * * *","after":"2026-01-01T00:00:00Z","count":2}\n'
                 b'{"expr":"60 * * * *"}\n{"expr":"H * * * *","id":"a","count":1}\n')
        out = [json.loads(o) for o in r.out.splitlines()]
        check(out[0] == {"next": ["2026-01-01T09:00:00Z", "2026-01-02T09:00:00Z"]}, "--batch: UTC, two runs", r)
        check(out[1] == {"error": "minute 60 is out of range 0-59, at column 1"}, "--batch: the text of the error", r)
        check("next" in out[2], "--batch: with an id", r)
        r = rota("next", "--batch", "-", stdin=good + b"\n", env={"TZ": "Asia/Tokyo"})
        check(r.out == yes + "\n", "--batch: TZ is ignored", r)
        # A missing file, a directory.
        for name, part in [(os.path.join(folder, "missing"), "No such file"), (folder, "directory"),
                           (os.path.join(path, "x"), "Not a directory")]:
            r = rota("next", "--batch", name)
            check(r.code not in (0, "hangs") and r.code > 0 and r.out == "" and name in r.err
                  and part.lower() in r.err.lower(), f"rota next --batch {name}: expected {part!r}", r)
        r = rota("next", "--batch", "-", stdin=(good + b"\n") * 20000)
        check(r.code == 0 and r.out.count("\n") == 20000, "--batch with 20000 lines", Result(r.code, "", r.err))
    r = rota("next", "--batch", "-", stdin=None, preexec_fn=lambda: os.close(0))
    check(r.code == 1 and r.err.startswith("rota: "),
          "--batch - with standard input closed: expected exit code 1 and the reason", r)


# --- output that cannot be written -----------------------------------------------------------------------------------
def check_unwritable_output():
    commands = [("next", "@daily"), ("next", "@daily", "--json"), ("explain", "@daily"), ("zones",), ("version",),
                ("--help",), ("next", "--help"), ("next", "--batch", "-")]
    for argv in commands:
        with open("/dev/full", "wb") as full:
            r = rota(*argv, stdin=b'{"expr":"@daily"}\n' * 1000, stdout=full)
        check(r.code == 1 and r.err.startswith("rota: ") and "No space left" in r.err,
              f"{command_line(argv)} >/dev/full: expected exit code 1 and the reason", r)
        for ignored in (True, False):  # with SIGPIPE ignored, as in a service, and not ignored
            read, write = os.pipe()
            os.close(read)
            r = rota(*argv, stdin=b'{"expr":"@daily"}\n' * 1000, stdout=write, restore_signals=not ignored,
                     preexec_fn=(lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN)) if ignored else None)
            os.close(write)
            if ignored:
                check(r.code == 1 and "Broken pipe" in r.err,
                      f"{command_line(argv)} into a closed pipe: expected exit code 1 and the reason", r)
            else:  # killed by the signal, as usual, or an error
                check(r.code == -signal.SIGPIPE or r.code == 1 and r.err,
                      f"{command_line(argv)} into a closed pipe: must not look like success", r)
        r = rota(*argv, stdin=b'{"expr":"@daily"}\n', stdout=None, preexec_fn=lambda: os.close(1))
        check(r.code == 1 and r.err.startswith("rota: "),
              f"{command_line(argv)} with stdout closed: expected exit code 1 and the reason", r)


# --- other zone data --------------------------------------------------------------------------------------------
def batch_questions():
    lines = []
    for zone in ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Europe/Dublin", "America/Havana",
                 "Africa/Casablanca", "America/Sao_Paulo", "Asia/Kathmandu",
                 "Pacific/Apia", "Asia/Gaza", "America/Nuuk", "Antarctica/Troll", "Pacific/Chatham", "UTC"):
        for year in (1995, 2011, 2026, 2036, 2037, 2038, 2039, 2050, 2087, 2100, 2400):
            for expression in ("30 2 * * *", "*/30 * * * *", "0 0 * 3,10 *", "0 9 L * *", "<2026-03-28 Sat 02:30 +1m>",
                               "0 2,3 * 3,10,11 SUN"):
                lines.append({"expr": expression, "tz": zone, "after": f"{year}-02-27T00:00:00Z", "count": 40})
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def check_zone_data():
    # The environment variable TZ has no effect.
    for argv in (("next", "0 9 * * *", *AFTER, "--json"), ("next", "0 9 * * *", *AFTER),
                 ("explain", "tomorrow at 9", *AFTER), ("next", "0 9 * * *", "--tz", "Europe/Berlin", *AFTER)):
        plain = rota(*argv)
        for value in ("Asia/Tokyo", "EST5EDT", ":America/New_York", "", "nonsense"):
            r = rota(*argv, env={"TZ": value})
            check(plain.code == 0 and r.out == plain.out and r.err == plain.err,
                  f"TZ={value} {command_line(argv)}: TZ must not matter", r)
    source = next((os.path.join(d, "tzdata.zi") for d in zoneinfo.TZPATH
                   if os.path.exists(os.path.join(d, "tzdata.zi"))), None)
    zic = shutil.which("zic", path=os.environ.get("PATH", "") + os.pathsep + os.pathsep.join(("/usr/sbin", "/sbin")))
    check(source and zic,
          f"no tzdata.zi ({source}) or no zic ({zic}): the slim files cannot be made (Debian: tzdata, libc-bin)")
    with tempfile.TemporaryDirectory() as folder:
        asked = batch_questions()
        usual = rota("next", "--batch", "-", stdin=asked)
        check("error" not in usual.out and usual.out.count("\n") == asked.count(b"\n"),
              "the system's zone data answers all questions", Result(usual.code, usual.out[:300], usual.err))
        for kind in ("slim", "fat"):
            target = os.path.join(folder, kind)
            if not (source and zic):
                continue
            subprocess.run([zic, "-b", kind, "-d", target, source], check=True, capture_output=True, timeout=60)
            r = rota("next", "--batch", "-", stdin=asked, env={"TZDIR": target})
            different = [(q, a, b) for q, a, b in zip(asked.decode().splitlines(), usual.out.splitlines(),
                                                      r.out.splitlines()) if a != b]
            check(r.code == 0 and r.out.count("\n") == usual.out.count("\n"), f"TZDIR with {kind} files",
                  Result(r.code, "", r.err))
            check(not different, f"{kind} files give {len(different)} other answers, the first: {different[:1]}")
            size = os.path.getsize(os.path.join(target, "Europe/Berlin"))
            check((size < 1500) == (kind == "slim"),
                  f"zic -b {kind} made a file for Berlin of {size} bytes: not the wanted format")
        # A directory without zones: UTC works, the others are refused.
        empty = os.path.join(folder, "empty")
        os.mkdir(empty)
        for where in (empty, os.path.join(folder, "missing")):
            env = {"TZDIR": where}
            r = rota("next", "0 9 * * *", "--tz", "UTC", *AFTER, "--json", env=env)
            check(r.code == 0 and json.loads(r.out)["next"][:1] == ["2026-11-16T09:00:00Z"], "no zone data: UTC works",
                  r)
            r = rota("next", "TZ=UTC 0 9 * * *", *AFTER, env=env)
            check(r.code == 0, "no zone data: TZ=UTC works", r)
            r = rota("next", "0 9 * * *", *AFTER, env=env)
            check(r.code == 0 or r.code in (1, 2) and r.err.startswith("rota: "),
                  "no zone data: the machine's zone, or an error", r)
            for argv in (("next", "0 9 * * *", "--tz", "Europe/Berlin"), ("next", "TZ=Europe/Berlin 0 9 * * *"),
                         ("next", "every day at 9 in Berlin")):
                r = rota(*argv, env=env)
                check(r.code == 2 and r.out == "" and "Berlin" in r.err and "not known" in r.err,
                      f"no zone data: {command_line(argv)} should be refused", r)
            r = rota("zones", env=env)
            check(r.code in (0, 1) and all(line.startswith(("UTC", "Etc/UTC")) for line in r.out.splitlines()),
                  "no zone data: rota zones", r)
        # Damaged files are refused.
        broken = os.path.join(folder, "broken")
        os.makedirs(os.path.join(broken, "Europe"))
        name = os.path.join(broken, "Europe", "Berlin")
        whole = open(os.path.join(os.path.dirname(source), "Europe/Berlin"), "rb").read() if source else b""
        for label, data in [("empty", b""), ("text", b"hello\n"), ("cut off in the header", whole[:30]),
                            ("cut off in the middle", whole[:len(whole) // 2]), ("cut off before the end", whole[:-3]),
                            ("wrong magic", b"XZif" + whole[4:]), ("zeroes", bytes(2000)),
                            ("full of counts of 4 billion", whole[:20] + b"\xff" * 24 + whole[44:])]:
            with open(name, "wb") as file:
                file.write(data)
            r = rota("next", "0 9 * * *", "--tz", "Europe/Berlin", env={"TZDIR": broken})
            check(r.code in (1, 2) and r.out == "" and "Europe/Berlin" in r.err,
                  f"a zone file that is {label} should be refused, with its name", r)
        os.remove(name)
        os.mkfifo(name)
        r = rota("next", "0 9 * * *", "--tz", "Europe/Berlin", env={"TZDIR": broken})
        check(r.code in (1, 2) and "Europe/Berlin" in r.err, "a zone file that is a pipe must not hang", r)
        r = rota("zones", env={"TZDIR": broken})
        check(r.code in (0, 1), "rota zones with a pipe among the files must not hang", r)


def check_past_faults():
    """Faults of earlier versions must not come back."""
    def good(*argv, out=(), warnings=()):
        r = rota(*argv)
        check(r.code == 0 and all(part in r.out for part in out), f"{command_line(argv)}: expected {out}", r)
        check(all(f"warning: {part}" in r.out for part in warnings), f"{command_line(argv)}: expected warnings {warnings}", r)

    # --after without an offset is read in the zone of the schedule, however the zone is given.
    for argv in (("today at 9 in Tokyo",), ("TZ=Asia/Tokyo today at 9",), ("today at 9", "--tz", "Asia/Tokyo")):
        good("next", *argv, "--after", "2026-11-14T08:00", out=["2026-11-14T00:00:00Z"])
    # Options beside --batch would be ignored, so they are refused.
    for more in (("--tz", "UTC"), ("--count", "1"), ("--after", "2026-11-14"), ("--id", "x"), ("0 9 * * *",)):
        refused(("next", "--batch", "-", *more), "--batch reads")
    # A clock change gives a warning, even if jitter moves the run away from it.
    good("next", "30 2 * * * JITTER 1h", "--tz", "Europe/Berlin", "--id", "x", "--after", "2027-03-28T01:00:30Z",
         "--count", "1", out=["2027-03-28"], warnings=["02:30 does not exist on 2027-03-28"])
    # C1 control characters, and a carriage return within a line.
    bad("0 9 * * * IF a\u009b31mX", "control character", at=15)
    bad("0 9 * * * IF a\rb", "control character", at=15)
    good("next", "0 9 * * *\r\nWINDOW 5m\r\n", out=["09:00"])
    # The zone is shown even if the sentence does not name it; a phrase shows its normalized form.
    good("next", "@every 10m", "--tz", "Europe/Berlin", out=["Europe/Berlin"])
    good("next", "every 2 weeks on monday at 10 in Berlin until 30 June 2027", "--after", "2026-11-15T14:00:00Z",
         out=["TZ=Europe/Berlin <2026-11-16 Mon 10:00 +2w> UNTIL 2027-06-30T22:00:00Z"])
    good("next", "next friday at 14:00", "--tz", "Europe/Berlin", "--after", "2026-11-15T14:00:00Z",
         out=["normalized    TZ=Europe/Berlin 2026-11-20T14:00:00\n"])
    # One of the two day fields always matches.
    for expression in ("0 9 1-31 * MON", "0 9 13 * 0-7"):
        good("next", expression, out=["every day"], warnings=["neither day field begins with *"])
    # Values that belong to a directive but are invalid.
    bad("0 9 * * * RETRY 3 60s fixed", "'fixed'", at=23)
    bad("0 9 * * * EXCEPT 2026-11-15 2026-11-16", "commas", at=18)
    bad("0 9 * * * window 5m", "capitals", "WINDOW", at=11)
    bad("0 9 * * 1-5 in Berlin", "TZ=", at=13)
    bad("@daily at 9", "nothing may follow @daily, but 'at 9' does", at=8)
    bad("* * * * L", "FRIL", at=9)
    bad("H(0-7 * * * *", "')' is missing", at=6)
    bad("2026-320", "month 32", at=6)
    bad("2026-w46-1", "week dates", at=6)
    bad("<%%(diary-float t 4 2)>", "diary", at=2)
    bad("0 9 * * * FROM 0001-01-01 TZ=Europe/Berlin", "0001-9999", at=16)
    good("next", "0 9 * * * UNTIL 9999-12-31", "--tz", "UTC", out=["09:00"])
    # The longest line allowed, and one byte more.
    line = json.dumps({"expr": "0 9 * * *", "count": 1})
    r = rota("next", "--batch", "-", stdin=(line.ljust(65536) + "\n" + line.ljust(65537) + "\n" + line).encode())
    kinds = [list(json.loads(answer)) for answer in r.out.splitlines()]
    check(r.code == 0 and kinds == [["next"], ["error"], ["next"]], "a line of 65536 bytes is accepted, and one of 65537 bytes is refused", r)


def check_config():
    """Each setting and its source: flag, environment, file, default."""
    with tempfile.TemporaryDirectory() as home:
        clean = {k: "" for k in os.environ if k.startswith(("ROTA_", "XDG_"))} | {"HOME": home}
        os.mkdir(f"{home}/rota")
        path = f"{home}/rota/rota.yaml"

        def settings(*argv, **env):
            r = rota("config", "--json", *argv, env=clean | env)
            check(r.code == 0 and r.err == "", f"rota config {argv} {env}", r)
            return json.loads(r.out) if r.code == 0 else {"settings": {}}

        s = settings()
        check(s["file"] is None and s["settings"]["slots"] == {"value": 16, "origin": "default", "from": "default"},
              f"defaults: {s}")
        check(s["settings"]["data"]["value"] == f"{home}/.local/share/rota", f"the data directory: {s}")
        with open(path, "w") as f:
            f.write("# mine\nslots: 3\nkept_logs: 2GiB\ncalendars: {holidays: [2026-12-25]}\n")
        s = settings(XDG_CONFIG_HOME=home, ROTA_KEPT_LOGS="1GiB")
        check(s["file"] == path and s["settings"]["slots"] == {"value": 3, "origin": "file", "from": f"{path}:2"},
              f"the file: {s}")
        check(s["settings"]["kept_logs"] == {"value": "1GiB", "origin": "environment", "from": "ROTA_KEPT_LOGS"},
              f"the environment overrides the file: {s}")
        check(s["settings"]["calendars"]["value"] == {"holidays": ["2026-12-25"]}, f"calendars: {s}")
        s = settings("--data", "/flag", "--config", path, ROTA_DATA="/env")
        check(s["settings"]["data"] == {"value": "/flag", "origin": "flag", "from": "--data"}, f"the flag overrides all: {s}")
        check(settings(ROTA_CONFIG=path)["file"] == path, "ROTA_CONFIG")
        r = rota("config", env=clean | {"XDG_CONFIG_HOME": home})
        check(r.code == 0 and re.search(rf"^slots +3 +{re.escape(path)}:2$", r.out, re.M), "config without --json", r)
        with open(path, "w") as f:
            f.write("slots: 3\nslot: 4\n")
        os.environ["ROTA_CONFIG"] = path
        refused(("config",), exact=f"rota: {path}: the configuration has no key 'slot' (near: slots), "
                                   "at line 2, column 1")
        del os.environ["ROTA_CONFIG"]
        refused(("config", "--config", f"{home}/none.yaml"), "cannot read", "No such file", code=1)
        os.environ["ROTA_SLOTS"] = "many"
        refused(("config",), "ROTA_SLOTS", "integer")
        del os.environ["ROTA_SLOTS"]


def check_out_of_memory():
    """The n-th allocation fails, for every n: the result is an error or the complete answer, never a signal."""
    calls = [("next", "every tuesday at 9am in Berlin EXCEPT 2026-11-17 IF a", *AFTER),
             ("next", "0 9 * * * FOO", *AFTER), ("explain", "30 2 * * * TZ=America/New_York", "--json", *AFTER),
             ("config", "--json", "--config", os.path.join(os.path.dirname(__file__), "config.yaml"))]
    for argv in calls:
        whole = rota(*argv)
        for n in range(1, 120):
            r = rota(*argv, env={"LD_PRELOAD": FAIL_ALLOC, "FAIL_ALLOC": str(n)})
            good = r.code in (1, 2) and r.err.startswith("rota: ") or (r.code, r.out) == (whole.code, whole.out)
            check(good, f"allocation {n} fails: {command_line(argv)}", r)
    bad("0 9 * * * TZ=GMT+1", "two readings", at=14)


def main():
    for part in (check_bad_cron, check_bad_forms, check_bad_directives, check_bad_usage, check_answers, check_verbs, check_batch,
                 check_unwritable_output, check_zone_data, check_past_faults, check_config, check_out_of_memory):
        before = checks.failed
        part()
        if checks.failed > before:
            print(f"({part.__name__}: {checks.failed - before} failed)")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
