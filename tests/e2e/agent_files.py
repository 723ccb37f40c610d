#!/usr/bin/env python3
"""Agents in files, from their text to the store: checked without a daemon, applied and applied again, owned by their
files, kept in force by a daemon that watches a directory. The real binary.

usage: agent_files.py ROTA"""
import json
import os
import subprocess
import sys
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check, finish  # noqa: E402
from rig import Refused, Rig, wait_until  # noqa: E402

ROTA = os.path.abspath(sys.argv[1])


def org(name, prompt="You keep the desk.", **properties):
    lines = "".join(f":{k.upper().replace('_', '-')}: {v}\n" for k, v in ({"command": "./agent"} | properties).items())
    return f"* {name}\n:PROPERTIES:\n{lines}:END:\n{prompt}\n"


def agent(name, prompt="You.", **more):
    return {"name": name, "command": "./agent", "prompt": prompt, **more}


def schedule(id, **more):
    return {"id": id, "expression": "@daily", "action": {"type": "event", "name": "x"}, **more}


class Using(Rig):
    def __init__(self):
        super().__init__(ROTA)
        self.ops = os.path.join(self.dir, "ops")
        os.mkdir(self.ops)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def file(self, name, text):
        """As editors do it: a new file in the place of the old one."""
        path = os.path.join(self.ops, name)
        with open(path + "~", "w") as f:
            f.write(text if isinstance(text, str) else json.dumps(text))
        os.rename(path + "~", path)
        return path

    def say(self, *words, code=0):
        r = self.cli(*words)
        check(r.returncode == code, f"rota {' '.join(words)}: exit {r.returncode}, not {code}", r)
        return r.stdout + r.stderr

    def agents(self):
        return {a["name"]: a for a in self.ask("GET", "/agents?limit=1000")["agents"]}

    def definition(self, name):
        return self.ask("GET", f"/agents/{name}")["definition"]

    def problems(self):
        return [p["text"] for p in self.ask("GET", "/problems")["problems"]]


# --- check -------------------------------------------------------------------------------------------------------

def checked():
    """Without a daemon."""
    with Using() as rig:
        desk = rig.file("desk.org", org("Desk", id="desk", active_hours="08:00-20:00 Europe/Berlin"))
        told = rig.say("agent", "check", desk)
        check("desk: " in told and "active_hours: 08:00-20:00 Europe/Berlin" in told and "You keep the desk." in told,
              "what was read", told)
        both = rig.file("both.yaml", {"schedules": [schedule("s")], "agents": [agent("a"), agent("b", runner="claude")]})
        told = json.loads(rig.cli("agent", "check", desk, both, "--json").stdout)
        check([a["agent"]["name"] for a in told["agents"]] == ["desk", "a", "b"] and told["errors"] == [], "as JSON", told)
        check(told["agents"][0]["agent"] == {"name": "desk", "command": "./agent", "prompt": "You keep the desk.",
                                             "active_hours": "08:00-20:00 Europe/Berlin"}, "its keys", told)
        bad = rig.file("bad.org", org("Bad", tmeout="5m"))
        told = rig.say("agent", "check", bad, code=2)
        check(bad in told and "near: timeout" in told and "line 4, column 1" in told, "what is wrong, and where", told)
        told = rig.say("agent", "check", desk, bad, os.path.join(rig.dir, "none.org"), code=2)
        check("2 of 3 files refused" in told and "desk: " in told and "none.org" in told, "the others are read", told)
        r = rig.cli("agent", "check", bad, "--json")
        errors = json.loads(r.stdout)["errors"]
        check(r.returncode == 2 and errors[0]["file"] == bad and (errors[0]["line"], errors[0]["column"]) == (4, 1),
              "errors as JSON", r)
        rig.say("agent", "check", os.path.join(rig.dir, "none.org"), code=1)
        check("empty" in rig.say("agent", "check", rig.file("empty.org", org("E", prompt="")), code=2), "an empty prompt")
        check("no agent" in rig.say("agent", "check", rig.file("s.yaml", schedule("s")), code=2), "no agent")
        again = rig.file("again.org", org("x", id="desk"))
        told = rig.say("agent", "check", desk, again, code=2)
        check(desk in told and again in told, "one name in two files", told)
        secret = rig.file("secret.org", org("S", env="GH_TOKEN=abc LANG=C"))
        told = rig.cli("agent", "check", secret)
        check(told.returncode == 0 and "'GH_TOKEN' looks like a secret" in told.stderr and "line 4" in told.stderr,
              "a secret in a file is warned of", told)
        for words in (("agent",), ("agent", "frob", desk), ("agent", "check"), ("agent", "show", "a", "b")):
            rig.say(*words, code=2)
        rig.say("agent", "show", "desk", code=69)


