#pragma once
/* The agenda of plans: what is overdue, due, ready, claimed and upcoming at an instant. Pure. Only open tasks
 * count: headlines with a keyword that is not done, outside of commented and archived subtrees. */
#include "base/buf.h"
#include "core/org/org.h"
#include "core/when/zone/zone.h"

enum agenda_list {
	AGENDA_OVERDUE,  /* its DEADLINE has passed */
	AGENDA_DUE,      /* its SCHEDULED has arrived */
	AGENDA_READY,    /* can be worked on: see agenda_read */
	AGENDA_CLAIMED,  /* DOING, with :AGENT: */
	AGENDA_STALE,    /* claimed for longer than the limit */
	AGENDA_UPCOMING, /* SCHEDULED or DEADLINE in the future, or a next time by their repeater; the nearest
			    first */
	AGENDA_LISTS
};
extern const char *const agenda_list_words[AGENDA_LISTS + 1];

/* A plan, and the name that its rows show. */
struct agenda_plan {
	struct org org;
	struct str file;
};

struct agenda_query {
	const struct agenda_plan *plan;
	unsigned plans;
	const struct zone *zone;
	int64_t now;         /* seconds UTC */
	int64_t stale_after; /* seconds */
	struct str agent;    /* the agent that asks; empty: none */
};

struct agenda_item {
	unsigned plan, head;
	int64_t at; /* overdue, due, upcoming: the time; claimed, stale: when it was claimed. 0: not known */
};

struct agenda {
	struct agenda_item *item[AGENDA_LISTS];
	unsigned n[AGENDA_LISTS];
	bool work; /* a task is ready, or a task is due that no other agent has claimed */
};

/* A task is ready if it is open, not WAITING, not claimed by another agent, not scheduled in the future, all
 * its :DEPENDS: are done, and no earlier task below a headline with :ORDERED: t is open. Tasks that the agent
 * itself has claimed come first. */
must_check enum err agenda_read(const struct agenda_query *q, struct arena *a, struct agenda *ret);
/* Appends {"overdue":[rows],...}. */
void agenda_write(const struct agenda_query *q, const struct agenda *agenda, struct buf *out);

/* The agent that has claimed a task; empty: none. */
struct str task_holder(const struct org *o, const struct org_head *h);
