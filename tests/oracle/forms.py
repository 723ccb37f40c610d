#!/usr/bin/env python3
"""Compares every form of expression with models that share no code with rota: datetime and zoneinfo for wall times,
arithmetic for intervals, brute force over days for phrases, a second FNV for H and JITTER.

usage: forms.py ROTA

A failure prints the request as one line for `rota next --batch -`."""
import calendar
import collections
import concurrent.futures
import json
import random
import subprocess
import sys
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

ROTA = sys.argv[1]
SHOWN = 12  # failures printed in full, per section
ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Europe/Dublin", "America/Havana", "Pacific/Apia",
         "America/Sao_Paulo", "Africa/Casablanca", "Pacific/Chatham", "America/St_Johns", "Asia/Gaza", "Asia/Kathmandu",
         "Asia/Tokyo", "America/Santiago", "Antarctica/Troll", "UTC"]
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
DAY = 86400


# --- time ------------------------------------------------------------------------------------------------------------
# Instants are seconds since the epoch; wall times are naive datetimes.
zone_cache = {}


def zone(name):
    if name not in zone_cache:
        zone_cache[name] = ZoneInfo(name)
    return zone_cache[name]


def instant(aware):
    delta = aware - EPOCH
    return delta.days * DAY + delta.seconds


def at(t, tz=timezone.utc):
    return (EPOCH + timedelta(seconds=t)).astimezone(tz)


def z(t):
    d = at(t)
    return f"{d.year:04}-{d.month:02}-{d.day:02}T{d.hour:02}:{d.minute:02}:{d.second:02}Z"


def utc(text):
    return instant(datetime.fromisoformat(text).replace(tzinfo=timezone.utc))


def wall(t, tz):
    return at(t, tz).replace(tzinfo=None)


def passes(naive, tz):
    """All instants at which clocks in `tz` show `naive`: none in a gap, two in a fold."""
    found = []
    for fold in (0, 1):
        t = instant(naive.replace(tzinfo=tz, fold=fold))
        if t not in found and wall(t, tz) == naive:
            found.append(t)
    return sorted(found)


def before_gap(naive, tz):
    """The specification: "One-shot and org local times: in a gap read with the offset before it; repeated: first."."""
    return instant(naive.replace(tzinfo=tz, fold=0))


def after_gap(naive, tz):
    """The first instant whose wall time is `naive` or later; for a time in a gap it is the end of the gap."""
    found = passes(naive, tz)
    if found:
        return found[0]
    high = instant(naive.replace(tzinfo=tz, fold=0))
    low = instant(naive.replace(tzinfo=tz, fold=1))
    assert low < high
    while high - low > 1:
        middle = (low + high) // 2
        if wall(middle, tz) > naive:
            high = middle
        else:
            low = middle
    return high


steady_cache = {}


def steady(day, name):
    """The zone's offset in seconds if nothing changes around `day`, else None."""
    key = (day, name)
    if key not in steady_cache:
        tz = zone(name)
        around = {datetime(d.year, d.month, d.day, tzinfo=tz).utcoffset()
                  for d in (day + timedelta(days=k) for k in range(-2, 4))}
        steady_cache[key] = int(around.pop().total_seconds()) if len(around) == 1 else None
    return steady_cache[key]


def day_start(day):
    return (day.toordinal() - 719163) * DAY


def wall_runs(name, after, count, days, seconds, elapsed=False, until=None):
    """The first `count` runs after `after` of: on dates where `days(date)`, at the seconds of the day in `seconds`."""
    tz, seconds = zone(name), sorted(seconds)
    day = wall(after, tz).date() - timedelta(days=2)
    found, spare = set(), 3
    for _ in range(366 * 45):
        if days(day):
            offset = steady(day, name)
            for s in seconds:
                if offset is not None:
                    found.add(day_start(day) + s - offset)
                    continue
                naive = datetime(day.year, day.month, day.day) + timedelta(seconds=s)
                if elapsed:
                    found.update(passes(naive, tz))
                else:
                    found.add(after_gap(naive, tz))
        day += timedelta(days=1)
        if until is not None and day_start(day) - 2 * DAY > until:
            break
        if len(found) >= count + len(seconds) * 2 and sum(1 for t in found if t > after) >= count:
            spare -= 1
            if not spare:
                break
    return sorted(t for t in found if t > after and (until is None or t < until))[:count]


def transitions(name, first, last):
    """(instant, offset before, offset after) of every clock change in these years."""
    tz, found = zone(name), []
    t, end = instant(datetime(first, 1, 1, tzinfo=timezone.utc)), instant(datetime(last, 12, 31, tzinfo=timezone.utc))
    offset = at(t, tz).utcoffset()
    while t < end:
        n = t + DAY
        if at(n, tz).utcoffset() != offset:
            low, high = t, n
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if at(middle, tz).utcoffset() == offset else (low, middle)
            new = at(high, tz).utcoffset()
            found.append((high, int(offset.total_seconds()), int(new.total_seconds())))
            offset = at(n, tz).utcoffset()
        t = n
    return found


changes = {name: transitions(name, 2009, 2045) for name in ZONES}
assert any(after - before == DAY for _, before, after in changes["Pacific/Apia"])  # 30 December 2011 did not happen


def wild_wall(rng, name, first=1971, last=2060):
    """A random wall time. Half of these times are in or near a gap or a fold."""
    if changes[name] and rng.random() < 0.5:
        t, before, after = rng.choice(changes[name])
        low, high = sorted((t + before, t + after))
        pick = rng.choice([low, high - 1, high, low - 1, low + 60, (low + high) // 2,
                           rng.randint(low - 7200, high + 7200)])
        return datetime(1970, 1, 1) + timedelta(seconds=pick)
    return datetime(rng.randint(first, last), 1, 1) + timedelta(seconds=rng.randrange(366 * DAY))


# --- requests --------------------------------------------------------------------------------------------------------
class Section:
    def __init__(self, name):
        self.name, self.passed, self.failed = name, 0, 0

    def ok(self):
        self.passed += 1

    def fail(self, text):
        self.failed += 1
        if self.failed <= SHOWN:
            print(f"FAIL {self.name}: {text}")
        elif self.failed == SHOWN + 1:
            print(f"FAIL {self.name}: … and more")

    def check(self, good, text):
        self.ok() if good else self.fail(text)


sections = []


def section(name):
    sections.append(Section(name))
    return sections[-1]


def batch(requests):
    lines = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in requests)
    done = subprocess.run([ROTA, "next", "--batch", "-"], input=lines.encode(), stdout=subprocess.PIPE, timeout=120)
    answers = done.stdout.decode().splitlines()
    if done.returncode != 0 or len(answers) != len(requests):
        print(f"FAIL: --batch left {done.returncode} after {len(answers)} answers to {len(requests)} lines")
        sys.exit(1)
    return [json.loads(a) for a in answers]


def compare(sec, cases):
    """cases: (request, the expected instants, or None if rota must refuse it because it never fires).
    Returns the expressions that were refused by mistake; each counts once."""
    refused = set()
    for (request, expected), answer in zip(cases, batch([r for r, _ in cases])):
        text = json.dumps(request, ensure_ascii=False)
        if expected is None:
            sec.check("never fires" in answer.get("error", ""),
                      f"{text}\n     expected 'never fires'\n     got      {answer}")
        elif "error" in answer:
            if request["expr"] not in refused:
                refused.add(request["expr"])
                sec.fail(f"{text}\n     is refused: {answer['error']}")
        else:
            want = [z(t) for t in expected]
            sec.check(answer["next"] == want, f"{text}\n     expected {want}\n     got      {answer['next']}")
    return refused


