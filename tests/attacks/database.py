#!/usr/bin/env python3
"""Attacks by databases: backups and databases with foreign triggers, views and tables, and with rows whose numbers
are out of bounds. Each gets a message about what is wrong, and crashes nothing.

usage: database.py ROTA          (with ROTA_ATTACK_ALL=1 every number and text of every table, which takes minutes)
"""
import os
import shutil
import sqlite3
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check  # noqa: E402
from rig import NoAnswer, Refused, Rig, run_parts, wait_until  # noqa: E402

ROTA = os.path.abspath(sys.argv[1])
VERBS = (("runs",), ("show", "r1"), ("why", "a"))
PATHS = ("/status", "/schedules", "/schedules/a", "/schedules/b", "/schedules/a/why", "/runs", "/runs?failed=true", "/runs?schedule=a",
         "/runs/r1", "/problems?all=true", "/problems/900", "/agents", "/memory?agent=x", "/memory/search?agent=x&words=t",
         "/state?agent=x", "/messages", "/messages/1", "/notify", "/logs/a")


def alone(rig, *argv):
    return subprocess.run([ROTA, *argv, "--data", rig.data], capture_output=True, text=True, timeout=60, env=rig.env, check=False)


def change(path, script):
    db = sqlite3.connect(path)
    try:
        db.executescript(script)
    finally:
        db.close()


def filled(rig):
    """A database with rows in every table."""
    rig.start()
    rig.add({"id": "a", "expression": "0 0 1 1 *", "action": {"type": "command", "command": ["false"]}})
    rig.add({"id": "b", "after": {"schedule": "a", "outcome": "any"}, "action": {"type": "command", "command": ["true"]}})
    rig.ask("PUT", "/notify", {"notify": {"to": [{"type": "command", "command": ["false"]}]}})
    rig.ask("POST", "/schedules/a/run", {})
    wait_until(30, lambda: [r for r in rig.runs() if r["state"] == "finished" and r["schedule"] == "b"])
    wait_until(30, lambda: rig.ask("GET", "/messages")["messages"])
    rig.ask("POST", "/pause", {"all": True, "note": "x"})
    rig.ask("POST", "/memory", {"agent": "x", "text": "t"})
    rig.ask("PATCH", "/state", {"agent": "x", "patch": {"k": 1}})
    rig.stop()
    change(os.path.join(rig.data, "rota.db"), "PRAGMA journal_mode = DELETE; INSERT INTO range VALUES (1, 1000000, 2000000, 4, 1);"
           "INSERT INTO news (what, attempt, sid, run, problem, first, last) VALUES (1, 1, 1, 1, 0, 0, 0);"
           "INSERT INTO problem (number, key, text, count, opened, last_reported, acked, closed) VALUES"
           " (900, 'k', 't', 1, 1, 1, 9223372036854775807, 9223372036854775807);"
           "UPDATE meta SET value = 900 WHERE key = 'last_problem'")
    return os.path.join(rig.data, "rota.db")


def refused(rig, path, what, *words):
    """The restore and the start refuse the file, and say why."""
    r = alone(rig, "restore", path)
    check(r.returncode == 2 and all(w in r.stderr for w in words), f"restore: {what}", r)
    shutil.copy(path, os.path.join(rig.data, "rota.db"))
    r = rig.serve_once()
    check(r.returncode in (1, 2) and all(w in r.stderr for w in words), f"serve: {what}", r)


def schema():
    with Rig(ROTA) as rig:
        good = filled(rig)
        changes = {
            "a trigger": ("CREATE TRIGGER evil AFTER UPDATE ON meta BEGIN UPDATE document SET body = 'x'; END", "trigger evil"),
            "a view": ("CREATE VIEW evil AS SELECT 1", "view evil"),
            "a table": ("CREATE TABLE evil (a)", "table evil"),
            "an index": ("CREATE INDEX evil ON run (cost)", "index evil"),
            "a column": ("ALTER TABLE run ADD COLUMN evil INTEGER", "table run"),
            "a missing index": ("DROP INDEX run_open", "index run_open"),
            "a missing table": ("DROP TABLE news", "table news"),
            "a trigger that rota had": ("CREATE TRIGGER memory_added AFTER INSERT ON memory BEGIN INSERT INTO memory_words (rowid, owner,"
                                        " text, tags) VALUES (new.number, new.owner, new.text, new.tags); END", "trigger memory_added"),
            "another index of the same name": ("DROP INDEX run_open; CREATE INDEX run_open ON run (cost)", "index run_open"),
        }
        copy = os.path.join(rig.dir, "evil.db")
        keep = os.path.join(rig.dir, "good.db")
        shutil.copy(good, keep)
        for what, (sql, word) in changes.items():
            shutil.copy(keep, copy)
            change(copy, sql)
            refused(rig, copy, what, word)
        shutil.copy(keep, os.path.join(rig.data, "rota.db"))
        r = alone(rig, "restore", keep)
        check(r.returncode == 0, "the database itself can be restored", r)
        check(rig.start(), "and used")


