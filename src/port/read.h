#pragma once
/* What people and the daemon ask of the store: questions as functions behind a table of operations, answers
 * as data. No SQL, no JSON, no engine types. Every store and the simulator's model answer
 * them; one conformance suite compares the answers.
 *
 * A reader belongs to an open store (store_ops.reader) and is used by one thread at a time. It never makes
 * the store's writer wait, but a question may wait for the store's disk: only threads that may wait ask.
 *
 * The promises:
 *  - An answer contains everything that was committed before the call, and shows one moment of the store. It
 *    is small and copied into the caller's arena. On failure only `why` is written; the caller resets the
 *    arena.
 *  - Lists have an order, a limit (at most READ_LIST_MAX; 0 means READ_LIST_MAX) and a cursor. `more`: there
 *    are further items; pass the last item as the cursor to read them.
 *  - A call that uses the processor for longer than READ_MS_MAX, or lasts longer than READ_WAIT_MS_MAX, fails
 *    with E_LIMIT, and the reader stays usable. The reason: a transaction that stays open keeps the store
 * from removing what it has replaced.
 *  - E_IO: the store cannot be read or is damaged. E_NOTFOUND: the named row does not exist.
 *
 * There is no query by tag. Tags are part of documents, whose form the store does not know, so no index can
 * hold them: finding one could mean reading a million documents, which is too much for one answer. To filter
 * by tag, read the list page by page and look into each document. */
#include "base/arena.h"
#include "port/store.h"

struct read_ops;

struct reader {
	const struct read_ops *ops;
	/* For callers that retry: a call that lasts too long fails with E_BUSY instead of E_LIMIT. Such
	 * callers try again after E_BUSY; E_LIMIT means a document that is too large, for which trying again
	 * is useless. */
	bool patient;
};

/* --- schedules --- */

struct read_sched {
	struct sched_row row;
	struct wall put_at;       /* `at` of its last ST_PUT */
	struct wall dropped;      /* WALL_NEVER: not removed */
	struct str id, document;  /* p NULL: none was ever given */
	struct source_row source; /* from.p NULL: none was ever given */
	struct str note;          /* of its pause; p NULL: none */
	bool open;                /* it has an open range, with these values: */
	struct range_row range;
};

/* Reads any schedule, also a removed one, because its document describes the runs that are still recorded. */
typedef must_check enum err read_sched_fn(struct reader *r, uint64_t sid, struct arena *a,
					  struct read_sched *ret, struct why *why);
/* The id of any schedule; empty: it has none. */
typedef must_check enum err read_id_fn(struct reader *r, uint64_t sid, struct arena *a, struct str *ret,
				       struct why *why);
/* The document that the schedule had at this rev. */
typedef must_check enum err read_document_of_fn(struct reader *r, uint64_t sid, uint32_t rev, struct arena *a,
						struct str *ret, struct why *why);
/* The document that was in force at this time: that of the oldest version that was replaced at or after it,
 * else the current one. */
typedef must_check enum err read_document_at_fn(struct reader *r, uint64_t sid, struct wall at,
						struct arena *a, struct str *ret, struct why *why);
/* The last removed schedule that had this id. */
typedef must_check enum err read_sched_removed_fn(struct reader *r, struct str id, struct arena *a,
						  struct read_sched *ret, struct why *why);

/* The schedules whose id is, or begins with, a given text. */
struct read_match {
	unsigned n;                         /* the number of ids; 1: `sched` is the schedule */
	bool more;                          /* there are more than n */
	struct str id[READ_CANDIDATES_MAX]; /* in order */
	struct read_sched sched;
};
/* Searches the schedules that are not removed. If one has exactly this id, it is the only match. E_NOTFOUND:
 * no id begins with the text. */
typedef must_check enum err read_sched_named_fn(struct reader *r, struct str text, struct arena *a,
						struct read_match *ret, struct why *why);

struct read_scheds {
	unsigned n;
	bool more;
	struct read_sched *item;
};
/* Schedules that have an id and are not removed, sorted by id, after `after` (empty: from the first on).
 * Fewer than `limit` if their documents exceed READ_BYTES_MAX. */
typedef must_check enum err read_scheds_fn(struct reader *r, struct str after, unsigned limit,
					   struct arena *a, struct read_scheds *ret, struct why *why);
