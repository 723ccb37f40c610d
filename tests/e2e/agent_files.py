#!/usr/bin/env python3
"""Agents in files, with the real binary. The files are checked without a daemon, applied, applied again, and watched in a
directory by the daemon. An agent belongs to its file.

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


class AgentRig(Rig):
    def __init__(self):
        super().__init__(ROTA)
        self.ops = os.path.join(self.dir, "ops")
        os.mkdir(self.ops)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def file(self, name, text):
        """Replaces the file by a new one, as editors do."""
        path = os.path.join(self.ops, name)
        with open(path + "~", "w") as f:
            f.write(text if isinstance(text, str) else json.dumps(text))
        os.rename(path + "~", path)
        return path

    def run_cli(self, *words, code=0):
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

def check_without_daemon():
    with AgentRig() as rig:
        desk = rig.file("desk.org", org("Desk", id="desk", active_hours="08:00-20:00 Europe/Berlin"))
        output = rig.run_cli("agent", "check", desk)
        check("desk: " in output and "active_hours: 08:00-20:00 Europe/Berlin" in output and "You keep the desk." in output,
              "check prints the agents that it has read", output)
        both = rig.file("both.yaml", {"schedules": [schedule("s")], "agents": [agent("a"), agent("b", runner="claude")]})
        output = json.loads(rig.cli("agent", "check", desk, both, "--json").stdout)
        check([a["agent"]["name"] for a in output["agents"]] == ["desk", "a", "b"] and output["errors"] == [], "check --json lists all agents", output)
        check(output["agents"][0]["agent"] == {"name": "desk", "command": "./agent", "prompt": "You keep the desk.",
                                             "active_hours": "08:00-20:00 Europe/Berlin"}, "check --json prints the keys of an agent", output)
        bad = rig.file("bad.org", org("Bad", tmeout="5m"))
        output = rig.run_cli("agent", "check", bad, code=2)
        check(bad in output and "near: timeout" in output and "line 4, column 1" in output, "an error has file, line and column", output)
        output = rig.run_cli("agent", "check", desk, bad, os.path.join(rig.dir, "none.org"), code=2)
        check("2 of 3 files have errors" in output and "desk: " in output and "none.org" in output, "files without errors are read", output)
        r = rig.cli("agent", "check", bad, "--json")
        errors = json.loads(r.stdout)["errors"]
        check(r.returncode == 2 and errors[0]["file"] == bad and (errors[0]["line"], errors[0]["column"]) == (4, 1),
              "check --json prints errors", r)
        rig.run_cli("agent", "check", os.path.join(rig.dir, "none.org"), code=1)
        check("empty" in rig.run_cli("agent", "check", rig.file("empty.org", org("E", prompt="")), code=2), "an empty prompt is refused")
        check("no agent" in rig.run_cli("agent", "check", rig.file("s.yaml", schedule("s")), code=2), "a file without an agent is refused")
        again = rig.file("again.org", org("x", id="desk"))
        output = rig.run_cli("agent", "check", desk, again, code=2)
        check(desk in output and again in output, "the same name in two files is an error", output)
        secret = rig.file("secret.org", org("S", env="GH_TOKEN=abc LANG=C"))
        output = rig.cli("agent", "check", secret)
        check(output.returncode == 0 and "'GH_TOKEN' looks like a secret" in output.stderr and "line 4" in output.stderr,
              "a secret in env causes a warning", output)
        for words in (("agent",), ("agent", "frob", desk), ("agent", "check"), ("agent", "show", "a", "b")):
            rig.run_cli(*words, code=2)
        rig.run_cli("agent", "show", "desk", code=69)


# --- apply -------------------------------------------------------------------------------------------------------

def check_apply():
    with AgentRig() as rig:
        rig.start()
        desk = rig.file("desk.org", org("desk"))
        rig.file("more.yaml", {"agents": [agent("night shift", runner="claude")],
                               "schedule": schedule("uses", agent="later")})
        rig.file("z.yaml", {"agent": agent("later")})  # sorts after the file that names this agent
        rig.file("notes.org", "* Notes\nNot an agent.\n")
        output = rig.run_cli("apply", "-f", rig.ops, "--dry-run")
        check("+ agent desk: added" in output and "4 added, 0 changed, 0 unchanged; nothing" in output, "dry run prints what would change", output)
        check(rig.agents() == {}, "a dry run changes nothing")
        output = rig.run_cli("apply", "-f", rig.ops)
        check("4 added, 0 changed, 0 unchanged" in output and 'prompt: "You keep the desk."' in output, "agents and schedule are added", output)
        check("0 added, 0 changed, 4 unchanged" in rig.run_cli("apply", "-f", rig.ops), "apply again changes nothing")
        check(set(rig.agents()) == {"desk", "later", "night shift"}, "all agents exist", rig.agents())
        check(rig.agents()["desk"]["rev"] == 1 and rig.agents()["desk"]["source"] == desk, "an agent has a rev and a source", rig.agents())
        output = rig.run_cli("ls", "agents")
        check("night shift" in output and "blocked" in output and f"{desk}:1" in output, "ls lists agents", output)
        output = rig.run_cli("show", "desk")
        check(output.startswith("agent desk: ready") and "You keep the desk." in output, "show prints an agent", output)
        check("Unicorn" not in rig.run_cli("agent", "show", "night shift"), "agent show takes a name with a space")
        rig.run_cli("show", "nobody", code=1)
        rig.run_cli("agent", "show", "nobody", code=1)
        # A new line number does not make a new rev; new content does.
        rig.file("desk.org", "#+title: x\n\n" + org("desk"))
        check("4 unchanged" in rig.run_cli("apply", "-f", rig.ops), "a new line number is not a change")
        check(rig.agents()["desk"]["rev"] == 1 and rig.agents()["desk"]["line"] == 3, "the line is updated, the rev is not", rig.agents())
        rig.file("desk.org", org("desk", timeout="5m"))
        output = rig.run_cli("apply", "-f", rig.ops)
        check("~ agent desk: changed" in output and 'timeout: "5m"' in output and "1 changed" in output, "a new key is a change", output)
        check(rig.agents()["desk"]["rev"] == 2 and rig.definition("desk")["timeout"] == "5m", "the new definition is in force")
        # An agent of a file cannot be removed by hand, nor be defined by a second file.
        output = rig.run_cli("agent", "rm", "desk", code=1)
        check(desk in output, "agent rm names the file", output)
        other = os.path.join(rig.dir, "other.org")
        with open(other, "w") as f:
            f.write(org("desk"))
        output = rig.run_cli("apply", "-f", other, code=1)
        check(desk in output and other in output, "apply of a second file names both", output)
        rig.file("twice.json", {"agent": agent("desk")})
        output = rig.run_cli("apply", "-f", rig.ops, code=2)
        check("desk.org" in output and "twice.json" in output, "apply of a directory names both", output)
        os.unlink(desk)
        output = rig.run_cli("apply", "-f", rig.ops)
        check("~ agent desk: changed" in output and rig.agents()["desk"]["source"].endswith("twice.json"), "the agent moves to the other file", output)
        # An error in one agent prevents all changes.
        rig.file("twice.json", {"agents": [agent("desk", prompt="Else."), agent("worse", prompt="")]})
        rig.run_cli("apply", "-f", rig.ops, code=2)
        check(rig.definition("desk")["prompt"] == "You." and "worse" not in rig.agents(), "nothing was applied")
        # Pruning.
        rig.file("twice.json", {"agents": []})
        check("- agent desk: removed" in rig.run_cli("apply", "-f", rig.ops, "--prune", "--dry-run"), "dry run prints what would be removed")
        check("desk" in rig.agents(), "a dry run removes nothing")
        output = rig.run_cli("apply", "-f", rig.ops, "--prune")
        check("1 removed" in output and set(rig.agents()) == {"later", "night shift"}, "--prune removes the agent", output)
        check("removed" not in rig.run_cli("apply", "-f", rig.ops, "--prune"), "--prune again removes nothing")
        # An agent that is added again continues its revs; one without a file can be removed by hand.
        desk = rig.file("desk.org", org("desk"))
        rig.run_cli("apply", "-f", desk)
        check(rig.agents()["desk"]["rev"] > 2, "the rev continues", rig.agents())
        os.unlink(desk)
        check("desk: removed" in rig.run_cli("agent", "rm", "desk"), "agent rm removes an agent without a file")
        rig.run_cli("agent", "rm", "desk", code=1)
        check("desk" not in rig.agents(), "the agent does not exist any more")


def check_blocked_turns():
    """A dry run warns of turns without an agent, considering the agents that the apply would add and remove."""
    def turn(id, **more):
        return schedule(id, action={"type": "agent_turn", "message": "Go."}, **more)

    def warned(*words):
        output = rig.run_cli("apply", "-f", rig.ops, "--dry-run", *words)
        dry = {line.split("'")[-2] for line in output.splitlines() if "accepted, but blocked" in line}
        check("nothing was applied" in output, "the answer says that it is a dry run", output)
        return dry

    with AgentRig() as rig:
        rig.start()
        rig.file("turns.yaml", {"schedules": [turn("desk-round", agent="desk"), turn("whose"), schedule("x")]})
        check(warned() == {"desk-round", "whose"}, "without agents both turns are blocked", warned())
        rig.file("other.org", org("other"))
        check(warned() == {"desk-round"}, "the only agent executes turns that name none", warned())
        rig.file("desk.org", org("desk"))
        check(warned() == {"whose"}, "with two agents a turn must name one", warned())
        rig.run_cli("apply", "-f", rig.ops)
        check(warned() == {"whose"}, "the blocked turns are the same after apply", warned())
        output = rig.run_cli("status")
        check("whose" in output and "there are several agents" in output, "status prints the blocked schedule, and why", output)
        check(rig.run_cli("show", "desk").startswith("agent desk: ready"), "show prefers an agent to a schedule with that prefix")
        check(rig.run_cli("show", "desk-").startswith("desk-round: active"), "show takes a prefix of a schedule")
        os.unlink(os.path.join(rig.ops, "desk.org"))
        check(warned() == {"whose"}, "without --prune the agent stays", warned())
        check(warned("--prune") == {"desk-round"}, "with --prune the removed agent executes nothing", warned("--prune"))


def check_kill():
    """After a kill -9 the daemon has all agents that it confirmed."""
    with AgentRig() as rig:
        rig.start()
        rig.file("many.yaml", {"agents": [agent(f"a{n:03}", model=str(n)) for n in range(150)]})
        check("150 added" in rig.run_cli("apply", "-f", rig.ops), "150 agents are added")
        first = rig.ask("GET", "/agents?limit=100")
        rest = rig.ask("GET", f"/agents?limit=100&after={first['after']}")
        check(len(first["agents"]) == 100 and len(rest["agents"]) == 50 and "after" not in rest, "the API lists agents in pages")
        rig.kill()
        rig.start()
        check(len(rig.agents()) == 150 and rig.definition("a149")["model"] == "149", "all agents exist after kill -9")
        check("150 unchanged" in rig.run_cli("apply", "-f", rig.ops), "apply changes nothing after kill -9")


def check_http():
    """The HTTP API refuses what the command line refuses."""
    with AgentRig() as rig:
        rig.start()
        rig.ask("POST", "/apply", {"documents": [{"agent": agent("plain", env="A=1")}]})
        check(rig.definition("plain")["env"] == {"A": "1"} and "source" not in rig.agents()["plain"], "text that is not canonical is accepted",
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
            check(False, "the same name twice is refused")
        except Refused as refused:
            check("twice" in str(refused), "the same name twice is refused", refused)
        check(set(rig.agents()) == {"plain"}, "nothing was applied", rig.agents())
        rig.ask("POST", "/apply", {"documents": [{"agent": agent("leaky", env={"GH_TOKEN": "abcabc", "LANG": "C"})}]})
        output = json.dumps(rig.definition("leaky"))
        check("abcabc" not in output and "LANG" in output, "a value that looks like a secret is redacted", output)
        output = rig.ask("POST", "/apply", {"documents": [{"agent": agent("leaky", env={"GH_TOKEN": "defdef", "LANG": "C"})}]})
        check(output["agents"][0]["result"] == "changed" and "env" in json.dumps(output) and "abcabc" not in json.dumps(output)
              and "defdef" not in json.dumps(output), "a changed secret is reported without its value", output)


# --- a directory -------------------------------------------------------------------------------------------------

def check_directory():
    with AgentRig() as rig:
        rig.file("desk.org", org("desk"))
        rig.file("notes.org", "* Notes\n:PROPERTIES:\n:ID: x\n:END:\nNot an agent.\n")
        rig.file("uses.yaml", {"schedule": schedule("uses", agent="desk")})
        rig.start(options=(rig.ops,))

        def has_agents(what, *names):
            check(wait_until(60, lambda: set(rig.agents()) == set(names), 0.05), what, set(rig.agents()))

        def has_problems(n, *words):
            check(wait_until(60, lambda: len(rig.problems()) == n and all(w in " ".join(rig.problems()) for w in words), 0.05),
                  f"problems: {words}", rig.problems())
        has_agents("at the start", "desk")
        rig.file("night.yaml", {"agent": agent("night")})
        has_agents("a new file adds an agent", "desk", "night")
        rig.file("notes.org", "* Notes\n** System prompt\nNow it is one.\n")
        has_agents("notes become an agent", "desk", "night", "Notes")
        rig.file("notes.org", "* Notes\nNo more.\n")
        has_agents("an agent becomes notes", "desk", "night")
        rig.file("desk.org", org("desk", timeout="soon"))
        has_problems(1, "desk.org", "'soon'", "line 4")
        check("timeout" not in rig.definition("desk"), "the last good version stays in force", rig.definition("desk"))
        rig.file("desk.org", org("desk").replace(":END:\n", ""))
        has_problems(1, "is not a property")
        has_agents("a file with a syntax error removes nothing", "desk", "night")
        rig.file("desk.org", org("desk", timeout="5m"))
        has_problems(0)
        check(rig.definition("desk")["timeout"] == "5m", "the corrected file is in force", rig.definition("desk"))
        rig.file("other.yaml", {"agents": [agent("night"), agent("more")]})
        has_problems(1, "night.yaml", "other.yaml")
        has_agents("a second file with the same name adds nothing", "desk", "night")
        os.unlink(os.path.join(rig.ops, "night.yaml"))
        has_problems(0)
        has_agents("the second file applies when the first is removed", "desk", "night", "more")
        check(rig.agents()["night"]["source"].endswith("other.yaml"), "the source is the second file", rig.agents())
        os.rename(os.path.join(rig.ops, "desk.org"), os.path.join(rig.ops, "front.org"))
        check(wait_until(60, lambda: rig.agents().get("desk", {}).get("source", "").endswith("front.org"), 0.05), "a renamed file is the new source",
              rig.agents())
        rig.stop()
        os.unlink(os.path.join(rig.ops, "other.yaml"))
        rig.start(options=(rig.ops,))
        has_agents("a file that was removed while the daemon was down", "desk")
        os.unlink(os.path.join(rig.ops, "front.org"))
        has_agents("a file that is removed")
        check("uses" in rig.run_cli("ls"), "the schedule of a removed agent stays")


for part in (check_without_daemon, check_apply, check_blocked_turns, check_kill, check_http, check_directory):
    try:
        part()
    except (OSError, KeyError, ValueError, Refused, AssertionError, subprocess.SubprocessError):
        check(False, part.__name__, traceback.format_exc())
sys.exit(finish())