def rows():
    """The rows that were reported: reason 65535 crashed `rota runs`, a blob of 0xff the daemon's start."""
    with Rig(ROTA) as rig:
        good = filled(rig)
        copy, keep = os.path.join(rig.dir, "evil.db"), os.path.join(rig.dir, "good.db")
        shutil.copy(good, keep)
        shutil.copy(keep, copy)
        change(copy, "UPDATE run SET reason = 65535 WHERE run = 1")
        r = alone(rig, "restore", copy)
        check(r.returncode == 2 and "row of run with run 1" in r.stderr and "reason is 65535" in r.stderr,
              "a backup with a bad row is refused", r)
        shutil.copy(copy, good)
        rig.start()
        r = rig.cli("runs")
        check(r.returncode == 1 and "reason is 65535" in r.stderr, "a bad row that is read is a message about that row", r)
        check(rig.cli("ls").returncode == 0, "the rest can be read")
        rig.stop()
        shutil.copy(keep, good)
        change(good, f"UPDATE schedule SET rules = x'{'ff' * 192}'")
        check(rig.start(), "rules that are not valid do not stop the daemon")
        rig.ask("POST", "/resume", {"all": True})
        check(wait_until(30, lambda: rig.ask("GET", "/schedules/a").get("next")), "they are compiled again from the document")


NUMBERS = {"schedule": ("sid", "after", "seen", "rev", "flags", "left", "failures", "owed", "owed_since", "next", "high", "pruned_to",
                        "changed", "paused_until", "next_set_at", "put_at"),
           "run": ("run", "sid", "rev", "attempt", "reason", "kind", "state", "outcome", "uncounted", "replaced", "missed", "nominal",
                   "due", "claimed", "started", "ended", "retry_at", "retry", '"end"', "fence", "cost", "tokens_in", "tokens_out", "exit_code"),
           "problem": ("number", "count", "opened", "last_reported", "acked", "closed"), "memory": ("number", "run", "at"),
           "message": ("number", "kind", "state", "attempts", "sid", "run", "problem", "joined", "receiver", "at", "tried_at", "next"),
           "range": ("sid", "first", "last", "state", "reason"), "hold": ("key", "reason", "until", "set_back_from"),
           "news": ("what", "attempt", "sid", "run", "problem", "first", "last"), "name": ("kind", "number")}
# The numbers of words and bits, by which tables are indexed, and a time.
SHORT = {("run", c) for c in ("reason", "kind", "state", "outcome", "replaced", "nominal")} | {
    ("schedule", "flags"), ("schedule", "next"), ("message", "number"), ("message", "kind"), ("message", "state"), ("news", "what"),
    ("range", "state"), ("range", "reason"), ("hold", "reason"), ("name", "kind"), ("problem", "opened"), ("memory", "at")}
VALUES = (-1, 255, 65535, 1 << 31, (1 << 62) + 1, -(1 << 63) + 1, (1 << 63) - 1)


