#pragma once
/* The engine's memory, and the functions its files share. Only core/engine includes this. */
#include "base/map.h"
#include "base/number_blocks.h"
#include "core/engine/engine.h"
#include "core/engine/heap.h"

#define NONE UINT32_MAX /* no index */

/* What a run waits for. A run changes its phase only when the store or the runner has answered. The order
 * matters: phases up to PHASE_CHECKING are shown as waiting, and from PHASE_CHECKING on a run has begun an
 * attempt, so that an older run of its schedule must wait for it. */
enum run_phase {
	PHASE_RECORDING,  /* the store's answer to its record (ST_OCC) */
	PHASE_ASKING,     /* the answer of a precondition: budget, condition or hook */
	PHASE_WAITING,    /* its condition to become true; asked again until the window closes */
	PHASE_VERDICT,    /* the store's answer to ST_VERDICT */
	PHASE_BEHIND,     /* the end of another run of its schedule */
	PHASE_CHECKING,   /* the answer of `check`, which is asked before every attempt */
	PHASE_QUEUED,     /* a slot; or the end of a hold, if it has a timer */
	PHASE_STARTING,   /* the runner's answer to RN_START */
	PHASE_RUNNING,    /* the end of its process tree */
	PHASE_ELSEWHERE,  /* after a load: the report of the node that holds it. It counts as alive, and is
			     never probed, started or killed here */
	PHASE_PROBING,    /* after a load: the runner's answer to RN_PROBE */
	PHASE_PREVENTING, /* the runner's answer to RN_PREVENT; then the run ends as run.ending says */
	PHASE_ENDING,     /* the store's answer to ST_FINISH */
	PHASE_RETRY,      /* the time of its next attempt */
};

/* How a run ends without a further attempt: RUN_SKIPPED or RUN_MISSED with a reason, or RUN_FINISHED with an
 * outcome (OUTCOME_NONE: the outcome of its last attempt stays). RUN_RETRYING: its check answered no; the
 * policy for retries decides. */
struct run_ending {
	uint8_t state, outcome;
	uint16_t reason;
};

/* A run that has not ended. */
struct run {
	struct run_row row; /* as the store has it, or will have it after the request under way */
	uint32_t sched;     /* index of its schedule */
	uint32_t sibling;   /* the next younger run of the same schedule; in a free slot the next free slot */
	struct run_queue *queue; /* the queue it is in; NULL: none */
	uint32_t queue_prev, queue_next;
	uint64_t turn;        /* the order in which runs began to wait for a slot; kept while it is parked */
	uint32_t agent, key;  /* its slot counts for these, even if the schedule is edited meanwhile */
	uint16_t agent_slots; /* limit of runs of its agent */
	uint8_t level;        /* of its priority in a run_queue; 0 is the highest */
	uint8_t phase;        /* enum run_phase */
	uint8_t passed;       /* bits of enum rn_ask: preconditions that have answered yes */
	uint32_t question;    /* number of the last RN_ASK; answers to earlier ones are ignored */
	uint16_t attempt;     /* the attempt under way; row.attempt is the last one that the store knows */
	uint16_t kill_reason; /* with `killed` */
	bool killed;          /* to be ended: RN_KILL was sent, or is sent as soon as the run can be killed */
	bool has_slot;        /* counts against the limits of slots, agent and key */
	bool slot_elsewhere;  /* with has_slot: it counts for agent and key, not for the slots of this node */
	bool launching;       /* counts against LAUNCHES_MAX: RN_START is not answered */
	bool answer_stale;    /* PHASE_ASKING: the state changed after the question, so a no is asked again */
	bool retry_dropped;   /* PHASE_ENDING: end the run when its retry has been recorded */
	bool maybe_started;   /* RN_START of attempt row.attempt + 1 may have been sent before the load: it
				 may still start, and must be prevented before the run may end */
	struct run_ending ending; /* PHASE_PREVENTING */
	struct boot retry_at;     /* PHASE_ENDING, PHASE_RETRY: when the next attempt is due */
	uint64_t stop_tag;        /* of the CMD_STOP that waits for its end; 0: none */
};

