#pragma once
/* Org files: headlines with their planning lines and property drawers, as Emacs's org reads them
 * (tests/oracle/org.py compares the two). Pure. Any bytes are accepted; nothing is copied, all texts are
 * parts of the file's text. */
#include "base/arena.h"
#include "base/err.h"

#define ORG_NONE UINT32_MAX

/* A part of the file's text, in bytes. Empty: there is none. */
struct org_span {
	uint32_t at, end;
};

/* A TODO keyword. Those of one line `#+TODO:` form a sequence. */
struct org_keyword {
	struct str name;
	uint16_t first; /* index of the first keyword of its sequence */
	bool done;
	bool type; /* of `#+TYP_TODO:`: a repeated task returns to the state it had */
};

struct org_head {
	uint32_t at;           /* the beginning of its line */
	uint32_t body;         /* the beginning of the next line */
	uint32_t end;          /* the beginning of the next headline of any level, or the end of the file */
	uint32_t line;         /* counted from 1 */
	uint32_t level;        /* the number of stars */
	uint32_t parent;       /* index, or ORG_NONE */
	uint32_t keyword;      /* index, or ORG_NONE */
	struct org_span state; /* the keyword as it is in the headline */
	struct org_span priority;  /* A of [#A] */
	struct org_span title;     /* without keyword, priority and tags */
	struct org_span tags;      /* :a:b: */
	struct org_span planning;  /* the line after the headline, with its end */
	struct org_span drawer;    /* the property drawer, from :PROPERTIES: to the end of the line :END: */
	struct org_span id;        /* the value of its property ID */
	uint32_t keys;             /* a bit for every key in the drawer; see drawer.c */
	struct org_span scheduled; /* timestamps of the planning line, with their brackets */
	struct org_span deadline;
	struct org_span closed;
	bool commented; /* the title follows the word COMMENT, which is not part of it */
};

struct org {
	struct str text;
	const char *eol; /* how its lines end: "\n", "\r\n" or "\r"; see line.h */
	struct org_head *head;
	unsigned heads;
	struct org_keyword *keyword;
	unsigned keywords;
};

/* Reads a file. It fails only at a limit or without memory. */
must_check enum err org_read(struct str text, struct arena *a, struct org *ret, struct why *why);

static inline struct str org_text(const struct org *o, struct org_span s)
{
	return str_sub(o->text, s.at, s.end);
}

/* Is the headline a task that is not done yet? Is it a task that is done? */
bool org_is_open(const struct org *o, const struct org_head *h);
bool org_is_done(const struct org *o, const struct org_head *h);
/* The keyword of this name; ORG_NONE: there is none. */
uint32_t org_find_keyword(const struct org *o, struct str name);

/* One line of a property drawer. Its value has no blanks around it. */
struct org_property {
	struct org_span line; /* with its end */
	struct str key, value;
};
/* Walks the properties of a headline: *at is 0 before the first call. False: there are no more. */
bool org_property_next(const struct org *o, const struct org_head *h, uint32_t *at, struct org_property *ret);
/* Finds a property by name, in any case of ASCII letters; the last one if it is given twice, as in Emacs. */
bool org_property_find(const struct org *o, const struct org_head *h, struct str key,
		       struct org_property *ret);
/* The value of a property; empty if there is none. */
struct str org_property_value(const struct org *o, const struct org_head *h, const char *key);
/* Splits a line of a drawer, ":KEY: value". False: it has another form. */
bool org_property_split(struct str line, struct str *key, struct str *value);

/* Removes the next tag from the front of *tags, which is ":a:b:" at first. False: there are no more. */
bool org_tag_next(struct str *tags, struct str *ret);
bool org_has_tag(const struct org *o, const struct org_head *h, struct str tag);

/* The index of the headline with this :ID:, else of the only one with this title. E_NOTFOUND; E_INPUT: more
 * than one headline has this id or title. */
must_check enum err org_find(const struct org *o, struct str task, unsigned *ret, struct why *why);
