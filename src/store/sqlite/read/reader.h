#pragma once
/* What people may ask of a store, on a read-only connection of its own: of any one thread at a time, while
 * the store's writer writes, which it never keeps waiting. What it tells is what was committed when it was
 * asked.
 *
 * The promises:
 *  - An answer is of one moment, small, and copied into the caller's arena; on failure nothing is written but
 * `why`, and what the arena took is the caller's to reset.
 *  - Lists have an order, a limit and a cursor; READ_LIST_MAX is the most there is at a time. `more`: the
 * last item is the cursor of what follows.
 *  - None works longer than READ_MS_MAX, nor lasts longer than READ_WAIT_MS_MAX: E_LIMIT then, and the
 * connection is as good as before. A transaction that stays open would keep the log from being cut.
 *  - E_IO: the file cannot be read, or is damaged. E_NOTFOUND: asked for by name, and not there.
 *
 * Tags are not asked for here. They stand in documents, of whose form the store knows nothing, and no index
 * can have them: finding one may mean reading a million documents, which is more than an answer may take. Who
 * filters by tag asks for one page of the list after the other, each an answer of its own, and looks inside.
 */
#include "base/arena.h"
#include "port/store.h"

struct reader;

/* The store has been opened before, and is closed after. E_INPUT: not a database of rota's, or not of this
 * version: opening the store brings it there. */
must_check enum err reader_open(const char *path, struct reader **ret, struct why *why);
void reader_close(struct reader *r); /* NULL is fine */
/* For who will ask again, and has nobody to be told to ask for less: what lasts too long is E_BUSY from now
 * on, so that it is not taken for a fault of what is read. */
void reader_be_patient(struct reader *r);

/* --- schedules --- */

struct read_sched {
	struct sched_row row;
	struct wall put_at;       /* when its last change was decided */
	struct wall dropped;      /* WALL_NEVER: it lives */
	struct str id, document;  /* p NULL: none was ever given */
	struct source_row source; /* from.p NULL: as if it were empty */
	struct str note;          /* of its pause; p NULL: none */
	bool open;                /* it has an open range … */
	struct range_row range;   /* … this one */
};

/* Any, the removed ones included: their runs are still told of by their document. */
must_check enum err read_sched(struct reader *r, uint64_t sid, struct arena *a, struct read_sched *ret,
			       struct why *why);
/* The id alone of any; empty: it has none. */
must_check enum err read_id(struct reader *r, uint64_t sid, struct arena *a, struct str *ret,
			    struct why *why);
/* The document as it was at this rev. */
must_check enum err read_document_of(struct reader *r, uint64_t sid, uint32_t rev, struct arena *a,
				     struct str *ret, struct why *why);
/* The one that was removed last of those that had this id. */
must_check enum err read_sched_removed(struct reader *r, struct str id, struct arena *a,
				       struct read_sched *ret, struct why *why);

/* As people type it: an id, or the beginning of one. */
struct read_match {
	unsigned
		n; /* 1: it is `sched`. More: none of them is meant more than the others; the first of them */
	bool more; /* there are even more than n */
	struct str id[READ_CANDIDATES_MAX];
	struct read_sched sched;
};
/* Of the living. An exact id is that one, whatever else begins with it. E_NOTFOUND: none begins so. */
must_check enum err read_sched_named(struct reader *r, struct str text, struct arena *a,
				     struct read_match *ret, struct why *why);

struct read_scheds {
	unsigned n;
	bool more;
	struct read_sched *item;
};
/* The living ones that have an id, by id, after `after` (empty: from the first on). Fewer than `limit` where
 * their documents become too much, READ_BYTES_MAX. */
must_check enum err read_scheds(struct reader *r, struct str after, unsigned limit, struct arena *a,
				struct read_scheds *ret, struct why *why);

/* The same of those whose pause has a note. */
must_check enum err read_scheds_noted(struct reader *r, struct str after, unsigned limit, struct arena *a,
				      struct read_scheds *ret, struct why *why);