# --- apply -------------------------------------------------------------------------------------------------------

def applied():
    with Using() as rig:
        rig.start()
        desk = rig.file("desk.org", org("desk"))
        rig.file("more.yaml", {"agents": [agent("night shift", runner="claude")],
                               "schedule": schedule("uses", agent="later")})
        rig.file("z.yaml", {"agent": agent("later")})  # behind the one that names it
        rig.file("notes.org", "* Notes\nNot an agent.\n")
        told = rig.say("apply", "-f", rig.ops, "--dry-run")
        check("+ agent desk: added" in told and "4 added, 0 changed, 0 unchanged; nothing" in told, "what would be", told)
        check(rig.agents() == {}, "and is not")
        told = rig.say("apply", "-f", rig.ops)
        check("4 added, 0 changed, 0 unchanged" in told and 'prompt: "You keep the desk."' in told, "added", told)
        check("0 added, 0 changed, 4 unchanged" in rig.say("apply", "-f", rig.ops), "the same again")
        check(set(rig.agents()) == {"desk", "later", "night shift"}, "are there", rig.agents())
        check(rig.agents()["desk"]["rev"] == 1 and rig.agents()["desk"]["source"] == desk, "with their place", rig.agents())
        told = rig.say("ls", "agents")
        check("night shift" in told and "blocked" in told and f"{desk}:1" in told, "listed", told)
        told = rig.say("show", "desk")
        check(told.startswith("agent desk: ready") and "You keep the desk." in told, "shown", told)
        check("Unicorn" not in rig.say("agent", "show", "night shift"), "by its whole name")
        rig.say("show", "nobody", code=1)
        rig.say("agent", "show", "nobody", code=1)
        # A line further down is no other version; another word is.
        rig.file("desk.org", "#+title: x\n\n" + org("desk"))
        check("4 unchanged" in rig.say("apply", "-f", rig.ops), "only its place")
        check(rig.agents()["desk"]["rev"] == 1 and rig.agents()["desk"]["line"] == 3, "is another", rig.agents())
        rig.file("desk.org", org("desk", timeout="5m"))
        told = rig.say("apply", "-f", rig.ops)
        check("~ agent desk: changed" in told and 'timeout: "5m"' in told and "1 changed" in told, "changed", told)
        check(rig.agents()["desk"]["rev"] == 2 and rig.definition("desk")["timeout"] == "5m", "in force")
        # What a file has is changed there.
        told = rig.say("agent", "rm", "desk", code=1)
        check(desk in told, "its file is named", told)
        other = os.path.join(rig.dir, "other.org")
        with open(other, "w") as f:
            f.write(org("desk"))
        told = rig.say("apply", "-f", other, code=1)
        check(desk in told and other in told, "one name in two files", told)
        rig.file("twice.json", {"agent": agent("desk")})
        told = rig.say("apply", "-f", rig.ops, code=2)
        check("desk.org" in told and "twice.json" in told, "of one directory", told)
        os.unlink(desk)
        told = rig.say("apply", "-f", rig.ops)
        check("~ agent desk: changed" in told and rig.agents()["desk"]["source"].endswith("twice.json"), "it has moved", told)
        # What is refused leaves all as it is.
        rig.file("twice.json", {"agents": [agent("desk", prompt="Else."), agent("worse", prompt="")]})
        rig.say("apply", "-f", rig.ops, code=2)
        check(rig.definition("desk")["prompt"] == "You." and "worse" not in rig.agents(), "nothing was applied")
        # Pruning.
        rig.file("twice.json", {"agents": []})
        check("- agent desk: removed" in rig.say("apply", "-f", rig.ops, "--prune", "--dry-run"), "what would go")
        check("desk" in rig.agents(), "and does not")
        told = rig.say("apply", "-f", rig.ops, "--prune")
        check("1 removed" in told and set(rig.agents()) == {"later", "night shift"}, "goes", told)
        check("removed" not in rig.say("apply", "-f", rig.ops, "--prune"), "once")
        # One that comes back is another, and one whose file is gone may be removed by hand.
        desk = rig.file("desk.org", org("desk"))
        rig.say("apply", "-f", desk)
        check(rig.agents()["desk"]["rev"] > 2, "it is there again", rig.agents())
        os.unlink(desk)
        check("desk: removed" in rig.say("agent", "rm", "desk"), "by hand")
        rig.say("agent", "rm", "desk", code=1)
        check("desk" not in rig.agents(), "is gone")