/* The same, but only schedules whose pause has a note. */
typedef must_check enum err read_scheds_noted_fn(struct reader *r, struct str after, unsigned limit,
						 struct arena *a, struct read_scheds *ret, struct why *why);
/* The same, but only schedules whose source is `from` or, if `from` ends in '/' or in a blank, begins with
 * it: a file below `from`, or a run (SOURCE_BY_RUN). In order of (source, id), after `after` (NULL: from the
 * first on). */
typedef must_check enum err read_scheds_from_fn(struct reader *r, struct str from,
						const struct read_sched *after, unsigned limit,
						struct arena *a, struct read_scheds *ret, struct why *why);

/* --- agents --- */

struct read_agent {
	struct str name, text; /* text.p NULL: it was removed, or never existed */
	uint32_t rev;          /* 0: it never existed */
	struct wall at;        /* `at` of its last change */
	struct source_row source;
};
/* Reads an agent by its name. OK also if there is no such agent. */
typedef must_check enum err read_agent_fn(struct reader *r, struct str name, struct arena *a,
					  struct read_agent *ret, struct why *why);

struct read_agents {
	unsigned n;
	bool more;
	struct read_agent *item;
};
/* All agents that exist, sorted by name, after `after` (empty: from the first on). Fewer than `limit` if
 * their definitions exceed READ_BYTES_MAX. */
typedef must_check enum err read_agents_fn(struct reader *r, struct str after, unsigned limit,
					   struct arena *a, struct read_agents *ret, struct why *why);

/* The state of this key; no text and rev 0 if there is none. */
typedef must_check enum err read_state_fn(struct reader *r, struct str key, struct arena *a,
					  struct state_row *ret, struct why *why);

/* --- notes of agents --- */

struct read_memory {
	struct memory_row row;
	struct str schedule; /* the id of its run's schedule; p NULL: no run, or the run was pruned */
};

struct read_memories {
	unsigned n;
	bool more;
	struct read_memory *item;
};
typedef must_check enum err read_memory_fn(struct reader *r, uint64_t number, struct arena *a,
					   struct read_memory *ret, struct why *why);
/* The newest first: numbers below `before` (0: all), of one agent (empty: of all), of one run (0: of any). */
typedef must_check enum err read_memories_fn(struct reader *r, struct str agent, uint64_t run,
					     uint64_t before, unsigned limit, struct arena *a,
					     struct read_memories *ret, struct why *why);
/* Notes with words of `text` or other forms of them, the best match first: BM25, in which a rare word counts
 * more, and a word among the tags counts twice. Any text is accepted: no character in it is an operator, and
 * its first READ_QUERY_WORDS different words are searched. Notes that score less than `least` percent of the
 * best are left out. There is no cursor. */
typedef must_check enum err read_memories_about_fn(struct reader *r, struct str agent, struct str text,
						   unsigned least, unsigned limit, struct arena *a,
						   struct read_memories *ret, struct why *why);
/* Notes with words of `text`, or other English forms of them, the newest first. The cost does not grow with
 * the notes of other agents; a ranked search must look at those, too. */
typedef must_check enum err read_memories_with_fn(struct reader *r, struct str agent, struct str text,
						  unsigned limit, struct arena *a, struct read_memories *ret,
						  struct why *why);

/* --- runs --- */

typedef must_check enum err read_run_fn(struct reader *r, uint64_t run, struct run_row *ret, struct why *why);

/* The text of this kind about a run; empty if there is none. */
typedef must_check enum err read_run_text_fn(struct reader *r, uint64_t run, enum run_text_kind kind,
					     struct arena *a, struct str *ret, struct why *why);

/* Fields that are 0 restrict nothing. Without `sid`: the runs of all schedules, in the order in which they
 * were recorded, which is that of their numbers where numbers are given out in that order; `since` and
 * `until` refer to the time of recording. With `sid`: the runs of one schedule, in order of their nominal
 * times, to which `since` and `until` refer. */
struct read_filter {
	uint64_t sid;
	unsigned states;          /* bits, 1 << enum run_state */
	bool failed;              /* finished, with an outcome other than done and no_work */
	struct wall since, until; /* both are included */
	struct {
		struct wall nominal;
		uint64_t run;
	} before; /* the cursor: the last run of the previous page */
	unsigned limit;
};

