#pragma once
/* Within apply, on the daemon's side: documents become schedules and agents. Reads all, settles the order,
 * orders one after the other, removes what came from the same place and is there no more, and tells what came
 * of it. All of it is done in turns of a few milliseconds each, so that others are answered in between. Of
 * each document only what is needed later is kept: a hundred thousand that stay as they are cost a look at
 * each. All on the HTTP thread. */
#include "api/schedule_change.h"

struct item {
	struct str id, after;
	int leader; /* the first of these up the line of those it follows; -1: none */
	struct source_row source;
	uint64_t sid;       /* of the schedule that has this id; 0: none */
	struct str changes; /* JSON, maybe of none; p NULL: it stays as it is */
	bool moved;         /* only its place is another */
	bool applied;
	bool agent;      /* `id` is the name of one … */
	bool there;      /* … which is there … */
	uint32_t rev;    /* … in this rev; 0: it never was */
	struct str text; /* … and will be so, if it changes */
	bool turn;       /* it is a schedule of turns … */
	struct str of;   /* … of this agent's; empty: it names none */
};

struct removal {
	struct str id;
	uint64_t sid;
	bool done;
	bool agent;
	uint32_t rev;
};

struct applying {
	struct api *api;
	const struct val *documents, *files, *places; /* where each stands: [which file, line] */
	const struct val *prune;                      /* what came from there and is not here goes */
	const struct val *gone;                       /* likewise, if its file is there no more */
	struct item *item;
	const struct item **by_id;    /* sorted: schedules, then agents */
	unsigned *order;              /* agents before schedules, leaders before their followers */
	unsigned read, checked, told; /* so far */
	unsigned n, asked, answered;  /* of the order; then of the removals */
	unsigned agents;              /* so many of them are */
	unsigned pruning;             /* which of these is being looked through … */
	struct read_sched last;       /* … after this one; id.p NULL: from the first on */
	struct str last_agent;        /* agents are looked through at the end; likewise */
	struct removal *removal;
	unsigned removals, room;
	bool dry_run;
	enum err failed; /* the first, … */
	struct why why;  /* … and more about it. What was not asked for by then never is */
};

enum { APPLY_TURN_US = 5000 };

/* Under way at a time: the store carries many out at once, and the engine's queue is not ours alone. */
enum { APPLY_TOGETHER = 64 };

/* Copies a text into the call's arena. False: no memory. */
bool applying_keep(struct api_call *call, struct str *s);
/* The first counts; call->why is also that of answers still to come. */
void applying_fail(struct api_call *call, struct applying *a, enum err e);

/* --- applying_order.c --- */
must_check enum err applying_sort(struct api_call *call, struct applying *a); /* one id, one of them */
/* The item of that id; -1: none. */
int applying_find(const struct applying *a, bool agent, struct str id);
must_check enum err applying_order(struct api_call *call, struct applying *a);

/* --- applying_read.c: documents, and what is there --- */
must_check enum err applying_read(struct api_call *call, struct applying *a, unsigned i);
/* Some of those it follows may be in the store alone. E_INPUT: the one it names is nowhere. */
must_check enum err applying_find_leader(struct api_call *call, const struct applying *a, struct item *i);
struct str applying_file(const struct val *list, int64_t i); /* empty: none */
/* Was it in this file, or in a file of this directory? Those of directories in it are not read with it. */
bool applying_came_from(struct str file, struct str place);
/* What stands in another file stays there, unless that one is among these. */
must_check enum err applying_check_source(struct api_call *call, const struct applying *a,
					  const struct item *item, const struct source_row *old);
/* What differs between two canonical texts (the first may be empty), in words. */
must_check enum err applying_changes(struct api_call *call, struct api_call *scratch, struct str before,
				     struct str after, struct str *ret);

/* --- applying_agent.c --- */
bool applying_is_agent(const struct val *document);
must_check enum err applying_read_agent(struct api_call *call, struct applying *a, unsigned i);
/* `then` is called with the item, or the removal, when the store has answered; whether it was done is in it.
 */
typedef void applying_then(struct api_call *call, struct applying *a);
must_check enum err applying_order_agent(struct api_call *call, struct applying *a, struct item *i,
					 applying_then *then);
must_check enum err applying_drop_agent(struct api_call *call, struct applying *a, struct removal *m,
					applying_then *then);
/* One page of them; *more: there are others. */
must_check enum err applying_look_for_agents(struct api_call *call, struct applying *a, bool *more);

/* --- applying_gone.c --- */
void applying_look_for_gone(void *arg);
must_check enum err applying_add_removal(struct api_call *call, struct applying *a, struct removal m);

/* --- applying_tell.c --- */
void applying_tell(void *arg);
