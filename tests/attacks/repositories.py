#!/usr/bin/env python3
"""Repositories that try to have more done than a claim: programs in the configuration, branches and files with
misleading names, and a plan that is a link.

usage: repositories.py ROTA
"""
import os
import signal
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


def check_own_files():
    """Links and pipes in the place of files that a claim writes below .git: nothing outside is written, nothing hangs."""
    both = ("rota-claim.text", "rota-claim.journal")
    for how, names in (("link", both[:1]), ("pipe", both[:1]), ("links", both), ("pipes", both)):
        repository(f"own-{how}", {"plan.org": PLAN})
        for name in names:
            path = path_of(f"own-{how}/.git/{name}")
            if how.startswith("pipe"):
                os.mkfifo(path)
            else:
                os.symlink(write(f"victim-{name}", file_text(f"victim-{name}") or "mine\n"), path)
        for n in range(2):  # a journal that cannot be read may be an error once
            r = claim(f"own-{how}/plan.org", "one")
            if r.returncode == 0:
                break
        check(r.returncode == 0, f"{how}: the task is claimed", r)
        check(not os.listdir(path_of(f"own-{how}/.git")).count("rota-claim.text"), f"{how}: the claim removes its files")
    for name in ("rota-claim.text", "rota-claim.journal"):
        check(file_text(f"victim-{name}") == "mine\n", f"a file that {name} links to is not written", file_text(f"victim-{name}"))
    repository("own-lock", {"plan.org": PLAN})
    os.symlink(path_of("made-by-lock"), path_of("own-lock/.git/rota-claim.lock"))
    r = claim("own-lock/plan.org", "one")
    check(r.returncode != 0 and not os.path.exists(path_of("made-by-lock")), "a link in the place of the lock is refused", r)


def check_journal():
    """A journal that someone else wrote does not change a file outside of the work tree."""
    repository("journal", {"plan.org": PLAN})
    tip = git("journal", "rev-parse", "HEAD").strip()
    blob = git("journal", "rev-parse", "HEAD:plan.org").strip()
    os.makedirs(path_of("elsewhere"))
    os.symlink(path_of("elsewhere"), path_of("journal/linked"))
    for path in ("../outside.sh", "linked/outside.sh"):
        victim = path_of("journal", path)
        with open(victim, "w", encoding="utf-8") as f:
            f.write("known\n")
        write("journal/.git/rota-claim.journal", f"{tip} {tip} {blob} {blob} 6 {path}\n")
        write("journal/.git/rota-claim.text", "known\ntouch PWNED\n")
        claim("journal/plan.org", "one")
        with open(victim, encoding="utf-8") as f:
            check(f.read() == "known\n", f"{path} is not changed")


def check_leaving():
    """A directory of the main work tree that became a link to another place: the plan there is not changed."""
    repository("main", {"d/plan.org": PLAN})
    git("main", "worktree", "add", "-q", path_of("second"), "-b", "second")
    os.rename(path_of("main/d"), path_of("stolen"))
    os.symlink(path_of("stolen"), path_of("main/d"))
    before = git("main", "rev-parse", "main")
    r = claim("second/d/plan.org", "one")
    check(r.returncode == 75 and file_text("stolen/plan.org") == PLAN, "nothing is written behind a link", r)
    check(git("main", "rev-parse", "main") == before, "and nothing is published")


def check_left_process():
    """A process that git leaves behind, with its output open, as ssh with ControlPersist: the claim does not wait for it."""
    repository("far", {"plan.org": PLAN})
    git("far", "config", "receive.denyCurrentBranch", "ignore")
    subprocess.run(["git", "clone", "-q", path_of("far"), path_of("near")], env=ENV, check=True, timeout=60)
    git("near", "config", "remote.origin.url", f"ssh://host{path_of('far')}")
    ssh = write("ssh.sh", f'#!/bin/sh\nsleep 300 < /dev/null > /dev/null &\necho $! >> {path_of("left")}\nfor a; do :; done\nexec sh -c "$a"\n', 0o700)
    try:
        r = rota("claim", path_of("near/plan.org"), "one", "--agent", "desk", GIT_SSH_COMMAND=ssh, GIT_SSH_VARIANT="simple")
        check(r.returncode == 0, "the task is claimed", r)
        check("DOING One" in git("far", "show", "main:plan.org"), "and published")
    except subprocess.TimeoutExpired as e:
        check(False, "the claim waits for the process", e)
    finally:
        for pid in file_text("left").split():
            os.kill(int(pid), signal.SIGKILL)


def check_commands_as_urls():
    """The repository cannot allow URLs that are commands."""
    for key in ("remote.origin.url", "remote.origin.pushurl"):
        name = key.rsplit(".", 1)[1]
        repository(name, {"plan.org": PLAN})
        git(name, "config", "remote.origin.url", path_of("far"))
        git(name, "config", key, f"ext::touch {path_of('PWNED3')}")
        git(name, "config", "protocol.ext.allow", "always")
        r = claim(f"{name}/plan.org", "one")
        check(not os.path.exists(path_of("PWNED3")), f"{key}: the command is not executed", r)


sys.exit(run_parts(check_programs, check_branch, check_names, check_own_files, check_journal, check_leaving, check_left_process,
                   check_commands_as_urls))
