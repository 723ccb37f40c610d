#!/usr/bin/env python3
"""Compares conditions with models that share no code with rota: Python's integers, floats and strings, a logic with
errors, and zoneinfo for times. Expressions are random trees; each is written with as few brackets as precedence allows,
or with more, so that the parser is tested as well.

usage: expressions.py CEL_PROGRAM [SEED]"""
import json
import math
import random
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

CEL = sys.argv[1]
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 20261116
CASES = 3000  # number of expressions of each kind
SHOWN = 12
rng = random.Random(SEED)


class Error(Exception):
    """The expression has no value."""


# --- trees -----------------------------------------------------------------------------------------------------------
# A tree is (level of its operator, text, value or Error); a leaf has a level that needs no brackets.
LEAF, UNARY, MUL, ADD, REL, AND, OR, TERNARY = 8, 7, 6, 5, 4, 3, 2, 1


def inside(tree, level):
    """The text of the tree as an operand of an operator of `level`."""
    text = tree[1]
    while tree[0] < level or rng.random() < 0.1:
        tree = (LEAF, f"({text})", None)
        text = tree[1]
        if rng.random() < 0.7:
            break
    return text


def spaced(*words):
    return rng.choice(["", " ", "  ", "\n"]).join(words) if all(not w[0].isalpha() for w in words[1:2]) else " ".join(words)


def infix(level, mark, a, b, value):
    return (level, spaced(inside(a, level), mark, inside(b, level + 1)), value)


def minus(a, value):
    """Adds brackets if the minus would otherwise join another minus, or become part of a number."""
    text = inside(a, LEAF)
    return (UNARY, "-" + (f"({text})" if text[0] in "-.0123456789" else text), value)


def known(*values):
    return next((v for v in values if isinstance(v, Error)), None)


def tried(compute, *values):
    if known(*values):
        return known(*values)
    try:
        return compute(*values)
    except Error as e:
        return e


# --- whole numbers -----------------------------------------------------------------------------------------------------
def fits(low, high):
    def check(v):
        if not low <= v <= high:
            raise Error("does not fit")
        return v

    return check


def quotient(a, b):
    if b == 0:
        raise Error("division by zero")
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a, b):
    if a == -2**63 and b == -1:
        raise Error("the quotient does not fit: an error in CEL's own implementations as well")
    return a - b * quotient(a, b)


OPERATORS = [(ADD, "+", lambda a, b: a + b), (ADD, "-", lambda a, b: a - b), (MUL, "*", lambda a, b: a * b),
             (MUL, "/", quotient), (MUL, "%", remainder)]


def whole_leaf(low, high, suffix):
    edge = [low, low + 1, -1, 0, 1, 2, 3, 7, high - 1, high, 2**31, 2**32, 2**53 + 1]
    v = rng.choice([e for e in edge if low <= e <= high]) if rng.random() < 0.5 else rng.randint(max(low, -100), 100)
    text = str(v) if rng.random() < 0.8 else ("-" if v < 0 else "") + hex(abs(v))
    return (LEAF if v >= 0 else UNARY, text + suffix, v)


def whole(depth, low, high, suffix):
    if depth == 0 or rng.random() < 0.15:
        return whole_leaf(low, high, suffix)
    check = fits(low, high)
    a, b = whole(depth - 1, low, high, suffix), whole(depth - 1, low, high, suffix)
    if low < 0 and rng.random() < 0.1:
        return minus(a, tried(lambda x: check(-x), a[2]))
    if rng.random() < 0.1:
        c = relation(a, b)
        d = whole(depth - 1, low, high, suffix)
        value = c[2] if known(c[2]) else d[2] if c[2] else b[2]
        return (TERNARY, f"{inside(c, OR)} ? {inside(d, OR)} : {inside(b, TERNARY)}", value)
    level, mark, compute = rng.choice(OPERATORS)
    return infix(level, mark, a, b, tried(lambda x, y: check(compute(x, y)), a[2], b[2]))


