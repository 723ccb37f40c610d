#!/usr/bin/env python3
"""Headlines of org files as `rota org parse` and as Emacs's org-element read them: every field of every row is equal, but
for the differences listed here. The files are those of oracle/org, and as many as asked for that are made from a seed.

usage: org.py ROTA [--files N] [--seed S]
"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import unicodedata

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from checks import check, finish  # noqa: E402
from org import files as made  # noqa: E402

# name: (field, what the text of an entry must match, a file that shows it, why rota differs)
DIFFERENCES = {
    "comment": ("title", rb"(?m)^\*+ .*COMMENT\S", b"* COMMENTS on the draft\n",
                "Emacs takes COMMENT from the front of any word; rota only if it is a word by itself"),
    "brackets": ("stamp", rb"<[^<>\]\n]*\]|\[[^\[\]>\n]*>", b"* TODO a\nSCHEDULED: <2026-06-13 Sat]\n",
                 "the brackets of a timestamp must pair (seed 000); Emacs looks only at the first one here"),
    "diary": ("stamp", rb"<%%\(", b"* TODO a\nSCHEDULED: <%%(diary-float t 4 2)>\n",
              "a diary expression has no date, so it is not a timestamp (seed 000)"),
    "glued date": ("stamp", rb"<\d+-\d\d-\d\d[^ >\d\n][^>\n]*\+\d+[dwmy]>", b"* TODO a\nSCHEDULED: <2026-06-13Sat +1w>\n",
                   "the date is a token by itself (seed 000)"),
    "time range": ("stamp", rb"[<\[][^>\]\n]* \d:\d\d-\d\d:\d\d", b"* TODO a\nSCHEDULED: <2026-06-13 9:00-10:30>\n",
                   "ten bytes with a dash at index 4 are a date, and the first date wins (seed 000): the time is dropped"),
    "second time": ("stamp", rb"[<\[][^>\]\n]*:\d\d [^>\]\n]*:", b"* TODO a\nSCHEDULED: <2026-06-13 09:00 10:00>\n",
                    "the last time of a timestamp wins (seed 000); in Emacs the first"),
    "late time": ("stamp", rb"[<\[]\d{4}-\d\d-\d\d [^>\]\n]*[-+0-9][^>\]\n]* \d+:", b"* TODO a\nSCHEDULED: <2026-06-13 +1w 09:00>\n",
                  "the parts of a timestamp may have any order (seed 000); Emacs reads no time after a repeater"),
    "tab": ("stamp", rb"[<\[]\d{4}-\d\d-\d\d[^>\]\n]*\t", b"* TODO a\nSCHEDULED: <2026-06-13 Sat\t09:00>\n",
            "parts are separated by any white space (seed 000); in Emacs by spaces"),
    "repeater": ("stamp", rb"[<\[]\d{4}-\d\d-\d\d[^>\]\n]* \.?\+(?!\+?\d+[hdwmy][ />\]])", b"* TODO a\nSCHEDULED: <2026-06-13 Sat +weekly>\n",
                 "a repeater is carried as it is written (seed 000), the last one wins; Emacs knows +1w, ++1w and .+1w"),
    "glued repeater": ("stamp", rb"[<\[]\d{4}-\d\d-\d\d[^>\]\n]*[^ >\]\n.+]\.?\+{1,2}\d+[hdwmy]", b"* TODO a\nSCHEDULED: <2026-06-13 x+1w>\n",
                       "a repeater is a token that begins with +, ++ or .+ (seed 000); Emacs finds it anywhere"),
    "time of one word": ("stamp", rb"[<\[][^>\]\n]* (?!\d{1,2}:\d\d[-> \]])\S*:", b"* TODO a\nSCHEDULED: <2026-06-13 Sat 9:5>\n",
                         "a token with a colon is the time, whatever it is (seed 000)"),
    "upper case": ("props", rb":\S*[^\x00-\x7f]\S*:", "* a\n:PROPERTIES:\n:grün: 1\n:END:\n".encode(),
                   "property keys: only ASCII letters become upper case"),
    "odd levels": ("level", rb"", b"#+STARTUP: odd\n* a\n*** b\n",
                   "#+STARTUP: odd counts every second star as a level in Emacs; rota counts stars"),
    "setup file": ("state", rb"", b"#+SETUPFILE: setup.org\n* ALPHA a\n",
                   "rota reads no file that another one names with #+SETUPFILE"),
}


def stamp_of_rota(s):
    """The parts of a row's timestamp, as numbers where they are numbers."""
    if s is None:
        return None
    date, _, time = s["at"].partition("T")
    clock = re.match(r"(\d{1,2}):(\d\d)(?!\d)", time)
    repeat = re.match(r"[.+]?\+\d+[hdwmy](?=\Z|/)", s["repeat"] or "")
    return {"active": s["active"], "date": date, "hour": int(clock[1]) if clock else time or None,
            "minute": int(clock[2]) if clock else None,
            "repeat": re.sub(r"\+0+(?=\d)", "+", repeat[0]) if repeat else s["repeat"]}


def row_of_rota(r):
    return {"level": r["level"], "title": r["title"], "state": r["state"], "priority": r["priority"], "tags": r["tags"],
            "props": r["props"], "id": r["id"], "scheduled": stamp_of_rota(r["scheduled"]),
            "deadline": stamp_of_rota(r["deadline"]), "line": r["line"]}


def row_of_emacs(r):
    # Of two properties with one name, the last one counts.
    props = dict(r["props"])
    row = {k: r[k] for k in ("level", "title", "state", "priority", "tags", "scheduled", "deadline", "line")}
    return {**row, "props": props, "id": props.get("ID") or None}


