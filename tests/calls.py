#!/usr/bin/env python3
"""Calls that few files may make: opening files, and printing for people. Whatever is below the data directory is opened
by sys/data_file, and whatever a person sees is printed by sys/print; the other calls are listed here with what they are
for, and counted, so that a new one is noticed.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent / "src"

OPENS = re.compile(r"\b(open|openat|openat2|creat|fopen|freopen|opendir|mkstemp|mkostemp|sqlite3_open\w*)\(")
PRINTS = re.compile(r"\b(printf|fprintf|vprintf|vfprintf|dprintf|puts|fputs|putchar|fputc|putc|fwrite|perror|psignal)\(")

# file: how many of these calls it has, and what they are for
MAY_OPEN = {
    "sys/data_file.c": (2, "files and directories below the data directory"),
    "store/open.c": (1, "no file: a member called open"),
    "store/sqlite/db.c": (1, "databases, whose files it checks"),
    "store/sqlite/backup.c": (1, "a new file for a backup"),
    "store/sqlite/file.c": (1, "the directory of a database, to flush it"),
    "store/sqlite/schema_check.c": (1, "a database in memory"),
    "runfile/create.c": (1, "unnamed files"),
    "http/listen.c": (1, "the directory of the socket"),
    "exec/lineage.c": (2, "/proc"),
    "exec/rundir.c": (1, "/proc"),
    "exec/secret.c": (1, "files of secrets, to see whether they can be opened"),
    "sys/procs.c": (3, "/proc"),
    "sys/thread.c": (1, "/proc"),
    "shim/agent.c": (1, "/proc"),
    "shim/cgroup.c": (2, "cgroups"),
    "shim/start.c": (2, "/dev/null, a memfd"),
    "shim/expectations.c": (1, "/dev/null"),
    "shim/launcher.c": (1, "/dev/null"),
    "shim/fetch.c": (2, "secrets, /dev/null"),
    "api/api.c": (1, "/dev/null"),
    "api/handlers/doctor.c": (2, "/proc, secrets"),
    "daemon/notify/delivery.c": (1, "secrets"),
    "daemon/loop.c": (1, "directories of zone files"),
    "host/zoneinfo.c": (3, "zone files"),
    "host/docfile.c": (1, "documents"),
    "admin/watched_files.c": (2, "documents"),
    "cli/git/work_tree.c": (2, "files of the person's repository"),
    "cli/plan_file.c": (1, "the person's plan"),
    "cli/workflow/process.c": (2, "/dev/null, a component's output in a new directory"),
    "cli/workflow/result.c": (1, "a component's output"),
    "cli/workflow/run.c": (1, "a component's input in a new directory"),
    "exec/masks.c": (1, "a descriptor of the shim in /proc"),
    "cli/verbs/when.c": (1, "a file of expressions"),
    "cli/verbs/eval.c": (1, "a file of the caller's"),
}
MAY_PRINT = {
    "sys/print.c": (None, "the printer"),
    "cli/verbs/completion.c": (None, "constants"),
    "cli/verbs/runs.c": (1, "logs with --raw"),
    "out/main.c": (None, "rota-out, whose output is a log; it has its own escaping"),
    "shim/launcher.c": (1, "a constant"),
    "daemon/datadir.c": (1, "its pid into the lock file"),
    "store/sqlite/restore_detect.c": (1, "a number into its file"),
}


def code_of(path):
    """The text of a file without comments and strings."""
    return re.sub(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', " ", path.read_text(), flags=re.S)


def problems_of(name, text, calls, may):
    found = [m[1] for m in calls.finditer(text)]
    most = may.get(name, (0, ""))[0]
    if most is None or len(found) == most:
        return []
    return [f"src/{name}: {len(found)} calls ({', '.join(sorted(set(found))) or 'none'}), and {most} are allowed"]


def main():
    passed = failed = 0
    for calls, may, planted in (OPENS, MAY_OPEN, "int fd = open(path, O_RDONLY);"), (PRINTS, MAY_PRINT, 'fputs(name, stderr);'):
        for path in sorted(ROOT.rglob("*.c")):
            name = path.relative_to(ROOT).as_posix()
            problems = problems_of(name, code_of(path), calls, may)
            passed, failed = passed + (not problems), failed + bool(problems)
            print("\n".join(problems), end="\n" if problems else "")
        for name in ("daemon/planted.c", *(n for n, row in may.items() if row[0] is not None)):
            text = code_of(ROOT / name) if (ROOT / name).exists() else ""
            good = problems_of(name, text + planted, calls, may)
            passed, failed = passed + bool(good), failed + (not good)
            print(f"a call planted in {name} is not found\n" if not good else "", end="")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
