#pragma once
/* Reads the store for people, on a read-only connection. A reader is used by one thread at a time and never
 * makes the store's writer wait. Its answers contain everything that was committed before the call.
 *
 * The promises:
 *  - An answer shows one moment of the store. It is small and copied into the caller's arena. On failure only
 * `why` is written; the caller resets the arena.
 *  - Lists have an order, a limit (at most READ_LIST_MAX; 0 means READ_LIST_MAX) and a cursor. `more`: there
 *    are further items; pass the last item as the cursor to read them.
 *  - A call that uses the processor for longer than READ_MS_MAX, or lasts longer than READ_WAIT_MS_MAX, fails
 *    with E_LIMIT, and the reader stays usable. The reason: a transaction that stays open keeps the log from
 *    being truncated.
 *  - E_IO: the file cannot be read or is damaged. E_NOTFOUND: the named row does not exist.
 *
 * There is no query by tag. Tags are part of documents, whose form the store does not know, so no index can
 * hold them: finding one could mean reading a million documents, which is too much for one answer. To filter
 * by tag, read the list page by page and look into each document. */
#include "base/arena.h"
#include "port/store.h"

struct reader;

/* The store must be open, and stay open until the reader is closed. E_INPUT: the file is no database of rota,
 * or has another version than this program; opening the store migrates it. */
must_check enum err reader_open(const char *path, struct reader **ret, struct why *why);
void reader_close(struct reader *r); /* NULL is fine */
/* For callers that retry: from now on a call that lasts too long fails with E_BUSY instead of E_LIMIT. Such
 * callers try again after E_BUSY; E_LIMIT means a document that is too large, for which trying again is
 * useless. */
void reader_be_patient(struct reader *r);

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
must_check enum err read_sched(struct reader *r, uint64_t sid, struct arena *a, struct read_sched *ret,
			       struct why *why);
/* The id of any schedule; empty: it has none. */
must_check enum err read_id(struct reader *r, uint64_t sid, struct arena *a, struct str *ret,
			    struct why *why);
/* The document that the schedule had at this rev. */
must_check enum err read_document_of(struct reader *r, uint64_t sid, uint32_t rev, struct arena *a,
				     struct str *ret, struct why *why);