class Comparison:
    def __init__(self):
        self.rows = self.fields = 0
        self.seen = dict.fromkeys(DIFFERENCES, 0)

    def explain(self, field, entry):
        kind = "stamp" if field in ("scheduled", "deadline") else "props" if field == "id" else field
        for name, (where, pattern, _, _) in DIFFERENCES.items():
            if where == kind and pattern and re.search(pattern, entry):
                self.seen[name] += 1
                return True
        return False

    def compare(self, name, text, ours, theirs):
        lines = re.split(rb"(?<=\n)", text) if b"\n" in text else re.split(rb"(?<=\r)", text)
        if len(ours) != len(theirs):
            return check(False, f"{name}: {len(ours)} rows, Emacs has {len(theirs)}", text[:400])
        for number, (a, b) in enumerate(zip(ours, theirs)):
            end = theirs[number + 1]["line"] - 1 if number + 1 < len(theirs) else len(lines)
            entry = b"".join(lines[b["line"] - 1:end])
            self.rows += 1
            for field in a:
                self.fields += 1
                if a[field] != b[field] and not self.explain(field, entry):
                    check(False, f"{name}, line {b['line']}: {field} is {a[field]!r}, Emacs has {b[field]!r}", entry[:300])


def emacs_rows(paths):
    done = subprocess.run(["emacs", "-Q", "--batch", "-l", os.path.join(HERE, "org", "rows.el")], check=True,
                          input="\n".join(paths) + "\n", stdout=subprocess.PIPE, text=True, encoding="utf-8", timeout=500)
    return [json.loads(line) for line in done.stdout.splitlines()]


def rota_rows(rota, path):
    done = subprocess.run([rota, "org", "parse", path], stdout=subprocess.PIPE, timeout=60, check=True)
    return json.loads(done.stdout)


def write_listed(directory):
    """A file for every listed difference."""
    with open(os.path.join(directory, "setup.org"), "wb") as f:
        f.write(b"#+TODO: ALPHA | BETA\n")
    paths = []
    for name, (_, _, text, _) in DIFFERENCES.items():
        paths.append(os.path.join(directory, name.replace(" ", "-") + ".org"))
        with open(paths[-1], "wb") as f:
            f.write(text)
    return paths


def compare_listed(rota, paths, results):
    """Every listed difference is one; otherwise it must be removed from the list."""
    for (name, (field, *_)), path, theirs in zip(DIFFERENCES.items(), paths, results):
        fields = ("scheduled", "deadline") if field == "stamp" else (field,)
        ours = [row_of_rota(r) for r in rota_rows(rota, path)]
        theirs = [row_of_emacs(r) for r in theirs]
        check(any(a[f] != b[f] for a, b in zip(ours, theirs) for f in fields),
              f"the listed difference '{name}' does not exist any more", (ours, theirs))
        for a, b in zip(ours, theirs):
            others = [f for f in a if f not in fields and a[f] != b[f] and not (field == "state" and f == "title")]
            check(not others, f"the difference '{name}' is also one of {others}", (a, b))


def write_classes(directory):
    """Writes a file with tags of one character: both sides of every limit between characters that Emacs allows in tags
    (letters, marks and digits of Unicode) and others."""
    def is_tag(c):
        category = unicodedata.category(chr(c))
        return category[0] in "LM" or category in ("Nd", "Nl")
    path = os.path.join(directory, "classes.org")
    with open(path, "w", encoding="utf-8", newline="") as f:
        for c in range(0x81, 0x110000):
            if is_tag(c) != is_tag(c - 1) and not 0xD800 <= c <= 0xE000:
                f.write(f"* x :{chr(c - 1)}:\n* x :{chr(c)}:\n")
    return path


def main():
    rota = os.path.abspath(sys.argv[1])
    options = dict(zip(sys.argv[2::2], sys.argv[3::2]))
    seed = int(options.get("--seed", random.SystemRandom().randrange(1 << 32)))
    count = int(options.get("--files", 250))
    print(f"org.py: --files {count} --seed {seed}", flush=True)
    comparison = Comparison()
    fixed = sorted(os.path.join(HERE, "org", f) for f in os.listdir(os.path.join(HERE, "org")) if f.endswith(".org"))
    with tempfile.TemporaryDirectory(prefix="rota-org-") as directory:
        listed = write_listed(directory)
        paths = fixed + [write_classes(directory)]
        for i in range(count):
            paths.append(os.path.join(directory, f"made-{i}.org"))
            with open(paths[-1], "wb") as f:
                f.write(made.text(random.Random(f"{seed}/{i}")))
        results = emacs_rows(listed + paths)
        check(len(results) == len(listed + paths), f"{len(results)} answers of Emacs for {len(listed + paths)} files")
        compare_listed(rota, listed, results[:len(listed)])
        results = results[len(listed):]
        errors = 0
        for path, theirs in zip(paths, results):
            name = os.path.basename(path)
            with open(path, "rb") as f:
                text = f.read()
            if isinstance(theirs, dict):
                errors += 1  # Emacs cannot read a date such as <2026-6-1 +1w>
                check(b"<" in text, f"{name}: Emacs has an error", theirs)
                continue
            ours = [row_of_rota(r) for r in rota_rows(rota, path)]
            comparison.compare(name, text, ours, [row_of_emacs(r) for r in theirs])
        check(errors <= len(paths) // 20, f"Emacs had errors in {errors} files")
        check(comparison.rows > 5 * count, f"only {comparison.rows} headlines")
        check(True, "all fields are equal")
        seen = ", ".join(f"{n} {k}" for k, n in comparison.seen.items() if n)
        print(f"{len(paths)} files, {comparison.rows} headlines, {comparison.fields} fields; differences: {seen or 'none'}")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
