#pragma once
/* Requests to the store and its answers, as data: no SQL, no JSON, no callbacks, no engine types. Every store
 * and the simulator's model implement them; one conformance suite tests all of them. Questions, which change
 * nothing, are in port/read.h.
 *
 * Promises:
 *  - Every request is answered once, by its tag. During an outage there is no answer yet: the adapter repeats
 *    the request until it succeeds.
 *  - Requests are idempotent; they are recognized by run number, (sid, rev) or (run, attempt). A request that
 *    was carried out before is answered ST_OK as the first time and changes nothing. Below, "Repeated:" says
 *    how the store recognizes that a request is a repetition.
 *  - A request is one transaction: all of it or nothing. What was answered ST_OK survives kill -9 and power
 *    loss.
 *  - A request that changes a schedule carries the rev of the schedule for which it was decided. If the store
 *    has another rev, it answers ST_STALE and changes nothing. Every answer that concerns a schedule carries
 *    its row after the request.
 *  - Every schedule belongs to a part, and every part to one node, which decides for its schedules. A request
 *    of an owner (OWNER_OPS) names the part and the epoch of its ownership. If the part has another epoch,
 *    the answer is ST_FENCED, without a row, and nothing changes: another node owns the part now. This is
 *    checked before anything else.
 *  - Numbers of runs, schedules and names come from the store (ST_NUMBERS), so that two engines never use the
 *    same one. A number that belongs to another record is answered ST_COLLISION, never ST_OK.
 *  - Answers come in the order in which the requests were carried out.
 *  - Requests for one schedule are carried out in the order of submission within their lane; requests of
 *    different lanes may overtake each other. */
#include "base/err.h"
#include "base/time.h"

#define WALL_NEVER ((struct wall){ INT64_MAX })

enum {
	STORE_RULES = 152,    /* bytes of compiled rules, which the store does not interpret */
	STORE_KEY_BYTES = 32, /* of the key of run tokens */
	STORE_PARTS_MAX = 256,
	STORE_NAME_KINDS = 3,        /* kinds of names */
	STORE_NUMBERS_MAX = 1 << 20, /* taken by one request */
};

