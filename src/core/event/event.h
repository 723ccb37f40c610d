#pragma once
/* Events as those who follow them see them: the names, the data and the envelope {seq,ts,type,data}. One
 * table has all types; docs/events.md is checked against it. The log has numbers only (port/store.h): an
 * event is worded when it is read, from its row and from texts that the caller has found by it. Pure. */
#include "base/buf.h"
#include "base/err.h"
#include "port/store.h"

/* The texts of an event that are not in its row. p NULL: there is none, or it is not kept any more. */
struct event_texts {
	struct str schedule;             /* the schedule's id */
	struct str expression, end_date; /* of the document that was in force */
	struct str name, data; /* of the action `event`; the data is JSON. Of a message: the name of its
				  target */
	struct str subject, by, note;       /* of a problem */
	struct str about, to, text, result; /* of a message; `text` is also that of other events */
};

/* A member of the data: its name, and what it is. */
struct event_member {
	const char *name;
	uint8_t value; /* private */
};
enum { EVENT_MEMBERS_MAX = 9 };
struct event_form {
	const char *name;  /* "run:claimed"; that of EVENT_CUSTOM ends in its own name */
	const char *cause; /* for people */
	struct event_member member[EVENT_MEMBERS_MAX]; /* ends with a NULL name; none: the data is given */
};
extern const struct event_form event_forms[EVENT_TYPES];

/* Appends one event as JSON. */
void event_write(struct buf *out, const struct event_row *e, const struct event_texts *texts);
/* Appends the name of its type: "custom:deployed". */
void event_write_type(struct buf *out, const struct event_row *e, const struct event_texts *texts);

/* Whether wording an event of this type needs the schedule's document; its problem; its message. */
bool event_needs_document(unsigned type);
bool event_needs_problem(unsigned type);
bool event_needs_message(unsigned type);

/* Which types a reader wants: "run:finished,problem:*,custom:deployed". */
struct event_choice {
	struct str list; /* empty: all */
	uint32_t types;  /* bits of the types that may be wanted; 0: all */
};
/* E_INPUT: there is no such type; the text lists those of its group. `ret` points into `list`. */
must_check enum err event_choose(struct str list, struct event_choice *ret, struct why *why);
/* Whether a type is wanted, by its whole name. */
bool event_is_chosen(const struct event_choice *c, struct str type);
