#!/usr/bin/env python3
"""Plants bugs: writes copies of the engine's sources in which each bug of bugs.txt can be switched on by its
number, and a table of their names.

    plant.py BUGS ENGINE-DIRECTORY OUTPUT-DIRECTORY

A bug whose text is not found exactly once is left out, and the table says so: the test then reports it. So a
change of the engine never breaks the build."""
import pathlib
import re
import sys


def read_bugs(path):
    bugs, bug, part = [], None, None
    for line in path.read_text().splitlines():
        if line.startswith("== "):
            file, name = line[3:].split(": ", 1)
            bug = {"file": file, "name": name, "-": [], "+": []}
            bugs.append(bug)
        elif line[:2] in ("- ", "+ "):
            part = line[0]
            bug[part].append(line[2:])
        elif part and bug and line.strip() and not line.startswith("#"):
            bug[part].append(line)
    for bug in bugs:
        for part in "-+":
            bug[part] = "\n".join(bug[part])
    return bugs


def pattern(text):
    """A pattern that matches the text with any line breaks."""
    words = re.split(r"\s+", text.strip())
    return re.compile(r"\s+".join(re.escape(w) for w in words))


def switched(number, old, new):
    if "planted_bug()" in new:  # the text asks itself
        return new.replace("planted_bug()", f"(sim_planted == {number})")
    if old.startswith("{") and old.endswith(","):  # an element of an initializer
        pairs = zip(*(split_arguments(part[1:-2]) for part in (old, new)))
        return "{" + ",".join(
            a if a == b else f" sim_planted == {number} ? {typed(b)} : {typed(a)}" for a, b in pairs) + "},"
    if old.endswith((";", "}")):
        return f"{{ if (sim_planted == {number}) {{ {new} }} else {{ {old} }} }}"
    if len(split_arguments(old)) > 1:  # several arguments, of which one differs
        pairs = zip(split_arguments(old), split_arguments(new))
        return ",".join(a if a == b else f" (sim_planted == {number} ? ({b}) : ({a}))" for a, b in pairs)
    tail = ""
    match = re.search(r"\s*(&&|\|\|)$", old)
    if match:
        tail, old, new = match.group(0), old[:match.start()], re.sub(r"\s*(&&|\|\|)$", "", new)
    return f"(sim_planted == {number} ? ({new}) : ({old})){tail}"


def split_arguments(text):
    """Splits at the commas that are in no bracket."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "({") - (c in ")}")
        if c == "," and not depth:
            parts.append("")
        else:
            parts[-1] += c
    return parts


def typed(item):
    item = item.strip()
    return f"(struct wall){item}" if item.startswith("{") else item


def main():
    bugs_file, engine, out = (pathlib.Path(a) for a in sys.argv[1:])
    sources = {p.name: p.read_text() for p in sorted(engine.glob("*.c"))}
    table = []
    for number, bug in enumerate(read_bugs(bugs_file), 1):
        found = list(pattern(bug["-"]).finditer(sources.get(bug["file"], "")))
        if len(found) == 1:
            text = sources[bug["file"]]
            at = found[0]
            sources[bug["file"]] = text[:at.start()] + switched(number, bug["-"], bug["+"]) + text[at.end():]
        problem = "" if len(found) == 1 else f"its text is {len(found)} times in {bug['file']}"
        table.append(f'\t{{ "{bug["file"]}", "{bug["name"]}", "{problem}" }},\n')
    head = "extern unsigned sim_planted;\n"
    for name, text in sources.items():
        (out / ("planted_" + name)).write_text(head + text)
    (out / "planted_table.h").write_text("static const struct planted_bug bugs[] = {\n" + "".join(table) + "};\n")


main()