struct sched {
	struct sched_row row; /* as the store has it */
	const struct zone *zone;
	struct wall next_try;   /* the nominal time to handle next: row.next, or a later one if the store
				   answered that the times before are recorded already */
	uint32_t first_run;     /* its oldest open run; in a free slot the next free slot */
	uint32_t next_follower; /* the next schedule that has the same leader */
	uint32_t first_end, last_end; /* list of its leader's ends on which it has not acted; NONE: empty */
	uint32_t finishing;           /* how many ST_FINISH of its runs are under way */
	uint32_t failures_pending;    /* row.failures once these are recorded */
	uint16_t late_cause;          /* the reason for its lateness if it is known; 0: find it by time */
	uint16_t range_reason;        /* the reason of its open range; 0: the store has none */
	bool busy;                    /* a request that changes its row is under way; no other may be sent */
	bool in_line;                 /* catch-up runs are open, or have just ended and more times are due */
	bool in_use;                  /* this slot of the array holds a schedule */
	bool removed;                 /* stays in memory until its last run has ended */
	bool outdated; /* its rules were compiled for another version, zone data or agent definition, or with
			  a number that belongs to no name; they are not used until CMD_RECOMPILE */
};

/* Runs by priority, and in order of arrival within one priority. */
struct run_queue {
	struct {
		uint32_t first, last;
	} at[2 * PRIORITY_MAX + 1];
	unsigned n;
};

/* An agent, a concurrency key or an account; they share one space of keys. */
struct resource {
	uint32_t key;
	uint32_t used;           /* slots taken */
	struct run_queue parked; /* runs that are ready except for this resource */
	struct hold_row hold;    /* with `held` */
	struct wall released_at; /* when the last hold that was released ended; 0: none was */
	bool held;
	uint32_t holding,
		releasing; /* ST_HOLD requests under way: those that hold it; those that release it */
};

/* Why a request was sent to the store; determines which function handles the answer. */
enum request_purpose {
	FOR_CLAIM,
	FOR_RANGE,
	FOR_OPEN, /* an open range */
	FOR_PUT,
	FOR_DROP,
	FOR_PAUSE,
	FOR_RESUME,
	FOR_WITHDRAW,
	FOR_RUN, /* ST_VERDICT, ST_STARTED, ST_FINISH */
	FOR_HOLD,
	FOR_NUMBERS
};

/* A request that the store has not answered, and the values that the handler of the answer needs. */
struct pending {
	uint64_t sid, run;
	uint64_t command;  /* tag of the command it is for; 0: none */
	uint8_t op;        /* enum st_op */
	uint8_t purpose;   /* enum request_purpose */
	uint8_t kind;      /* of the run, or of the numbers */
	uint8_t state;     /* of the run, as requested */
	uint16_t reason;   /* FOR_OPEN: the reason of the range */
	uint8_t outcome;   /* of a run that is recorded and finished by one request (ACTION_EVENT) */
	struct wall ended; /* likewise */
	bool closes_range; /* the request closes the open range of the schedule */
	uint32_t part;     /* the part for which it was sent */
	uint32_t sched;    /* index of the schedule when the request was sent; saves a search */
	struct hold_row hold;
	struct boot since;
};

/* A CMD_BACKFILL under way: one ST_OCC after another. */
struct backfill {
	uint64_t sid, tag; /* tag of the command */
	struct wall last;  /* the nominal time requested last */
	struct wall to;
	uint32_t left;              /* how many more runs the limit allows */
	uint32_t made, already_run; /* for the reply */
	bool waits;                 /* for numbers */
};