enum st_op {
	/* Adds or changes a schedule.
	 *  - rev 0: inserts a new sid with rev 1 in the request's part, with no failures. ST_REFUSED if the
	 * sid is not larger than every sid that was pruned.
	 *  - Otherwise rev must be equal to the store's, which then grows by one. The schedule's row becomes
	 *    `row`, except that sid, part, pruned_to and failures stay; with keep_next, next, high, left,
	 * owed, owed_since, seen and next_set_at stay, too.
	 *  - If the leader is another one than before, seen becomes the number of its last end, whatever the
	 *    request says; 0 if it has none.
	 *  - clear_failures: failures becomes 0.
	 *  - close_range: the schedule's open range ends at `at`, or is deleted if it begins after `at`.
	 *  - ends_known: also ST_STALE if the leader that the schedule has before the request has an end
	 * beyond row.seen.
	 *  - Checked last: ST_REFUSED if another schedule that is not removed has this id.
	 *
	 * Repeated: the store has rev + 1 with the same `at`; with rev 0 also the same id. With rev 0 and a
	 * sid that exists otherwise: ST_COLLISION. */
	ST_PUT,
	/* Removes a schedule. Its row stays as a tombstone, with high and pruned_to, but is not loaded any
	 * more. A tombstone refuses everything except ST_DROP, ST_VERDICT, ST_STARTED and ST_FINISH of its
	 * open runs, and repeated ST_PUT and ST_OCC; ST_RANGE is refused even if it is repeated. The sid is
	 * never used again. */
	ST_DROP,
	/* Records an occurrence: inserts `run`. run.run is unique, and so is (sid, nominal) except for
	 * KIND_MANUAL. Repeated: run.run exists with the same sid, nominal, kind, claimed and node; if it
	 * exists otherwise: ST_COLLISION. Otherwise, in this order:
	 *  - no such schedule: ST_REFUSED;
	 *  - another rev: ST_STALE;
	 *  - `moves` is set, and nominal is at or below high or pruned_to (for a follower: move.seen is at or
	 *    below seen): ST_STALE;
	 *  - not a follower, not KIND_MANUAL, and nominal at or below pruned_to: ST_LOST, since a record may
	 *    have been pruned;
	 *  - (sid, nominal) exists: ST_LOST with the record; but if the new one is KIND_BACKFILL and the
	 *    old one is skipped or missed, the record becomes the new run, with `replaced` set.
	 *
	 * With `moves` the schedule's row takes over `move`. With RUN_FINISHED the run gets the next number
	 * of an end, as in ST_FINISH; failures stay. */
	ST_OCC,
	/* Records that the nominal times in [first, last] had no run; `moves` as in ST_OCC. If a range with
	 * the same state and reason ends at the schedule's old high, that range is extended instead. A range
	 * with last WALL_NEVER is open: it is never extended, and a schedule has at most one (else
	 * ST_REFUSED). Another rev: ST_STALE. Repeated: a range with this state and reason covers [first,
	 * last]. */
	ST_RANGE,
	/* After a step back of the clock to `at`: deletes the schedule's skipped and missed records after
	 * `at` and cuts closed ranges there; an open range stays, and begins at move.next if it began later.
	 * high becomes pruned_to, next becomes move.next, and `changed` becomes `at` if it was later. Records
	 * that come from a leader's end stay, since ends do not come again: KIND_AFTER, and KIND_CATCH_UP of
	 * a follower. Another rev: ST_STALE. */
	ST_WITHDRAW,
	/* A run that is pending, or claimed with attempt 0, becomes run.state (claimed, skipped or missed)
	 * with run.reason, held by run.node. Repeated: the run has this state and reason already. Any other
	 * run: ST_LOST. */
	ST_VERDICT,
	/* Attempt run.attempt was seen alive at run.started on run.node. Advisory: if the run is claimed or
	 * retrying with the same or a smaller attempt, attempt, started and node are set and it becomes
	 * claimed; otherwise nothing changes. ST_OK in both cases, if the run exists. */
	ST_STARTED,
	/* Attempt run.attempt has ended. Sets state, outcome, reason, uncounted, ended, retry_at, cost,
	 * tokens, exit_code and node of the run. With RUN_FINISHED the schedule's failures change as
	 * `failures` says, the run gets the next number of an end of its schedule, run_row.end: one more than
	 * the largest, and `result`, if it is not empty, becomes its RUN_TEXT_RESULT. With `avoided` three
	 * counts in avoided_row grow by one: for all schedules, for this schedule, and for the
	 * quarter of an hour of run.ended. Repeated: the same attempt has the same end. ST_LOST: the run was
	 * finished with another end. */
	ST_FINISH,
	/* Holds an agent or account until a time, or releases it (reason 0: the row and its note are
	   deleted). */
	ST_HOLD,
	/* Opens, acknowledges or closes a problem; see enum problem_act. Lane: LANE_FINISH or LANE_USER. The
	 * answer has the problem's number and count, except with ST_REFUSED. */
	ST_PROBLEM,
	/* Gives a name the number by which rules refer to it. A name has one number of its kind, forever:
	 * the first that the store got. ST_LOST: the name has another number, which is in the answer.
	 * ST_COLLISION: the name has none, and the number belongs to another name. Repeated: that name has
	 * that number. ST_REFUSED: no text, or a text above STORE_NAME_BYTES_MAX. Submit this request before
	 * the ST_PUT whose rules use the number, and in the same lane, so that it is carried out first. */
	ST_NAME,
	/* Sets the place of a schedule (file and line) to `source`; the rev stays. ST_REFUSED: no such
	 * schedule, or it is removed. */
	ST_SOURCE,
	/* Sets the state text of an agent, state.key, if state.rev is equal to the store's rev (0: no text
	 * yet). The store's rev grows by one. Another rev: ST_STALE. Repeated: the store has state.rev + 1,
	 * put at the same `at`. The answer's count is the store's rev. Lane: LANE_USER. */
	ST_STATE,
	/* Adds or removes notes of an agent; see enum memory_act. Notes stay when the run that wrote them is
	 * pruned. Lane: LANE_USER. */
	ST_MEMORY,
	/* Sets, moves or removes the definition of an agent, by its name; see enum agent_act. agent.rev must
	 * be the store's (0: the name was never used), else ST_STALE. Repeated, for acts that increase the
	 * rev: the store has agent.rev + 1, put at the same `at`. The answer's count is the store's rev.
	 * Lane: LANE_USER. */
	ST_AGENT,
	/* Sets the text of kind run_text.kind of run run_text.run; an empty one is deleted. ST_REFUSED: no
	 * such run. */
	ST_RUN_TEXT,
	/* Turns news into messages: inserts all of messages.message and deletes all news up to number
	 * messages.news_upto, in one transaction. Each message gets the next number, which is never used
	 * again. In a message with `joined` set, `joined` becomes the number of the last message before it
	 * that has `joined` not set. ST_REFUSED: a text is too long, there are too many messages, or the
	 * first one has `joined` set. Repeated: there are no news up to that number any more; with news_upto
	 * 0 (the messages come from no news): the latest message has this `at`. Lane: LANE_FINISH. */
	ST_MESSAGES,
	/* An attempt to deliver message delivery.number has ended. Sets state, attempts, next and result of
	 * the message. `attempts` is one more than the row's, or the same if no attempt was made. Repeated:
	 * the row has the same attempts, and its last attempt was at this `at`. ST_LOST: the message is not
	 * waiting any more, or has had other attempts. ST_REFUSED: no such message. */
	ST_DELIVERY,
	/* Logs a report of run run.run about itself: an event of type report.type (EVENT_RUN_STEP, _NOTE or
	 * _GAVE_UP) with attempt run.attempt and report.text. Repeated: the last report of the run has this
	 * `at`. ST_REFUSED: no such run, another type, no text, or a text above STORE_EVENT_TEXT_MAX. */
	ST_REPORT,
	/* Deletes old rows that nothing needs; see enum prune_what. Rows that must stay are left alone. ST_OK
	 * also if nothing is deleted. Lane: LANE_BULK; a request should name few rows. */
	ST_PRUNE,
	/* Takes the next numbers.n numbers of kind numbers.kind, which are larger than all that were
	 * recorded. The answer has the first one, and no other request gets any of them. A repeated request
	 * takes other numbers; those of the first answer are lost. A store with one owner may give numbers
	 * that were taken but not recorded again to the next engine. ST_REFUSED: n is 0 or above
	 * STORE_NUMBERS_MAX, or there is no such kind. */
	ST_NUMBERS,
	/* Takes over part `part` for node `node`, if its epoch is `epoch` (0: also a part that has no owner
	 * yet): the epoch grows by one. Repeated: the part has epoch + 1 and this node. ST_FENCED: it has
	 * another epoch. ST_REFUSED: the part is STORE_PARTS_MAX or more, or node is 0. */
	ST_TAKE,
	/* Stores the key of run tokens. Repeated: it is the store's key. ST_LOST: the store has another one.
	 */
	ST_KEY,
	ST_OPS
};