def numbers(part, parts):
    """One number after the other is set to an extreme value in all rows of its table: no crash, whatever is asked."""
    with Rig(ROTA) as rig:
        good = filled(rig)
        keep = os.path.join(rig.dir, "good.db")
        shutil.copy(good, keep)
        columns = [(t, c) for t, cs in NUMBERS.items() for c in cs if (t, c) in SHORT or os.environ.get("ROTA_ATTACK_ALL")]
        for i, (table, column) in enumerate(columns):
            if i % parts != part:
                continue
            value = VALUES[i % len(VALUES)]
            for suffix in ("-wal", "-shm"):
                os.path.exists(good + suffix) and os.unlink(good + suffix)
            shutil.copy(keep, good)
            try:
                change(good, f"UPDATE {table} SET {column} = {value}")
            except sqlite3.IntegrityError:
                continue
            what = f"{table}.{column} = {value}"
            if not rig.start():
                code = rig.reap()
                check(code in (1, 2) and "is not valid" in rig.log_text(), f"{what}: refused with a message", rig.log_text()[-300:])
                open(rig.log, "w").close()
                continue
            for path in PATHS:
                try:
                    rig.ask("GET", path)
                except Refused:
                    pass
                except NoAnswer as e:
                    check(False, f"{what}: GET {path}", e)
            for argv in VERBS:
                r = rig.cli(*argv)
                check(r.returncode >= 0 and "Sanitizer" not in r.stderr, f"{what}: rota {' '.join(argv)}", r)
            check(rig.daemon.poll() is None, f"{what}: the daemon lives", rig.log_text()[-500:])
            if rig.daemon.poll() is None:
                rig.stop()
            else:
                rig.reap()


def counters():
    """The last numbers that were used, at and beyond their bounds: the next ones are valid, or the database is refused."""
    most = {"last_run": 1 << 47, "last_sid": 1 << 62, "last_problem": 1 << 62, "last_memory": 1 << 62, "generation": 1 << 62,
            "restored_run": 1 << 62}
    cases = [(f"UPDATE meta SET value = {value} WHERE key = '{key}'", value <= most[key])
             for key in most for value in (most[key], most[key] + 1, (1 << 63) - 1)]
    cases += [(f"UPDATE run SET run = {value} WHERE run = 2", value <= 1 << 47) for value in (1 << 47, (1 << 48) - 1)]
    cases += [(f"UPDATE sqlite_sequence SET seq = {value} WHERE name = '{table}'", value <= bound)
              for table, bound in (("news", 1 << 62), ("message", 1 << 47)) for value in (bound, (1 << 63) - 1)]
    cases += [("UPDATE memory SET number = 1 << 62", True), ("UPDATE meta SET value = -1 WHERE key = 'last_sid'", False)]
    if not os.environ.get("ROTA_ATTACK_ALL"):
        cases = cases[:3] + cases[3::3]
    with Rig(ROTA) as rig:
        good = filled(rig)
        keep = os.path.join(rig.dir, "good.db")
        shutil.copy(good, keep)
        for sql, accepted in cases:
            for suffix in ("-wal", "-shm"):
                os.path.exists(good + suffix) and os.unlink(good + suffix)
            shutil.copy(keep, good)
            change(good, sql)
            open(rig.log, "w").close()
            if not rig.start():
                code = rig.reap()
                check(not accepted and code in (1, 2) and "is not valid" in rig.log_text(), f"{sql}: refused with a message", rig.log_text()[-300:])
                continue
            check(accepted, f"{sql}: it is refused")
            try:
                rig.ask("POST", "/resume", {"all": True})
                rig.add({"id": "new", "expression": "0 0 1 1 *", "action": {"type": "command", "command": ["false"]}})
                rig.ask("POST", "/memory", {"agent": "x", "text": "t"})
                rig.ask("POST", "/schedules/new/run", {})
                run = wait_until(30, lambda: [r for r in rig.runs("new") if r["state"] == "finished"])
                check(run and run[0]["reason"] == "exit", f"{sql}: a new schedule runs", run)
                told = wait_until(30, lambda r=run: [m for m in rig.ask("GET", "/messages")["messages"] if m.get("run") == r[0]["id"]])
                check(told, f"{sql}: its failure is reported", rig.ask("GET", "/messages"))
            except (Refused, NoAnswer) as e:
                check(False, f"{sql}: requests are answered", e)
            check(rig.daemon.poll() is None, f"{sql}: the daemon lives", rig.log_text()[-500:])
            rig.stop() if rig.daemon.poll() is None else rig.reap()


# Texts in the place of every text of a table: not UTF-8, control sequences and NUL; JSON that is too deep or of another kind.
TEXTS = {"bytes": "CAST(x'ff9b5b324a001b5b324ac2a0e280ae0a' AS TEXT)", "empty": "''", "deep": "replace(hex(zeroblob(200000)), '00', '[')",
         "open": "'{\"a\":[1,'", "null": "'null'", "other": "'{\"type\":7,\"text\":{},\"schedule\":[],\"agent\":3,\"to\":{}}'",
         "long": "CAST(zeroblob(30000000) AS TEXT)", "number": "'1e400'"}