/* The end of a leader's run on which one follower has not acted. Kept until sched_row.seen reaches it. */
struct leader_end {
	uint32_t next; /* of the same follower, in order of number */
	uint8_t outcome;
	uint64_t number; /* run_row.end */
	struct wall ended;
	struct wall nominal; /* `ended`, and a microsecond more for each end at the same instant before it */
};

/* A schedule that has followers. */
struct leader {
	uint64_t sid;
	uint64_t last_end;       /* the largest number of its ends that the engine knows */
	uint32_t first_follower; /* in a free slot the next free slot */
};

struct part_state {
	uint64_t epoch; /* of the ownership */
	bool owned;
};

struct engine {
	struct engine_config config;

	/* Arrays with free lists. The comment names the field that chains the free slots. */
	struct sched *sched;
	uint32_t scheds, sched_room, sched_free; /* first_run */
	struct run *run;
	uint32_t runs, run_room, run_free; /* sibling */
	struct pending *pending;
	uint32_t pendings, pending_room, pending_free; /* sid */
	struct leader_end *end;
	uint32_t ends, end_room, end_free; /* next */
	uint32_t ends_open;                /* ends in use */
	struct resource **resource;        /* never freed before the engine: runs point to their queues */
	uint32_t resources, resource_room;
	struct leader *leader;
	uint32_t leaders, leader_room, leader_free; /* first_follower */
	struct backfill *backfill;
	uint32_t backfills, backfill_room;
	struct map sched_by_sid, run_by_id, resource_by_key, pending_by_tag, leader_by_sid;

	struct heap due;        /* schedules by the wall time at which to handle them */
	struct heap catch_up;   /* schedules that wait for a token to start a missed time, by due time */
	struct heap run_timer;  /* runs by boot time: next attempts, conditions to ask again, ends of holds */
	uint64_t last_turn;     /* the largest run.turn */
	struct run_queue ready; /* runs that wait for a slot */

	uint32_t outdated; /* schedules with `outdated` */
	unsigned slots_used;
	unsigned claims;                           /* ST_OCC, ST_RANGE and ST_WITHDRAW under way */
	unsigned launches;                         /* RN_START under way */
	unsigned under_way;                        /* all requests to the store under way */
	uint64_t last_tag;                         /* the largest tag given so far */
	struct number_blocks numbers[NUMBER_NAME]; /* by enum number_kind: runs, schedules */

	struct part_state part[STORE_PARTS_MAX];
	uint32_t node;  /* the number of this node, by which it holds runs */
	bool part_lost; /* a part was forgotten: an unknown schedule may be in it */

	struct now now;    /* of this step */
	int64_t skew;      /* wall - boot when the clock was last accepted */
	int64_t last_skew; /* wall - boot at the last step */
	int64_t max_skew; /* the largest wall - boot ever accepted or implied by a record; a clock below it is
			     slow */
	int64_t set_back; /* by how much the clock was set back before the load, as far as rows show */
	struct wall set_back_from; /* the clock was set back from here, and records may lie ahead up to here;
				      0: none do */
	int64_t max_ahead;         /* the clock is held when it is this far or farther ahead of max_skew */
	bool clock_held;           /* nothing comes due until the clock is back, or a person accepts it */
	uint32_t
		rewind; /* after a step back of the clock: the next schedule to correct; NONE: none is left */
	bool rewind_waits; /* that schedule is busy: go on after the store's answer */

	/* A nominal time that was due at or before one of these instants is late for that reason. */
	struct wall loaded_at, stepped_at, resumed_at, stalled_at;
	/* The store was restored from a copy: nominal times up to restored_at may have run without a record,
	 * and runs up to restored_run may have progressed further than their records say. */
	struct wall restored_at;
	uint64_t restored_run;

	struct boot token_refill; /* when `tokens` was computed */
	int64_t tokens;           /* millionths of a token; a start of a missed time costs one */