/* The requests of a part's owner, as bits. The others are not fenced: they concern no schedule, or change
 * nothing that its owner decides. */
#define OWNER_OPS                                                                                            \
	(1u << ST_PUT | 1u << ST_DROP | 1u << ST_OCC | 1u << ST_RANGE | 1u << ST_WITHDRAW |                  \
	 1u << ST_VERDICT | 1u << ST_STARTED | 1u << ST_FINISH)

/* What numbers are for; names have one kind for each name_row.kind. */
enum number_kind { NUMBER_RUN, NUMBER_SCHED, NUMBER_NAME, NUMBER_KINDS = NUMBER_NAME + STORE_NAME_KINDS };

/* What a finished run does to its schedule's failures in a row. */
enum failures_change { FAILURES_STAY, FAILURES_GROW, FAILURES_CLEAR, FAILURES_CHANGES };

/* A request names a problem by its number, or else by its key: then the latest problem with that key, open or
 * closed. ST_REFUSED: no such problem, no key, `at` is WALL_NEVER, or a text exceeds
 * STORE_PROBLEM_BYTES_MAX. */
enum problem_act {
	/* Names the problem by its key. If a problem with the key is open, its count grows by one, and its
	 * text is replaced if the request has one; number, subject and acknowledgement stay. Otherwise
	 * inserts one with count 1 and the next number, which is never used again. Repeated: the key's latest
	 * problem, open or closed, was last reported at this `at`. */
	PROBLEM_OPEN,
	/* Records that the person `by` has acknowledged the problem, with a note. Repeated: the problem was
	 * acknowledged at this `at`. ST_LOST: it was acknowledged at another time, or is closed. */
	PROBLEM_ACK,
	/* Closes the problem, because its cause is gone. ST_OK also if the problem is closed already; then
	 * the time of its closing stays. */
	PROBLEM_CLOSE,
	PROBLEM_ACTS
};

enum memory_act {
	/* Inserts a note with the next number, which is never used again and is in the answer. Repeated: the
	 * agent has a note of this run with this `at` and this text. ST_REFUSED: no agent or no text, `at` is
	 * WALL_NEVER, a text is too long, or the agent has STORE_MEMORIES_MAX notes. */
	MEMORY_ADD,
	/* Deletes note `number` if it belongs to this agent; with an empty agent, in any case. Always
	 * ST_OK. */
	MEMORY_REMOVE,
	/* Deletes the notes of `run` whose number is at least `number`: those of `agent`, or those of every
	   agent if `agent` is empty. The caller chooses `number` so that one request deletes few notes.
	   ST_REFUSED: `run` is 0. */
	MEMORY_REMOVE_RUN,
	MEMORY_ACTS
};

enum agent_act {
	/* Sets the definition to agent.text and its place (file and line) to `source`; the rev grows by
	 * one. */
	AGENT_PUT,
	/* Sets only its place to `source`; the rev stays. ST_REFUSED: there is no definition. */
	AGENT_MOVE,
	/* Deletes the definition. The rev grows by one, so that a later definition of the same name is not
	 * taken for this one. ST_REFUSED: there is no definition. */
	AGENT_DROP,
	AGENT_ACTS
};