RELATIONS = [("==", lambda a, b: a == b), ("!=", lambda a, b: a != b), ("<", lambda a, b: a < b),
             ("<=", lambda a, b: a <= b), (">", lambda a, b: a > b), (">=", lambda a, b: a >= b)]


def relation(a, b):
    mark, compute = rng.choice(RELATIONS)
    return infix(REL, mark, a, b, tried(compute, a[2], b[2]))


def ints():
    tree = whole(rng.randint(1, 4), -2**63, 2**63 - 1, "")
    return tree[1], tree[2], "int64Value"


def uints():
    tree = whole(rng.randint(1, 4), 0, 2**64 - 1, "u")
    return tree[1], tree[2], "uint64Value"


def mixed_order():
    """Ints and uints are compared as numbers; with a double both are doubles."""
    a = whole_leaf(-2**63, 2**63 - 1, "")
    b = whole_leaf(0, 2**64 - 1, "u") if rng.random() < 0.5 else real_leaf()
    real = isinstance(b[2], float)
    x, y = (a[2], b[2]) if not real else (float(a[2]), b[2])
    mark, compute = rng.choice(RELATIONS)
    if rng.random() < 0.5:
        return spaced(inside(a, ADD), mark, inside(b, ADD)), compute(x, y), "boolValue"
    return spaced(inside(b, ADD), mark, inside(a, ADD)), compute(y, x), "boolValue"


# --- doubles -----------------------------------------------------------------------------------------------------------
def real_leaf():
    v = rng.choice([0.0, 1.0, 0.1, 1e308, 5e-324, 2.0**53, 2.0**63, 2.0**64, rng.random(), rng.uniform(-1e6, 1e6)])
    text = repr(v) if "." in repr(v) or "e" in repr(v) else repr(v) + ".0"
    return (LEAF if v >= 0 else UNARY, text, v)


def divide(a, b):
    if b != 0:
        return a / b
    return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1, b)


def real(depth):
    if depth == 0:
        return real_leaf()
    a, b = real(depth - 1), real(depth - 1)
    if rng.random() < 0.1:
        return minus(a, -a[2])
    level, mark, compute = rng.choice([(ADD, "+", lambda x, y: x + y), (ADD, "-", lambda x, y: x - y),
                                       (MUL, "*", lambda x, y: x * y), (MUL, "/", divide)])
    return infix(level, mark, a, b, compute(a[2], b[2]))


def doubles():
    tree = real(rng.randint(1, 3))
    return tree[1], tree[2], "doubleValue"


# --- logic ---------------------------------------------------------------------------------------------------------------
def both(a, b):
    if a is False or b is False:
        return False
    return known(a, b) or (a and b if isinstance(a, bool) and isinstance(b, bool) else Error("not bools"))


def either(a, b):
    if a is True or b is True:
        return True
    return known(a, b) or (a or b if isinstance(a, bool) and isinstance(b, bool) else Error("not bools"))


def logic_tree(depth):
    if depth == 0 or rng.random() < 0.1:
        return rng.choice([(LEAF, "true", True), (LEAF, "false", False), (REL, "1 / 0 == 1", Error("zero")),
                           (LEAF, "nobody", Error("unknown")), (LEAF, "{}.x", Error("missing")), (LEAF, "17", 17),
                           (REL, "2 > 1", True), (LEAF, "gone()", Error("no function"))])
    a, b, c = (logic_tree(depth - 1) for _ in range(3))
    kind = rng.random()
    if kind < 0.35:
        return infix(AND, "&&", a, b, both(a[2], b[2]))
    if kind < 0.7:
        return infix(OR, "||", a, b, either(a[2], b[2]))
    if kind < 0.85:
        value = known(a[2]) or (not a[2] if isinstance(a[2], bool) else Error("no bool"))
        return (UNARY, "!" + inside(a, LEAF), value)
    value = known(a[2]) or ((b[2] if a[2] else c[2]) if isinstance(a[2], bool) else Error("no bool"))
    return (TERNARY, f"{inside(a, OR)} ? {inside(b, OR)} : {inside(c, TERNARY)}", value)


def logic():
    tree = logic_tree(rng.randint(1, 5))
    kind = "boolValue" if isinstance(tree[2], bool) else "int64Value"
    return tree[1], tree[2], kind


