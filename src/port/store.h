#pragma once
/* What may be asked of the store, as data: no SQL, no JSON, no callbacks, no engine types. Three things
 * answer it (the SQLite store, the simulator's, later PostgreSQL), and one conformance suite runs on all of
 * them.
 *
 * The promises:
 *  - One answer per request tag. An outage means no answer yet: the adapter tries the same request again.
 *  - A request may be carried out twice, and is then answered the second time as the first: run numbers,
 * (sid, rev) and (run, attempt) make each of them idempotent. "Already mine" is ST_OK.
 *  - A request is one transaction: all of it, or nothing. What was answered ST_OK survives kill -9 and power
 * loss.
 *  - Whatever changes a schedule names the rev it was decided by. Another rev in the store: ST_STALE, nothing
 * changed, the row attached. Every answer that concerns a schedule carries its row as it is after the
 * request.
 *  - Answers come in the order in which the requests were carried out.
 *  - Requests of one schedule are carried out in the order of submission within their lane; lanes may
 * overtake. */
#include "base/err.h"
#include "base/time.h"

#define WALL_NEVER ((struct wall){ INT64_MAX })

enum { STORE_RULES = 152 }; /* bytes of compiled rules, of whose contents the store knows nothing */

/* What each of them does. "Mine": the same request was carried out before; it is answered ST_OK and changes
 * nothing. */