	struct hold_row global_pause; /* with paused_all */
	bool paused_all;
	bool resuming_all;          /* the end of the pause of all is being recorded */
	struct wall all_resumed_at; /* when the last pause of all ended; 0: not known */
	bool is_loaded;             /* EV_LOADED was handled */
	bool documents_first;       /* EV_DOCUMENTS has not come: nothing comes due */
	struct effects *fx;         /* of this step */
	bool broken;                /* out of memory: the state is incomplete */
};

/* Whether the clock is held, or has stepped back and this schedule has not been corrected yet. While this is
 * true, the schedule's times must not be changed. */
static inline bool clock_is_unsettled(const struct engine *e, const struct sched *s)
{
	return e->clock_held || (e->rewind != NONE && (uint32_t)(s - e->sched) >= e->rewind);
}

/* Whether the record of this run comes from a restored copy: then the run may have had further attempts, or
 * may have ended. */
static inline bool is_from_before_restore(const struct engine *e, const struct run *r)
{
	return r->row.run <= e->restored_run;
}

static inline const struct rules *rules_of(const struct sched *s)
{
	return (const struct rules *)s->row.rules;
}

static inline const struct policy *policy_of(const struct sched *s)
{
	return &rules_of(s)->policy;
}

/* --- numbers.c: numbers for runs and schedules --- */
bool numbers_ready(const struct engine *e, enum number_kind kind);
uint64_t numbers_take(struct engine *e, enum number_kind kind); /* to be called only if they are ready */
void numbers_refill(struct engine *e);                          /* in every step */
void numbers_acked(struct engine *e, const struct pending *pending, const struct st_ack *ack);

/* --- parts.c: the parts that this engine decides for --- */
void parts_load(struct engine *e, const struct part_row *row);
bool parts_owned(const struct engine *e, uint32_t part);
void parts_forget(struct engine *e, uint32_t part); /* another engine owns it */

/* --- engine.c: memory and effects --- */
struct sched *engine_sched(struct engine *e, uint64_t sid); /* NULL: none */
struct sched *engine_pending_sched(struct engine *e, const struct pending *pending);
struct run *engine_run(struct engine *e, uint64_t run);           /* NULL: none */
struct resource *engine_resource(struct engine *e, uint32_t key); /* created if needed; NULL for key 0 */
/* NULL: out of memory, `broken` is set. */
struct sched *engine_add_sched(struct engine *e, const struct sched_row *row);
struct run *engine_add_run(struct engine *e, const struct run_row *row, uint32_t sched);
void engine_remove_run(struct engine *e, struct run *r);
void engine_remove_sched(struct engine *e, struct sched *s); /* its runs must be removed before */
void engine_set_removed(struct engine *e, struct sched *s);  /* removed, but kept for its runs */
void engine_set_row(struct engine *e, struct sched *s, const struct sched_row *row);
/* True if the rules' nominal times are right: same version of the compiler, same zone data. */
bool engine_times_valid(const struct engine *e, const struct sched *s);
/* Sends a request to the store and remembers its purpose. `s` may be NULL. */
void engine_submit_store(struct engine *e, struct st_req *r, enum request_purpose purpose, uint64_t run,
			 uint64_t command, const struct sched *s);
void engine_submit_runner(struct engine *e, const struct rn_req *r);
void engine_reply(struct engine *e, struct reply reply); /* nothing is sent for tag 0 */
void engine_reply_code(struct engine *e, uint64_t tag, enum reply_code code, uint64_t sid, uint64_t run);
static inline uint32_t sched_index(const struct engine *e, const struct sched *s)
{
	return (uint32_t)(s - e->sched);
}
static inline uint32_t run_index(const struct engine *e, const struct run *r)
{
	return (uint32_t)(r - e->run);
}

