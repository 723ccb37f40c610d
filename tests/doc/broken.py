#!/usr/bin/env python3
"""Each file of broken/ is refused with the line, column and text of the .txt file beside it; each error message of the
sources is caused by at least one file.

usage: broken.py CHECK            (CHECK --write: writes the .txt files; review them with git diff)
"""
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SRC = HERE.parent.parent / "src"
SOURCES = [SRC / "base/json.c", SRC / "host/yaml.c", *sorted((SRC / "core/org").glob("*.c")),
           *sorted(p for p in (SRC / "core/doc").rglob("*.c") if p.parent.name != "config")]
ERRORS = {"why_set": 3, "refuse": 1}  # the functions that set a message, and which argument is its format

# Messages that no file of this directory causes, and why.
ELSEWHERE = {
    "the YAML text has more than %u bytes": "a file of 64 MiB; tests/unit/doc/test_yaml.c",
    "the org file has more than %u bytes": "a file of 4 MiB; tests/unit/doc/test_agentdoc.c",
    "%s has more than %d bytes": "a prompt of 1 MiB; tests/unit/doc/test_agentdoc.c",
    "the JSON text has more than %u bytes": "a file of 64 MiB; tests/unit/base/test_json.c",
    "the key '%s' of %s is not supported yet": "in the configuration; tests/unit/doc/test_config.c",
    "there are more than %d values": "a file of 16 MB; tests/unit/doc/test_docsize.c",
    "all times of the expression are in the past": "only for a schedule that is created now; tests/unit/doc/test_doc.c",
    "'%.*s' is not a size; write 64KiB, 5MiB or 2GiB": "in the configuration; tests/unit/doc/test_config.c",
    "a file can have at most %d headlines": "a file of 3 MB; tests/unit/org/test_org.c",
    "an org file can have at most %u bytes": "a file of 10 MiB; tests/unit/org/test_org.c",
    "%u headlines have the %s '%.*s', the first two at lines %u and %u; %s": "tasks of plans; tests/unit/org/test_org.c",
    "a timestamp that repeats in hours needs a time of day": "tasks of plans; tests/oracle/org_todo.py",
    "there is no task with the id or title '%.*s'": "tasks of plans; tests/unit/org/test_org.c",
    "%s": "a message of libyaml",
    "%s%s%s": "a message of libyaml",
}


def formats(text):
    """The function and the format string of every error; adjacent literals are joined."""
    for call in re.finditer(rf"\b({'|'.join(ERRORS)})\((?!struct)", text):
        depth, at = 1, call.end()
        quoted = False
        start, args = at, []
        while depth:
            c = text[at]
            if quoted:
                at += c == "\\"
                quoted = c != '"'
            elif c == '"':
                quoted = True
            elif c in "([{":
                depth += 1
            elif c in ")]}":
                depth -= 1
            if not quoted and (depth == 0 or depth == 1 and c == ","):
                args.append(text[start:at])
                start = at + 1
            at += 1
        pieces = re.findall(r'"((?:[^"\\]|\\.)*)"', args[ERRORS[call[1]]])
        yield call[1], "".join(pieces).replace('\\"', '"').replace("\\\\", "\\")


def pattern(fmt):
    parts = re.split(r"%(?:\.\*|\.\d+|0\d|ll)*[a-z]", fmt)
    return re.compile(".*".join(re.escape(p) for p in parts) + r"(\.\.\.)?\Z")


def main():
    check, write = sys.argv[1], "--write" in sys.argv
    files = sorted(p for p in (HERE / "broken").iterdir() if p.suffix in (".yaml", ".json", ".org"))
    printed = subprocess.run([check, *files], capture_output=True, text=True, check=True).stdout.splitlines()
    passed = failed = 0

    def result(good, text):
        nonlocal passed, failed
        passed, failed = passed + good, failed + (not good)
        if not good:
            print(text)

    result(len(printed) == len(files) and len(files) > 0, "not one line of output for each file")
    for path, got in zip(files, printed):
        beside = path.with_suffix(".txt")
        if write:
            beside.write_text(got + "\n")
        want = beside.read_text().rstrip("\n") if beside.exists() else "(there is no .txt file beside it)"
        result(got == want, f"{path.name}:\n\t{got}\n\texpected\n\t{want}")
    texts = [line.split(" ", 2)[2] for line in printed if re.match(r"\d+ \d+ ", line)]
    used = set()
    for source in SOURCES:
        for function, fmt in formats(source.read_text()):
            used.add(function)
            caused = fmt in ELSEWHERE or any(pattern(fmt).match(t) for t in texts)
            result(caused, f"{source.relative_to(SRC)}: no file of tests/doc/broken causes the error \"{fmt}\"")
    result(used == set(ERRORS), f"functions that set messages: {used}, not {set(ERRORS)}")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