enum st_op {
	/* A schedule. rev 0: a new sid, inserted with rev 1. Else rev must be the store's, which becomes rev
	 * + 1, and all of `row` is taken over but sid, rev and kept; with keep_next also next, high, left,
	 * failures, owed, owed_since, seen and next_set_at stay. close_range: the open range of this sid ends
	 * at `at`, or goes if it begins later. Mine: rev + 1 stands in the store and was put at the same
	 * `at`. ends_known: ST_STALE, too, if the schedule that it follows has an end beyond row.seen.
	 * ST_REFUSED, after all else was judged: a living schedule of another sid has this id. That of a
	 * removed one is free. Also ST_REFUSED: a new sid no larger than one that was pruned. */
	ST_PUT,
	/* A removed schedule: its row stays as a tombstone (high and kept included), is loaded no more, and
	 * refuses everything but this, VERDICT, STARTED and FINISH of its open runs, and what is mine of PUT
	 * and OCC; a RANGE even where another covers it. Its sid is never used again. */
	ST_DROP,
	/* Records an occurrence: `run` as it is. Unique are `run.run` and, for all kinds but KIND_MANUAL,
	 * (sid, nominal). Mine: run.run is there. Then, in this order: no such schedule: ST_REFUSED; rev:
	 * ST_STALE; moves and nominal at or below high or kept (for a follower: move.seen at or below seen):
	 * ST_STALE; no follower, not KIND_MANUAL and nominal at or below kept: ST_LOST, for what was there
	 * may have been pruned; (sid, nominal) there: ST_LOST with the record, unless the new one is
	 * KIND_BACKFILL and the old one skipped or missed: then the record becomes the new run, `was` telling
	 * what it had been.
	 * With `moves` the schedule's row takes over `move`. With RUN_FINISHED it is an end, numbered as
	 * below; failures stay. */
	ST_OCC,
	/* One record for every nominal time in [first, last], with `moves` as above. A record of the same
	 * state and reason that ends at the schedule's old high is prolonged instead. Open ranges (last
	 * WALL_NEVER) are never prolonged, and a schedule has at most one. Mine: such a range covers [first,
	 * last] already. rev: ST_STALE. */
	ST_RANGE,
	/* After a step back of the clock to `at`: records of this schedule that are skipped or missed and lie
	 * after it go (ranges that reach beyond are cut; an open one stays, and begins at move.next if it
	 * began later), high becomes kept, next becomes move.next. What came of an end stays, for ends do not
	 * come again: KIND_AFTER, and a follower's KIND_CATCH_UP. `changed` becomes `at` if it lies after it.
	 * rev: ST_STALE. */
	ST_WITHDRAW,
	/* A run that is pending, or claimed with attempt 0, becomes run.state (claimed, skipped, missed) with
	 * run.reason. Mine: it is that already. Else ST_LOST. */
	ST_VERDICT,
	/* Advisory: run.attempt was seen alive at run.started. Takes both over and makes the run claimed, if
	 * it is claimed or retrying with a smaller attempt or the same; otherwise changes nothing. ST_OK if
	 * there is such a run. */
	ST_STARTED,
	/* Attempt run.attempt has ended: state, outcome, reason, limited, ended, retry_at, cost, tokens
	 * and exit_code are taken over; with RUN_FINISHED the schedule's failures become `failures`, and the
	 * run is given the next number of an end, `end`: one larger than all before, in all of the store.
	 * With `avoided` the counts of avoided_row grow by one: of all, of the schedule, of the quarter of an
	 * hour of run.ended. Mine: the same attempt has that same end. ST_LOST: the run is finished already,
	 * by another end. */
	ST_FINISH,
	/* An account or an agent is held until a time, or free again (reason 0: the row goes, with its note).
	 */
	ST_HOLD,
	/* What needs a person, one per cause; see enum problem_act and struct problem_change. Carried by
	 * LANE_FINISH or LANE_USER. The answer has its number and its count, whatever it is but ST_REFUSED.
	 */
	ST_PROBLEM,
	/* A number that rules use for a name: kept for ever. Mine: that name has it already. ST_LOST: it is
	 * another's. Requests of one lane are carried out in their order, so that a name that is asked for
	 * before the schedule whose rules hold its number is there before it. */
	ST_NAME,
	/* Where a schedule came from is now said to be `source`; its rev stays. No such living schedule:
	 * ST_REFUSED. */
	ST_SOURCE,
	/* What an agent knows, one text for each key: state.text becomes that of state.key, if state.rev is
	 * the one that stands (0: there is none yet), which grows by one. Mine: state.rev + 1 stands and was
	 * put at the same `at`. Another: ST_STALE. The answer's count is the rev that stands. Carried by
	 * LANE_USER. */
	ST_STATE,
	/* Notes of an agent, for itself; see enum memory_act and struct memory_change. They stay when the run
	 * that wrote them is pruned. Carried by LANE_USER. */
	ST_MEMORY,
	/* An agent's definition, by its name; see enum agent_act. agent.rev is the one that stands (0: there
	 * never was one), or else ST_STALE. Mine, of what makes rev grow: agent.rev + 1 stands and was put at
	 * the same `at`. The answer's count is the rev that stands. Carried by LANE_USER. */
	ST_AGENT,
	/* What is said of a run in words: words.text is now that of (words.run, words.kind); an empty one
	 * goes. ST_REFUSED: there is no such run. */
	ST_RUN_TEXT,
	/* News become notices: all of tell.notice are put, and all news up to number tell.upto go, in one
	 * transaction. Each notice gets the next number, which is never given again; those that are `joined`
	 * have that of the last before them that is not. Mine: there are no such news any more; with upto 0,
	 * for what nobody heard of from here: the latest notice was put at this `at`. ST_REFUSED: a text that
	 * is too long, too many of them, a joined one without one before it. Carried by LANE_FINISH. */
	ST_MESSAGES,
	/* How an attempt to deliver the notice tried.number ended: state, attempts, next and said are taken
	 * over. attempts is one more than that of the row, or the same where none was made. Mine: the same
	 * attempts, last tried at this `at`. ST_LOST: it does not wait any more, or other attempts were made.
	 * ST_REFUSED: there is no such notice. */
	ST_DELIVERY,
	/* What is old goes, if nothing needs it; see enum prune_what. What must stay, or is gone already,
	 * stays as it is, and that is ST_OK as well. Carried by LANE_BULK; a request should name few. */
	ST_PRUNE,
	ST_OPS
};

/* A key means the latest problem that has it, be it open or closed; a request that has a number means that
 * one. No such problem, no key, `at` that is WALL_NEVER, or a text longer than STORE_PROBLEM_BYTES_MAX:
 * ST_REFUSED. */
enum problem_act {
	/* By key. Open already: its count grows by one, and its text becomes this one, if there is one;
	 * number, subject and acknowledgement stay. Else a new one, count 1, with the next number, which is
	 * never given again. Mine: the key's latest was last said at this `at`, be it closed by now. */
	PROBLEM_OPEN,
	/* `by` has taken it, with a note. Mine: acknowledged at this `at`. ST_LOST: acknowledged before, or
	 * closed. */
	PROBLEM_ACK,
	/* Its cause is gone. ST_OK also if it is closed already: that first time stays. */
	PROBLEM_CLOSE,
	PROBLEM_ACTS
};