def foreseen():
    """A dry run warns of turns that nobody would take, by the agents as they would be then; status and show know them."""
    def turn(id, **more):
        return schedule(id, action={"type": "agent_turn", "message": "Go."}, **more)

    def warned(*words):
        told = rig.say("apply", "-f", rig.ops, "--dry-run", *words)
        dry = {line.split("'")[-2] for line in told.splitlines() if "accepted, and blocked" in line}
        check("nothing was applied" in told, "dry", told)
        return dry

    with Using() as rig:
        rig.start()
        rig.file("turns.yaml", {"schedules": [turn("desk-round", agent="desk"), turn("whose"), schedule("x")]})
        check(warned() == {"desk-round", "whose"}, "nobody is there", warned())
        rig.file("other.org", org("other"))
        check(warned() == {"desk-round"}, "the only one takes what names nobody", warned())
        rig.file("desk.org", org("desk"))
        check(warned() == {"whose"}, "one of several does not", warned())
        rig.say("apply", "-f", rig.ops)
        check(warned() == {"whose"}, "nor when they are there", warned())
        told = rig.say("status")
        check("whose" in told and "there are several agents" in told, "status says what will not run", told)
        check(rig.say("show", "desk").startswith("agent desk: ready"), "an agent is not a schedule that begins so")
        check(rig.say("show", "desk-").startswith("desk-round: active"), "what is none may be the beginning of one")
        os.unlink(os.path.join(rig.ops, "desk.org"))
        check(warned() == {"whose"}, "what is not pruned stays", warned())
        check(warned("--prune") == {"desk-round"}, "who would go takes nothing", warned("--prune"))


def kept():
    """A daemon that is killed has what it said it has."""
    with Using() as rig:
        rig.start()
        rig.file("many.yaml", {"agents": [agent(f"a{n:03}", model=str(n)) for n in range(150)]})
        check("150 added" in rig.say("apply", "-f", rig.ops), "many")
        first = rig.ask("GET", "/agents?limit=100")
        rest = rig.ask("GET", f"/agents?limit=100&after={first['after']}")
        check(len(first["agents"]) == 100 and len(rest["agents"]) == 50 and "after" not in rest, "in pages")
        rig.kill()
        rig.start()
        check(len(rig.agents()) == 150 and rig.definition("a149")["model"] == "149", "after kill -9")
        check("150 unchanged" in rig.say("apply", "-f", rig.ops), "as they were")