/* The same, of those whose source is `from`, or a file below it if it ends in '/': a page by (source, id),
 * after this one (empty: from the first on). */
must_check enum err read_scheds_from(struct reader *r, struct str from, const struct read_sched *after,
				     unsigned limit, struct arena *a, struct read_scheds *ret,
				     struct why *why);

/* --- what agents know --- */

/* Of this key; no text and rev 0 where there is none. */
must_check enum err read_state(struct reader *r, struct str key, struct arena *a, struct state_row *ret,
			       struct why *why);

struct read_memory {
	struct memory_row row;
	struct str schedule; /* the id of its run's; p NULL: a person's, or its run is gone */
};

struct read_memories {
	unsigned n;
	bool more;
	struct read_memory *item;
};
must_check enum err read_memory(struct reader *r, uint64_t number, struct arena *a, struct read_memory *ret,
				struct why *why);
/* The newest first: those with a number below `before` (0: all), of one agent (empty: of all), of one
 * run (0: of any). */
must_check enum err read_memories(struct reader *r, struct str agent, uint64_t run, uint64_t before,
				  unsigned limit, struct arena *a, struct read_memories *ret,
				  struct why *why);
/* Those in which words of `text` stand, or other forms of them, the best first: BM25, where a word that few
 * notes have counts more, and one among the tags twice. Any text will do: nothing in it is taken for an
 * operator, and of its different words the first READ_QUERY_WORDS are looked for. `least`: those that score
 * less than so many percent of the best are left out. There is no cursor. */
must_check enum err read_memories_about(struct reader *r, struct str agent, struct str text, unsigned least,
					unsigned limit, struct arena *a, struct read_memories *ret,
					struct why *why);
/* Those in which words of `text` stand as they are, or in another form of English, the newest first. Costs
 * next to nothing, however many notes of others there are: ranking must look at those, too. */
must_check enum err read_memories_with(struct reader *r, struct str agent, struct str text, unsigned limit,
				       struct arena *a, struct read_memories *ret, struct why *why);

/* --- agents --- */

struct read_agent {
	struct str name, text; /* p NULL: it has gone, or never was */
	uint32_t rev;          /* 0: it never was */
	struct wall at;        /* when that was decided */
	struct source_row source;
};
/* By its name. One that is not there is no error. */
must_check enum err read_agent(struct reader *r, struct str name, struct arena *a, struct read_agent *ret,
			       struct why *why);

struct read_agents {
	unsigned n;
	bool more;
	struct read_agent *item;
};
/* All that are there, by name, after `after` (empty: from the first on). Fewer than `limit` where their
 * definitions become too much, READ_BYTES_MAX. */
must_check enum err read_agents(struct reader *r, struct str after, unsigned limit, struct arena *a,
				struct read_agents *ret, struct why *why);
/* --- what checks saved --- */

/* Model calls avoided: of this schedule (0: of all) ever, and of all from `since` on, a time at which a
 * quarter of an hour begins. What is old enough to be pruned is in the first alone. */
struct read_avoided {
	uint64_t ever, lately;
};
must_check enum err read_avoided(struct reader *r, uint64_t sid, struct wall since, struct read_avoided *ret,
				 struct why *why);

/* --- runs --- */

must_check enum err read_run(struct reader *r, uint64_t run, struct run_row *ret, struct why *why);

/* What is said of a run; no text where nothing is. */
must_check enum err read_words(struct reader *r, uint64_t run, enum run_text_kind kind, struct arena *a,
			       struct str *ret, struct why *why);

/* What is 0 restricts nothing. The runs of all schedules stand in the order of their numbers, and `since` and
 * `until` ask when they were recorded; those of one schedule (sid) stand in that of their nominal times, and
 * the two ask for these. */
struct read_filter {
	uint64_t sid;
	unsigned states;          /* bits, 1 << enum run_state */
	bool failed;              /* finished, with an outcome other than done and no_work */
	struct wall since, until; /* both are included */
	struct {
		struct wall nominal;
		uint64_t run;
	} before; /* the cursor: the last one told */
	unsigned limit;
};