enum memory_act {
	/* A new note, with the next number, which is never given again; the answer has it. Mine: this agent
	 * has a note of this run with this `at` and this text. ST_REFUSED: no agent or no text, `at` that is
	 * WALL_NEVER, a text that is too long, or the agent has STORE_MEMORIES_MAX notes. */
	MEMORY_ADD,
	/* The note `number`, if it is this agent's (no agent: whosever it is) and there at all: ST_OK
	 * whatever there was. */
	MEMORY_REMOVE,
	/* The notes of `run` from `number` on, this agent's or everybody's: ST_OK as above. A request should
	 * name few. ST_REFUSED: no run. */
	MEMORY_REMOVE_RUN,
	MEMORY_ACTS
};

enum agent_act {
	/* agent.text is its definition now, and `source` where it is written; rev grows by one. */
	AGENT_PUT,
	/* It is written at `source` now: nothing else changes. ST_REFUSED: there is none. */
	AGENT_MOVE,
	/* It goes, and rev grows by one: who knew it will not take the next one of that name for it.
	 * ST_REFUSED: there is none. */
	AGENT_DROP,
	AGENT_ACTS
};

/* Each with the condition that makes it old, by `at`. */
enum prune_what {
	/* Runs numbered `first` to `last`: finished, skipped or missed, and nominal, claimed, ended and
	 * retry_at no later than `at`. Those stay that ended beyond the number `end`, for a follower may have
	 * to act on them, and the latest end of a living schedule. `kept` of the schedule becomes the nominal
	 * time, if that is later (not for KIND_MANUAL). Their numbers are never given again. Counts of
	 * quarters of an hour that begin before `at` go with them, and so do the notices of these runs, and
	 * those of no run that are over and were last touched no later than `at`. */
	PRUNE_RUNS,
	/* Ranges of `sid` that end no later than `at`; `kept` becomes their end, if that is later. */
	PRUNE_RANGES,
	/* The document that `sid` had up to `rev`: replaced no later than `at`, and no run is left that was
	 * claimed under it. */
	PRUNE_VERSION,
	/* The tombstone of `sid`: removed no later than `at`, and none of its runs is left. Ranges,
	 * documents and its count go with it. */
	PRUNE_SCHED,
	/* The problem `first`, closed no later than `at`. */
	PRUNE_PROBLEM,
	PRUNES
};

enum st_res {
	ST_OK,
	ST_LOST,    /* the occurrence (or this end of this attempt) is there already, and not ours */
	ST_STALE,   /* decided by an old rev; the row is attached */
	ST_FENCED,  /* a lease was lost; several nodes only */
	ST_REFUSED, /* it cannot be: no such schedule or run, or a limit of the store */
	ST_RESULTS
};

/* Requests that need not wait for each other. User first, bulk last. */
enum st_lane { LANE_USER, LANE_FINISH, LANE_CLAIM, LANE_BULK, LANES };

enum run_kind { KIND_TIMER, KIND_CATCH_UP, KIND_AFTER, KIND_BACKFILL, KIND_MANUAL, RUN_KINDS };
enum run_state {
	RUN_PENDING,  /* recorded; its guards have not all answered */
	RUN_CLAIMED,  /* may start */
	RUN_RETRYING, /* its last attempt failed; the next starts at retry_at */
	RUN_FINISHED,
	RUN_SKIPPED,
	RUN_MISSED,
	RUN_STATES
};

/* All that is held in memory of a schedule. The document stays in the store. */
struct sched_row {
	uint64_t sid;      /* never used again, unlike the user's id */
	uint64_t after;    /* the schedule whose ends make this one, its follower, due; 0: it has a rule */
	uint64_t seen;     /* follower: it has acted on ends up to this number */
	uint32_t rev;      /* counts the changes by people and documents; not the runs */
	uint32_t flags;    /* the engine's */
	uint32_t left;     /* of max_runs; UINT32_MAX: no limit */
	uint32_t failures; /* finished failed in a row */
	uint32_t owed;     /* missed ones the next regular run is to be told of … */
	struct wall owed_since;
	struct wall next; /* nominal; WALL_NEVER: none */
	struct wall high; /* no timer claims at or below this */
	struct wall
		pruned_to; /* records up to here have been pruned: a mark that high is never lowered below */
	struct wall changed;      /* created, when changed, or resumed: nothing at or before this fires */
	struct wall paused_until; /* with the engine's flag for it */
	struct wall next_set_at;  /* when a run said what `next` is to be; 0: it is the rule's. It goes with
				 that  next: OCC and RANGE that move, and WITHDRAW, leave 0 */
	uint8_t rules[STORE_RULES];
};

