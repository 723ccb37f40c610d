"""Random org files: what people write, what they get wrong, and what is hard to read."""

KEYWORDS = ["TODO", "NEXT", "DOING", "WAITING", "DONE", "CANCELLED", "todo", "TODOS", "ALPHA", "BETA", "GAMMA", "ÄND"]
WORDS = ["report", "Ann's", "desk", "*bold*", "[1/2]", "a:b", ":x", "COMMENT", "COMMENT x", "über", "日本", "[#A]", "<x>",
         "<2026-06-13 Sat>", "TODO", "#", "", "::", "100%", "\u00a0", "é\u0301", "😀", "$5", "2026-06-13", "ID"]
TAGS = [":a:", ":a:b:", ":über:", ":日本:b:", ":a-b:", "::", ":::", ":a::b:", ":@home:#1:", ":a b:", ":😀:", ":x%:", ":a:.", ":ARCHIVE:",
        ":\u00b2:", ":\u0301:", ":\u216b:", ":workflow:"]
KEYS = ["ID", "id", "AGENT", "agent", "CLAIMED", "SCHEDULE", "a:b", "x+", "Effort", "CATEGORY", "ÜBER", ":", "DEPENDS", "ORDERED"]
BLOCKS = ["src", "SRC", "example", "quote", "verse", "comment", "export", "center", "note", "src sh :in a"]


def date(r):
    return f"{r.randint(1990, 2040):04}-{r.randint(1, 12):02}-{r.randint(1, 28):02}"


def stamp(r):
    parts = [date(r)]
    if r.random() < 0.7:
        parts.append(r.choice(["Mon", "Sat", "Fr", "mié.", "土", "Sat."]))
    if r.random() < 0.5:
        parts.append(r.choice(["09:00", "9:00", "23:59", "09:00-10:00", "9:00-10:30", "10:00-9:30"]))
    if r.random() < 0.4:
        parts.append(r.choice(["+1w", "++2d", ".+3m", "+1y", "+12h", ".+2d/4d", "+01d", "++10m"]))
    if r.random() < 0.15:
        parts.append(r.choice(["-3d", "--2d"]))
    if r.random() < 0.05:
        r.shuffle(parts)
    text = (" " if r.random() < 0.95 else "  ").join(parts)
    opening, closing = r.choice(["<>"] * 6 + ["[]"] * 2 + ["<]", "[>"][:1 if r.random() < 0.1 else 0] or ["<>"])
    if r.random() < 0.05:
        closing = r.choice([">--<" + date(r) + ">", "", ">>", ")"])
    return opening + text + closing


def headline(r):
    stars = "*" * r.choice([1, 1, 1, 2, 2, 3, 4, 9])
    text = stars + r.choice([" "] * 12 + ["  ", "\t", "", " \t", "\u00a0"])
    if r.random() < 0.6:
        text += r.choice(KEYWORDS) + r.choice([" "] * 8 + ["  ", "\t", "", ":"])
    if r.random() < 0.25:
        text += r.choice(["[#A]", "[#B] ", "[#1] ", "[#ü] ", "[#] ", "[#AB] ", "[#]] ", "[#A]  "])
    text += " ".join(r.choice(WORDS) for _ in range(r.randint(0, 4)))
    if r.random() < 0.4:
        text += r.choice([" ", "  ", "\t", ""]) + r.choice(TAGS)
    return text + r.choice([""] * 8 + [" ", "\t", "  "])


def planning(r):
    words = []
    for _ in range(r.randint(1, 3)):
        word = r.choice(["SCHEDULED:", "DEADLINE:", "CLOSED:"])
        if r.random() < 0.08:
            word = r.choice([word.lower(), "X" + word, "_" + word, word[:-1], "'" + word, "ü" + word])
        words.append(word + r.choice([" "] * 8 + ["", "  ", "\t"]) + stamp(r))
    return r.choice(["", "", "", "  ", "\t"]) + r.choice([" ", " ", "\t", "", " and "]).join(words) + r.choice(["", "", " ", " x"])


def property_line(r):
    key, value = r.choice(KEYS), r.choice(["1", "", "two words", "0 6 * * *", "x  ", "[2026-06-13 Sat 10:00]", "ü", ":a:"])
    if r.random() < 0.04:
        return r.choice(["", "text", f":{key}", f":{key}:{value or 'x'}", f":{key}:\t{value}", ": x", "::", "* not", "#+TODO: A | B"])
    return r.choice(["", "", "  "]) + f":{key}:" + (" " * r.randint(1, 3) + value if value else r.choice(["", " "]))


def drawer(r):
    lines = [r.choice([":PROPERTIES:"] * 8 + [":properties:", "  :PROPERTIES:", ":PROPERTIES: ", ":PROPERTIES: x", ":LOGBOOK:"])]
    lines += [property_line(r) for _ in range(r.randint(0, 4))]
    lines.append(r.choice([":END:"] * 12 + [":end:", "  :END: ", ":END:x", ""]))
    return lines


def block(r, depth=0):
    name = r.choice(BLOCKS)
    lines = [r.choice(["", "  "]) + r.choice(["#+begin_", "#+BEGIN_"]) + name]
    for _ in range(r.randint(0, 4)):
        lines += block(r, depth + 1) if r.random() < 0.15 and depth < 3 else [body_line(r)]
    end = r.choice(["#+end_", "#+END_"]) + name.split()[0]
    return lines + ([end] if r.random() < 0.85 else [])


def body_line(r):
    return r.choice(["text", "  more text", "", "- item", "  - item", "| a | b |", "# comment", ": fixed", "\\begin{equation}",
                     "\\end{equation}", ":END:", ":note:", "#+TODO: ALPHA | BETA", "#+todo: GAMMA(g) BETA(b!) | ÄND(a)",
                     "  #+SEQ_TODO: NEXT ALPHA", "#+TYP_TODO: GAMMA BETA | DONE", "#+TODO:", "#+TODO:a:b x", "#+begin: clocktable",
                     "#+end:", "*** ", "**", ",* not a headline", "SCHEDULED: <2026-06-13 Sat>", "[fn:1] note", "#+NAME: x",
                     "* TODO in a block?", "\f", "\u2028"])


def entry(r):
    lines = [headline(r)]
    if r.random() < 0.1:
        lines.append("")
    if r.random() < 0.4:
        lines.append(planning(r))
    if r.random() < 0.05:
        lines.append("")
    if r.random() < 0.5:
        lines += drawer(r)
    for _ in range(r.randint(0, 3)):
        lines += block(r) if r.random() < 0.3 else drawer(r) if r.random() < 0.1 else [body_line(r)]
    return lines


def text(r):
    lines = []
    for _ in range(r.randint(0, 3)):
        lines += [r.choice(["#+title: x", body_line(r), "#+TODO: TODO ALPHA(a) | DONE BETA(b@/!)"])] if r.random() < 0.8 else block(r)
    for _ in range(r.randint(3, 20)):
        lines += entry(r)
    ends = r.choice(["\n"] * 6 + ["\r\n"] * 2 + ["mixed", "\r"])
    # Lines are written one by one, so that an invalid byte stays within its line.
    data = b""
    for line in lines:
        raw = line.encode()
        if r.random() < 0.02 and raw:
            at = r.randrange(len(raw))
            raw = raw[:at] + r.choice([b"\xff", b"\x80", b"\xfe\xff"]) + raw[at:]
        data += raw + (r.choice(["\n", "\r\n"]) if ends == "mixed" else ends).encode()
    return data.rstrip(b"\r\n") if r.random() < 0.2 else data