def rota_json(*argv):
    done = subprocess.run([ROTA, *argv, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=20)
    if done.returncode != 0:
        return {"error": done.stderr.decode(errors="replace").strip()}
    return json.loads(done.stdout)


def rota_jsons(argvs):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        return list(pool.map(lambda argv: rota_json(*argv), argvs))


# --- one-shots -------------------------------------------------------------------------------------------------------
def write_iso(rng, naive, offset, fraction):
    """A time in one of its notations. `offset`: minutes, or None for a local time."""
    basic = rng.random() < 0.3
    seconds = naive.second or fraction or rng.random() < 0.5
    text = naive.strftime("%m%d" if basic else "-%m-%d")
    text = f"{naive.year:04}" + text + ("T" if basic else rng.choice("TTt "))
    text += naive.strftime("%H%M" if basic else "%H:%M")
    if seconds:
        text += naive.strftime("%S" if basic else ":%S")
        if fraction:
            text += rng.choice(".,") + fraction
    if offset is not None:
        sign, size = "-" if offset < 0 else "+", abs(offset)
        writings = [f"{sign}{size // 60:02}{size % 60:02}" if basic else f"{sign}{size // 60:02}:{size % 60:02}"]
        if size % 60 == 0:
            writings.append(f"{sign}{size // 60:02}")
        if offset == 0:
            writings += ["Z", "z"]
        text += rng.choice(writings)
    return text


def one_shots():
    sec, rng, cases = section("one-shots"), random.Random(1), []
    for _ in range(3000):
        name = rng.choice(ZONES)
        naive = wild_wall(rng, name, *rng.choice([(1971, 2060), (1850, 2060), (2060, 2500)]))
        if rng.random() < 0.4:
            naive = naive.replace(second=0)
        offset = rng.choice([None, None, None, 0, 60, -300, 330, 845, -570, 14 * 60, -12 * 60])
        fraction = rng.choice(["", "", "", "0", "000", "5", "001", "000001", "999999", "1234567", "500000000"])
        text = write_iso(rng, naive, offset, fraction)
        t = before_gap(naive,
                       zone(name)) if offset is None else instant(naive.replace(tzinfo=timezone.utc)) - offset * 60
        t += bool(fraction.strip("0"))
        for after in (t - 1, t, t - rng.randint(2, 10 ** 8)):
            cases.append(({"expr": text, "tz": name, "after": z(after)}, [t] if t > after else []))
        if rng.random() < 0.2:
            cases.append(({"expr": f"TZ={name} {text}", "tz": "Asia/Tokyo", "after": z(t - 1)}, [t]))
        if rng.random() < 0.2:  # a date without a time means midnight
            midnight = datetime(naive.year, naive.month, naive.day)
            t = before_gap(midnight, zone(name))
            cases.append(({"expr": midnight.strftime("%Y-%m-%d"), "tz": name, "after": z(t - 9)}, [t]))
    compare(sec, cases)


# --- directives that bound a series ----------------------------------------------------------------------------------
class Bounds:
    """Random FROM, UNTIL and EXCEPT near an instant, and their effect on a series."""

    def __init__(self, rng, name, around, span, chance=0.5, dates=()):
        self.text, self.start, self.end, self.except_ = [], None, None, set()
        self.tz = zone(name)
        if rng.random() < chance:
            self.start, text = self.time(rng, around + rng.randint(-span, span), False)
            self.text.append("FROM " + text)
        if rng.random() < chance:
            self.end, text = self.time(rng, around + rng.randint(0, 2 * span), True)
            self.text.append("UNTIL " + text)
        if self.start is not None and self.end is not None and self.end <= self.start:
            self.end = None
            self.text.pop()
        if dates and rng.random() < chance:
            self.except_ = {rng.choice(dates) for _ in range(rng.randint(1, 3))}
            self.text.append("EXCEPT " + ",".join(sorted(d.isoformat() for d in self.except_)))
        rng.shuffle(self.text)

    def time(self, rng, t, ends):
        naive = wall(t, self.tz)
        kind = rng.randrange(3)
        if kind == 0:  # a bare date: FROM its beginning, UNTIL its end
            day = datetime(naive.year, naive.month, naive.day)
            return before_gap(day + timedelta(days=ends), self.tz), day.strftime("%Y-%m-%d")
        if kind == 1:
            return before_gap(naive, self.tz), naive.strftime("%Y-%m-%dT%H:%M:%S")
        return t, z(t)

    def allows(self, t):
        return ((self.start is None or t >= self.start) and (self.end is None or t < self.end) and
                wall(t, self.tz).date() not in self.except_)

    def join(self, rng, expression):
        return rng.choice(["\n", " "]).join([expression] + self.text)


# --- intervals -------------------------------------------------------------------------------------------------------
UNITS = (("w", 7 * DAY), ("d", DAY), ("h", 3600), ("m", 60), ("s", 1))


def write_duration(rng, seconds):
    parts = ""
    for unit, size in UNITS:
        if seconds >= size and (rng.random() < 0.7 or unit == "s" or seconds % size == 0):
            parts += f"{seconds // size}{unit}"
            seconds %= size
    return parts


def intervals():
    sec, rng, cases = section("intervals"), random.Random(2), []
    for _ in range(2000):
        step = rng.choice([1, 7, 59, 60, 90, 600, 3600, 5400, 25200, DAY, 3 * DAY, 7 * DAY, rng.randint(1, 10 ** 7)])
        after = rng.randint(-10 ** 9, 4 * 10 ** 9)
        name = rng.choice(ZONES)
        bounds = Bounds(rng, name, after, step * 4)
        anchor = bounds.start if bounds.start is not None else 0
        text = bounds.join(rng, rng.choice(["@every ", "EVERY "]) + write_duration(rng, step))
        k = (after - anchor) // step + 1
        if bounds.start is not None:
            k = max(k, 0)
        expected = [t for t in (anchor + (k + i) * step for i in range(4)) if bounds.allows(t)]
        cases.append(({"expr": text, "tz": name, "after": z(after), "count": 4}, expected))
    compare(sec, cases)


# --- org timestamps --------------------------------------------------------------------------------------------------
def shifted(naive, months):
    index = naive.year * 12 + naive.month - 1 + months
    year, month = divmod(index, 12)
    return naive.replace(year=year, month=month + 1, day=min(naive.day, calendar.monthrange(year, month + 1)[1]))


def org_nth(naive, tz, n, unit, k):
    if unit == "h":
        return before_gap(naive, tz) + k * n * 3600
    if unit in "dw":
        return before_gap(naive + timedelta(days=k * n * (7 if unit == "w" else 1)), tz)
    return before_gap(shifted(naive, k * n * (12 if unit == "y" else 1)), tz)


ORG_STEP = {"h": 3600, "d": DAY, "w": 7 * DAY, "m": 30 * DAY, "y": 365 * DAY}


def org_series(naive, tz, n, unit, after, count, allows):
    """Nominal times after `after`. Without drift: each is computed from the timestamp itself."""
    k = max(0, (after - before_gap(naive, tz)) // (n * ORG_STEP[unit]) - 40)
    found = []
    for k in range(k, k + count + 300):
        t = org_nth(naive, tz, n, unit, k)
        if t > after and allows(t):
            found.append(t)
            if len(found) == count:
                break
    return found


def write_org(rng, naive, repeater):
    day = rng.choice([naive.strftime(" %a"), naive.strftime(" %a"), "", naive.strftime(" %A")])
    clock = naive.strftime(" %H:%M")
    if (naive.hour, naive.minute) == (0, 0) and rng.random() < 0.5:
        clock = ""
    elif naive.hour < 10 and rng.random() < 0.3:
        clock = clock.replace(" 0", " ", 1)
    return f"<{naive:%Y-%m-%d}{day}{clock}{' ' + repeater if repeater else ''}>"


def org_stamps():
    sec, rng, cases = section("org"), random.Random(3), []
    fixed = [("2026-01-31 09:00", 1, "m"), ("2024-02-29 12:00", 1, "y"), ("2024-02-29 00:00", 4, "y"),
             ("2025-12-31 23:59", 2, "m"),
             ("2026-03-28 02:30", 1, "d"), ("2026-10-24 02:30", 1, "d"), ("2011-12-23 10:00", 1, "w"),
             ("2011-11-30 00:00", 1, "m")]
    fixed = [(datetime.fromisoformat(d), n, u, name) for d, n, u in fixed for name in ZONES]
    for i in range(2500):
        if i < len(fixed):
            naive, n, unit, name = fixed[i]
        else:
            name = rng.choice(ZONES)
            naive, unit = wild_wall(rng, name, 1990).replace(second=0), rng.choice("hdwmy")
            n = rng.choice([1, 1, 1, 2, 3, 5, 12, 26])
            if rng.random() < 0.3:
                naive = naive.replace(hour=0, minute=0)
            if rng.random() < 0.3:
                naive = naive.replace(day=calendar.monthrange(naive.year, naive.month)[1])
        tz, step = zone(name), n * ORG_STEP[unit]
        first = before_gap(naive, tz)
        after = first + rng.choice([-1, 0, -rng.randint(1, 10 ** 7), rng.randrange(1, 12 * step)])
        if rng.random() < 0.3:
            after = org_nth(naive, tz, n, unit, rng.randint(0, 9)) - rng.randint(0, 1)
        unbound = org_series(naive, tz, n, unit, after, 5, lambda t: True)
        bounds = Bounds(rng, name, after, 4 * step, 0.3, [wall(t, tz).date() for t in unbound])
        sign = rng.choice(["+", "+", "++"])
        text = bounds.join(rng, write_org(rng, naive, f"{sign}{n}{unit}"))
        fires = org_series(naive, tz, n, unit, first - 1, 1, bounds.allows)
        cases.append(({"expr": text, "tz": name, "after": z(after), "count": 5},
                      org_series(naive, tz, n, unit, after, 5, bounds.allows) if fires else None))
        if rng.random() < 0.2:  # a timestamp without a repeater has one time
            cases.append(({"expr": write_org(rng, naive, ""), "tz": name, "after": z(after)},
                          [first] if first > after else []))
        # `.+` counts from the end of each run; here every run ends at its due time. The result is a plain series, if no time is clamped or shifted.
        if unit != "h" and (naive.day > 28 or not all(passes(w, tz) and w.time() == naive.time()
                                                       for w in (wall(t, tz) for t in [first] + unbound))):
            continue
        cases.append(({"expr": write_org(rng, naive, f".+{n}{unit}"), "tz": name, "after": z(after), "count": 5},
                      unbound))
    compare(sec, cases)


# --- H and JITTER ----------------------------------------------------------------------------------------------------
def fnv(text):
    h = 0xcbf29ce484222325
    for byte in text.encode():
        h = ((h ^ byte) * 0x100000001b3) % 2 ** 64
    return h


assert fnv("") == 0xcbf29ce484222325 and fnv("a") == 0xaf63dc4c8601ec8c and fnv("foobar") == 0x85944171f73967e8

IDS = ["backup", "a", "triage", "nightly-report", "ops/db.vacuum", "x" * 200, "naïve", "日本", "desk 7", "A", "0", "/",
       "a/b"]


def jittered(nominals, jitter, identity, after, count):
    """nominals: in order, from well before `after` to after the last one needed, or to the end of the series."""
    h, found = fnv(identity + "/jitter"), []
    for i, t in enumerate(nominals):
        room = jitter if i + 1 == len(nominals) else min(jitter, nominals[i + 1] - t)
        due = t * 10 ** 6 + h * room * 10 ** 6 // 2 ** 64
        if due > after * 10 ** 6:
            found.append(-(-due // 10 ** 6))
    return found[:count]


def jitter():
    sec, rng, cases, early = section("jitter"), random.Random(4), [], 0
    for _ in range(1500):
        name, identity, size = rng.choice(ZONES), rng.choice(IDS), rng.choice([1, 60, 300, 3599, 3600, 7200, DAY,
                                                                               3 * DAY])
        after = rng.randint(utc("2020-01-01"), utc("2040-01-01"))
        kind, end = rng.randrange(4), None
        if kind == 0:
            step = rng.choice([60, 600, 5400, 7200, DAY, 40 * DAY])
            first = (after - 4 * DAY) // step * step - step
            nominals = [first + i * step for i in range(6 * DAY // step + 9)]
            text = f"@every {write_duration(rng, step)}"
        elif kind == 1:
            hours = set(rng.sample(range(24), rng.randint(1, 3)))
            minutes = set(rng.sample(range(60), rng.randint(1, 3)))
            text = f"{','.join(map(str, sorted(minutes)))} {','.join(map(str, sorted(hours)))} * * *"
            times = {h * 3600 + m * 60 for h in hours for m in minutes}
            nominals = wall_runs(name, after - 5 * DAY, 10 * 9 + 20, lambda d: True, times)
        elif kind == 2:
            unit, n = rng.choice("hdwm"), rng.randint(1, 3)
            naive = wall(after - rng.randint(0, 60 * DAY), zone(name)).replace(second=0)
            text = write_org(rng, naive, f"+{n}{unit}")
            nominals = [org_nth(naive, zone(name), n, unit, k) for k in range(60 * 24 + 20)]
        else:
            nominals = [after + rng.choice([1, 0, -1, -size // 2, -size + 1, -size, rng.randint(-DAY, DAY)])]
            text = z(nominals[0])
        # Half of the requests are between a nominal time and its due time.
        if kind != 3 and rng.random() < 0.5:
            inside = [t for t in nominals if after - DAY < t <= after + DAY]
            if inside:
                after = rng.choice(inside) + rng.choice([0, 1, 10])
        expected = jittered(nominals, size, identity, after, 5)
        early += any(t <= after for t in nominals if expected and t + size >= expected[0] and t < expected[0])
        cases.append(({"expr": f"{text} JITTER {write_duration(rng, size)}", "tz": name, "after": z(after),
                       "id": identity,
                       "count": 5}, expected))
    assert early > 100  # runs whose nominal time is past and whose due time is not
    compare(sec, cases)


def hashes():
    sec, rng, cases = section("H"), random.Random(5), []
    for identity in IDS + [f"s{i}" for i in range(40)]:
        def h(field):
            return fnv(f"{identity}/{field}")
        minute, hour, second = h("minute") % 60, h("hour") % 24, h("second") % 60
        day, month, weekday = 1 + h("day") % 28, 1 + h("month") % 12, h("weekday") % 7  # 0: Sunday

        def on(d, days=None, months=None, weekdays=None):
            return ((days is None or d.day in days) and (months is None or d.month in months) and
                    (weekdays is None or d.isoweekday() % 7 in weekdays))
        low = rng.randrange(0, 20)
        high = rng.randrange(low + 1, 24)
        step = rng.choice([2, 3, 4, 5, 7, 15, 20, 30])
        every = range(24)
        for text, hours, minutes, seconds, limits in [
                ("H H * * *", [hour], [minute], [0], {}),
                ("H H(0-7) * * *", [h("hour") % 8], [minute], [0], {}),
                (f"H(5-9) H({low}-{high}) * * *", [low + h("hour") % (high - low + 1)], [5 + h("minute") % 5], [0], {}),
                (f"H/{step} * * * *", every, range(h("minute") % step, 60, step), [0], {}),
                (f"H/{step} H * * *", [hour], range(h("minute") % step, 60, step), [0], {}),
                ("0 H/6 * * *", range(h("hour") % 6, 24, 6), [0], [0], {}),
                ("H H H * *", [hour], [minute], [0], {"days": [day]}),
                ("H H H * ?", [hour], [minute], [0], {"days": [day]}),
                ("H H H H *", [hour], [minute], [0], {"days": [day], "months": [month]}),
                ("H 0 1 H *", [0], [minute], [0], {"days": [1], "months": [month]}),
                ("H H * * H", [hour], [minute], [0], {"weekdays": [weekday]}),
                ("H H * H H", [hour], [minute], [0], {"weekdays": [weekday], "months": [month]}),
                ("H H H(10-12) * *", [hour], [minute], [0], {"days": [10 + h("day") % 3]}),
                ("H 3 * * H(1-5)", [3], [minute], [0], {"weekdays": [1 + h("weekday") % 5]}),
                ("H * * * *", every, [minute], [0], {}),
                ("H H H * * *", [hour], [minute], [second], {}),
                ("H/20 H * * * *", every, [minute], range(h("second") % 20, 60, 20), {})]:
            name = rng.choice(ZONES)
            after = rng.randint(utc("2024-01-01"), utc("2036-01-01"))
            times = {a * 3600 + b * 60 + c for a in hours for b in minutes for c in seconds}
            expected = wall_runs(name, after, 6, lambda d: on(d, **limits), times, elapsed=hours is every)
            cases.append(({"expr": text, "tz": name, "after": z(after), "id": identity, "count": 6}, expected))
    compare(sec, cases)


# --- ACE -------------------------------------------------------------------------------------------------------------
def ace():
    sec, rng = section("ACE"), random.Random(6)
    forms = ["0 9 * * *", "*/15 8-18 * * MON-FRI", "0 0 12 L * ?", "@daily", "@every 7h", "EVERY 90m",
             "2026-09-01T10:00",
             "<2026-06-13 Sat 09:00 +1w>", "every tuesday at 9am", "in 200 hours", "in 200h", "H H(0-7) * * *",
             "weekdays at 8:30", "first monday of the month at 9",
             "every 15 minutes", "every 2h", "2026-09-01 10:00", "1st friday of the month at 9:30"]
    directives = [["TZ=Europe/Berlin"], ["WINDOW 15m"], ["RETRY 3 linear 30s", "RETRY 3", "RETRY 3 fixed",
                                                         "RETRY 3 45s"],
                  ["FROM 2026-06-20", "FROM 2026-06-20T08:00", "FROM 2026-06-20 08:00", "FROM 2026-06-20 08:00:30Z"],
                  ["UNTIL 2026-09-30", "UNTIL 2026-09-30 10:00"], ["JITTER 5m"], ["TIMEOUT 1h30m"], ["MISSED skip"],
                  ["OVERLAP queue_one"],
                  ["EXCEPT 2026-06-22,2026-06-27", "EXCEPT 2026-06-22"], ["GAP skip"], ["FOLD second"],
                  ["IF size(variables) < 2 && schedule.id != 'TZ=x'"]]
    cron = [f for f in forms if f[0] in "0*H" or f == "@daily" or f.startswith(("every", "first", "1st", "weekdays"))]
    argvs, groups = [], []
    for form in forms:
        for _ in range(4):
            chosen = [rng.choice(d) for d in rng.sample(directives, rng.randint(2, len(directives)))]
            if form not in cron:  # the others name one instant each
                chosen = [d for d in chosen if d[:3] not in ("GAP", "FOL")]
            condition = [d for d in chosen if d.startswith("IF ")]
            others = [d for d in chosen if not d.startswith("IF ")]
            writings = []
            for way in range(7):
                lines = [form] + others + condition
                if way:
                    rng.shuffle(lines)
                if way == 1:
                    text = "\r\n".join(lines) + "\r\n"
                elif way == 2:
                    text = "\n\n  ".join(lines) + "\n"
                elif way < 5:
                    text = "\n".join(lines)
                else:  # one line, IF last; the form first, last or between
                    line = [form] + others
                    rng.shuffle(line)
                    text = rng.choice([" ", "  "]).join(line + condition)
                writings.append(text)
            groups.append(writings)
            argvs += [("next", text, "--tz", "UTC", "--after", "2026-06-13T05:00:00Z", "--count", "9", "--id", "ace")
                      for text in writings]
    answers = iter(rota_jsons(argvs))
    names = {"TZ=": "timezone", "IF": "condition", "WINDOW": "window", "RETRY": "retry", "FROM": "start_date",
             "UNTIL": "end_date",
             "JITTER": "jitter", "TIMEOUT": "timeout", "MISSED": "missed_schedule_policy", "OVERLAP": "overlap",
             "EXCEPT": "except",
             "GAP": "gap", "FOLD": "fold"}
    for writings in groups:
        first = None
        for text in writings:
            answer = next(answers)
            if first is None:
                first = answer
                # The answer has exactly the directives that were written.
                said = {names["TZ=" if d.startswith("TZ=") else d.split()[0]] for d in text.split("\n")[1:]}
                sec.check(said == set(answer.get("directives", ())) and "next" in answer, f"{text!r}: {answer}")
            same = all(answer.get(key) == first.get(key) for key in ("kind", "normalized", "timezone", "directives",
                                                                     "next", "explain"))
            sec.check(same and "error" not in answer,
                      f"{text!r} is not the same as {writings[0]!r}\n     {answer}\n     {first}")


# --- English ---------------------------------------------------------------------------------------------------------
# A phrase is made together with its meaning: a function of (zone name, after, count) that returns the runs. Meanings use
# days, wall times and zones; they use neither cron nor the form that rota derives from a phrase.
# The words and shapes are those of the specification and of the grammar in rota-when(7).
NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
NUMBERS = dict(enumerate(NUMBERS))  # "Digits, or a word from one to twelve."
ORDINALS = {1: ["first", "1st"], 2: ["second", "2nd"], 3: ["third", "3rd"], 4: ["fourth", "4th"], 5: ["fifth", "5th"]}
WEEKDAYS = [("monday", "mon"), ("tuesday", "tue"), ("wednesday", "wed"), ("thursday", "thu"), ("friday", "fri"),
            ("saturday", "sat"), ("sunday", "sun")]  # the order of date.weekday()
MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
          "december"]
CITIES = {"Berlin": "Europe/Berlin", "New York": "America/New_York", "Tokyo": "Asia/Tokyo", "Havana": "America/Havana",
          "Sao Paulo": "America/Sao_Paulo", "Lord Howe": "Australia/Lord_Howe", "Dublin": "Europe/Dublin",
          "Kathmandu": "Asia/Kathmandu", "Chatham": "Pacific/Chatham", "America/New_York": "America/New_York",
          "Europe/Paris": "Europe/Paris", "UTC": "UTC"}
NOWS = [utc(t) for t in ("2026-11-15T14:47:13", "2026-03-28T12:00:00", "2026-03-28T23:59:59", "2026-10-24T21:30:00",
                         "2027-03-13T05:00:00",
                         "2026-10-31T23:15:00", "2028-02-28T23:30:00", "2026-12-31T10:00:00", "2026-04-04T13:00:00",
                         "2027-10-02T00:00:00")]

Phrase = collections.namedtuple("Phrase", "text runs shape")


def any_case(rng, text):
    return rng.choice([text, text, text.upper(), text.capitalize(), text.title()])


def clock(rng, seconds, halves=None):
    """A time of day as text. In a list, all times have am or pm (`halves`), or none has: a mixture is ambiguous."""
    halves = rng.random() < 0.4 if halves is None else halves
    h, m = seconds // 3600, seconds // 60 % 60
    if halves:
        suffix = rng.choice(["am", "AM", " am"]) if h < 12 else rng.choice(["pm", "PM", " pm"])
        ways = [f"{(h + 11) % 12 + 1}:{m:02}{suffix}"]
        ways += [f"{(h + 11) % 12 + 1}{suffix}"] * 3 if m == 0 else []
    else:
        ways = [f"{h:02}:{m:02}", f"{h}:{m:02}"] + ([f"{h}"] if m == 0 else [])
    if m == 0:
        ways += {0: ["midnight"] * 3, 12: ["noon"] * 3}.get(h, [])
    return rng.choice(ways)


def clocks(rng, most=3):
    """Times of day that a single rule can express (hours × one minute), and their text."""
    m = rng.choice([0, 0, 0, 30, 15, 45, 5, rng.randrange(60)])
    hours = sorted(rng.sample(range(24), rng.choice([1, 1, 1, 1, 2, most])))
    halves = rng.random() < 0.4
    words = [clock(rng, h * 3600 + m * 60, halves) for h in hours]
    return {h * 3600 + m * 60 for h in hours}, listed(rng, words)


def listed(rng, words):
    if len(words) == 1:
        return words[0]
    joint = rng.choice([" and ", " and ", ", and ", ", "] if len(words) > 2 else [" and ", ", "])
    return ", ".join(words[:-1]) + joint + words[-1]


def on_days(days, seconds):
    return lambda name, after, count, until=None: wall_runs(name, after, count, days, seconds, False, until)


def nth_weekday(n, weekday):
    """n: 1 to 5, or -1 for the last."""
    def days(d):
        if d.weekday() != weekday:
            return False
        return d.day + 7 > calendar.monthrange(d.year, d.month)[1] if n == -1 else (d.day - 1) // 7 + 1 == n
    return days


def last_day(d):
    return d.day == calendar.monthrange(d.year, d.month)[1]


def weekday_words(rng):
    """(set of weekdays, the words after "every", the words without "every")."""
    shape = rng.randrange(8)
    if shape == 6:
        return {5, 6}, "weekend", "weekends"
    if shape == 7:
        first, last = rng.sample(range(7), 2)
        words = rng.choice([f"{WEEKDAYS[first][0]} to {WEEKDAYS[last][0]}", f"{WEEKDAYS[first][1]}-{WEEKDAYS[last][1]}",
                            f"{WEEKDAYS[first][0]} through {WEEKDAYS[last][0]}"])
        return {(first + i) % 7 for i in range((last - first) % 7 + 1)}, words, words
    if shape == 0:
        return set(range(7)), "day", rng.choice(["daily", "every day"])
    if shape == 1:
        return set(range(5)), "weekday", "weekdays"
    if shape == 2:
        one = rng.randrange(7)
        return {one}, rng.choice(WEEKDAYS[one]), WEEKDAYS[one][0] + "s"
    chosen = sorted(rng.sample(range(7), rng.choice([2, 2, 3, 4])))
    length = rng.randrange(2)
    words = [WEEKDAYS[d][length] for d in chosen]
    return set(chosen), listed(rng, words), listed(rng, [WEEKDAYS[d][0] + "s" for d in chosen])


def phrase_days(rng):
    days, every, alone = weekday_words(rng)
    seconds, words = clocks(rng)
    text = f"every {every} at {words}" if rng.random() < 0.6 else f"{alone} at {words}"
    if rng.random() < 0.15:  # clauses come in any order
        text = f"at {words} {rng.choice(['', 'on '])}{alone}" if alone.endswith("s") else f"at {words} every {every}"
    return Phrase(text, on_days(lambda d: d.weekday() in days, seconds), "days")


def phrase_ordinal(rng):
    seconds, words = clocks(rng, 2)
    start = rng.choice(["", "", "the ", "every ", "on the "])
    end = rng.choice([" of the month", " of every month", " of each month"])
    if rng.random() < 0.25:
        return Phrase(f"{start}last day{end} at {words}", on_days(last_day, seconds), "last day")
    if rng.random() < 0.15:
        return Phrase(f"{start}first day{end} at {words}", on_days(lambda d: d.day == 1, seconds), "first day")
    n, weekday = rng.choice([1, 2, 3, 4, 5, -1]), rng.randrange(7)
    word = "last" if n == -1 else rng.choice(ORDINALS[n])
    return Phrase(f"{start}{word} {rng.choice(WEEKDAYS[weekday])}{end} at {words}",
                  on_days(nth_weekday(n, weekday), seconds), "ordinal")


def number(rng, n):
    return rng.choice([str(n), NUMBERS.get(n, str(n))])


def phrase_step(rng):
    """The specification: "cron where the step divides the hour or day, else `@every`"."""
    unit, size = rng.choice([("minute", 60), ("minute", 60), ("hour", 3600)])
    n = rng.choice([1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 7, 8, 9, 11, 13, 14, 25, 40, 45, 50, 70, 90, 100, 120, 180,
                    240, 720]
                   if size == 60 else [1, 2, 3, 4, 6, 8, 12, 5, 7, 9, 10, 18, 36, 48])
    words = f"{number(rng, n)} {unit}{'s' if n > 1 else ''}" if n > 1 else unit
    if size == 60 and rng.random() < 0.3:
        words = words.replace("minute", "min", 1).replace("mins", rng.choice(["min", "mins"]))
    step = n * size

    def runs(name, after, count, until=None):
        if 3600 % step == 0 or step == 3600:  # the step divides the hour: the times follow elapsed time
            return wall_runs(name, after, count, lambda d: True, range(0, DAY, step), True, until)
        if DAY % step == 0 and step % 3600 == 0:  # some hours of the day, as wall times
            return wall_runs(name, after, count, lambda d: True, range(0, DAY, step), False, until)
        first = after // step * step + step
        return [t for t in (first + i * step for i in range(count)) if until is None or t < until]
    return Phrase(f"every {words}", runs, "step")


def bounded(series, until):
    """None: the series begins after its end."""
    kept = [t for t in series if until is None or t < until]
    return kept or None


def phrase_weeks(rng):
    n, weekday = rng.choice([2, 2, 3, 4, 6, 10]), rng.randrange(7)
    h, m = rng.randrange(24), rng.choice([0, 0, 30, 17])

    def runs(name, after, count, until=None):
        tz = zone(name)
        day = wall(after, tz).date() - timedelta(days=1)
        while True:
            first = datetime(day.year, day.month, day.day, h, m)
            if day.weekday() == weekday and before_gap(first, tz) > after:
                break
            day += timedelta(days=1)
        series = [before_gap(first + timedelta(weeks=n * k), tz) for k in range(count)]
        return bounded(series, until)
    word = rng.choice(WEEKDAYS[weekday])
    return Phrase(f"every {number(rng, n)} weeks on {word} at {clock(rng, h * 3600 + m * 60)}", runs, "weeks")


def once(function):
    def runs(name, after, count, until=None):
        t = function(name, after)
        return [t] if t > after else []
    return runs


def phrase_in(rng):
    unit, size = rng.choice([("second", 1), ("minute", 60), ("minute", 60), ("hour", 3600)])
    n = rng.choice([1, 2, 3, 5, 10, 15, 20, 30, 45, 90])
    words = f"{number(rng, n)} {unit}{'s' if n > 1 else ''}"
    if rng.random() < 0.3:
        words = f"{n}{unit[0]}"
    return Phrase(f"in {words}", once(lambda name, after: after + n * size), "in")


def phrase_tomorrow(rng):
    h, m = rng.randrange(24), rng.choice([0, 0, 30, 10])

    def meaning(name, after):
        day = wall(after, zone(name)).date() + timedelta(days=1)
        return before_gap(datetime(day.year, day.month, day.day, h, m), zone(name))
    return Phrase(f"tomorrow at {clock(rng, h * 3600 + m * 60)}", once(meaning), "tomorrow")


def phrase_next(rng):
    """The specification: "`next friday` is the first Friday after today"."""
    h, m, weekday = rng.randrange(24), rng.choice([0, 0, 30, 10]), rng.randrange(7)

    def meaning(name, after):
        day = wall(after, zone(name)).date() + timedelta(days=1)
        while day.weekday() != weekday:
            day += timedelta(days=1)
        return before_gap(datetime(day.year, day.month, day.day, h, m), zone(name))
    return Phrase(f"next {rng.choice(WEEKDAYS[weekday])} at {clock(rng, h * 3600 + m * 60)}", once(meaning), "next")


def ordinal(day):
    return f"{day}{'th' if day in (11, 12, 13) else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"


def phrase_month_days(rng):
    """Days of the month by number, in every month or in every n-th."""
    days = sorted(rng.sample(range(1, 32), rng.choice([1, 1, 2, 3])))
    seconds, words = clocks(rng, 2)
    on = "the " + listed(rng, [ordinal(d) for d in days])
    if rng.random() < 0.6:
        text = rng.choice([f"every month on {on} at {words}", f"on {on} of every month at {words}",
                           f"{on} of the month at {words}", f"monthly on {on} at {words}"])
        return Phrase(text, on_days(lambda d: d.day in days, seconds), "days of the month")
    n = rng.choice([2, 3, 4, 6, 12])  # "Cron if N divides 12, counted from January"
    return Phrase(f"every {number(rng, n)} months on {on} at {words}",
                  on_days(lambda d: d.day in days and (d.month - 1) % n == 0, seconds), "every n months")


def phrase_special_days(rng):
    seconds, words = clocks(rng, 2)

    def weekdays(d):
        return [k for k in range(1, calendar.monthrange(d.year, d.month)[1] + 1) if date(d.year, d.month,
                                                                                         k).weekday() < 5]
    which = rng.randrange(4)
    if which == 0:
        return Phrase(f"first weekday of the month at {words}", on_days(lambda d: d.day == weekdays(d)[0], seconds),
                      "first weekday")
    if which == 1:
        return Phrase(f"the last weekday of every month at {words}", on_days(lambda d: d.day == weekdays(d)[-1],
                                                                             seconds), "last weekday")
    if which == 2:
        a, b = sorted(rng.sample(range(1, 6), 2))
        day = rng.randrange(7)
        return Phrase(f"{ORDINALS[a][0]} and {ORDINALS[b][0]} {WEEKDAYS[day][0]} of the month at {words}",
                      on_days(lambda d: nth_weekday(a, day)(d) or nth_weekday(b, day)(d), seconds), "two ordinals")
    month, day = rng.randrange(1, 13), rng.randint(1, 28)
    name = MONTHS[month - 1]
    text = rng.choice([f"every {day} {name} at {words}", f"every year on {day} {name} at {words}",
                       f"every {name} {day} at {words}", f"yearly on {name[:3]} {day} at {words}"])
    return Phrase(text, on_days(lambda d: (d.month, d.day) == (month, day), seconds), "date")


def phrase_series(rng):
    """Every n days, months or years with a time: from the first such time after now, without drift."""
    kind, h, m = rng.randrange(3), rng.randrange(24), rng.choice([0, 0, 30, 17])
    at_time = f"at {clock(rng, h * 3600 + m * 60)}"
    day, month = rng.randint(1, 28), rng.randrange(1, 13)
    if kind == 0:
        n = rng.choice([2, 2, 3, 4, 5, 10])
        text = rng.choice([f"every {number(rng, n)} days {at_time}"] +
                          ([f"every other day {at_time}"] if n == 2 else []) +
                          ([f"every {ORDINALS[n][0]} day {at_time}"] if n in (3, 4, 5) else []))
        starts, unit = (lambda d: True), "d"
    elif kind == 1:
        n = rng.choice([5, 7, 8, 9, 10, 18])
        text = f"every {number(rng, n)} months on the {ordinal(day)} {at_time}"
        starts, unit = (lambda d: d.day == day), "m"
    else:
        n = rng.choice([2, 3, 4, 10])
        text = f"every {number(rng, n)} years on {day} {MONTHS[month - 1]} {at_time}"
        starts, unit = (lambda d: (d.month, d.day) == (month, day)), "y"

    def runs(name, after, count, until=None):
        tz = zone(name)
        d = wall(after, tz).date() - timedelta(days=1)
        while not starts(d) or before_gap(datetime(d.year, d.month, d.day, h, m), tz) <= after:
            d += timedelta(days=1)
        first = datetime(d.year, d.month, d.day, h, m)
        return bounded([org_nth(first, tz, n, unit, k) for k in range(count)], until)
    return Phrase(text, runs, "series")


def phrase_step_on_days(rng):
    days, _, alone = weekday_words(rng)
    unit, step = rng.choice([("minutes", rng.choice([5, 10, 15, 20, 30]) * 60),
                             ("hours", rng.choice([2, 3, 4, 6, 8, 12]) * 3600)])
    amount = step // (60 if unit == "minutes" else 3600)
    alone = alone if alone.endswith("s") or "-" in alone or " t" in alone else "weekdays"
    days = days if alone != "weekdays" else set(range(5))

    def runs(name, after, count, until=None):
        return wall_runs(name, after, count, lambda d: d.weekday() in days, range(0, DAY, step), unit == "minutes",
                         until)
    return Phrase(f"every {amount} {unit} on {alone}", runs, "step on days")


def phrase_soon(rng):
    """More phrases for a single time."""
    kind, h, m = rng.randrange(6), rng.randrange(24), rng.choice([0, 0, 30, 10])
    at_time = f"at {clock(rng, h * 3600 + m * 60)}"
    n = rng.choice([1, 2, 3, 5, 10, 12])
    plural = "s" if n > 1 else ""

    def on(day, name):
        return before_gap(datetime(day.year, day.month, day.day, h, m), zone(name))
    if kind == 0:
        return Phrase(f"in {number(rng, n)} day{plural} {at_time}",
                      once(lambda name, after: on(wall(after, zone(name)).date() + timedelta(days=n), name)),
                      "in days at")
    if kind == 1:
        return Phrase(f"in {n} hour{plural} and {h + 1} minutes", once(lambda name, after: after + n * 3600 +
                                                                       (h + 1) * 60), "in two amounts")
    if kind == 2:
        unit = rng.choice(["day", "week"])
        return Phrase(f"in {number(rng, n)} {unit}{plural}", once(lambda name, after: after +
                                                                  n * DAY * (7 if unit == "week" else 1)), "in days")
    if kind == 3:
        unit = rng.choice(["month", "year"]) if n <= 10 else "month"
        return Phrase(f"in {number(rng, n)} {unit}{plural}",
                      once(lambda name, after: before_gap(shifted(wall(after, zone(name)),
                                                                  n * (12 if unit == "year" else 1)), zone(name))),
                      "in months")
    if kind == 4:
        year, month, day = rng.choice([2026, 2027, 2028]), rng.randrange(1, 13), rng.randint(1, 28)
        name = MONTHS[month - 1]
        text = rng.choice([f"{name} {day} {year} {at_time}", f"on {day} {name} {year} {at_time}",
                           f"on {year}-{month:02}-{day:02} {at_time}",
                           f"the {ordinal(day)} of {name} {year} {at_time}"])
        return Phrase(text, once(lambda name, after: on(date(year, month, day), name)), "a date")
    text, amount = rng.choice([("in an hour", 3600), ("in half an hour", 1800), ("in a minute", 60),
                               ("in 1h30m", 5400), ("in a day", DAY), ("in 90s", 90), ("in a week", 7 * DAY)])
    return Phrase(text, once(lambda name, after: after + amount), "in a")


def in_place(rng, phrase):
    place = rng.choice(list(CITIES))
    words = place if "/" in place and rng.random() < 0.5 else f"in {place}"
    return Phrase(f"{phrase.text} {words}", lambda name, *rest: phrase.runs(CITIES[place], *rest), phrase.shape +
                  ", place"), CITIES[place]


def until_date(rng, phrase, name_of):
    """`name_of`: the zone that the phrase names, or None."""
    month, year = rng.randrange(1, 13), rng.choice([None, None, 2027, 2028, 2029])
    day = rng.choice([1, 15, 28, 30]) if month != 2 else 15
    if year is None:
        month_word = rng.choice([MONTHS[month - 1], MONTHS[month - 1].capitalize(), MONTHS[month - 1][:3]])
        words = rng.choice([f"{day} {month_word}", f"{month_word} {day}"])
    else:
        words = rng.choice([f"{year}-{month:02}-{day:02}", f"{day} {MONTHS[month - 1].capitalize()} {year}"])

    def runs(name, after, count):
        tz = zone(name_of or name)
        today = wall(after, tz).date()
        in_year = year or (today.year if (month, day) >= (today.month, today.day) else today.year + 1)
        end = before_gap(datetime(in_year, month, day) + timedelta(days=1), tz)
        return phrase.runs(name, after, count, end)
    return Phrase(f"{phrase.text} until {words}", runs, phrase.shape + ", until")


def phrases(rng):
    """Distinct phrases of all shapes, as (Phrase, the zone it names or None)."""
    found = {}
    makers = [(phrase_days, 260), (phrase_ordinal, 170), (phrase_step, 75), (phrase_weeks, 60), (phrase_in, 45),
              (phrase_tomorrow, 40),
              (phrase_next, 50), (phrase_month_days, 60), (phrase_special_days, 60), (phrase_series, 60),
              (phrase_step_on_days, 30), (phrase_soon, 60)]
    for maker, wanted in makers:
        start = len(found)
        for _ in range(wanted * 20):
            if len(found) - start == wanted:
                break
            phrase, place = maker(rng), None
            phrase = phrase._replace(text=any_case(rng, phrase.text))
            if rng.random() < 0.25:
                phrase, place = in_place(rng, phrase)
            once_only = (phrase_in, phrase_tomorrow, phrase_next, phrase_soon)
            if maker not in once_only and rng.random() < 0.2:
                phrase = until_date(rng, phrase, place)
            found.setdefault(phrase.text.lower(), (phrase, place))
    return list(found.values())


# The phrases of the specification.
QUOTED = ["every tuesday at 9am", "every weekday at 08:30", "every 15 minutes", "in 20 minutes", "tomorrow at noon",
          "next friday at 14:00",
          "first monday of the month at 9", "last day of every month at 18:00", "every day at 8, 12 and 18",
          "every 2 weeks on monday at 10", "weekdays at 8:30", "weekdays at 8:30 in Berlin",
          "weekdays at 8:30 America/New_York",
          "every tuesday at 9am until 30 June", "in 20m"]


def quoted():
    def only(*days):
        return lambda d: d.weekday() in days
    nine, work = 9 * 3600, {8 * 3600 + 1800}

    def fortnight(name, after, count, until=None):
        tz = zone(name)
        day = wall(after, tz).date() - timedelta(days=1)
        while day.weekday() != 0 or before_gap(datetime(day.year, day.month, day.day, 10), tz) <= after:
            day += timedelta(days=1)
        return [before_gap(datetime(day.year, day.month, day.day, 10) + timedelta(weeks=2 * k), tz)
                for k in range(count)]

    def tomorrow(name, after):
        day = wall(after, zone(name)).date() + timedelta(days=1)
        return before_gap(datetime(day.year, day.month, day.day, 12), zone(name))

    def friday(name, after):
        day = wall(after, zone(name)).date() + timedelta(days=1)
        while day.weekday() != 4:
            day += timedelta(days=1)
        return before_gap(datetime(day.year, day.month, day.day, 14), zone(name))

    def to_june(name, after, count):
        today = wall(after, zone(name)).date()
        year = today.year + ((today.month, today.day) > (6, 30))
        return wall_runs(name, after, count, only(1), {nine}, False, before_gap(datetime(year, 7, 1), zone(name)))
    meanings = [on_days(only(1), {nine}), on_days(only(0, 1, 2, 3, 4), work),
                lambda name, after, count: wall_runs(name, after, count, lambda d: True, range(0, DAY, 900), True),
                once(lambda name, after: after + 1200), once(tomorrow), once(friday),
                on_days(nth_weekday(1, 0), {nine}),
                on_days(last_day, {18 * 3600}), on_days(lambda d: True, {8 * 3600, 12 * 3600, 18 * 3600}), fortnight,
                on_days(only(0, 1, 2, 3, 4), work),
                lambda name, *rest: on_days(only(0, 1, 2, 3, 4), work)("Europe/Berlin", *rest),
                lambda name, *rest: on_days(only(0, 1, 2, 3, 4), work)("America/New_York", *rest), to_june,
                once(lambda name, after: after + 1200)]
    places = {11: "Europe/Berlin", 12: "America/New_York"}
    return [(Phrase(t, m, "quoted"), places.get(i)) for i, (t, m) in enumerate(zip(QUOTED, meanings, strict=True))]


def resolved(request, answer):
    """The normalized form that rota gives for a phrase, with the zone and the end that the phrase names."""
    text = answer["normalized"]
    if "end_date" in answer["directives"]:
        text += " UNTIL " + answer["directives"]["end_date"]
    return {**request, "expr": text, "tz": answer["timezone"]}


def english():
    """Returns the phrases with their --json answers, for the check of the sentences."""
    sec, rng = section("English"), random.Random(7)
    made = quoted() + phrases(rng)
    assert len({p.text for p, _ in made}) >= 500
    cases = []
    for phrase, place in made:
        for now in rng.sample(NOWS, 3):
            name = rng.choice(ZONES)
            cases.append(({"expr": phrase.text, "tz": name, "after": z(now), "count": 10}, phrase.runs(name, now, 10)))
    refused = compare(sec, cases)
    made = [(p, place) for p, place in made if p.text not in refused]
    # The normalized form has the same runs.
    asked = [{"expr": p.text, "tz": rng.choice(ZONES), "after": z(rng.choice(NOWS)), "count": 10} for p, _ in made]
    answers = rota_jsons([("next", r["expr"], "--tz", r["tz"], "--after", r["after"], "--count", "10") for r in asked])
    again = section("normalized")
    for request, answer in zip(asked, answers):
        if "error" in answer and "never fires" not in answer["error"]:
            again.fail(f"{json.dumps(request, ensure_ascii=False)}: {answer['error']}")
    known = [(r, a) for r, a in zip(asked, answers) if "error" not in a]
    for (request, answer), plain in zip(known, batch([resolved(r, a) for r, a in known])):
        again.check(plain.get("next") == answer["next"], f"{json.dumps(request, ensure_ascii=False)} is normalized to "
                    f"{json.dumps(resolved(request, answer))}\n     phrase     {answer['next']}\n     normalized {plain}")
    places = section("places")
    for (phrase, place), request, answer in zip(made, asked, answers):
        if "error" not in answer:
            places.check(answer["timezone"] == (place or request["tz"]), f"{phrase.text!r}: zone {answer['timezone']}")
    return [p.text for p, _ in made]


# --- sentences -------------------------------------------------------------------------------------------------------
def random_field(rng, low, high, names=()):
    def value():
        v = rng.randint(low, high)
        return names[v - low] if names and rng.random() < 0.2 else str(v)

    def item():
        shape = rng.randrange(6)
        if shape < 3:
            return value()
        if shape == 3:
            return f"{value()}-{value()}"
        if shape == 4:
            return f"{rng.randint(low, high)}-{rng.randint(low, high)}/{rng.randint(1, 7)}"
        return f"{rng.randint(low, high)}/{rng.randint(1, (high - low) // 2 + 1)}"
    shape = rng.randrange(8)
    if shape < 3:
        return "*"
    if shape == 3:
        return f"*/{rng.randint(1, high - low)}"
    return ",".join(item() for _ in range(rng.choice([1, 1, 1, 2, 3])))


FIELDS = [(0, 59), (0, 59), (0, 23), (1, 31), (1, 12, [m[:3].upper() for m in MONTHS]),
          (0, 6, ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"])]


def random_cron(rng):
    fields = [random_field(rng, *f) for f in FIELDS[rng.choice([1, 1, 1, 0]):]]
    if rng.random() < 0.15:
        fields[-3] = rng.choice(["L", "L-3", "LW", "15W", "1W", "L-1", "L,15", "?", "15,LW"])
    if rng.random() < 0.15:
        fields[-1] = rng.choice(["5L", "FRIL", "1#2", "MON#1", "?", "0#5", "7", "0,7", "1#1,5L", "MON-FRI", "FRI-MON"])
    return fields


def near(rng, fields):
    """A similar expression: sentences of similar expressions are the most likely to be equal."""
    fields = list(fields)
    i = rng.randrange(len(fields))
    low, high = FIELDS[i + 6 - len(fields)][:2]
    fields[i] = rng.choice([random_field(rng, *FIELDS[i + 6 - len(fields)]), "*", f"{low}-{high}",
                            f"*/{rng.randint(1, 3)}", f"{low}-{high}/{rng.randint(1, 3)}",
                            fields[i] + f",{rng.randint(low, high)}" if fields[i] not in "*?" else f"{low}"])
    return fields


EXTRA_DIRECTIVES = ["GAP skip", "GAP shift", "FOLD both", "FOLD second", "EXCEPT 2026-12-24",
                    "EXCEPT 2026-12-25,2027-01-01", "FROM 2026-12-01", "FROM 2026-12-01T12:00",
                    "UNTIL 2027-01-31", "UNTIL 2027-01-31T12:00", "UNTIL 2027-02-01T00:00", "JITTER 5m", "JITTER 6m",
                    "TZ=Asia/Tokyo", "TZ=Europe/Paris"]
OTHER_FORMS = ["@every 90m", "@every 2h", "@every 7h", "@every 24h", "@every 1d", "@every 36h", "@every 1w",
               "EVERY 7h FROM 2026-01-01", "EVERY 7h FROM 2026-01-02",
               "@daily", "@weekly", "@monthly", "@yearly", "@hourly", "0 0 1 * 1", "0 0 */1 * 1", "0 0 1 * */1",
               "0 0 */2 * 1", "0 0 1-31/2 * 1", "0 */2 * * *", "0 * * * *",
               "<2026-06-13 Sat 09:00 +1w>", "<2026-06-20 Sat 09:00 +1w>", "<2026-06-20 Sat 09:00 +2w>",
               "<2026-06-13 Sat 09:00 +2w>", "<2026-01-31 Sat 09:00 +1m>",
               "<2026-01-30 Fri 09:00 +1m>", "<2026-01-28 Wed 09:00 +1m>", "<2026-06-13 Sat 09:00>",
               "<2026-12-13 Sun 09:00>", "<2026-06-13 Sat 09:00 +1y>", "<2026-06-13 Sat 09:00 +12h>",
               "<2026-06-13 Sat 10:00 +12h>", "<2026-06-13 Sat 09:00 +24h>", "<2026-06-13 Sat 09:00 +1d>",
               "<2026-06-13 Sat 09:00 +7d>", "2026-12-01T09:00", "2026-12-01T09:00:01",
               "2026-12-01T09:00Z", "H H * * *", "H H H * *", "H/15 * * * *", "0 9 * * 0,7", "0 9 * * 7", "0 9 LW * *",
               "0 9 L * *", "0 9 31 * *", "0 9 31W * *", "0 9 1W * *"]


def sentences(phrases_made, crons=2000):
    """No two expressions with different times have the same sentence."""
    sec, rng = section("explain"), random.Random(8)
    expressions = list(phrases_made) + OTHER_FORMS
    expressions += [f"{form} {d}" for form in ("30 2 * * *", "*/30 * * * *", "0 9 * * 1-5", "@every 7h",
                                               "<2026-06-13 Sat 09:00 +1w>") for d in EXTRA_DIRECTIVES
                    if form[0] in "3*0" or d[:3] not in ("GAP", "FOL")]
    while crons > 0:
        fields = random_cron(rng)
        for one in (fields, near(rng, fields), near(rng, fields)):
            expressions.append(" ".join(one))
            crons -= 1
    expressions = list(dict.fromkeys(expressions))
    now = z(NOWS[0])
    answers = rota_jsons([("next", text, "--tz", "Europe/Berlin", "--after", now, "--count", "1", "--id", "x")
                          for text in expressions])
    known = []
    for text, answer in zip(expressions, answers):
        if "error" in answer:
            sec.check("never fires" in answer["error"], f"{text!r}: {answer['error']}")
        else:
            known.append((text, answer))
    starts = [now, "2026-03-28T22:00:00Z", "2026-10-24T23:00:00Z", "2027-02-27T22:00:00Z", "2028-02-28T12:34:56Z",
              "2031-12-24T18:18:18Z"]
    texts = set(phrases_made)
    asked = [resolved({}, answer) if text in texts else {"expr": text, "tz": answer["timezone"]}
             if "TZ=" not in text else {"expr": text} for text, answer in known]
    runs = batch([{**a, "after": start, "count": 10, "id": "x"} for a in asked for start in starts])
    said = {}
    for i, (text, answer) in enumerate(known):
        times = [r.get("next", r) for r in runs[i * len(starts):(i + 1) * len(starts)]]
        sentence = answer["explain"]
        first = said.setdefault(sentence, (text, times))
        where = next((s for s, a, b in zip(starts, first[1], times) if a != b), None)
        sec.check(where is None and len(sentence) > 5 and "\n" not in sentence,
                  f"{sentence!r} is said of {first[0]!r} and of {text!r}, which differ after {where}")


# --- all -------------------------------------------------------------------------------------------------------------
def main():
    one_shots()
    intervals()
    org_stamps()
    jitter()
    hashes()
    ace()
    sentences(english())
    for sec in sections:
        print(f"{sec.name}: {sec.passed} passed, {sec.failed} failed")
    passed, failed = sum(s.passed for s in sections), sum(s.failed for s in sections)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