def asked():
    """By HTTP, without our command line: what it would refuse is refused here as well."""
    with Using() as rig:
        rig.start()
        rig.ask("POST", "/apply", {"documents": [{"agent": agent("plain", env="A=1")}]})
        check(rig.definition("plain")["env"] == {"A": "1"} and "source" not in rig.agents()["plain"], "not canonical",
              rig.agents())
        for wrong in ({"agent": agent("bad", prompt="")}, {"agent": {"prompt": "p"}}, {"agent": agent("x", modle="y")},
                      {"agents": [agent("y")]}, {"agent": agent("z"), "schedule": schedule("z")}):
            try:
                rig.ask("POST", "/apply", {"documents": [wrong]})
                check(False, f"{wrong} is refused")
            except Refused as refused:
                check(refused.status == 400, f"{wrong} is refused", refused)
        try:
            rig.ask("POST", "/apply", {"documents": [{"agent": agent("p")}, {"agent": agent("p")}]})
            check(False, "twice is refused")
        except Refused as refused:
            check("twice" in str(refused), "twice is refused", refused)
        check(set(rig.agents()) == {"plain"}, "nothing of it is there", rig.agents())
        rig.ask("POST", "/apply", {"documents": [{"agent": agent("leaky", env={"GH_TOKEN": "abcabc", "LANG": "C"})}]})
        told = json.dumps(rig.definition("leaky"))
        check("abcabc" not in told and "LANG" in told, "what looks like a secret is not shown", told)
        told = rig.ask("POST", "/apply", {"documents": [{"agent": agent("leaky", env={"GH_TOKEN": "defdef", "LANG": "C"})}]})
        check(told["agents"][0]["result"] == "changed" and "env" in json.dumps(told) and "abcabc" not in json.dumps(told)
              and "defdef" not in json.dumps(told), "that it is another is told, and not which", told)


# --- a directory -------------------------------------------------------------------------------------------------

def directory():
    with Using() as rig:
        rig.file("desk.org", org("desk"))
        rig.file("notes.org", "* Notes\n:PROPERTIES:\n:ID: x\n:END:\nNot an agent.\n")
        rig.file("uses.yaml", {"schedule": schedule("uses", agent="desk")})
        rig.start(options=(rig.ops,))

        def has(what, *names):
            check(wait_until(60, lambda: set(rig.agents()) == set(names), 0.05), what, set(rig.agents()))

        def trouble(n, *words):
            check(wait_until(60, lambda: len(rig.problems()) == n and all(w in " ".join(rig.problems()) for w in words), 0.05),
                  f"problems: {words}", rig.problems())
        has("at the start", "desk")
        rig.file("night.yaml", {"agent": agent("night")})
        has("a new file", "desk", "night")
        rig.file("notes.org", "* Notes\n** System prompt\nNow it is one.\n")
        has("notes became an agent", "desk", "night", "Notes")
        rig.file("notes.org", "* Notes\nNo more.\n")
        has("and notes again", "desk", "night")
        rig.file("desk.org", org("desk", timeout="soon"))
        trouble(1, "desk.org", "'soon'", "line 4")
        check("timeout" not in rig.definition("desk"), "its last good version is in force", rig.definition("desk"))
        rig.file("desk.org", org("desk").replace(":END:\n", ""))
        trouble(1, "is not a property")
        has("one that cannot be read any more", "desk", "night")
        rig.file("desk.org", org("desk", timeout="5m"))
        trouble(0)
        check(rig.definition("desk")["timeout"] == "5m", "mended", rig.definition("desk"))
        rig.file("other.yaml", {"agents": [agent("night"), agent("more")]})
        trouble(1, "night.yaml", "other.yaml")
        has("one name in two files", "desk", "night")
        os.unlink(os.path.join(rig.ops, "night.yaml"))
        trouble(0)
        has("the other has it now", "desk", "night", "more")
        check(rig.agents()["night"]["source"].endswith("other.yaml"), "is its file", rig.agents())
        os.rename(os.path.join(rig.ops, "desk.org"), os.path.join(rig.ops, "front.org"))
        check(wait_until(60, lambda: rig.agents().get("desk", {}).get("source", "").endswith("front.org"), 0.05), "renamed",
              rig.agents())
        rig.stop()
        os.unlink(os.path.join(rig.ops, "other.yaml"))
        rig.start(options=(rig.ops,))
        has("a file that went while nobody looked", "desk")
        os.unlink(os.path.join(rig.ops, "front.org"))
        has("a file that went")
        check("uses" in rig.say("ls"), "its schedule stays")


for part in (checked, applied, foreseen, kept, asked, directory):
    try:
        part()
    except (OSError, KeyError, ValueError, Refused, AssertionError, subprocess.SubprocessError):
        check(False, part.__name__, traceback.format_exc())
sys.exit(finish())