struct read_runs {
	unsigned n;
	bool more;
	struct run_row *item;
};
/* The newest first. These queries are fast in a store of any size: by schedule, by time, failed runs, skipped
 * or missed runs, open runs. For other sets of states all runs are searched. */
typedef must_check enum err read_runs_fn(struct reader *r, const struct read_filter *f, struct arena *a,
					 struct read_runs *ret, struct why *why);

/* Ranges of skipped or missed times whose last time is within [since, until], the latest first; an open range
 * comes first. sid 0: of all schedules. */
struct read_ranges {
	unsigned n;
	bool more;
	struct range_row *item;
};
typedef must_check enum err read_ranges_fn(struct reader *r, uint64_t sid, struct wall since,
					   struct wall until, unsigned limit, struct arena *a,
					   struct read_ranges *ret, struct why *why);

/* Model calls that checks avoided. `ever`: the calls that schedule `sid` avoided (0: that all schedules
 * avoided). `lately`: the calls that all schedules avoided from `since` on; `since` must be the beginning of
 * a quarter of an hour. Pruned quarters count only in `ever`. */
struct read_avoided {
	uint64_t ever, lately;
};
typedef must_check enum err read_avoided_fn(struct reader *r, uint64_t sid, struct wall since,
					    struct read_avoided *ret, struct why *why);

/* The records about one nominal time of one schedule. */
struct read_why {
	bool has_run, has_range, has_before, has_after;
	struct run_row run;           /* the record of this time */
	struct range_row range;       /* covers this time; if several do, the one that begins last */
	struct run_row before, after; /* the nearest records, without manual runs */
};
typedef must_check enum err read_why_fn(struct reader *r, uint64_t sid, struct wall nominal,
					struct read_why *ret, struct why *why);

/* --- problems and holds --- */

typedef must_check enum err read_problem_fn(struct reader *r, uint64_t number, struct arena *a,
					    struct problem_row *ret, struct why *why);

struct read_problems {
	unsigned n;
	bool more;
	struct problem_row *item;
};
/* The newest first: numbers below `before` (0: all); open problems only, or all. */
typedef must_check enum err read_problems_fn(struct reader *r, bool all, uint64_t before, unsigned limit,
					     struct arena *a, struct read_problems *ret, struct why *why);

struct read_hold {
	struct hold_row row;
	struct str note; /* p NULL: none */
};

struct read_holds {
	unsigned n;
	bool more; /* there are more than READ_LIST_MAX */
	struct read_hold *item;
};
typedef must_check enum err read_holds_fn(struct reader *r, struct arena *a, struct read_holds *ret,
					  struct why *why);

/* --- news and messages --- */

struct read_news {
	unsigned n;
	bool more;
	struct news_row *item;
};
/* The oldest first. */
typedef must_check enum err read_news_fn(struct reader *r, unsigned limit, struct arena *a,
					 struct read_news *ret, struct why *why);

struct read_messages {
	unsigned n;
	bool more;
	struct message_row *item;
};
typedef must_check enum err read_message_fn(struct reader *r, uint64_t number, struct arena *a,
					    struct message_row *ret, struct why *why);
/* The messages about a run, in order of their numbers. */
typedef must_check enum err read_messages_of_fn(struct reader *r, uint64_t run, unsigned limit,
						struct arena *a, struct read_messages *ret, struct why *why);
/* The newest first: numbers below `before` (0: all). */
typedef must_check enum err read_messages_fn(struct reader *r, uint64_t before, unsigned limit,
					     struct arena *a, struct read_messages *ret, struct why *why);
struct receiver_list {
	const uint64_t *item;
	unsigned n;
};
/* Waiting messages whose next attempt is due no later than `by`, the longest due first, then by receiver and
 * number, except those to the receivers in `but`. */
typedef must_check enum err read_messages_due_fn(struct reader *r, struct wall by, struct receiver_list but,
						 unsigned limit, struct arena *a, struct read_messages *ret,
						 struct why *why);
/* When the first waiting message is due, with the same exception; WALL_NEVER: there is none. */
typedef must_check enum err read_message_next_fn(struct reader *r, struct receiver_list but, struct wall *ret,
						 struct why *why);
/* Whether there is a message of this schedule and kind with a larger number. */
typedef must_check enum err read_message_after_fn(struct reader *r, uint64_t sid, unsigned kind,
						  uint64_t number, bool *ret, struct why *why);