/* What to delete, and under which condition. */
enum prune_what {
	/* Runs numbered `first` to `last` that are finished, skipped or missed, with nominal, claimed, ended
	 * and retry_at no later than `at`, which the caller chooses before every end on which a follower has
	 * to act. The latest end of a schedule stays while the schedule is not removed or has a run that is
	 * not finished: the next end gets the number after it. The schedule's
	 * pruned_to becomes the nominal time of the deleted run if that is later (not for KIND_MANUAL). Run
	 * numbers are never used again. Also deletes the messages of these runs, messages without a run that
	 * are not waiting and were last tried or put no later than `at`, and avoided counts of quarters of an
	 * hour that begin before `at`. */
	PRUNE_RUNS,
	/* Ranges of `sid` that end no later than `at`; pruned_to becomes their end, if that is later. */
	PRUNE_RANGES,
	/* The document that `sid` had up to `rev`, if it was replaced no later than `at` and no run is left
	 * that was claimed under it. */
	PRUNE_VERSION,
	/* The tombstone of `sid` with its ranges, documents and count, if it was removed no later than `at`
	 * and none of its runs is left. */
	PRUNE_SCHED,
	/* Problem `first`, if it was closed no later than `at`. */
	PRUNE_PROBLEM,
	/* The oldest events, up to number `last`, and up to the first that was logged after `at`: the events
	 * that are left have no gap. The events of a run that one request has logged are deleted together. */
	PRUNE_EVENTS,
	PRUNES
};

enum st_res {
	ST_OK,
	ST_LOST,      /* the occurrence has another record already, the attempt another end, or the name
			 another number */
	ST_STALE,     /* decided for an old rev; the answer has the current row */
	ST_FENCED,    /* another node owns the part: forget it, and never ask for it again */
	ST_REFUSED,   /* impossible: no such schedule or run, or a limit of the store */
	ST_COLLISION, /* the number belongs to another record: decide again with another number */
	ST_RESULTS
};

/* Requests of different lanes do not wait for each other. LANE_USER goes first, LANE_BULK last. */
enum st_lane { LANE_USER, LANE_FINISH, LANE_CLAIM, LANE_BULK, LANES };

/* How many outcomes and reasons there are (core/model.h); a row with another number is not valid. */
enum { STORE_OUTCOMES = 5, STORE_REASONS = 40 };

/* Why a run exists. */
enum run_kind {
	KIND_TIMER,    /* a nominal time */
	KIND_CATCH_UP, /* a nominal time, or a leader's end, that was missed */
	KIND_AFTER,    /* the end of a leader's run */
	KIND_BACKFILL, /* a past nominal time that a person asked for */
	KIND_MANUAL,   /* a person asked for it */
	RUN_KINDS
};
enum run_state {
	RUN_PENDING,  /* recorded; not all of its preconditions have answered */
	RUN_CLAIMED,  /* may start */
	RUN_RETRYING, /* its last attempt failed; the next one starts at retry_at */
	RUN_FINISHED, /* has an outcome */
	RUN_SKIPPED,  /* did not run because of its rules or of a person */
	RUN_MISSED,   /* did not run in time */
	RUN_STATES
};

/* Everything about a schedule that the engine keeps in memory. The document stays in the store. */
struct sched_row {
	uint64_t sid;   /* identifies the schedule; never used again, unlike its id */
	uint64_t after; /* the sid of the leader: ends of its runs make this follower due; 0: it has a rule */
	uint64_t seen;  /* follower: it has acted on all ends of its leader up to this number */
	uint32_t rev;   /* grows with every change by a person or a document, not with runs */
	uint32_t flags; /* bits of the engine's enum sched_flag */
	uint32_t left;  /* runs left of max_runs; UINT32_MAX: no limit */
	uint32_t failures;        /* failed runs in a row */
	uint32_t owed;            /* missed times of which the next run must be informed */
	uint32_t part;            /* its part, which never changes; below STORE_PARTS_MAX */
	struct wall owed_since;   /* the first of them */
	struct wall next;         /* the next nominal time; WALL_NEVER: none */
	struct wall high;         /* the timer claims no nominal time at or before this */
	struct wall pruned_to;    /* records up to here may have been pruned; high is never set below it */
	struct wall changed;      /* when it was created, its times changed, or it was resumed: no time at or
				     before this fires */
	struct wall paused_until; /* with the engine's flag SCHED_PAUSED; WALL_NEVER: until resumed */
	struct wall next_set_at;  /* when a run set `next` (next check); 0: `next` comes from the rule. It
				     becomes 0 with the next ST_OCC or ST_RANGE that moves, or ST_WITHDRAW */
	uint8_t rules[STORE_RULES];
};

struct run_row {
	uint64_t run; /* one of the numbers that the engine took by ST_NUMBERS */
	uint64_t sid;
	uint32_t rev;     /* the rev of the schedule when the run was claimed */
	uint16_t attempt; /* the last one seen alive or ended: 1, 2, …; 0: none */
	uint16_t reason;
	uint8_t kind, state, outcome;
	uint16_t uncounted;       /* attempts that do not count as retries: rate-limited, or prevented */
	uint8_t replaced;         /* backfill: 1 + the state of the record that it replaced; 0: none */
	uint32_t missed;          /* how many missed times it was informed of (sched_row.owed) */
	struct wall nominal, due; /* due: nominal plus jitter */
	struct wall claimed, started, ended;
	struct wall retry_at; /* RUN_RETRYING: time of the next attempt. RUN_FINISHED: when a pending retry
				 was given up; 0: none was pending */
	uint64_t retry;       /* how it is retried, which the store does not interpret; 0: not known */
	uint64_t end;   /* number of its end, assigned by the store when the run finishes; 0 before. The ends
			   of each schedule are numbered on their own */
	uint64_t fence; /* epoch of the part when it was claimed */
	uint32_t node;  /* where it is executed: only this node can probe, start and kill it; 0: unknown */
	int64_t cost;   /* micro-dollars; -1: not known */
	int64_t tokens_in, tokens_out;
	int32_t exit_code; /* of its last attempt that ended; -1: not known */
};