/* --- clock.c: whether to trust the wall clock --- */
void clock_init(struct engine *e); /* after a load: compares the clock with the last record */
/* After a load: moves the ends of holds if the clock was set back meanwhile. */
void clock_shift_loaded(struct engine *e);
/* In every step: after a step back, when no record lies ahead any more, clears the marks of the holds. */
void clock_settle(struct engine *e);
void clock_update(struct engine *e); /* in every step: finds steps of the clock */
void clock_accept(struct engine *e); /* a person confirms the clock */
/* After a step back: corrects schedules until one request was sent or STEP_FIX_MAX were looked at, and
 * returns true. False: all are corrected, or the next one must wait for an answer. */
bool clock_rewind_next(struct engine *e);

/* --- dates.c: start and end date of a schedule --- */
/* True if times before the start are not recorded yet; *first is the first of them. */
bool dates_have_not_begun(const struct sched *s, struct wall *first);
bool dates_have_ended(const struct sched *s);
/* If the start has come, closes the range of the times before it. True: a request was sent. */
bool dates_arrive(struct engine *e, struct sched *s);
/* Before the start or after the end: opens the range, or sets the time at which the schedule is handled
 * again. False: the schedule is between its dates. */
bool dates_hold_back(struct engine *e, struct sched *s);

/* --- next_check.c: a next time that was set by a run --- */
void next_check_set(struct engine *e, const struct command *c); /* CMD_NEXT_CHECK */
/* True if regular times before the next check are not recorded yet; *first is the first of them. */
bool next_check_gates(const struct sched *s, struct wall *first);
/* If the next check has come, closes the range of the times before it. True: a request was sent. */
bool next_check_arrive(struct engine *e, struct sched *s);
/* Before the next check: opens the range, or sets the time at which the schedule is handled again. False: no
 * times are gated. */
bool next_check_hold_back(struct engine *e, struct sched *s);

/* --- due.c: from due time to record --- */
void due_handle(struct engine *e); /* everything that is due, within the limits of a step */
/* After a change of its row, or of a pause or hold that concerns it: puts the schedule into the right heap,
 * or sends the request that must come first, or leaves it out of all heaps. */
void due_enqueue(struct engine *e, struct sched *s);
void due_dequeue(struct engine *e, struct sched *s);
/* Records an occurrence in the state that its policy asks for, or as skipped/overlap. `end` is the leader's
 * end that made a follower due, or NULL; `command` is the tag of the command that asked for it, or 0. */
void due_claim(struct engine *e, struct sched *s, struct wall nominal, const struct leader_end *end,
	       enum run_kind kind, uint64_t command);
/* Records an occurrence in the given state; a pending or claimed one becomes a run. */
void due_record(struct engine *e, struct sched *s, struct wall nominal, const struct leader_end *end,
		enum run_kind kind, enum run_state state, enum reason reason, uint64_t command);
void due_open_range(struct engine *e, struct sched *s, struct wall first, enum reason reason);
/* Records that the nominal times from next_try to `last` did not run. */
void due_record_range(struct engine *e, struct sched *s, struct wall last, enum run_state state,
		      enum reason reason);
struct wall due_next(const struct sched *s, struct wall after);   /* the next nominal time */
struct wall due_time(const struct sched *s, struct wall nominal); /* nominal time plus jitter */
bool due_has_come(const struct engine *e, const struct sched *s, struct wall nominal);
int64_t due_grace(const struct sched *s); /* how late a time may be without being missed */
/* The last nominal time, next_try or later, that has been due for at least `since`; else next_try. */
struct wall due_last_since(const struct engine *e, const struct sched *s, int64_t since);
/* The last nominal time up to `last` such that all from next_try on have the same due_bar_reason. */
struct wall due_same_bar(const struct engine *e, const struct sched *s, struct wall last);
/* The last nominal time at or before `t`, next_try or later. next_try need not be one of the rule's times.
 * False: next_try is after `t`. */