struct run_row {
	uint64_t run; /* given by the engine; larger than all before */
	uint64_t sid;
	uint32_t rev;     /* the version it was claimed under */
	uint16_t attempt; /* 1, 2, …; 0 before the first */
	uint16_t reason;
	uint8_t kind, state, outcome;
	uint16_t uncounted; /* attempts that do not count: they ended rate-limited, or could not be born */
	uint8_t replaced;   /* backfill: the state of the record it took over, plus one */
	uint32_t missed;    /* how many missed ones it was told of */
	struct wall nominal, due;
	struct wall claimed, started, ended;
	struct wall retry_at; /* RUN_FINISHED: when a retry that was to be was given up; 0: none was */
	uint64_t end;         /* given by the store when the run is finished; 0 before */
	uint64_t fence;
	int64_t cost; /* micro-dollars; -1: not known */
	int64_t tokens_in, tokens_out;
	int32_t exit_code; /* of its last attempt that ended; -1: not known */
};

struct range_row {
	uint64_t sid;
	struct wall first, last; /* last WALL_NEVER: open, closed by the schedule's next change */
	uint8_t state;           /* RUN_SKIPPED or RUN_MISSED */
	uint16_t reason;
};

struct hold_row {
	uint32_t key;      /* an agent or an account, as the caller numbers them */
	uint16_t reason;   /* 0: free */
	struct wall until; /* WALL_NEVER: until somebody frees it */
};

/* Texts that were never given have no p. */
struct problem_row {
	uint64_t number;           /* 1, 2, … */
	uint32_t count;            /* how often it was said … */
	struct wall opened;        /* … the first time … */
	struct wall last_reported; /* … and the last */
	struct wall acked;         /* WALL_NEVER: not acknowledged */
	struct wall closed;        /* WALL_NEVER: open */
	struct str key;            /* the cause: "schedule:daily:failed" */
	struct str subject;        /* what it is about: the schedule, the agent, the file */
	struct str text;           /* for people */
	struct str by, note;       /* of the acknowledgement */
};

struct problem_change {
	uint8_t act;
	uint64_t number; /* ACK, CLOSE: 0: the key says which */
	struct str key;
	struct str subject, text; /* OPEN */
	struct str by, note;      /* ACK */
};

/* Where a schedule was written: the path of a file and the line in it, or who made it. Nothing is decided by
 * it here. */
struct source_row {
	struct str from; /* empty: the command line; p NULL, in a request: as before */
	uint32_t line;
};

struct state_row {
	struct str key; /* an agent's name; empty: the user */
	struct str text;
	uint32_t rev;
};

struct memory_row {
	uint64_t number; /* 1, 2, … */
	uint64_t run;    /* that wrote it; 0: a person */
	struct wall at;
	struct str agent, text;
	struct str tags; /* a line each, no newline after the last; empty: none */
};

struct memory_change {
	uint8_t act;
	uint64_t number; /* REMOVE, REMOVE_RUN */
	uint64_t run;    /* ADD, REMOVE_RUN */
	struct str agent;
	struct str text, tags; /* ADD */
};

struct agent_row {
	struct str name;
	struct str text; /* p NULL: it has gone, or never was */
	uint32_t rev;
	uint8_t act; /* of a request */
};

enum run_text_kind {
	RUN_TEXT_DETAIL, /* more than its reason tells: which error made its condition false, what a document
			  * lacks
			  */
	RUN_TEXT_PROVENANCE, /* what it was made of: definition, message and program of its last attempt, as
				JSON */
	RUN_TEXT_KINDS
};
struct run_text_row {
	uint64_t run;
	uint8_t kind;
	struct str text; /* STORE_RUN_TEXT_BYTES_MAX at most, or ST_REFUSED */
};