struct range_row {
	uint64_t sid;
	struct wall first, last; /* last WALL_NEVER: open, until a change of the schedule closes it */
	uint8_t state;           /* RUN_SKIPPED or RUN_MISSED */
	uint16_t reason;
};

struct hold_row {
	uint32_t key;      /* an agent or account, by the engine's number; 0: all schedules (a pause) */
	uint16_t reason;   /* 0: not held */
	struct wall until; /* WALL_NEVER: until a person releases it */
	/* The clock was set back from this instant, `until` takes that into account, and records up to this
	 * instant may still lie ahead of the clock. 0: none do. */
	struct wall set_back_from;
};

/* Texts that were never set have p NULL. */
struct problem_row {
	uint64_t number;           /* 1, 2, … */
	uint32_t count;            /* how often it was reported */
	struct wall opened;        /* first reported */
	struct wall last_reported; /* last reported */
	struct wall acked;         /* WALL_NEVER: not acknowledged */
	struct wall closed;        /* WALL_NEVER: open */
	struct str key;            /* the cause: "schedule:daily:failed" */
	struct str subject;        /* what it is about: the schedule, the agent, the file */
	struct str text;           /* for people */
	struct str by, note;       /* of the acknowledgement */
};

struct problem_change {
	uint8_t act;     /* enum problem_act */
	uint64_t number; /* ACK, CLOSE; 0: by key */
	struct str key;
	struct str subject, text; /* OPEN */
	struct str by, note;      /* ACK */
};

/* Where a schedule or definition was written: a file and a line, or the run that made it. For people only. */
#define SOURCE_BY_RUN "run " /* before SCHEDULE/RUN, if a run made it */
struct source_row {
	struct str from; /* empty: the command line; p NULL, in a request: unchanged */
	uint32_t line;
};

struct state_row {
	struct str key; /* an agent's name; empty: the user */
	struct str text;
	uint32_t rev;
};

struct memory_row {
	uint64_t number; /* 1, 2, … */
	uint64_t run;    /* the run that wrote it; 0: a person */
	struct wall at;
	struct str agent, text;
	struct str tags; /* separated by newlines; empty: none */
};

struct memory_change {
	uint8_t act;     /* enum memory_act */
	uint64_t number; /* REMOVE, REMOVE_RUN */
	uint64_t run;    /* ADD, REMOVE_RUN */
	struct str agent;
	struct str text, tags; /* ADD */
};

struct agent_row {
	struct str name;
	struct str text; /* p NULL: deleted, or never defined */
	uint32_t rev;
	uint8_t act; /* of a request: enum agent_act */
};

enum run_text_kind {
	RUN_TEXT_DETAIL,     /* details of the reason: the error in its condition, what its document lacks */
	RUN_TEXT_PROVENANCE, /* definition, message and program of its last attempt, as JSON */
	RUN_TEXT_RESULT,     /* the last bytes of its last attempt's standard output */
	RUN_TEXT_KINDS
};
struct run_text_row {
	uint64_t run;
	uint8_t kind;
	struct str text; /* at most STORE_RUN_TEXT_BYTES_MAX, else ST_REFUSED */
};

/* Model calls that were not made because a check found nothing to do. */
struct avoided_row {
	uint64_t sid;  /* 0: of all schedules */
	int64_t since; /* beginning of the quarter of an hour, in seconds; AVOIDED_EVER: of all times */
	uint64_t n;
};
enum { AVOIDED_EVER = -1, AVOIDED_SECONDS = 900 /* midnight in every zone is a multiple of this */ };

static inline int64_t avoided_since(struct wall ended)
{
	return floor_div(wall_seconds(ended), AVOIDED_SECONDS) * AVOIDED_SECONDS;
}

/* An event that may have to be reported to people, written in the same transaction as its cause. */
struct news_row {
	uint64_t number;            /* 1, 2, …; never used again */
	uint8_t what;               /* st_req.news, which the store does not interpret */
	uint16_t attempt;           /* STARTED, FINISH */
	uint64_t sid, run, problem; /* the subject of the row; 0: none */
	struct wall first, last;    /* RANGE; else 0 */
};

/* --- the log of events --- */

/* What can happen, for those who follow it. The names and the data are in core/event. The numbers are stored:
 * append only. */
