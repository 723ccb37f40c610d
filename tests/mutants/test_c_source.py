#!/usr/bin/env python3
"""The mutations of a small source: each kind at its place, and none where none may be."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import c_source
from checks import check, finish

SOURCE = '''#include <assert.h>
#define LIMIT(a, b) ((a) < (b)) \\
	&& 7
static const int table[3] = { 1, 2, 3 };
/* if (a < 1) */
static int f(const char *text, int a)
{
	assert(a > 5);
	struct point *p = find(text, a);
	if (a < 1 && *text == '<')
		g("a < 8", a);
	for (int i = 0; i != a; i++)
		p->x = a - 2;
	label: return -a;
}
'''
WANTED = {
    ("arguments", "find(a, text)"), ("condition", "if (!(a < 1 && *text == '<'))"), ("comparison", "if (a <= 1 &&"),
    ("constant", "a < 2 &&"), ("logic", "a < 1 || *text"), ("comparison", "*text != '<'"), ("arguments", 'g(a, "a < 8");'),
    ("constant", "int i = 1;"), ("comparison", "i == a;"), ("arithmetic", "a + 2;"), ("constant", "a - 3;"),
    ("statement", "\t\t(void)0;\n\tfor"), ("statement", "\t\t(void)0;\n\tlabel"),
}


def main():
    found = c_source.mutations(SOURCE)
    for kind, part in sorted(WANTED):
        here = [m for m in found if m.kind == kind and part in c_source.apply(SOURCE, m) and part not in SOURCE]
        check(len(here) == 1, f"one mutation of kind {kind} gives {part!r}", len(here))
    check(len(found) == len(WANTED), "there are no other mutations",
          [c_source.apply(SOURCE, m)[max(0, m.start - 20):m.start + 20] for m in found])
    untouched = SOURCE[:SOURCE.index("static int f")]
    check(all(c_source.apply(SOURCE, m).startswith(untouched) for m in found), "macros, tables and comments stay")
    check(all("assert(a > 5);" in c_source.apply(SOURCE, m) for m in found), "assertions stay")
    return finish()


sys.exit(main())
