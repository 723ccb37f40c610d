#!/usr/bin/env python3
"""Repositories that try to have more done than a claim: programs in the configuration, branches and files with
misleading names, and a plan that is a link.

usage: repositories.py ROTA
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from fixture import ENV, check, file_text, path_of, rota, run_parts, write  # noqa: E402

PLAN = "* TODO One\n:PROPERTIES:\n:ID: one\n:END:\n* TODO Two\n:PROPERTIES:\n:ID: two\n:END:\n"


def git(folder, *argv):
    r = subprocess.run(["git", "-C", path_of(folder), *argv], capture_output=True, text=True, env=ENV, timeout=60)
    check(r.returncode == 0, f"git {' '.join(argv)}", r)
    return r.stdout


def repository(name, files):
    os.makedirs(path_of(name))
    git(name, "init", "-q", "-b", "main")
    git(name, "config", "user.name", "somebody")
    git(name, "config", "user.email", "somebody@example.org")
    for file, text in files.items():
        write(f"{name}/{file}", text)
    git(name, "add", ".")
    git(name, "commit", "-q", "-m", "begin")


def claim(file, task):
    return rota("claim", path_of(file), task, "--agent", "desk")


def check_programs():
    """No hook, filter, monitor, pager or signing program of the repository is executed."""
    repository("programs", {"plan.org": PLAN})
    evil = write("evil.sh", f"#!/bin/sh\necho \"$0 $*\" >> {path_of('PWNED')}\nexit 1\n", 0o700)
    for hook in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change", "pre-push", "post-update"):
        write(f"programs/.git/hooks/{hook}", file_text("evil.sh"), 0o700)
    write("programs/.git/info/attributes", "* filter=evil diff=evil\n")
    for key in ("core.fsmonitor", "core.pager", "core.editor", "diff.external", "diff.evil.textconv", "filter.evil.clean", "filter.evil.smudge",
                "filter.evil.process", "gpg.program", "core.alternateRefsCommand"):
        git("programs", "config", key, evil)
    git("programs", "config", "commit.gpgSign", "true")
    r = claim("programs/plan.org", "one")
    check(r.returncode == 0, "the task is claimed", r)
    check(not os.path.exists(path_of("PWNED")), "no program of the repository is executed", file_text("PWNED"))


def check_branch():
    """The name of the shared branch is never an option."""
    repository("origin", {"plan.org": PLAN})
    git("origin", "config", "receive.denyCurrentBranch", "ignore")
    subprocess.run(["git", "clone", "-q", path_of("origin"), path_of("clone")], env=ENV, check=True, timeout=60)
    git("clone", "config", "branch.main.merge", f"--upload-pack=touch {path_of('PWNED2')};")
    git("origin", "commit", "-q", "--allow-empty", "-m", "one that the clone does not have")
    r = claim("clone/plan.org", "one")
    check(not os.path.exists(path_of("PWNED2")), "the name of a branch is not executed", r)
    git("clone", "config", "branch.main.merge", "refs/tags/main")
    git("origin", "tag", "main")
    r = claim("clone/plan.org", "one")
    check(r.returncode != 0 and "is not a branch" in r.stderr, "a tag is refused", r)


def check_names():
    """A plan with a name that is a pattern is that file alone; one with a newline or a link is refused."""
    repository("names", {"a.org": PLAN, "*.org": PLAN, ":(top)b.org": PLAN, "-x.org": PLAN, "d\ne/plan.org": PLAN})
    for name in ("*.org", ":(top)b.org", "-x.org"):
        r = claim(f"names/{name}", "one")
        check(r.returncode == 0, f"{name}: the task is claimed", r)
        check("desk" in file_text("names", name) and "desk" not in file_text("names", "a.org"), f"{name}: only this file changes", file_text("names", name))
    check(git("names", "status", "--porcelain") == "", "the work tree has what is committed")
    r = claim("names/d\ne/plan.org", "one")
    check(r.returncode == 2 and "newline" in r.stderr, "a path with a newline is refused", r)
    repository("links", {"real.org": PLAN})
    os.symlink("real.org", path_of("links/plan.org"))
    git("links", "add", ".")
    git("links", "commit", "-q", "-m", "link")
    os.unlink(path_of("links/plan.org"))
    write("links/plan.org", PLAN)
    r = claim("links/plan.org", "one")
    check(r.returncode == 2 and "not a regular file" in r.stderr, "a plan that is a link in the shared branch is refused", r)


sys.exit(run_parts(check_programs, check_branch, check_names))