enum event_type {
	EVENT_SCHEDULE_CREATED,   /* PUT with rev 0 */
	EVENT_SCHEDULE_UPDATED,   /* PUT with another rev */
	EVENT_SCHEDULE_DELETED,   /* DROP */
	EVENT_SCHEDULE_TRIGGERED, /* OCC that is claimed or finished; VERDICT: claimed */
	EVENT_SCHEDULE_COMPLETED, /* OCC and FINISH: finished */
	EVENT_SCHEDULE_EXPIRED,   /* RANGE with `expires` */
	EVENT_SCHEDULE_SKIPPED,   /* OCC, RANGE, VERDICT: skipped */
	EVENT_SCHEDULE_MISSED,    /* OCC, RANGE, VERDICT: missed */
	EVENT_RUN_CLAIMED,        /* OCC that is neither skipped nor missed */
	EVENT_RUN_STARTED,        /* STARTED: the attempt is seen for the first time */
	EVENT_RUN_FAILED,         /* FINISH: the attempt has ended, and there is another */
	EVENT_RUN_FINISHED,       /* OCC and FINISH: finished */
	EVENT_RUN_STEP,           /* REPORT */
	EVENT_RUN_NOTE,
	EVENT_RUN_GAVE_UP,
	EVENT_PROBLEM_OPENED, /* PROBLEM_OPEN of a problem that was not open */
	EVENT_PROBLEM_ACKNOWLEDGED,
	EVENT_PROBLEM_CLOSED,
	EVENT_HOLD_SET, /* HOLD that changes the reason or the time */
	EVENT_HOLD_FREED,
	EVENT_MESSAGE_CREATED,   /* MESSAGES: each message that is not `silent` */
	EVENT_MESSAGE_DELIVERED, /* DELIVERY, unless it is `silent` */
	EVENT_MESSAGE_GIVEN_UP,  /* DELIVERY: any other state than MESSAGE_WAITING */
	EVENT_CUSTOM, /* OCC and FINISH with `publishes`: the event that the schedule's action names */
	EVENT_TYPES
};

/* An event, logged in the transaction of the request that caused it; a request that changes nothing logs
 * none. Events are numbered in the order of their commits: a reader at a number never finds a new
 * event at or below it. A request that causes several events logs them in this order, with numbers that
 * follow each other: RUN_CLAIMED, SCHEDULE_TRIGGERED, CUSTOM, RUN_FINISHED, SCHEDULE_COMPLETED.
 * Integers only, because most requests log an event: what can be found by them later is not copied. */
struct event_row {
	uint64_t number; /* 1, 2, …; without a gap, except after a restore; never used again */
	uint8_t type;    /* enum event_type */
	struct wall at;  /* when it was logged */
	uint64_t sid;    /* its schedule; 0: none */
	uint32_t rev;    /* of the schedule: its document describes the event. OCC, VERDICT, STARTED, FINISH,
			    REPORT: that of the run */
	uint64_t run;    /* 0: none */
	uint16_t attempt, reason;
	uint8_t outcome;
	struct wall first; /* PUT: the schedule's next time. RANGE: its first time. HOLD: its end. Otherwise
			      the run's nominal time; 0: no run */
	struct wall last;  /* RANGE: its last time. OCC: when the run was due. Otherwise 0 */
	uint64_t subject;  /* PROBLEM, MESSAGES, DELIVERY: the number of the problem or message. HOLD: its key
			    */
	struct str text;   /* PROBLEM_OPEN and REPORT: the text, which the store does not keep elsewhere; p
			      NULL: none */
};

struct report_request {
	uint8_t type; /* enum event_type */
	struct str text;
};

enum message_state {
	MESSAGE_WAITING,
	MESSAGE_DELIVERED,
	MESSAGE_GIVEN_UP,
	MESSAGE_GONE,   /* given up: the receiver wants no further messages */
	MESSAGE_JOINED, /* part of another message */
	MESSAGE_STATES
};

/* A message to one receiver. */
struct message_row {
	uint64_t number;
	uint8_t kind; /* not interpreted by the store */
	uint8_t state;
	uint32_t attempts;
	uint64_t sid, run, problem; /* the subject of the row; 0: none */
	bool silent;                /* of a request: no event is logged when it is created or delivered */
	uint64_t joined;   /* number of the message that it is part of, 0: none; in a request: not 0 if it is
			      part of one */
	uint64_t receiver; /* the same number for all messages to one receiver */
	struct wall at;    /* when it was inserted */
	struct wall tried_at; /* the last attempt; 0: none */
	struct wall next;     /* MESSAGE_WAITING: when to try next */
	struct str origin;    /* where the receiver is named, with its fingerprint */
	struct str target, body;
	struct str result; /* of the last attempt, for people; p NULL: none */
};

struct message_batch {
	uint64_t news_upto;
	const struct message_row *message; /* valid until the answer, like its texts */
	unsigned n;                        /* at most STORE_MESSAGES_MAX */
};