/* Model calls that were not made, for a check had found nothing to do. */
struct avoided_row {
	uint64_t sid;  /* 0: of all schedules … */
	int64_t since; /* … in the quarter of an hour that begins then, in seconds; AVOIDED_EVER: at any time
			*/
	uint64_t n;
};
enum { AVOIDED_EVER = -1, AVOIDED_SECONDS = 900 /* midnight is at such a time in every zone */ };

static inline int64_t avoided_since(struct wall ended)
{
	return floor_div(wall_seconds(ended), AVOIDED_SECONDS) * AVOIDED_SECONDS;
}

/* What somebody wants to be told of, written with what made it so. Who asked says in bits what it is; of
 * their meaning the store knows nothing. */
struct news_row {
	uint64_t number; /* 1, 2, …; never given again */
	uint8_t what;
	uint16_t attempt;           /* STARTED, FINISH */
	uint64_t sid, run, problem; /* those that are concerned; 0: none */
	struct wall first, last;    /* RANGE; else 0 */
};

enum message_state {
	MESSAGE_WAITING,
	MESSAGE_DELIVERED,
	MESSAGE_GIVEN_UP,
	MESSAGE_GONE,   /* and whoever was told wants to hear nothing any more */
	MESSAGE_JOINED, /* it is part of another */
	MESSAGE_STATES
};

/* One message to one receiver. */
struct message_row {
	uint64_t number;
	uint8_t kind; /* the asker's */
	uint8_t state;
	uint32_t attempts;
	uint64_t sid, run, problem; /* what it is about; 0: none */
	uint64_t joined;            /* the notice that it is part of; in a request: not 0 */
	uint64_t receiver;          /* those to one receiver have one */
	struct wall at;             /* when it was put */
	struct wall tried_at;       /* 0: not yet */
	struct wall next;           /* MESSAGE_WAITING: when it is to be tried */
	struct str origin;          /* who named the receiver */
	struct str target, body;
	struct str result; /* what came of the last attempt; p NULL: there was none */
};

struct message_batch {
	uint64_t news_upto;
	const struct message_row *message; /* lives until the answer, as do its texts */
	unsigned n;                        /* STORE_MESSAGES_MAX at most */
};

/* What becomes of the schedule's row together with an occurrence or a range. */
struct row_move {
	struct wall next, high;
	uint32_t left, owed;
	struct wall owed_since;
	uint64_t seen;
};

/* What a number in the rules stands for; of the kinds the store knows nothing. */
struct name_row {
	uint8_t kind;
	uint32_t number;
	struct str text;
};

struct prune_request {
	uint8_t what;
	uint64_t first, last; /* PRUNE_RUNS; PRUNE_PROBLEM: first */
	uint64_t end;         /* PRUNE_RUNS */
};

struct st_req {
	uint64_t tag;
	uint8_t op, lane;
	uint64_t sid; /* of the schedule concerned; 0 for ST_HOLD, ST_PROBLEM, ST_NAME, ST_STATE, ST_AGENT,
			 ST_MEMORY, ST_RUN_TEXT, ST_MESSAGES, ST_DELIVERY, and where ST_PRUNE names none */
	uint32_t rev; /* by which it was decided; not judged for ST_VERDICT, ST_STARTED, ST_FINISH */
	bool moves;   /* OCC, RANGE: `move` applies (a manual run or a backfill moves nothing) */
	struct row_move move;
	union {
		struct sched_row row;          /* PUT */
		struct problem_change problem; /* PROBLEM: its texts live until the answer */
		struct name_row name;          /* NAME: as does this one's */
		struct state_row state;        /* STATE: as do these */
		struct memory_change memory;   /* MEMORY: and these */
		struct agent_row agent;        /* AGENT: and these */
		struct run_text_row run_text;  /* WORDS: and this one */
		struct prune_request prune;    /* PRUNE */
		struct message_batch messages; /* TELL */
		struct message_row delivery;   /* TRIED: its text lives as long */
	};
	/* Not 0: somebody wants to be told of it. Where this makes it so (an occurrence that is recorded, a
	 * range that is, a verdict, an attempt that is seen for the first time, an end, a problem that is
	 * new or closes), a row of news is written with it; where it is mine, or refused, none is. */
	uint8_t news;
	bool keep_next;   /* PUT: next, high, left, failures and owed stay as they are in the store */
	bool close_range; /* PUT, DROP: the schedule's open range ends at `at` */
	bool ends_known;  /* PUT: decided knowing its leader's ends up to row.seen, and void if there are more
			   */
	struct wall
		at; /* PUT, DROP, PROBLEM, STATE, AGENT, TELL, TRIED: when it was decided; PRUNE: see there */
	struct str id, document; /* PUT: kept beside the row, the document of each rev for its runs; p
				  * NULL: as before. Live until the answer */
	struct str note; /* PUT, HOLD: why it is paused, for people; p NULL: as before; empty: none. Lives
			  * until the answer */
	struct source_row source; /* PUT, SOURCE, AGENT: lives as long */
	struct run_row run; /* OCC: all of it. VERDICT: run, state, reason. STARTED: run, attempt, started.
			     * FINISH: run, attempt, state, outcome, reason, limited, ended, retry_at, cost,
			     * tokens, exit_code */
	uint32_t failures;  /* FINISH with state RUN_FINISHED: the schedule's new count */
	bool avoided;       /* FINISH: a model call, by its check */
	struct range_row range; /* RANGE */
	struct hold_row hold;   /* HOLD */
};

