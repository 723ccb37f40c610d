#!/usr/bin/env python3
"""Checks that dependencies point inward only, by the includes of the sources and by the functions that the pure archives
call.

usage: layers.py BUILD_DIR
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Each folder below src/, and the folders whose headers it may include besides its own. A folder without a row belongs to the nearest folder
# above it that has one. "core" in a list covers core/model.h alone: the folders of core are named one by one.
WHEN, EXPR, ORG, PLAN, SCHEDULE, DOC, EVENT = "core/when", "core/expr", "core/org", "core/plan", "core/schedule", "core/doc", "core/event"
CORE = {"core", WHEN, EXPR, ORG, PLAN, SCHEDULE, DOC, EVENT}
MACHINE = {"base", "port", "sys"}
TOP = "."  # src/main.c
MAY_SEE = {
    "base": set(),
    "port": {"base"},
    "sys": {"base"},
    "core": {"base", "port"},
    WHEN: {"base", "core"},
    EXPR: {"base", WHEN},
    ORG: {"base", "core", WHEN},
    PLAN: {"base", "core", WHEN, ORG},
    SCHEDULE: {"base", "port", "core", WHEN},
    EVENT: {"base", "port", "core", WHEN},
    DOC: {"base", "port"} | CORE - {PLAN},  # the configuration names types of events
    "core/engine": {"base", "port", "core", WHEN, SCHEDULE},
    "runfile": MACHINE | {"core", WHEN},
    "store": MACHINE | {"store/sqlite"},  # store/open.c chooses
    "store/sqlite": MACHINE | {"store"},
    "shim": MACHINE | {"runfile"},
    "out": {"base", "port"},
    "host": MACHINE | CORE,
    "exec": MACHINE | CORE | {"runfile"},
    "daemon": MACHINE | CORE | {"core/engine", "runfile", "store", "host", "exec"},
    "wire": {"base", "sys"},
    "http": {"base", "sys", "wire"},
    "op": {"base"},
    "api": MACHINE | CORE | {"core/engine", "runfile", "host", "exec", "daemon", "op", "wire", "http"},
    "cli": {"base", "sys"} | CORE | {"runfile", "host", "op", "wire"},
    "admin": MACHINE | CORE | {"runfile", "host", "exec", "store", "daemon", "op", "wire", "http", "api", "cli"},
    TOP: {"admin", "cli"},
}

# The stores, which only the files below src/store may name, comments included: all others use the ports. One line is exempt:
# the database clients in the table of interpreters. They are programs that a person's command may start, whatever the store.
STORE_NAMES = re.compile("sqlite|postgres", re.IGNORECASE)
CLIENT_NAMES = ("core/doc/interpreter.c", '{ "sqlite3 sqlite duckdb redis-cli", "", "", "", READS_ALL | READS_INPUT, 0 },')

# The functions that pure code may call: memory, strings, and the formatting of numbers, but no clock, file or environment.
PURE = {"base", "core", "port"}
ALLOWED = re.compile(
    r"^(mem\w+|str\w+|__(mem|str)\w+_chk|malloc|calloc|realloc|aligned_alloc|free|v?snprintf|__v?snprintf_chk"
    r"|__isoc\d+_\w+|__popcountdi2|__stack_chk_fail|__assert_fail|_GLOBAL_OFFSET_TABLE_)$")
FORBIDDEN_STRINGS = {"strerror", "strftime", "strptime", "strtok", "strdup"}

# Headers that pure code may not include, because they give access to the operating system.
PURE_HEADERS = {"assert.h", "stdbool.h", "stddef.h", "stdint.h", "string.h", "stdarg.h", "stdio.h", "stdlib.h"}


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*include\s+(["<])([^">]+)[">]', line)
        if match:
            yield number, match[1] == '"', match[2]


def layer_of(path):
    """The row of MAY_SEE for a file or header below src/, or None."""
    for folder in pathlib.PurePosixPath(path).parents:
        if str(folder) in MAY_SEE and (str(folder) != TOP or folder == pathlib.PurePosixPath(path).parent):
            return str(folder)
    return None


def problem_of(path, ours, name):
    """The problem with one include of the file at `path` below src/; None: there is none."""
    layer = layer_of(path)
    if layer is None:
        return "its folder is not in the table of tests/layers.py"
    if ours:
        target = layer_of(name)
        if not (ROOT / "src" / name).exists():
            return f"\"{name}\" is not a path below src/"
        if target != layer and target not in MAY_SEE[layer]:
            return f"{layer} may not see {target}"
    elif layer.split("/")[0] in PURE and name not in PURE_HEADERS:
        return f"pure code may not include <{name}>"
    return None


def check_includes(path):
    """Problems of one file."""
    below = path.relative_to(ROOT / "src").as_posix()
    found = [(number, problem_of(below, ours, name)) for number, ours, name in includes(path)]
    return [f"src/{below}:{number}: {problem}" for number, problem in found if problem]


def check_words(below, text):
    """Lines of a file below src/ that name a store although they may not."""
    if below.startswith("store/"):
        return []
    return [f"src/{below}:{number}: names a store; only src/store may" for number, line
            in enumerate(text.splitlines(), 1) if STORE_NAMES.search(line) and (below, line.strip()) != CLIENT_NAMES]


def check_store_names():
    """Searches all files, and plants a name in every folder and in the file with the exempt line."""
    problems = [problem for path in sorted((ROOT / "src").rglob("*")) if path.is_file()
                for problem in check_words(path.relative_to(ROOT / "src").as_posix(), path.read_text())]
    places = [f"{layer}/planted.c" for layer in MAY_SEE if not layer.startswith("store")] + [CLIENT_NAMES[0]]
    for planted in '#include "store/sqlite/store.h"', "/* as SQLite does */", '"postgres://"':
        problems += [f"{planted} in {place} is not found" for place in places if not check_words(place, planted)]
    return problems


def check_borders():
    """Adds an include that is not allowed for every pair of folders in the table. Each must be found."""
    header = {}
    for path in sorted((ROOT / "src").rglob("*.h")):
        name = path.relative_to(ROOT / "src").as_posix()
        header.setdefault(layer_of(name), name)
    return [f"an include of {header[target]} in {layer} is not found"
            for layer in MAY_SEE for target in header
            if target != layer and target not in MAY_SEE[layer]
            and not problem_of(f"{layer}/planted.c", True, header[target])]


def undefined(archive):
    """The names that an archive uses and does not define."""
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
    for problems in check_borders(), check_store_names(), check_archives(build):
        passed, failed = passed + (not problems), failed + bool(problems)
        print("\n".join(problems), end="\n" if problems else "")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