/* Whether the receiver named by `origin` has asked for no more messages. */
typedef must_check enum err read_receiver_gone_fn(struct reader *r, struct str origin, bool *ret,
						  struct why *why);

/* --- events --- */

struct event_filter {
	uint64_t after; /* only events with larger numbers */
	uint32_t types; /* bits, 1 << enum event_type; 0: all */
	uint64_t sid;   /* 0: of all schedules, and of none */
	unsigned limit;
};
static_assert(EVENT_TYPES <= 32, "the types fit the filter");

struct read_events {
	unsigned n;
	struct event_row *item; /* in the order of their numbers */
	/* The log was searched up to this number, which is `last` if there are no more events. One answer
	 * searches READ_EVENTS_SEARCH events at most: continue after this number. */
	uint64_t searched;
	/* The oldest event that is kept (last + 1 if none is), and the newest that was ever logged. Events
	 * between `after` and `oldest` were pruned. */
	uint64_t oldest, last;
};
typedef must_check enum err read_events_fn(struct reader *r, const struct event_filter *f, struct arena *a,
					   struct read_events *ret, struct why *why);

/* --- preparing an attempt --- */

struct attempt_request {
	uint64_t run, sid;
	uint32_t rev;     /* of the document */
	struct str agent; /* the agent whose definition, state and notes are read; empty: none */
	unsigned notes;   /* at most so many of its newest notes */
};

/* All that preparing an attempt of a run needs, except for notes that must be searched. */
struct read_attempt {
	struct str document; /* that the schedule had at this rev */
	struct run_row run;
	bool has_previous;
	struct run_row previous;    /* the schedule's latest finished run before this one */
	struct str result;          /* its RUN_TEXT_RESULT; empty: none */
	struct state_row user;      /* the user's state */
	struct state_row state;     /* of the agent */
	struct read_agent agent;    /* as read_agent returns it */
	unsigned agents;            /* how many agents exist: 0, 1, or 2 for several */
	bool has_notes;             /* notes were asked for */
	struct read_memories notes; /* of the agent, the newest first */
};
/* E_NOTFOUND: there is no such document or run. */
typedef must_check enum err read_attempt_fn(struct reader *r, const struct attempt_request *q,
					    struct arena *a, struct read_attempt *ret, struct why *why);

/* --- old records --- */

/* A record for which ST_PRUNE may be worth requesting. Whether it may be removed is decided by ST_PRUNE. */
struct old_item {
	uint64_t at;  /* its place in the scan; for runs, problems and events, their number */
	uint64_t sid; /* for ranges, versions and schedules */
	uint32_t rev; /* for versions */
	bool old;     /* it was finished, closed or replaced no later than `by` */
	bool young;   /* it was recorded after `by`; most likely all following items were, too */
};

/* Items in the order in which they were recorded, after the place `after` (0: from the first on), at most
 * `max`; their count in *n. */
typedef must_check enum err read_old_fn(struct reader *r, enum prune_what what, uint64_t after,
					struct wall by, struct old_item *ret, unsigned max, unsigned *n,
					struct why *why);

/* Whether the files of a run may be removed. */
struct old_run {
	bool known;  /* false: it was pruned, or never recorded */
	bool over;   /* finished, skipped or missed */
	bool latest; /* its schedule, which is not removed or has an open run, has no later end: the next run
			gets its result */
	struct wall at; /* when it finished, or was skipped or missed */
};
typedef must_check enum err read_old_run_fn(struct reader *r, uint64_t run, struct old_run *ret,
					    struct why *why);

/* --- the table --- */

struct read_ops {
	void (*close)(struct reader *r);
	read_sched_fn *sched;
	read_id_fn *id;
	read_document_of_fn *document_of;
	read_document_at_fn *document_at;
	read_sched_removed_fn *sched_removed;
	read_sched_named_fn *sched_named;
	read_scheds_fn *scheds;
	read_scheds_noted_fn *scheds_noted;
	read_scheds_from_fn *scheds_from;
	read_agent_fn *agent;
	read_agents_fn *agents;
	read_state_fn *state;
	read_memory_fn *memory;
	read_memories_fn *memories;
	read_memories_about_fn *memories_about;
	read_memories_with_fn *memories_with;
	read_run_fn *run;
	read_run_text_fn *run_text;
	read_runs_fn *runs;
	read_ranges_fn *ranges;
	read_avoided_fn *avoided;
	read_why_fn *why;
	read_problem_fn *problem;
	read_problems_fn *problems;
	read_holds_fn *holds;
	read_news_fn *news;
	read_message_fn *message;
	read_messages_of_fn *messages_of;
	read_messages_fn *messages;
	read_messages_due_fn *messages_due;
	read_message_next_fn *message_next;
	read_message_after_fn *message_after;
	read_receiver_gone_fn *receiver_gone;
	read_events_fn *events;
	read_attempt_fn *attempt;
	read_old_fn *old;
	read_old_run_fn *old_run;
};