bool due_prev(const struct sched *s, struct wall t, struct wall *ret);
/* The last nominal time up to now, jitter ignored, that is not recorded. False: none. */
bool due_last_pending(const struct engine *e, const struct sched *s, struct wall *ret);
/* True if a run of this kind must be skipped because of the runs that the schedule has. */
bool due_is_overlap(const struct engine *e, const struct sched *s, enum run_kind kind);
/* Why this time never runs: an excluded day, or outside the agent's hours; REASON_NONE: it may run. */
enum reason due_bar_reason(const struct engine *e, const struct sched *s, struct wall nominal);
/* Until when its agent or its account is held; INT64_MIN: not held. */
struct wall due_held_until(struct engine *e, const struct sched *s);
struct st_req due_new_request(const struct sched *s, enum st_op op, enum st_lane lane);
struct row_move due_keep_row(const struct sched *s); /* a move that changes nothing */
/* The answer to FOR_CLAIM, FOR_RANGE, FOR_OPEN and FOR_WITHDRAW. */
void due_acked(struct engine *e, const struct pending *pending, const struct st_ack *ack);

/* --- late.c: times that were missed --- */
void late_settle(struct engine *e,
		 struct sched *s); /* next_try is late: applies the policy for missed times */
/* Claims next_try as a run of this kind as soon as there is a token for it. */
void late_start(struct engine *e, struct sched *s, enum run_kind kind);
/* True if a time that is due, but not late, becomes a catch-up run: it came due while catch-up runs were
 * worked off; or an interruption (the daemon was down, the machine suspended, …) has left it and `more` times
 * due. */
bool late_joins_line(const struct engine *e, const struct sched *s, struct wall due,
		     bool (*more)(const struct engine *e, const struct sched *s));
enum reason late_cause(struct engine *e, const struct sched *s, struct wall due);
unsigned late_limit(const struct sched *s); /* how many missed times may be run late */
/* Takes a token to start a missed time now. False: there is none, and the schedule was put into the catch_up
 * heap by `due`. */
bool late_take_token(struct engine *e, struct sched *s, struct wall due);
int64_t late_tokens(const struct engine *e, struct boot now); /* in millionths */
/* When there will be a token. False: no schedule waits for one. */
bool late_next_token(const struct engine *e, struct now now, struct wall *ret);

/* --- follow.c: from the end of a leader's run to the follower's record --- */
/* To be called when s->row.after was set, and before it is changed; both do nothing if it is 0. */
void follow_link(struct engine *e, struct sched *s);
void follow_unlink(struct engine *e, struct sched *s);
/* The largest number of the leader's ends that the engine knows; 0: none. */
uint64_t follow_known_end(const struct engine *e, uint64_t leader);
/* A run of the leader has ended: passes its end to the followers. */
void follow_notify(struct engine *e, const struct run_row *run);
void follow_add_end(struct engine *e, struct sched *follower, const struct run_row *run);
/* Drops ends from the front of the list that the follower has acted on, or that do not concern it. */
void follow_drop_handled(struct engine *e, struct sched *s);
void follow_drop_all(struct engine *e, struct sched *s);
void follow_run_first(struct engine *e, struct sched *s); /* acts on the first end */
/* The first end's nominal time is recorded already: makes it a microsecond later. */
void follow_shift_first(struct engine *e, const struct sched *s);
/* Before a change of the schedule: records the first open end as missed/edited. False: there is none. */
bool follow_refuse_pending(struct engine *e, struct sched *s);

/* --- runs.c: from record to exit --- */
void runs_recorded(struct engine *e, struct run *r); /* its ST_OCC was answered */
void runs_report(struct engine *e, const struct rn_report *report);
void runs_acked(struct engine *e, const struct pending *pending, const struct st_ack *ack); /* FOR_RUN */
void runs_timers(struct engine *e);                         /* handles the timers that have expired */
void runs_state_changed(struct engine *e, uint32_t key);    /* EV_STATE */
void runs_recover(struct engine *e, struct run *r);         /* after a load */
void runs_start(struct engine *e, struct run *r);           /* it has got a slot */
void runs_launch_answered(struct engine *e, struct run *r); /* the runner has answered RN_START */
/* The agent or account of the run is held: delays the run until the hold ends, or ends the run if the hold
 * has no end. */