/* The last removed schedule that had this id. */
must_check enum err read_sched_removed(struct reader *r, struct str id, struct arena *a,
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
must_check enum err read_sched_named(struct reader *r, struct str text, struct arena *a,
				     struct read_match *ret, struct why *why);

struct read_scheds {
	unsigned n;
	bool more;
	struct read_sched *item;
};
/* Schedules that have an id and are not removed, sorted by id, after `after` (empty: from the first on).
 * Fewer than `limit` if their documents exceed READ_BYTES_MAX. */
must_check enum err read_scheds(struct reader *r, struct str after, unsigned limit, struct arena *a,
				struct read_scheds *ret, struct why *why);
/* The same, but only schedules whose pause has a note. */
must_check enum err read_scheds_noted(struct reader *r, struct str after, unsigned limit, struct arena *a,
				      struct read_scheds *ret, struct why *why);
/* The same, but only schedules whose source is `from`, or a file below `from` if `from` ends in '/'. In order
 * of (source, id), after `after` (NULL: from the first on). */
must_check enum err read_scheds_from(struct reader *r, struct str from, const struct read_sched *after,
				     unsigned limit, struct arena *a, struct read_scheds *ret,
				     struct why *why);

/* --- agents --- */

struct read_agent {
	struct str name, text; /* text.p NULL: it was removed, or never existed */
	uint32_t rev;          /* 0: it never existed */
	struct wall at;        /* `at` of its last change */
	struct source_row source;
};
/* Reads an agent by its name. OK also if there is no such agent. */
must_check enum err read_agent(struct reader *r, struct str name, struct arena *a, struct read_agent *ret,
			       struct why *why);

struct read_agents {
	unsigned n;
	bool more;
	struct read_agent *item;
};
/* All agents that exist, sorted by name, after `after` (empty: from the first on). Fewer than `limit` if
 * their definitions exceed READ_BYTES_MAX. */
must_check enum err read_agents(struct reader *r, struct str after, unsigned limit, struct arena *a,
				struct read_agents *ret, struct why *why);

/* The state of this key; no text and rev 0 if there is none. */
must_check enum err read_state(struct reader *r, struct str key, struct arena *a, struct state_row *ret,
			       struct why *why);

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
must_check enum err read_memory(struct reader *r, uint64_t number, struct arena *a, struct read_memory *ret,
				struct why *why);
/* The newest first: numbers below `before` (0: all), of one agent (empty: of all), of one run (0: of any). */
must_check enum err read_memories(struct reader *r, struct str agent, uint64_t run, uint64_t before,
				  unsigned limit, struct arena *a, struct read_memories *ret,
				  struct why *why);
/* Notes with words of `text` or other forms of them, the best match first: BM25, in which a rare word counts
 * more, and a word among the tags counts twice. Any text is accepted: no character in it is an operator, and
 * its first READ_QUERY_WORDS different words are searched. Notes that score less than `least` percent of the
 * best are left out. There is no cursor. */
must_check enum err read_memories_about(struct reader *r, struct str agent, struct str text, unsigned least,
					unsigned limit, struct arena *a, struct read_memories *ret,
					struct why *why);
/* Notes with words of `text`, or other English forms of them, the newest first. The cost does not grow with
 * the notes of other agents; a ranked search must look at those, too. */
must_check enum err read_memories_with(struct reader *r, struct str agent, struct str text, unsigned limit,
				       struct arena *a, struct read_memories *ret, struct why *why);

/* --- runs --- */

must_check enum err read_run(struct reader *r, uint64_t run, struct run_row *ret, struct why *why);

/* The text of this kind about a run; empty if there is none. */
must_check enum err read_run_text(struct reader *r, uint64_t run, enum run_text_kind kind, struct arena *a,
				  struct str *ret, struct why *why);

/* Fields that are 0 restrict nothing. Without `sid`: the runs of all schedules, in order of their numbers;
 * `since` and `until` refer to the time of recording. With `sid`: the runs of one schedule, in order of their
 * nominal times, to which `since` and `until` refer. */
struct read_filter {
	uint64_t sid;
	unsigned states;          /* bits, 1 << enum run_state */
	bool failed;              /* finished, with an outcome other than done and no_work */
	struct wall since, until; /* both are included */
	struct {
		struct wall nominal;
		uint64_t run;
	} before; /* the cursor: the last run of the page before */
	unsigned limit;
};

struct read_runs {
	unsigned n;
	bool more;
	struct run_row *item;
};
/* The newest first. These queries are fast in a store of any size: by schedule, by time, failed runs, skipped
 * or missed runs, open runs. For other sets of states all runs are searched. */
must_check enum err read_runs(struct reader *r, const struct read_filter *f, struct arena *a,
			      struct read_runs *ret, struct why *why);

/* Model calls that checks avoided. `ever`: the calls that schedule `sid` avoided (0: that all schedules
 * avoided). `lately`: the calls that all schedules avoided from `since` on; `since` must be the beginning of
 * a quarter of an hour. Pruned quarters count only in `ever`. */
struct read_avoided {
	uint64_t ever, lately;
};
must_check enum err read_avoided(struct reader *r, uint64_t sid, struct wall since, struct read_avoided *ret,
				 struct why *why);

/* The records about one nominal time of one schedule. */
struct read_why {
	bool has_run, has_range, has_before, has_after;
	struct run_row run;           /* the record of this time */
	struct range_row range;       /* covers this time; if several do, the one that begins last */
	struct run_row before, after; /* the nearest records, without manual runs */
};
must_check enum err read_why(struct reader *r, uint64_t sid, struct wall nominal, struct read_why *ret,
			     struct why *why);

/* --- problems and holds --- */

must_check enum err read_problem(struct reader *r, uint64_t number, struct arena *a, struct problem_row *ret,
				 struct why *why);

struct read_problems {
	unsigned n;
	bool more;
	struct problem_row *item;
};
/* The newest first: numbers below `before` (0: all); open problems only, or all. */
must_check enum err read_problems(struct reader *r, bool all, uint64_t before, unsigned limit,
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
must_check enum err read_holds(struct reader *r, struct arena *a, struct read_holds *ret, struct why *why);

/* --- news and messages --- */

struct read_news {
	unsigned n;
	bool more;
	struct news_row *item;
};
/* The oldest first. */
must_check enum err read_news(struct reader *r, unsigned limit, struct arena *a, struct read_news *ret,
			      struct why *why);

struct read_messages {
	unsigned n;
	bool more;
	struct message_row *item;
};
must_check enum err read_message(struct reader *r, uint64_t number, struct arena *a, struct message_row *ret,
				 struct why *why);
/* The messages about a run, in order of their numbers. */
must_check enum err read_messages_of(struct reader *r, uint64_t run, unsigned limit, struct arena *a,
				     struct read_messages *ret, struct why *why);
/* The newest first: numbers below `before` (0: all). */
must_check enum err read_messages(struct reader *r, uint64_t before, unsigned limit, struct arena *a,
				  struct read_messages *ret, struct why *why);
/* Waiting messages whose next attempt is due no later than `by`, the longest due first, except those to the
 * receivers in `but`, a JSON list of numbers. */
must_check enum err read_messages_due(struct reader *r, struct wall by, struct str but, unsigned limit,
				      struct arena *a, struct read_messages *ret, struct why *why);
/* When the first waiting message is due, with the same exception; WALL_NEVER: there is none. */
must_check enum err read_message_next(struct reader *r, struct str but, struct wall *ret, struct why *why);
/* Whether there is a message of this schedule and kind with a larger number. */
must_check enum err read_message_after(struct reader *r, uint64_t sid, unsigned kind, uint64_t number,
				       bool *ret, struct why *why);
/* Whether the receiver named by `origin` has asked for no more messages. */
must_check enum err read_receiver_gone(struct reader *r, struct str origin, bool *ret, struct why *why);