/* The new values of the schedule's row with an ST_OCC, ST_RANGE or ST_WITHDRAW. */
struct row_move {
	struct wall next, high;
	uint32_t left, owed;
	struct wall owed_since;
	uint64_t seen;
};

/* The name to which a number in the rules refers. */
struct name_row {
	uint8_t kind; /* not interpreted by the store */
	uint32_t number;
	struct str text;
};

struct prune_request {
	uint8_t what;         /* enum prune_what */
	uint64_t first, last; /* PRUNE_RUNS; PRUNE_PROBLEM: first; PRUNE_EVENTS: last */
};

struct numbers_request {
	uint8_t kind; /* enum number_kind */
	uint32_t n;
};

/* The part of the schedules that one node owns, and since which epoch. */
struct part_row {
	uint32_t part;
	uint32_t node;
	uint64_t epoch;
};

/* A request. Texts must stay valid until the answer. */
struct st_req {
	uint64_t tag;
	uint8_t op, lane;
	uint64_t sid;   /* the schedule; 0 for ST_HOLD, ST_PROBLEM, ST_NAME, ST_STATE, ST_AGENT, ST_MEMORY,
			   ST_RUN_TEXT, ST_MESSAGES, ST_DELIVERY, ST_REPORT, ST_NUMBERS, ST_TAKE, ST_KEY, and
			   ST_PRUNE of runs, problems and events */
	uint32_t rev;   /* the rev for which the request was decided; not checked for ST_VERDICT, ST_STARTED,
			   ST_FINISH */
	uint32_t part;  /* OWNER_OPS: the schedule's part. TAKE */
	uint64_t epoch; /* OWNER_OPS: since which the caller owns the part. TAKE: the one that ends */
	uint32_t node;  /* TAKE: the new owner */
	bool moves;     /* OCC, RANGE: `move` applies; false for manual runs and backfills */
	struct row_move move;
	union {
		struct sched_row row;           /* PUT */
		struct problem_change problem;  /* PROBLEM */
		struct name_row name;           /* NAME */
		struct state_row state;         /* STATE */
		struct memory_change memory;    /* MEMORY */
		struct agent_row agent;         /* AGENT */
		struct run_text_row run_text;   /* RUN_TEXT */
		struct prune_request prune;     /* PRUNE */
		struct message_batch messages;  /* MESSAGES */
		struct message_row delivery;    /* DELIVERY */
		struct numbers_request numbers; /* NUMBERS */
		struct report_request report;   /* REPORT */
		uint8_t key[STORE_KEY_BYTES];   /* KEY */
	};
	/* If not 0, a row of news is written in the same transaction, provided that the request changes
	 * something: an occurrence or a range is recorded, a verdict given, an attempt seen alive for the
	 * first time, an end recorded, a problem opened or closed. A repeated request writes none. */
	uint8_t news;
	bool keep_next;      /* PUT: next, high, left, owed, owed_since, seen and next_set_at stay */
	bool clear_failures; /* PUT */
	bool close_range;    /* PUT, DROP: the open range ends at `at` */
	bool ends_known;     /* PUT: when it was decided, the leader's ends up to row.seen were known */
	bool expires;        /* RANGE: the schedule's end date has passed */
	bool publishes; /* OCC, FINISH with RUN_FINISHED: the schedule's action, an event, is published */
	struct wall at; /* PUT, DROP, WITHDRAW, PROBLEM, STATE, MEMORY, AGENT, MESSAGES, DELIVERY, REPORT:
			   when it was decided; PRUNE: see enum prune_what */
	struct str id, document; /* PUT; p NULL: unchanged. The document of each rev is kept for its runs */
	struct str note;         /* PUT, HOLD: why it is paused, for people; p NULL: unchanged, empty: none */
	struct source_row source; /* PUT, SOURCE, AGENT */
	struct run_row run;       /* OCC: all of it. VERDICT: run, state, reason, node. STARTED: run, attempt,
				     started, node. REPORT: run, attempt. FINISH: run, attempt, state, outcome,
				     reason, uncounted, ended,       retry_at, cost, tokens, exit_code, node */
	uint8_t failures;         /* FINISH with RUN_FINISHED: enum failures_change */
	bool avoided;             /* FINISH: the check avoided a model call */
	struct str result; /* FINISH with RUN_FINISHED: at most STORE_RUN_TEXT_BYTES_MAX, else ST_REFUSED */
	struct range_row range; /* RANGE */
	struct hold_row hold;   /* HOLD */
};

