#pragma once
/* Applies a set of documents: they become schedules and agents. The steps, in their order:
 *
 *   read       every document is read and compared with the store (read.c, agents.c)
 *   order      agents before schedules, leaders before their followers (order.c)
 *   send       changed schedules and agents are sent, several at a time (apply.c, agents.c)
 *   removals   schedules and agents that came from the same files and are not among the documents any more
 *              are removed (removals.c)
 *   answer     the answer says what was done (result.c)
 *
 * The work is done in turns of a few milliseconds, so that other requests are answered in between. Only the
 * parts of a document that later steps need are kept in memory. An unchanged document costs one comparison.
 * Everything runs on the operations thread. */
#include "api/schedule_change.h"

/* One document. */
struct apply_item {
	struct str id;    /* the id of the schedule, or the name of the agent */
	struct str after; /* the schedule that it follows; empty: none */
	int leader; /* index of its leader among the items; if its leader is not an item, index of the next
		       item on the way from leader to leader; -1: none */
	struct source_row source;
	uint64_t sid;       /* number of the stored schedule with this id; 0: there is none */
	struct str changes; /* the changed keys, as a JSON list, which may be empty; p NULL: unchanged */
	bool moved;         /* it comes from another file or line than before */
	bool applied;
	bool agent; /* the item is an agent, not a schedule */
	bool exists;
	uint32_t rev;    /* agent: the stored revision; 0: the agent was never stored */
	struct str text; /* agent: the new definition, if it changes */
	bool turn;       /* the item is a schedule of agent turns */
	struct str by;   /* schedule: the agent that takes the turns; empty: the schedule names none */
};

/* A schedule or agent to be removed. */
struct apply_removal {
	struct str id;
	uint64_t sid;
	bool done;
	bool agent;
	uint32_t rev;
};

struct apply_job {
	struct api *api;
	const struct val *documents, *files, *places; /* places: one per document, [index in files, line] */
	const struct val *prune; /* files and directories: schedules and agents from there that are not items
				    are removed */
	const struct val *gone;  /* the same, but only those from files that do not exist any more */
	struct apply_item *item;
	unsigned n;
	unsigned agents;                 /* number of agents among the items */
	const struct apply_item **by_id; /* sorted: schedules, then agents */
	unsigned *order;                 /* agents before schedules, leaders before their followers */
	unsigned read, leaders_found;    /* how many items these steps have done */
	unsigned sent, answered;         /* how many of `order`, and later how many of the removals */
	unsigned written; /* how many were written to the answer; all items are visited twice, for schedules,
			     then for agents */
	/* Removals: */
	unsigned place; /* index of the place in `prune`, then in `gone`, whose schedules are being read */
	struct read_sched last; /* the last schedule that was read from this place; id.p NULL: none yet */
	struct str last_agent;  /* the last agent of the previous page; agents are read in pages when all
				   places are done */
	struct apply_removal *removal;
	unsigned removals, removal_room;
	bool dry_run;
	enum err failed; /* the first error: nothing more is sent after it */
	struct why why;
};

enum { APPLY_TURN_US = 5000 };

/* The number of commands under way at a time: many, because the store writes them in one transaction, but not
 * too many, because other requests use the same queue of the engine. */
enum { APPLY_TOGETHER = 64 };

/* --- apply.c --- */
/* Copies a text into the call's arena. False: out of memory. */
bool apply_keep(struct api_call *call, struct str *s);
/* Keeps the first error, with a copy of call->why, which later answers overwrite. */
void apply_fail(struct api_call *call, struct apply_job *job, enum err e);
/* Sends the changes that may be sent now. Called again for each answer; after the last answer it calls
 * apply_find_removed. */
void apply_send(struct api_call *call);

/* --- order.c --- */
/* Fills by_id. E_INPUT: two items have the same id. */
must_check enum err apply_sort(struct api_call *call, struct apply_job *job);
/* The index of an item; -1: there is none. */
int apply_find(const struct apply_job *job, bool agent, struct str id);
/* Fills `order`. E_INPUT: a schedule follows itself. */
must_check enum err apply_order(struct api_call *call, struct apply_job *job);

/* --- read.c --- */
/* Reads document `i` into its item and compares it with the store. */
must_check enum err apply_read_document(struct api_call *call, struct apply_job *job, unsigned i);
/* Sets `leader` of an item. Leaders between the item and that leader may exist in the store only. E_INPUT:
 * the schedule to be followed does not exist. */
must_check enum err apply_find_leader(struct api_call *call, const struct apply_job *job,
				      struct apply_item *item);
/* Entry `i` of a list of files; empty: there is none. */
struct str apply_file(const struct val *list, int64_t i);
/* Whether `file` is `place`, or is directly in the directory `place`, which ends in a slash. */
bool apply_came_from(struct str file, struct str place);
/* E_CONFLICT: the item is defined in another file, which is not part of this request. */
must_check enum err apply_check_source(struct api_call *call, const struct apply_job *job,
				       const struct apply_item *item, const struct source_row *old);
/* Writes the differences between two canonical texts as JSON; the first may be empty. */
must_check enum err apply_describe_changes(struct api_call *call, struct api_call *scratch, struct str before,
					   struct str after, struct str *ret);

/* --- agents.c --- */
bool apply_is_agent(const struct val *document);
must_check enum err apply_read_agent(struct api_call *call, struct apply_job *job, unsigned i);
must_check enum err apply_send_agent(struct api_call *call, struct apply_job *job, struct apply_item *item);
must_check enum err apply_remove_agent(struct api_call *call, struct apply_job *job, struct apply_removal *m);
/* Adds removals of agents, one page at a time; *more: there is another page. */
must_check enum err apply_find_removed_agents(struct api_call *call, struct apply_job *job, bool *more);

/* --- removals.c --- */
/* Looks for schedules and agents to remove, one page at a time, then removes them; `arg` is the call. */
void apply_find_removed(void *arg);
must_check enum err apply_add_removal(struct api_call *call, struct apply_job *job, struct apply_removal m);
/* Sends the removals that may be sent now; called again for each answer. */
void apply_send_removals(struct api_call *call);

/* --- result.c --- */
/* Writes the answer, in turns, and finishes the call; `arg` is the call. */
void apply_answer(void *arg);