# --- text ------------------------------------------------------------------------------------------------------------------
LETTERS = "ab'\"\\`? \n\t/üß€😀{}"


def letters():
    return "".join(rng.choice(LETTERS) for _ in range(rng.choice([0, 1, 1, 2, 3, 8])))


def quoted(text):
    """The text as a string literal, in one of many notations."""
    quote = rng.choice(["'", '"', "'''", '"""'])
    if rng.random() < 0.2 and quote not in text and "\n" not in text and quote[0] not in text[-1:]:
        return rng.choice("rR") + quote + text + quote
    out = ""
    for c in text:
        code = ord(c)
        if c in "\\\n\"'" or rng.random() < 0.2:
            ways = [f"\\U{code:08x}"] + ([f"\\u{code:04X}"] if code < 65536 else [])
            ways += [f"\\x{code:02x}", f"\\{code:03o}"] if code < 256 else []
            ways += ["\\n"] if c == "\n" else ["\\" + c] if c in "\\\"'`?" else []
            out += rng.choice(ways)
        else:
            out += c
    return quote + out + quote


def strings():
    a, b = letters(), letters()
    if rng.random() < 0.4:
        b = a[: rng.randint(0, len(a))] if rng.random() < 0.5 else a[rng.randint(0, len(a)):]
    x, y = quoted(a), quoted(b)
    mark, compute = rng.choice(RELATIONS)
    return rng.choice([
        (f"{x} + {y}", a + b, "stringValue"),
        (f"size({x} + {y})", len(a) + len(b), "int64Value"),
        (f"{x}.size()", len(a), "int64Value"),
        (f"{x}.startsWith({y})", a.startswith(b), "boolValue"),
        (f"{x}.endsWith({y})", a.endswith(b), "boolValue"),
        (f"{x}.contains({y})", b in a, "boolValue"),
        (f"{x} {mark} {y}", compute(a, b), "boolValue"),
        (f"{x} in [{y}, {quoted(a + b)}]", a in (b, a + b), "boolValue"),
        (f"{{{x}: 1}}[{y}]", 1 if a == b else Error("no key"), "int64Value"),
    ])


# --- times -----------------------------------------------------------------------------------------------------------------
ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Europe/Dublin", "Pacific/Apia", "Asia/Kolkata",
         "America/St_Johns", "Africa/Casablanca", "Pacific/Chatham", "Asia/Gaza", "UTC"]
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
LOW, HIGH = -62135596800, 253402300799


def second():
    return rng.choice([rng.randint(-2208988800, 4102444800), rng.randint(LOW + 90000, HIGH - 90000)])


def rfc3339(seconds, nanos):
    t = EPOCH + timedelta(seconds=seconds)
    fraction = f".{nanos:09}".rstrip("0") if nanos else ""
    offset = rng.choice(["Z", "+05:30", "-11:00"])
    if offset != "Z":
        shift = timedelta(hours=int(offset[1:3]), minutes=int(offset[4:]))
        t += shift if offset[0] == "+" else -shift
    return f"{t.year:04}-{t.month:02}-{t.day:02}T{t.hour:02}:{t.minute:02}:{t.second:02}{fraction}{offset}"