void runs_hold(struct engine *e, struct run *r, const struct hold_row *hold);
void runs_release(struct engine *e, struct sched *s); /* the hold has ended or changed: ends the delays */
void runs_refuse(struct engine *e, struct run *r, enum run_state state, enum reason reason);
void runs_cancel(struct engine *e, struct run *r, enum reason reason); /* in any phase */
void runs_drop_retry(struct engine *e, struct run *r);                 /* if one is pending */
void runs_drop_retries(struct engine *e, struct sched *s);
bool runs_is_waiting(const struct run *r); /* for an answer of a precondition, another run or a slot */
bool runs_is_paused(const struct engine *e, const struct run *r);
unsigned runs_live(const struct engine *e, const struct sched *s);
/* The preconditions that are asked before a run is claimed, bits of enum rn_ask. A person's run has only the
 * budget. */
unsigned runs_preconditions(const struct engine *e, const struct policy *p, enum run_kind kind);
unsigned runs_open(const struct engine *e, const struct sched *s); /* live or not */
struct sched *runs_sched(struct engine *e, const struct run *r);
struct st_req runs_new_request(const struct run *r, enum st_op op, enum st_lane lane);

/* --- finish.c: the end of an attempt, and of the run --- */
void finish_attempt(struct engine *e, struct run *r, const struct rn_report *report);
/* Sends ST_FINISH: finished or to be retried, as row.state says. `avoided`: the check avoided a model
 * call. */
void finish_record(struct engine *e, struct run *r, bool avoided);
int64_t finish_max_delay(struct engine *e, const struct run *r); /* between attempts, in seconds */
uint64_t finish_retry_number(const struct sched *s); /* run_row.retry for a run that is claimed now */

/* --- gate.c: slots --- */
void gate_enqueue(struct engine *e, struct run *r);
void gate_dequeue(struct engine *e, struct run *r);      /* does nothing if it is in no queue */
void gate_claim_slot(struct engine *e, struct run *r);   /* regardless of limits: it is alive already */
void gate_release_slot(struct engine *e, struct run *r); /* does nothing if it has none */
void gate_start_ready(struct engine *e);                 /* as many ready runs as the limits allow */

/* --- command.c: commands of people, documents and runs --- */
void command_handle(struct engine *e, const struct command *c);
/* A request to change the schedule's row that changes nothing yet; fill it in, then command_submit. */
struct st_req command_new_put(const struct sched *s, struct wall at);
void command_submit(struct engine *e, struct sched *s, struct st_req *r, enum request_purpose purpose,
		    uint64_t command);
/* The answer to FOR_PUT, FOR_DROP, FOR_PAUSE, FOR_RESUME and FOR_HOLD. */
void command_acked(struct engine *e, const struct pending *pending, const struct st_ack *ack);
void command_backfill_next(struct engine *e, struct sched *s, enum st_res res);
void command_resume_backfills(struct engine *e);                      /* those that waited for numbers */
void command_abort_backfill(struct engine *e, const struct sched *s); /* if it has one */
void command_sched_removed(struct engine *e, struct sched *s);        /* the store has removed it */
void command_hold(struct engine *e, uint32_t key, enum reason reason, struct wall until);
/* Closes the open range at `before`, which becomes the schedule's last change. */
void command_close_range_before(struct engine *e, struct sched *s, struct wall before);
/* Closes the open range because another reason has taken its place; a pause stays. */
void command_change_range(struct engine *e, struct sched *s);
void command_resume(struct engine *e, struct sched *s, uint64_t command);
void command_pause(struct engine *e, struct sched *s, struct wall until, struct str note, uint64_t command);