struct st_ack {
	uint64_t tag;
	uint8_t op, res; /* res: enum st_res */
	bool has_row;
	struct sched_row row; /* after the request */
	uint64_t run;
	uint64_t end;     /* OCC and FINISH that finish a run, if ST_OK: the number of the end */
	uint64_t note;    /* MEMORY_ADD: number of the note */
	uint64_t problem; /* PROBLEM: its number */
	uint32_t count;   /* PROBLEM: how often it was reported, 1 after PROBLEM_OPEN of a new one. STATE,
			     AGENT: the store's rev */
	uint64_t message; /* MESSAGES, if some were inserted: the number of the first; the others follow */
	uint64_t first;   /* NUMBERS: the first of the numbers */
	uint32_t name;    /* NAME with ST_OK or ST_LOST: the number of the name */
	uint64_t event; /* the number of the last event that the request has logged; 0: it has logged none */
	struct part_row part;    /* TAKE: the part after the request, unless it is refused */
	struct run_row existing; /* OCC with ST_LOST: the record that exists */
	struct wall done;        /* when it became durable, for people; 0: unknown */
};

/* The state that a new engine loads, in this order: the key of run tokens, if there is one; the parts that
 * this node owns; names; holds; schedules of these parts by sid; their runs that are not finished, in the
 * order in which they were recorded; for each of their followers that is not removed the ends it has not
 * acted on, in their order; open problems by number. All of it is read in one transaction. */
enum load_kind {
	LOAD_KEY,
	LOAD_PART,
	LOAD_NAME,
	LOAD_HOLD,
	LOAD_SCHED,
	LOAD_RUN,
	LOAD_END,
	LOAD_PROBLEM,
	LOAD_DONE
};
struct load_item {
	uint8_t kind;
	uint16_t open;     /* LOAD_SCHED: the reason of its open range; 0: it has none */
	bool dropped;      /* LOAD_SCHED: it is removed, and loaded only for its runs that are not finished */
	uint64_t follower; /* LOAD_END: the schedule that has to act on `run` */
	/* Texts are valid during the call. */
	union {
		uint8_t key[STORE_KEY_BYTES];
		struct part_row part;
		struct name_row name;
		struct hold_row hold;
		struct sched_row sched;
		struct run_row run; /* LOAD_RUN; LOAD_END: a finished run of the follower's leader with end >
				       the follower's seen */
		struct problem_row problem;
		struct {
			uint64_t last_run; /* the largest run number ever recorded */
			uint64_t last_sid;
			/* The store was restored from a copy at this instant (0: never). Events between the
			 * copy and that instant are not recorded, and runs up to restored_run may have
			 * progressed further than their records say. */
			struct wall restored;
			uint64_t restored_run;
		} done;
	};
};
typedef void load_fn(void *ctx, const struct load_item *item);

/* What a store has recorded about restores from a copy. */
struct restore_state {
	bool older;            /* this opening has found that it is older than its directory */
	bool unknown_runs;     /* it was restored, and runs that it does not contain may be alive */
	struct wall restored;  /* when it was restored; 0: never */
	uint64_t restored_run; /* the number of the last run that it had then */
};

struct reader;
struct store_ops {
	/* Never blocks. E_LIMIT: too many requests under way, submit again later. E_IO: the store is damaged
	 * and will not answer any more. */
	must_check enum err (*submit)(void *store, const struct st_req *r);
	/* Takes up to `max` answers; returns how many. */
	unsigned (*collect)(void *store, struct st_ack *ret, unsigned max);
	/* A descriptor that is readable while there are answers; -1: the store has no descriptor and must be
	 * polled. */
	int (*fd)(void *store);
	/* Passes everything that a new engine must know to `fn`. To be called only while no request is under
	 * way. */
	must_check enum err (*load)(void *store, load_fn *fn, void *ctx);
	/* Opens a reader (port/read.h), which must be closed before the store. Damage that the reader meets
	 * is final for the store, too. */
	must_check enum err (*reader)(void *store, struct reader **ret, struct why *why);

	/* --- life cycle; a model in memory has none --- */

	/* E_IO or, for lack of memory, E_NOMEM while something fails: why, since when, and whether it is
	 * final. OK: nothing fails; the pointers are not written to. Any of the pointers may be NULL. Any
	 * thread. */
	must_check enum err (*failure)(void *store, struct wall *since, bool *final, struct why *why);
	/* E_IO or, for lack of memory, E_NOMEM while submitted requests wait for the end of an outage, or
	 * will never be answered because of damage. Any thread. */
	must_check enum err (*write_failure)(void *store, struct why *why);
	/* Counts this opening (the store's generation), and detects whether the store was put back from a
	 * copy since the last one. `last_run` is the largest number of a run that has a file. To be called
	 * once, before the first request. */
	must_check enum err (*count_opening)(void *store, uint64_t last_run, struct wall now,
					     struct restore_state *ret, struct why *why);
	/* Records that all runs that the store does not contain have ended. */
	must_check enum err (*clear_unknown_runs)(void *store, struct why *why);
	/* Carries out the queued requests, or drops them during an outage. Answers that were not collected
	 * are lost. */
	void (*close)(void *store);
};

/* An open store, as store_open (store/open.h) returns it; its address is the argument of its operations. */
struct store {
	const struct store_ops *ops;
};

/* NULL is fine. */
static inline void store_close(struct store *s)
{
	if (s)
		s->ops->close(s);
}