struct read_runs {
	unsigned n;
	bool more;
	struct run_row *item;
};
/* The newest first. Cheap whatever there is: by schedule, by time, the failed ones, those skipped or missed,
 * open ones. Other sets of states are looked for among all. */
must_check enum err read_runs(struct reader *r, const struct read_filter *f, struct arena *a,
			      struct read_runs *ret, struct why *why);

/* How the runs from `since` on, as above, came out; `sid` 0: all schedules. Counts the newest READ_COUNT_MAX,
 * `more` if there are others. Ranges are not counted: nobody knows how many occurrences they hold but the
 * rules. */
struct read_counts {
	uint32_t state[RUN_STATES];
	uint32_t outcome[READ_OUTCOMES]; /* of the finished; those beyond are counted as the last */
	bool more;
};
must_check enum err read_counts(struct reader *r, uint64_t sid, struct wall since, struct read_counts *ret,
				struct why *why);

/* --- why --- */

/* What is on record about one nominal time of one schedule. */
struct read_why {
	bool has_run, has_range, has_before, has_after;
	struct run_row run;           /* its own record */
	struct range_row range;       /* that covers it; of several the one that begins last */
	struct run_row before, after; /* the nearest records; manual runs are no occurrences */
};
must_check enum err read_why(struct reader *r, uint64_t sid, struct wall nominal, struct read_why *ret,
			     struct why *why);

/* --- holds and problems --- */

struct read_hold {
	struct hold_row row;
	struct str note; /* p NULL: none */
};

struct read_holds {
	unsigned n;
	bool more; /* than READ_LIST_MAX */
	struct read_hold *item;
};
must_check enum err read_holds(struct reader *r, struct arena *a, struct read_holds *ret, struct why *why);

/* --- news and notices --- */

struct read_news {
	unsigned n;
	bool more;
	struct news_row *item;
};
/* The oldest first. */
must_check enum err read_news(struct reader *r, unsigned limit, struct arena *a, struct read_news *ret,
			      struct why *why);

struct read_notices {
	unsigned n;
	bool more;
	struct message_row *item;
};
must_check enum err read_notice(struct reader *r, uint64_t number, struct arena *a, struct message_row *ret,
				struct why *why);
/* Of a run, in the order in which they were put. */
must_check enum err read_notices_of(struct reader *r, uint64_t run, unsigned limit, struct arena *a,
				    struct read_notices *ret, struct why *why);
/* The newest first: those with a number below `before` (0: all). */
must_check enum err read_notices(struct reader *r, uint64_t before, unsigned limit, struct arena *a,
				 struct read_notices *ret, struct why *why);
/* Those that wait and are to be tried by then, the longest waiting first, but for the lines in `but`, a JSON
 * list of numbers. */
must_check enum err read_notices_due(struct reader *r, struct wall by, struct str but, unsigned limit,
				     struct arena *a, struct read_notices *ret, struct why *why);
/* When the first of those is to be tried; WALL_NEVER: there is none. */
must_check enum err read_notice_next(struct reader *r, struct str but, struct wall *ret, struct why *why);
/* Is there one of this schedule and kind after that number? */
must_check enum err read_notice_after(struct reader *r, uint64_t sid, unsigned kind, uint64_t number,
				      bool *ret, struct why *why);
/* Has this receiver, as named by `origin`, asked for no more? */
must_check enum err read_receiver_gone(struct reader *r, struct str origin, bool *ret, struct why *why);

must_check enum err read_problem(struct reader *r, uint64_t number, struct arena *a, struct problem_row *ret,
				 struct why *why);

struct read_problems {
	unsigned n;
	bool more;
	struct problem_row *item;
};
/* The newest first: those with a number below `before` (0: all); the open ones, or all of them. */
must_check enum err read_problems(struct reader *r, bool all, uint64_t before, unsigned limit,
				  struct arena *a, struct read_problems *ret, struct why *why);
