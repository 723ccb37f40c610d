#!/usr/bin/env python3
"""Checks that the source files, folders, decisions and documents that the documents name exist.

usage: docs.py
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
MAP = ROOT / "docs" / "ARCHITECTURE.md"
# `store/sqlite/load.c`, `runfile/read.c`: a path of a source file, from src/ or from the repository's root.
SOURCE = re.compile(r"`((?:[\w.-]+/)+[\w.-]+\.(?:c|h|py|sql|mjs|md|awk))`")
FOLDER = re.compile(r"`?\b((?:src|tests|docs|examples|man)(?:/\w+)+)/?\b(?![\w./*-])")
DECISION = re.compile(r"\b[Dd]ecisions? (\d+)")
LINK = re.compile(r"\]\(([^)#:]+)\)")


def missing(document, text):
    """The names in one document that do not exist in the repository."""
    for name in SOURCE.findall(text):
        # Documents also name data files of users, which are not in the repository.
        if name.split("/")[0] in {p.name for p in [*ROOT.iterdir(), *(ROOT / "src").iterdir()]}:
            if not (ROOT / name).exists() and not (ROOT / "src" / name).exists():
                yield f"there is no file {name}"
    for name in FOLDER.findall(text):
        if not (ROOT / name).exists() and not list(ROOT.glob(name + ".*")) and not list(ROOT.glob(name + "_*")):
            yield f"there is no {name}"
    for number in DECISION.findall(text):
        if not list((ROOT / "docs" / "decisions").glob(f"{int(number):04}-*.md")):
            yield f"there is no decision {number}"
    for link in LINK.findall(text):
        if not (document.parent / link).exists():
            yield f"the link to {link} leads nowhere"


def unnamed():
    """Folders and files of src that the map does not have, and decisions with another number than their file."""
    text = MAP.read_text()
    for path in sorted((ROOT / "src").rglob("*.c")):
        # The map has the file's own name, or the name of its small folder, such as `api/handlers/`.
        small_folder = f"{path.parent.name}/ " if len(path.relative_to(ROOT / "src").parts) > 2 else "?"
        if not re.search(rf"\b{path.stem}\b", text) and small_folder not in text:
            yield f"{MAP.name} does not name {path.relative_to(ROOT)}"
    for folder in sorted(p for p in (ROOT / "src").iterdir() if p.is_dir()):
        if f"src/{folder.name}/" not in text:
            yield f"{MAP.name} does not have src/{folder.name}/"
    numbers = []
    for path in sorted((ROOT / "docs" / "decisions").glob("*.md")):
        numbers.append(int(path.name[:4]))
        if not path.read_text().startswith(f"# {int(path.name[:4])}. "):
            yield f"{path.name} does not begin with its number"
    if numbers != list(range(1, len(numbers) + 1)):
        yield f"the numbers of the decisions have a gap: {numbers}"


def main():
    passed = failed = 0
    results = [(d.relative_to(ROOT), list(missing(d, d.read_text()))) for d in DOCUMENTS] + [("docs", list(unnamed()))]
    for where, found in results:
        passed, failed = passed + (not found), failed + bool(found)
        for line in found:
            print(f"{where}: {line}")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
