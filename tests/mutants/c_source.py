"""C source as tokens, and the small changes (mutations) that can be made to it.

A mutation replaces a range of bytes. It never touches comments, strings, preprocessor lines, attributes or assertions: an
assertion that is negated fails in every test and proves nothing about them."""
import re
from typing import NamedTuple

TOKEN = re.compile(r"""
    (?P<comment>/\*.*?\*/|//[^\n]*)
  | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<number>\.?[0-9](?:[eEpP][-+]|[0-9a-zA-Z_.])*)
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<op><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^~!<>=?:;,.(){}\[\]\#\\])
  | (?P<line>\n)
  | (?P<blank>[ \t\r\f]+)
""", re.X | re.S)

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
LOGIC = {"&&": "||", "||": "&&"}
ARITHMETIC = {"+": "-", "-": "+", "+=": "-=", "-=": "+="}
OPENING, CLOSING = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}
NO_STATEMENT = {"return", "break", "continue", "goto", "case", "default", "else", "do", "if", "for", "while", "switch",
                "static", "const", "struct", "enum", "union", "unsigned", "typedef", "extern", "sizeof", "assert",
                "static_assert", "va_start", "va_end", "va_copy"}
ASSERTIONS = {"assert", "static_assert"}


class Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


class Mutation(NamedTuple):
    kind: str     # comparison, constant, condition, statement, arguments, logic, arithmetic
    start: int    # the bytes [start, end) of the source become `text`
    end: int
    text: str


def tokens(source):
    """The tokens that mean something to the compiler, without preprocessor lines."""
    found, at, begins_line, in_directive = [], 0, True, False
    while at < len(source):
        match = TOKEN.match(source, at)
        if not match:
            at += 1
            continue
        kind, text = match.lastgroup, match.group()
        at = match.end()
        if kind == "line":
            continued = found_backslash(source, match.start())
            in_directive = in_directive and continued
            begins_line = not in_directive
        elif kind in ("blank", "comment"):
            pass
        else:
            if begins_line and text == "#":
                in_directive = True
            begins_line = False
            if not in_directive:
                found.append(Token(kind, text, match.start(), match.end()))
    return found


def found_backslash(source, newline):
    return newline > 0 and source[newline - 1] == "\\"


def partners(toks):
    """For the index of each bracket the index of its partner."""
    stack, partner = [], {}
    for i, t in enumerate(toks):
        if t.text in OPENING and t.kind == "op":
            stack.append(i)
        elif t.text in CLOSING and t.kind == "op" and stack:
            partner[i] = stack.pop()
            partner[partner[i]] = i
    return partner


def enclosing(toks, partner):
    """For each token the text of the bracket that it stands in; empty: none."""
    stack, out = [""], []
    for i, t in enumerate(toks):
        if i in partner and t.text in CLOSING:
            stack.pop()
        out.append(stack[-1])
        if i in partner and t.text in OPENING:
            stack.append(t.text)
    return out


def excluded(toks, partner):
    """Indices inside assertions and attributes."""
    out = set()
    for i, t in enumerate(toks[:-1]):
        if (t.text in ASSERTIONS or t.text.startswith("__attribute")) and i + 1 in partner:
            out.update(range(i, partner[i + 1] + 1))
    return out


def bodies(toks, partner):
    """The indices inside the bodies of functions."""
    inside, i = set(), 0
    while i < len(toks):
        if toks[i].text == "{" and i in partner:
            if i and toks[i - 1].text == ")":
                inside.update(range(i + 1, partner[i]))
            i = partner[i]
        i += 1
    return inside


def is_binary(toks, i):
    """An operator with an operand before it."""
    before = toks[i - 1] if i else None
    return bool(before) and (before.kind in ("name", "number", "string") or before.text in (")", "]")) and \
        before.text not in ("return", "case", "sizeof")


def next_number(text):
    """The literal plus one; None: it is no plain integer."""
    match = re.fullmatch(r"(0[xX][0-9a-fA-F]+|[1-9][0-9]*|0)([uUlL]*)", text)
    return f"{int(match.group(1), 0) + 1}{match.group(2)}" if match else None


def arguments(toks, partner, opening):
    """The arguments of a call as ranges of token indices."""
    parts, first, i = [], opening + 1, opening + 1
    while i < partner[opening]:
        if toks[i].text == ",":
            parts.append((first, i))
            first = i + 1
        i = partner.get(i, i) + 1 if toks[i].text in OPENING else i + 1
    parts.append((first, partner[opening]))
    return [p for p in parts if p[0] < p[1]]


def statement_end(toks, partner, first):
    """The index of the semicolon of an expression statement that begins here; None: none begins here."""
    if toks[first].kind != "name" and toks[first].text not in ("*", "++", "--"):
        return None
    if toks[first].text in NO_STATEMENT:
        return None
    if toks[first].kind == "name" and first + 1 < len(toks) and (
            toks[first + 1].kind == "name" or toks[first + 1].text in (":", "*")):
        return None # a declaration, a label
    i = first
    while i < len(toks) and toks[i].text != ";":
        if toks[i].text in CLOSING or toks[i].text == "{":
            return None
        i = partner.get(i, i) + 1 if toks[i].text in OPENING else i + 1
    return i if i < len(toks) else None


def mutations(source):
    """All mutations of a source, in the order of their places."""
    toks = tokens(source)
    partner = partners(toks)
    outside = excluded(toks, partner)
    inside = bodies(toks, partner)
    around = enclosing(toks, partner)
    found = []

    def add(kind, first, last, text):
        found.append(Mutation(kind, toks[first].start, toks[last].end, text))

    def text_of(first, last):
        return source[toks[first].start:toks[last].end]

    for i, t in enumerate(toks):
        if i in outside or i not in inside:
            continue
        if t.kind == "op" and t.text in COMPARISONS and is_binary(toks, i):
            add("comparison", i, i, COMPARISONS[t.text])
        elif t.kind == "op" and t.text in LOGIC:
            add("logic", i, i, LOGIC[t.text])
        elif t.kind == "op" and t.text in ARITHMETIC and is_binary(toks, i):
            add("arithmetic", i, i, ARITHMETIC[t.text])
        elif t.kind == "number" and next_number(t.text):
            add("constant", i, i, next_number(t.text))
        elif t.text in ("true", "false"):
            add("constant", i, i, "false" if t.text == "true" else "true")
        elif t.text == "if" and i + 1 in partner:
            condition = text_of(i + 1, partner[i + 1])
            add("condition", i + 1, partner[i + 1], f"(!{condition})")
        elif t.kind == "name" and i + 1 < len(toks) and toks[i + 1].text == "(" and i + 1 in partner:
            args = arguments(toks, partner, i + 1)
            for (a, b), (c, d) in zip(args, args[1:]):
                if text_of(a, b - 1) != text_of(c, d - 1) and t.text not in NO_STATEMENT:
                    add("arguments", a, d - 1, f"{text_of(c, d - 1)}, {text_of(a, b - 1)}")
        if around[i] == "{" and begins_statement(toks, partner, i):
            end = statement_end(toks, partner, i)
            if end is not None:
                add("statement", i, end, "(void)0;")
    return found


def begins_statement(toks, partner, i):
    before = toks[i - 1].text
    if before == ")":
        opening = partner[i - 1]
        return opening > 0 and toks[opening - 1].text in ("if", "for", "while")
    return before in (";", "{", "}", "else")


def apply(source, mutation):
    return source[:mutation.start] + mutation.text + source[mutation.end:]