def parts():
    seconds, nanos = second(), rng.choice([0, 0, 1, 123456789, 999999999])
    zone = rng.choice(ZONES + ["+11:00", "-02:30", "05:45", None])
    if zone is None or zone == "UTC":
        tz = timezone.utc
    elif zone[0] in "+-0":
        sign, digits = (-1 if zone[0] == "-" else 1), zone.lstrip("+-")
        tz = timezone(sign * timedelta(hours=int(digits[:2]), minutes=int(digits[3:])))
    else:
        tz = ZoneInfo(zone)
    t = (EPOCH + timedelta(seconds=seconds)).astimezone(tz)
    name, value = rng.choice([("getFullYear", t.year), ("getMonth", t.month - 1), ("getDate", t.day),
                              ("getDayOfMonth", t.day - 1), ("getDayOfWeek", t.isoweekday() % 7),
                              ("getDayOfYear", t.timetuple().tm_yday - 1), ("getHours", t.hour),
                              ("getMinutes", t.minute), ("getSeconds", t.second),
                              ("getMilliseconds", nanos // 1000000)])
    argument = f"'{zone}'" if zone else ""
    return f"timestamp('{rfc3339(seconds, nanos)}').{name}({argument})", value, "int64Value"


def span_text(nanos):
    """A duration, given in nanoseconds, with units."""
    sign, rest, text = "-" if nanos < 0 else "", abs(nanos), ""
    for unit, size in [("h", 3600 * 10**9), ("m", 60 * 10**9), ("s", 10**9), ("ms", 10**6), ("us", 1000), ("ns", 1)]:
        if rng.random() < 0.3 and unit in ("s", "ms", "us"):
            whole_part, fraction = divmod(rest, size)
            digits = f"{fraction:0{len(str(size)) - 1}}".rstrip("0")
            return f"{sign}{text}{whole_part}{'.' + digits if digits else ''}{unit}"
        count, rest = divmod(rest, size)
        if count or (unit == "ns" and not text):
            text += f"{count}{unit}"
    return sign + text


def shown_span(nanos):
    whole_part, fraction = divmod(abs(nanos), 10**9)
    text = f".{fraction:09}" if fraction % 1000 else f".{fraction // 1000:06}" if fraction % 10**6 else \
        f".{fraction // 10**6:03}" if fraction else ""
    return f"{'-' if nanos < 0 else ''}{whole_part}{text}s"


def shown_time(nanos):
    seconds, fraction = divmod(nanos, 10**9)
    t = EPOCH + timedelta(seconds=seconds)
    text = shown_span(fraction)[1:-1] if fraction else ""
    return f"{t.year:04}-{t.month:02}-{t.day:02}T{t.hour:02}:{t.minute:02}:{t.second:02}{text}Z"


def span():
    return rng.choice([0, 1, -1, rng.randint(-10**12, 10**12), rng.randint(-2**62, 2**62), 2**63 - 1])


def in_span(v):
    return fits(-2**63, 2**63 - 1)(v)


def in_time(v):
    return fits(LOW * 10**9, HIGH * 10**9 + 10**9 - 1)(v)


def times():
    s1, n1 = second(), rng.choice([0, 5 * 10**8, 999999999])
    s2, n2 = rng.choice([(second(), 0), (s1 + rng.randint(-10**6, 10**6), rng.choice([0, 1]))])
    t1, t2, d1, d2 = s1 * 10**9 + n1, s2 * 10**9 + n2, span(), span()
    a, b = f"timestamp('{rfc3339(s1, n1)}')", f"timestamp('{rfc3339(s2, n2)}')"
    x, y = f"duration('{span_text(d1)}')", f"duration('{span_text(d2)}')"
    mark, compute = rng.choice(RELATIONS)
    text, make, kind = rng.choice([
        (a, lambda: shown_time(t1), "timestamp"),
        (x, lambda: shown_span(d1), "duration"),
        (f"{a} + {x}", lambda: shown_time(in_time(t1 + d1)), "timestamp"),
        (f"{x} + {a}", lambda: shown_time(in_time(t1 + d1)), "timestamp"),
        (f"{a} - {x}", lambda: shown_time(in_time(t1 - d1)), "timestamp"),
        (f"{a} - {b}", lambda: shown_span(in_span(t1 - t2)), "duration"),
        (f"{x} + {y}", lambda: shown_span(in_span(d1 + d2)), "duration"),
        (f"{x} - {y}", lambda: shown_span(in_span(d1 - d2)), "duration"),
        (f"{a} {mark} {b}", lambda: compute(t1, t2), "boolValue"),
        (f"{x} {mark} {y}", lambda: compute(d1, d2), "boolValue"),
        (f"timestamp({s1})", lambda: shown_time(s1 * 10**9), "timestamp"),
        (f"{x}.getSeconds()", lambda: quotient(d1, 10**9), "int64Value"),
        (f"{x}.getMinutes()", lambda: quotient(d1, 60 * 10**9), "int64Value"),
        (f"{x}.getHours()", lambda: quotient(d1, 3600 * 10**9), "int64Value"),
    ])
    return text, tried(make), kind


# --- lists and maps --------------------------------------------------------------------------------------------------------
# Values carry their kind, since Python's True equals 1: ("n", number), ("b", bool), ("s", text), ("0",), ("l", …), ("m", …).
def anything(depth):
    kind = rng.choice("nnbs0" if depth == 0 else "nnbs0llmm")
    if kind == "n":
        v = rng.choice([0, 1, 2, 1.5])
        text = str(v) if isinstance(v, float) else rng.choice([str(v), f"{v}u", f"{v}.0"])
        return text, ("n", v)
    if kind == "b":
        v = rng.random() < 0.5
        return str(v).lower(), ("b", v)
    if kind == "s":
        v = rng.choice(["", "a", "b"])
        return quoted(v), ("s", v)
    if kind == "0":
        return "null", ("0",)
    count = rng.choice([0, 1, 1, 2])
    if kind == "l":
        items = [anything(depth - 1) for _ in range(count)]
        comma = "," if items and rng.random() < 0.2 else ""
        return f"[{', '.join(t for t, _ in items)}{comma}]", ("l", *(v for _, v in items))
    keys = rng.sample([("1", ("n", 1)), ("2u", ("n", 2)), ("'a'", ("s", "a")), ("true", ("b", True))], count)
    items = [(k, anything(depth - 1)) for k, _ in keys]
    value = ("m", frozenset((key, v) for (_, key), (_, (_, v)) in zip(keys, items)))
    return "{" + ", ".join(f"{k}: {t}" for k, (t, _) in items) + "}", value


def collections_():
    (x, a), (y, b), (z, c) = anything(2), anything(2), anything(2)
    if rng.random() < 0.3:
        y, b = x, a
    return rng.choice([
        (f"{x} == {y}", a == b, "boolValue"),
        (f"{x} != {y}", a != b, "boolValue"),
        (f"{x} in [{z}, {y}]", a in (b, c), "boolValue"),
        (f"[{x}] + [{z}] == [{y}] + [{z}]", a == b, "boolValue"),
        (f"{{'k': {x}}} == {{'k': {y}}}", a == b, "boolValue"),
        (f"[{x}, {y}, {z}][1] == {y}", True, "boolValue"),
        (f"size([{x}, {y}] + [{z}])", 3, "int64Value"),
        (f"has({{'k': {x}}}.k) && !has({{'k': {x}}}.l)", True, "boolValue"),
    ])


# --- the comparison --------------------------------------------------------------------------------------------------------
def same(answer, want, kind):
    if isinstance(want, Error):
        return "error" in answer and not answer["syntax"]
    got = answer.get("value", {})
    if list(got) != [kind]:
        return False
    got = got[kind]
    if kind == "doubleValue":
        got, want = float(got), float(want)
        return got == want or (got != got and want != want)
    return got == (str(want) if kind in ("int64Value", "uint64Value") else want)


def main():
    passed = failed = 0
    for make in (ints, uints, mixed_order, doubles, logic, strings, parts, times, collections_):
        cases = [make() for _ in range(CASES)]
        lines = "".join(json.dumps({"expr": text.encode().hex()}) + "\n" for text, _, _ in cases)
        done = subprocess.run([CEL], input=lines.encode(), stdout=subprocess.PIPE, check=True, timeout=300)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(answers) == len(cases)
        bad = [(c, a) for c, a in zip(cases, answers) if not same(a, c[1], c[2])]
        errors = sum(isinstance(c[1], Error) for c in cases)
        print(f"{make.__name__.strip('_')}: {len(cases)} expressions, {errors} of them without a value, {len(bad)} differ")
        for (text, want, kind), answer in bad[:SHOWN]:
            print(f"  {text!r}\n    {answer}, not {kind} {want!r}")
        passed, failed = passed + len(cases) - len(bad), failed + len(bad)
    print(f"seed {SEED}\n{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