COLUMNS = {"document": ("id", "body", "source", "note"), "agent": ("name", "text", "source"), "state": ("text",),
           "run_text": ("text",), "message": ("origin", "target", "body", "result"), "name": ("text",), "hold": ("note",),
           "problem": ("key", "subject", "text", "by", "note"), "memory": ("agent", "text", "tags"), "version": ("body",)}


def texts(part, parts):
    """All texts of one table are replaced: whatever is asked then is answered, and nothing crashes."""
    with Rig(ROTA) as rig:
        good = filled(rig)
        keep = os.path.join(rig.dir, "good.db")
        change(good, "INSERT OR REPLACE INTO run_text VALUES (1, 0, 'a'), (1, 1, 'b'), (1, 2, '{}');"
               "INSERT INTO agent VALUES ('x', 1, 1, '{\"name\":\"x\",\"prompt\":\"p\",\"command\":[\"true\"]}', NULL, NULL);"
               "INSERT INTO version VALUES (1, 1, 77, 1, 1, '{}')")
        shutil.copy(good, keep)
        cases = [(table, name) for table in COLUMNS for name in TEXTS]
        if not os.environ.get("ROTA_ATTACK_ALL"):
            cases = [(table, list(TEXTS)[i * 3 % len(TEXTS)]) for i, table in enumerate(COLUMNS)]
        for table, name in cases[part::parts]:
            for suffix in ("-wal", "-shm"):
                os.path.exists(good + suffix) and os.unlink(good + suffix)
            shutil.copy(keep, good)
            what = f"{table}: {name}"
            try:
                change(good, "; ".join(f'UPDATE OR IGNORE {table} SET "{c}" = {TEXTS[name]}' for c in COLUMNS[table]))
            except sqlite3.Error as e:
                check(False, f"{what}: the attack failed", e)
            open(rig.log, "w").close()
            if not rig.start():
                code = rig.reap()
                check(code in (1, 2), f"{what}: refused with a message", (code, rig.log_text()[-300:]))
                continue
            asked = [("GET", p, None) for p in PATHS] + [("POST", "/resume", {"all": True}), ("POST", "/schedules/a/run", {})]
            for method, path, body in asked:
                try:
                    rig.ask(method, path, body)
                except (Refused, UnicodeDecodeError, ValueError) as e:
                    check(isinstance(e, Refused), f"{what}: {method} {path} is JSON", e)
                except NoAnswer as e:
                    check(False, f"{what}: {method} {path}", e)
            for argv in VERBS + (("status",), ("ls",), ("ls", "problems"), ("notify", "log"), ("memory", "ls", "--agent", "x")):
                r = subprocess.run([ROTA, *argv, "--socket", rig.socket], capture_output=True, timeout=60, env=rig.env, check=False)
                check(r.returncode >= 0 and b"Sanitizer" not in r.stderr, f"{what}: rota {' '.join(argv)}", r)
                check(not {0x1B, 0} & set(r.stdout + r.stderr), f"{what}: rota {' '.join(argv)} prints control characters", r)
            check(rig.daemon.poll() is None, f"{what}: the daemon lives", rig.log_text()[-500:])
            rig.stop() if rig.daemon.poll() is None else rig.reap()


def texts_0():
    texts(0, 2)


def texts_1():
    texts(1, 2)


def not_files():
    """Things that are no backup file: a pipe, for whose writer restore would wait, a directory, a device."""
    with Rig(ROTA) as rig:
        pipe = os.path.join(rig.dir, "pipe")
        os.mkfifo(pipe)
        for path in (pipe, rig.dir, "/dev/zero"):
            r = subprocess.run([ROTA, "restore", path, "--data", rig.data], capture_output=True, text=True, timeout=60, env=rig.env,
                               check=False)
            check(r.returncode == 2 and "is not a regular file" in r.stderr, f"restore {path}", r)


def numbers_0():
    numbers(0, 3)


def numbers_1():
    numbers(1, 3)


def numbers_2():
    numbers(2, 3)


sys.exit(run_parts([schema, rows, counters, texts_0, texts_1, not_files, numbers_0, numbers_1, numbers_2], sys.argv[2:], 4))
