#!/usr/bin/env python3
"""Dependencies point inward only: proved from the includes, and from what the pure archives call.

usage: layers.py BUILD_DIR
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Each layer and what it may include besides itself.
MAY_SEE = {
    "base": set(),
    "port": {"base"},
    "core": {"base", "port"},
    "store": {"base", "port"},
    "shim": {"base", "port"},
    "out": {"base", "port"},
    "host": {"base", "port", "core", "shim"},
    "daemon": {"base", "port", "core", "host", "store"},
    "surface": {"base", "port", "core", "host", "store", "daemon"},
}

# What pure code may call: memory, strings, and the formatting of numbers. No clock, no file, no environment.
PURE = {"base", "core", "port"}
ALLOWED = re.compile(
    r"^(mem\w+|str\w+|__(mem|str)\w+_chk|malloc|calloc|realloc|aligned_alloc|free|v?snprintf|__v?snprintf_chk"
    r"|__isoc\d+_\w+|__popcountdi2|__stack_chk_fail|__assert_fail|_GLOBAL_OFFSET_TABLE_)$")
FORBIDDEN_STRINGS = {"strerror", "strftime", "strptime", "strtok", "strdup"}

# Headers that would smuggle in the outside world.
PURE_HEADERS = {"assert.h", "stdbool.h", "stddef.h", "stdint.h", "string.h", "stdarg.h", "stdio.h", "stdlib.h"}


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*include\s+(["<])([^">]+)[">]', line)
        if match:
            yield number, match[1] == '"', match[2]


def check_includes(path):
    """Problems of one file."""
    layer = path.relative_to(ROOT / "src").parts[0]
    if layer not in MAY_SEE:
        return [f"{path}: layer '{layer}' is not in the table of tests/layers.py"]
    found = []
    for number, ours, name in includes(path):
        where = f"{path.relative_to(ROOT)}:{number}"
        if ours:
            target = name.split("/")[0]
            if not (ROOT / "src" / name).exists():
                found.append(f"{where}: \"{name}\" is not a path below src/")
            elif target != layer and target not in MAY_SEE[layer]:
                found.append(f"{where}: {layer} may not see {target}")
        elif layer in PURE and name not in PURE_HEADERS:
            found.append(f"{where}: pure code may not include <{name}>")
    return found


def undefined(archive):
    """Names an archive needs from outside of itself."""
    text = subprocess.run(["nm", "-A", archive], capture_output=True, text=True, check=True).stdout
    needs, has = {}, set()
    for line in text.splitlines():
        match = re.match(r"(.*?):(?:[0-9a-f]+)?\s*([A-Za-z])\s+(\S+)$", line)
        if match and match[2] == "U":
            needs.setdefault(match[3], match[1])
        elif match and match[2] in "TRDBVW":
            has.add(match[3])
    return {name: where for name, where in needs.items() if name not in has}, has


def check_archives(build):
    problems, seen = [], set()
    for layer in ("base", "core"):
        archive = build / f"lib{layer}.a"
        objects = sorted((build / f"lib{layer}.a.p").glob("*.o"))
        if not objects:
            return [f"{archive}: no objects; build first"]
        needs, has = {}, set()
        for obj in objects:
            n, h = undefined(obj)
            needs.update(n)
            has |= h
        seen |= has
        for name, where in sorted(needs.items()):
            name = name.split("@")[0]
            if name not in seen and (name in FORBIDDEN_STRINGS or not ALLOWED.match(name)):
                problems.append(f"{where}: pure code calls {name}")
    return problems


def main():
    build = pathlib.Path(sys.argv[1])
    passed = failed = 0
    for path in sorted((ROOT / "src").rglob("*.[ch]")):
        problems = check_includes(path)
        passed, failed = passed + (not problems), failed + bool(problems)
        print("\n".join(problems), end="\n" if problems else "")
    problems = check_archives(build)
    passed, failed = passed + (not problems), failed + bool(problems)
    print("\n".join(problems), end="\n" if problems else "")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