/* Asks the store that the reader belongs to; as the function type of the same name. */
#define read_sched(r, ...)          ((r)->ops->sched((r), __VA_ARGS__))
#define read_id(r, ...)             ((r)->ops->id((r), __VA_ARGS__))
#define read_document_of(r, ...)    ((r)->ops->document_of((r), __VA_ARGS__))
#define read_document_at(r, ...)    ((r)->ops->document_at((r), __VA_ARGS__))
#define read_sched_removed(r, ...)  ((r)->ops->sched_removed((r), __VA_ARGS__))
#define read_sched_named(r, ...)    ((r)->ops->sched_named((r), __VA_ARGS__))
#define read_scheds(r, ...)         ((r)->ops->scheds((r), __VA_ARGS__))
#define read_scheds_noted(r, ...)   ((r)->ops->scheds_noted((r), __VA_ARGS__))
#define read_scheds_from(r, ...)    ((r)->ops->scheds_from((r), __VA_ARGS__))
#define read_agent(r, ...)          ((r)->ops->agent((r), __VA_ARGS__))
#define read_agents(r, ...)         ((r)->ops->agents((r), __VA_ARGS__))
#define read_state(r, ...)          ((r)->ops->state((r), __VA_ARGS__))
#define read_memory(r, ...)         ((r)->ops->memory((r), __VA_ARGS__))
#define read_memories(r, ...)       ((r)->ops->memories((r), __VA_ARGS__))
#define read_memories_about(r, ...) ((r)->ops->memories_about((r), __VA_ARGS__))
#define read_memories_with(r, ...)  ((r)->ops->memories_with((r), __VA_ARGS__))
#define read_run(r, ...)            ((r)->ops->run((r), __VA_ARGS__))
#define read_run_text(r, ...)       ((r)->ops->run_text((r), __VA_ARGS__))
#define read_runs(r, ...)           ((r)->ops->runs((r), __VA_ARGS__))
#define read_ranges(r, ...)         ((r)->ops->ranges((r), __VA_ARGS__))
#define read_avoided(r, ...)        ((r)->ops->avoided((r), __VA_ARGS__))
#define read_why(r, ...)            ((r)->ops->why((r), __VA_ARGS__))
#define read_problem(r, ...)        ((r)->ops->problem((r), __VA_ARGS__))
#define read_problems(r, ...)       ((r)->ops->problems((r), __VA_ARGS__))
#define read_holds(r, ...)          ((r)->ops->holds((r), __VA_ARGS__))
#define read_news(r, ...)           ((r)->ops->news((r), __VA_ARGS__))
#define read_message(r, ...)        ((r)->ops->message((r), __VA_ARGS__))
#define read_messages_of(r, ...)    ((r)->ops->messages_of((r), __VA_ARGS__))
#define read_messages(r, ...)       ((r)->ops->messages((r), __VA_ARGS__))
#define read_messages_due(r, ...)   ((r)->ops->messages_due((r), __VA_ARGS__))
#define read_message_next(r, ...)   ((r)->ops->message_next((r), __VA_ARGS__))
#define read_message_after(r, ...)  ((r)->ops->message_after((r), __VA_ARGS__))
#define read_receiver_gone(r, ...)  ((r)->ops->receiver_gone((r), __VA_ARGS__))
#define read_events(r, ...)         ((r)->ops->events((r), __VA_ARGS__))
#define read_attempt(r, ...)        ((r)->ops->attempt((r), __VA_ARGS__))
#define read_old(r, ...)            ((r)->ops->old((r), __VA_ARGS__))
#define read_old_run(r, ...)        ((r)->ops->old_run((r), __VA_ARGS__))

/* Close it before its store. NULL is fine. */
static inline void reader_close(struct reader *r)
{
	if (r)
		r->ops->close(r);
}
