#!/usr/bin/env python3
"""Agents race for the tasks of a plan through `rota claim`: in clones of one origin, in work trees of a repository without an
origin, in dirty trees, and killed in the middle. Every task has one owner, the message to every loser names it, and nothing else changes.

usage: claims.py ROTA [--rounds N] [--seed S]        (./dev test claims: 200 rounds)
"""
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check, finish  # noqa: E402

AGENTS = ["ann", "ben", "cai", "dov", "eve", "fay"]
TASKS = ["letters", "Write the report", "b\udcffd bytes"]
ENV = {**{k: v for k, v in os.environ.items() if not k.startswith("GIT_") and k != "ROTA_AGENT"},
       "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.org",
       "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@example.org", "LC_ALL": "C.UTF-8"}
PLAN = (b"#+title: desk\r\n\xff\xfe\r\n* TODO Answer the letters  :mail:\r\nDEADLINE: <2026-12-01 Tue>\r\n:PROPERTIES:\r\n"
        b":ID: letters\r\n:END:\r\nText.\r\n* TODO [#A] Write the report\r\n* Notes\r\n* NEXT b\xffd bytes")


def git(where, *argv, good=True):
    done = subprocess.run(["git", "-C", where, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV, timeout=120)
    if good and done.returncode:
        raise RuntimeError(f"git {argv}: {done.stderr.decode(errors='replace')}")
    return done.stdout


class Answer:
    def __init__(self, done):
        self.code, self.out = done.returncode, done.stdout.decode(errors="surrogateescape")
        self.err = done.stderr.decode(errors="surrogateescape")


def claim(rota, where, task, agent, verb="claim", **env):
    return Answer(subprocess.run([rota, verb, os.path.join(where, "plan.org"), task, "--agent", agent], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, env={**ENV, **env}, timeout=300))


def owners(text):
    """The tasks that are DOING, and whose they are."""
    found = {}
    for entry in re.split(rb"(?m)^(?=\* )", text):
        head = re.match(rb"\* DOING (?:\[#A\] )?(.*?)\s*(?::mail:)?\r?(?:\n|\Z)", entry)
        agent = re.search(rb":AGENT: +(\S+)", entry)
        if head:
            name = head[1].decode(errors="surrogateescape")
            found["letters" if name == "Answer the letters" else name] = agent[1].decode() if agent else None
    return found


def unclaimed(text):
    """The text without claims, which must not change."""
    text = re.sub(rb"(?m)^:PROPERTIES:\r\n:AGENT: +\S+\r\n:CLAIMED: +\[[^]]*\]\r\n:END:(\r\n)", b"", text)
    text = re.sub(rb"(?m)^:(AGENT|CLAIMED): .*\r\n", b"", text)
    text = re.sub(rb"(?m)^\* DOING (b\xffd bytes)(\r\n)?", rb"* NEXT \1", text)
    return text.replace(b"* DOING ", b"* TODO ")


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def snapshot(tree):
    """All files of a work tree but the plan, and git's."""
    found = {}
    for folder, folders, names in os.walk(tree):
        folders[:] = [f for f in folders if f != ".git"]
        for name in names:
            path = os.path.join(folder, name)
            if name != "plan.org" and name != ".git":
                found[os.path.relpath(path, tree)] = (read(path), os.stat(path).st_mode)
    return found


class Place:
    """A directory for each agent. `shared()` is the text of the plan that counts."""

    def __init__(self, directory, origin, plan=PLAN):
        self.directory, self.origin = directory, origin
        self.main = os.path.join(directory, "main")
        git(directory, "init", "-q", "-b", "trunk", self.main)
        git(self.main, "config", "core.autocrlf", "false")
        write(os.path.join(self.main, "plan.org"), plan)
        write(os.path.join(self.main, "other.txt"), b"other\n")
        git(self.main, "add", ".")
        git(self.main, "commit", "-qm", "start")
        self.trees = []
        if origin:
            self.shared_dir = os.path.join(directory, "origin.git")
            git(directory, "clone", "-q", "--bare", self.main, self.shared_dir)
        else:
            self.shared_dir = self.main
        for agent in AGENTS:
            tree = os.path.join(directory, agent)
            if origin:
                git(directory, "clone", "-q", self.shared_dir, tree)
                git(tree, "config", "core.autocrlf", "false")
            else:
                git(self.main, "worktree", "add", "-q", "-b", agent, tree)
            self.trees.append(tree)
        self.start = self.tip()

    def tip(self):
        return git(self.shared_dir, "rev-parse", "trunk").decode().strip()

    def shared(self):
        return git(self.shared_dir, "show", "trunk:plan.org")

    def commits(self):
        return git(self.shared_dir, "rev-list", f"{self.start}..trunk").decode().split()


def make_dirty(r, tree):
    """Changes that are not committed: in the plan outside of the tasks, and in other files."""
    if r.random() < 0.5:
        write(os.path.join(tree, "other.txt"), b"changed\n")
    if r.random() < 0.5:
        write(os.path.join(tree, "new \xff.txt".encode("latin1").decode("latin1")), b"new\n")
    if r.random() < 0.5:
        path = os.path.join(tree, "plan.org")
        write(path, read(path).replace(b"Text.", b"Text that is mine."))


def check_commits(place, name):
    """Every commit changes the state of one task, on top of the previous commit."""
    commits = place.commits()
    for commit in commits:
        parents = git(place.shared_dir, "rev-list", "--parents", "-n1", commit).decode().split()[1:]
        changed = git(place.shared_dir, "diff", "--name-only", f"{commit}^", commit).decode().split()
        before, after = (git(place.shared_dir, "show", f"{c}:plan.org") for c in (parents[0], commit))
        check(len(parents) == 1 and changed == ["plan.org"] and unclaimed(before) == unclaimed(after) and
              len(owners(after)) == len(owners(before)) + 1, f"{name}: commit {commit} is more than a flip", (parents, changed))
    return len(commits)


def race(rota, place, r, name, dirty):
    before, plans = [], []
    for tree in place.trees:
        if dirty:
            make_dirty(r, tree)
        before.append(snapshot(tree))
        plans.append(read(os.path.join(tree, "plan.org")))
    main_before = snapshot(place.main)
    orders = [r.sample(TASKS, len(TASKS)) for _ in AGENTS]

    def play(i):
        return [(task, claim(rota, place.trees[i], task, AGENTS[i])) for task in orders[i]]
    with ThreadPoolExecutor(len(AGENTS)) as pool:
        results = list(pool.map(play, range(len(AGENTS))))
    won = owners(place.shared())
    check(set(won) == set(TASKS), f"{name}: every task has an owner", won)
    for agent, answers in zip(AGENTS, results):
        for task, a in answers:
            if won.get(task) == agent:
                check(a.code == 0, f"{name}: {agent} has '{task}'", a)
            else:
                said = f"is claimed by {won.get(task)}" in a.err
                check(a.code == 75 and said, f"{name}: {agent} learns that {won.get(task)} has '{task}'", a)
    check(check_commits(place, name) == len(TASKS), f"{name}: one commit for each claim", place.commits())
    for i, tree in enumerate(place.trees):
        now = read(os.path.join(tree, "plan.org"))
        mine = {t for t, a in won.items() if a == AGENTS[i]}
        check(snapshot(tree) == before[i], f"{name}: other files of {AGENTS[i]} stay as they were")
        check(unclaimed(now) == unclaimed(plans[i]), f"{name}: the rest of the plan of {AGENTS[i]} stays as it was")
        check({t for t, a in owners(now).items() if a == AGENTS[i]} == mine, f"{name}: the plan of {AGENTS[i]} shows its claims")
        refs = git(tree, "for-each-ref", "--format=%(refname)").decode().split()
        check(not [x for x in refs if not x.startswith(("refs/heads/", "refs/remotes/origin/"))], f"{name}: no other refs", refs)
        check(not git(tree, "stash", "list"), f"{name}: no stash")
    if not place.origin:
        check(owners(read(os.path.join(place.main, "plan.org"))) == won and snapshot(place.main) == main_before,
              f"{name}: the file of the main work tree moved with its branch")
        if not dirty:
            check(git(place.main, "status", "--porcelain") == b"", f"{name}: the main work tree is clean")


def release_all(rota, place, name):
    for task, agent in owners(place.shared()).items():
        other = next(a for a in AGENTS if a != agent)
        refused = claim(rota, place.trees[0], task, other, verb="release")
        check(refused.code == 75 and f"claimed by {agent}" in refused.err, f"{name}: {other} cannot release '{task}'", refused)
        done = claim(rota, place.trees[AGENTS.index(agent)], task, agent, verb="release")
        check(done.code == 0, f"{name}: {agent} releases '{task}'", done)
    check(not owners(place.shared()), f"{name}: all tasks are released")


KILLER = """#!/bin/sh
# git that kills the program that called it, before or after this command
for word; do
	case $word in
	%s)
		%s
		kill -9 $PPID
		exit 1
		;;
	esac
done
exec %s "$@"
"""


def killing_git(directory, command, after):
    folder = tempfile.mkdtemp(dir=directory)
    real = subprocess.run(["sh", "-c", "command -v git"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    path = os.path.join(folder, "git")
    write(path, (KILLER % (command, f'{real} "$@"' if after else ":", real)).encode())
    os.chmod(path, 0o755)
    return f"{folder}:{os.environ['PATH']}"


def kills(rota, directory, origin):
    place = Place(directory, origin)
    name = f"{'with' if origin else 'without'} origin, killed"
    publish = "push" if origin else "update-ref"
    tree, task = place.trees[0], "letters"
    before, plan = snapshot(tree), read(os.path.join(tree, "plan.org"))
    a = claim(rota, tree, task, "ann", PATH=killing_git(directory, publish, False))
    check(a.code == -signal.SIGKILL and place.tip() == place.start, f"{name} between commit and publish: nothing is published", a)
    check(snapshot(tree) == before and read(os.path.join(tree, "plan.org")) == plan, f"{name}: the work tree is as it was")
    refs = git(tree, "for-each-ref", "--format=%(objectname)").decode().split()
    check(set(refs) == {place.start}, f"{name}: no reference to the commit", refs)
    b = claim(rota, place.trees[1], task, "ben")
    check(b.code == 0 and owners(place.shared()) == {task: "ben"}, f"{name}: another one claims it", b)
    a = claim(rota, tree, task, "ann")
    check(a.code == 75 and "claimed by ben" in a.err, f"{name}: the message names the owner", a)
    second = "Write the report"
    a = claim(rota, tree, second, "ann", PATH=killing_git(directory, publish, True))
    check(a.code == -signal.SIGKILL and owners(place.shared()).get(second) == "ann", f"{name} after publishing: it has it", a)
    b = claim(rota, place.trees[1], second, "ben")
    check(b.code == 75 and "claimed by ann" in b.err, f"{name}: the message to others names the owner", b)
    if not origin:
        check(owners(read(os.path.join(place.main, "plan.org"))).get(second) == "ann" and
              git(place.main, "status", "--porcelain") == b"", f"{name}: the next claim finished the main work tree",
              git(place.main, "status", "--porcelain"))
    a = claim(rota, tree, second, "ann")
    check(a.code == 0 and owners(read(os.path.join(tree, "plan.org"))).get(second) == "ann",
          f"{name}: claiming again completes its work tree", a)
    check(check_commits(place, name) == 2, f"{name}: no stray commits", place.commits())


def staged(rota, directory):
    """The main work tree has staged changes of the plan, or others of the task: nothing happens."""
    place = Place(directory, False)
    path = os.path.join(place.main, "plan.org")
    write(path, PLAN.replace(b"Text.", b"Staged."))
    git(place.main, "add", "plan.org")
    a = claim(rota, place.trees[0], "letters", "ann")
    check(a.code == 75 and place.tip() == place.start and b"DOING" not in read(path), "staged changes: exit 75, nothing happened", a)
    git(place.main, "reset", "-q", "--hard")
    write(path, PLAN.replace(b"* TODO Answer", b"* DONE Answer"))
    a = claim(rota, place.trees[0], "letters", "ann")
    check(a.code == 75 and place.tip() == place.start, "the task is changed in the main work tree: exit 75, nothing happened", a)
    write(path, PLAN.replace(b"Text.", b"Dirty."))
    a = claim(rota, place.trees[0], "letters", "ann")
    check(a.code == 0 and unclaimed(read(path)) == PLAN.replace(b"Text.", b"Dirty."), "other changes stay", a)
    here = claim(rota, place.main, "Write the report", "ben")
    check(here.code == 0 and owners(read(path)) == {"letters": "ann", "Write the report": "ben"}, "in the main work tree itself", here)


def errors(rota, directory):
    write(os.path.join(directory, "plan.org"), PLAN)
    a = claim(rota, directory, "letters", "ann", GIT_CEILING_DIRECTORIES=directory)
    check(a.code == 2 and "not in a work tree of git" in a.err, "no repository", a)
    place = Place(os.path.join(directory, "x"), True) if not os.makedirs(os.path.join(directory, "x")) else None
    for task, code, text in (("nothing", 1, "plan.org: there is no task"), ("Notes", 1, "it has no TODO keyword")):
        a = claim(rota, place.trees[0], task, "ann")
        check(a.code == code and text in a.err, f"claim of '{task}'", a)
    a = claim(rota, place.trees[0], "letters", "ann", PATH="/nonexistent")
    check(a.code == 1 and "there is no program git" in a.err, "no git", a)
    a = Answer(subprocess.run([rota, "claim", directory, "letters", "--agent", "ann"], capture_output=True, env=ENV, timeout=300))
    check(a.code == 2 and "Is a directory" in a.err, "a directory", a)
    gone = os.path.join(directory, "no work", "plan.org")
    a = Answer(subprocess.run([rota, "claim", "--first", gone, "--agent", "ann"], capture_output=True, env=ENV, timeout=300))
    check(a.code == 2 and "cannot read" in a.err, "--first: a plan that is missing is not the same as no work", a)
    os.rename(place.shared_dir, place.shared_dir + ".gone")
    a = claim(rota, place.trees[0], "letters", "ann")
    check(a.code == 1 and b"DOING" not in read(os.path.join(place.trees[0], "plan.org")), "the origin cannot be reached", a)


def main():
    rota = os.path.abspath(sys.argv[1])
    options = dict(zip(sys.argv[2::2], sys.argv[3::2]))
    rounds = int(options.get("--rounds", 2))
    seed = int(options.get("--seed", random.SystemRandom().randrange(1 << 32)))
    print(f"claims.py: --rounds {rounds} --seed {seed}", flush=True)
    for i in range(rounds):
        r = random.Random(f"{seed}/{i}")
        origin, dirty = i % 2 == 0, i % 3 == 2
        with tempfile.TemporaryDirectory(prefix="rota-claims-") as directory:
            place = Place(directory, origin)
            name = f"round {i}, {'with' if origin else 'without'} origin{', dirty' if dirty else ''}"
            race(rota, place, r, name, dirty)
            if i % 4 == 0 and not dirty:
                release_all(rota, place, name)
    for scenario, more in ((kills, (True,)), (kills, (False,)), (staged, ()), (errors, ())):
        with tempfile.TemporaryDirectory(prefix="rota-claims-") as directory:
            scenario(rota, directory, *more)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