struct st_ack {
	uint64_t tag;
	uint8_t op, res;
	bool has_row;
	struct sched_row row; /* after the request */
	uint64_t run;
	uint64_t end;     /* OCC, FINISH that are ends, when ST_OK: its number */
	uint64_t note;    /* MEMORY_ADD: its number */
	uint64_t problem; /* PROBLEM: its number … */
	uint32_t count;   /* … and how often it was said; after PROBLEM_OPEN 1 means that it is new. STATE,
			   * AGENT:   rev */
	uint64_t message; /* TELL, when it put some: the number of the first; the others follow it */
	struct run_row existing; /* OCC, ST_LOST: the record that is there */
	struct wall done; /* when it was durable; 0: the store does not say. For people: nothing is decided by
			     it */
};

/* What a fresh engine is told, in this order: names, holds, schedules by sid, runs that are not finished by
 * number, for each follower that was not removed the ends it has not acted on, in their order, and the
 * problems that are open, by number. Reads see one moment of the store. */
enum load_kind { LOAD_NAME, LOAD_HOLD, LOAD_SCHED, LOAD_RUN, LOAD_END, LOAD_PROBLEM, LOAD_DONE };
struct load_item {
	uint8_t kind;
	bool open;    /* LOAD_SCHED: it has an open range */
	bool dropped; /* LOAD_SCHED: it was removed, and is told of only for its runs that are not finished */
	uint64_t follower; /* LOAD_END: the schedule that is to act on `run` */
	union {
		struct name_row name; /* its text lives as long as the call */
		struct hold_row hold;
		struct sched_row sched;
		struct run_row run; /* LOAD_RUN; LOAD_END: a finished run of follower's `after` with end >
				       its seen */
		struct problem_row problem; /* its texts live as long as the call */
		struct {
			uint64_t last_run; /* the largest run number ever given */
			uint64_t last_sid;
			uint64_t last_end; /* the largest number of an end */
			/* The store was brought back from a copy at this instant (0: never), and what
			 * happened between the copy and then is not known to it. Of its runs, those up to
			 * this number are of the time before. */
			struct wall restored;
			uint64_t restored_run;
		} done;
	};
};
typedef void load_fn(void *ctx, const struct load_item *item);

struct store_ops {
	/* Never blocks; keeps no pointer but id, document, note and what is said to live until the answer.
	 * E_LIMIT: too many requests under way, ask again later. E_IO: the store is damaged, and will answer
	 * nothing any more.
	 */
	must_check enum err (*submit)(void *store, const struct st_req *r);
	/* Takes up to `max` answers; how many there were. */
	unsigned (*collect)(void *store, struct st_ack *ret, unsigned max);
	/* Readable when collect has something. -1: ask anyway. */
	int (*fd)(void *store);
	/* Reads everything an engine must know, as of one moment. Only while nothing is under way. */
	must_check enum err (*load)(void *store, load_fn *fn, void *ctx);
};
