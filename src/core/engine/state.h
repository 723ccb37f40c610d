#pragma once
/* Inside the engine: what it remembers. Nobody outside core/engine includes this. */
#include "base/map.h"
#include "core/engine/engine.h"
#include "core/engine/heap.h"

#define NONE UINT32_MAX

/* Where a run stands. Only what the store has answered lets it move on. */
enum run_phase {
	PHASE_RECORDING, /* its record is under way */
	PHASE_ASKING,    /* a guard is asked */
	PHASE_WAITING,   /* its condition is false; asked again until the window closes */
	PHASE_VERDICT,   /* the guards' verdict is under way */
	PHASE_BEHIND,    /* another run of its schedule must end first */
	PHASE_CHECKING,  /* `check` is asked, for this attempt */
	PHASE_QUEUED,    /* at the gate */
	PHASE_STARTING,
	PHASE_RUNNING,
	PHASE_PROBING,    /* after a load: is it alive? */
	PHASE_PREVENTING, /* it shall end unstarted; first, what was asked for in a former life must be
			  impossible */
	PHASE_ENDING,     /* its end is under way */
	PHASE_RETRY,      /* waits for its next attempt */
	RUN_PHASES
};

/* How a run ends without another attempt: refused (skipped, missed), or with an outcome. */
struct run_ending {
	uint8_t state, outcome;
	uint16_t reason;
};

struct run {
	struct run_row row;
	uint32_t sched;
	uint32_t sibling;                /* next run of the same schedule */
	uint32_t queue_prev, queue_next; /* neighbours in a queue of the gate */
	struct run_queue *queue;         /* the one it stands in */
	uint32_t agent, key; /* what its slot counts for, whatever an edit makes of the schedule */
	uint16_t agent_slots;
	uint8_t level;
	uint32_t question;     /* of the question under way */
	uint16_t attempt;      /* under way; row.attempt is what the store knows */
	uint16_t kill_reason;  /* reason it was killed for */
	uint8_t phase, passed; /* bits of guards that have said yes */
	bool has_slot, killed, launching;
	bool answer_stale;  /* PHASE_ASKING: what is known changed meanwhile, the answer may be of before */
	bool retry_dropped; /* PHASE_ENDING: the retry that is being recorded will not be */
	bool maybe_started; /* its next attempt was perhaps asked for in a former life, and may yet be born */
	struct run_ending ending; /* PHASE_PREVENTING: how it is to end */
	struct boot retry_at;     /* when the next attempt is due */
	uint64_t stop_tag;        /* the command that waits for its end; 0: none */
};

struct sched {
	struct sched_row row;
	const struct zone *zone;
	struct wall next_try;   /* the nominal time to take up next: row.next, or later if those before were
			      taken by   others */
	uint32_t first_run;     /* the first of its runs */
	uint32_t next_follower; /* of the same leader */
	uint32_t first_end, last_end; /* of its leader's runs, which it has not acted on; NONE */
	uint32_t finishing;           /* ends of its runs under way … */
	uint32_t failures_pending;    /* … and its failures in a row once they are recorded */
	uint16_t late_cause;          /* of its lateness, where that is known */
	bool busy;                    /* a change of its row is under way */
	bool range_open;              /* an open range stands in the store */
	bool in_use;                  /* the slot of the array is in use */
	bool removed;                 /* removed; stays until its last run has ended */
	bool outdated;                /* its rules were compiled for other zone data */
};

/* Runs in line, in order of priority, then of arrival. */
struct run_queue {
	struct {
		uint32_t first, last;
	} at[2 * PRIORITY_MAX + 1];
	unsigned n;
};

/* An agent, a concurrency key or an account. */
struct resource {
	uint32_t key;
	uint32_t used;
	struct run_queue parked; /* runs that wait for it */
	struct hold_row hold;
	bool held;
	uint32_t holding, freeing; /* requests under way that hold it, or free it */
};

/* A request under way, by its tag. */
struct pending {
	uint64_t sid, run, command;
	uint8_t kind; /* of the run */
	uint64_t end; /* of a follower's occurrence: the number of the end it acts on */
	struct wall nominal;
	uint32_t sched;      /* where the schedule was, to spare the search */
	uint8_t op, purpose; /* what: enum request_purpose */
	uint8_t state;       /* of the run, as asked for */
	uint8_t outcome;     /* of an event, which is finished with its claim */
	bool closes_range;   /* the schedule's open range */
	struct hold_row hold;
	struct wall ended;
	struct boot since;
};
enum request_purpose {
	FOR_CLAIM,
	FOR_RANGE,
	FOR_OPEN,
	FOR_PUT,
	FOR_DROP,
	FOR_PAUSE,
	FOR_RESUME,
	FOR_WITHDRAW,
	FOR_RUN,
	FOR_HOLD
};

/* A backfill under way. */
struct backfill {
	uint64_t sid, tag;    /* of the schedule, of the command */
	struct wall last, to; /* the last nominal time asked for; the end */
	uint32_t left, made, already_run;
};

/* The end of a run that makes a follower due; kept until the follower's row says it has acted on it. */
struct leader_end {
	uint32_t next; /* of the same follower, in their order */
	uint8_t outcome;
	uint64_t number;
	struct wall nominal; /* its time, or just after that if two ended together */
};

struct engine {
	struct engine_config config;
	struct sched *sched;
	uint32_t scheds, sched_room, sched_free; /* free slots are chained by `run` */
	uint32_t outdated;                       /* of them */
	struct run *run;
	uint32_t runs, run_room, run_free; /* chained by `sibling` */
	struct resource **resource;
	uint32_t resources, resource_room;
	struct pending *pending;
	uint32_t pendings, pending_room, pending_free; /* chained by `sid` */
	struct leader_end *end;
	uint32_t ends, end_room, end_free, ends_open; /* chained by `next` */
	struct backfill *backfill;
	uint32_t backfills, backfill_room;
	struct map sched_by_sid, run_by_id, resource_by_key, pending_by_tag, followers_by_sid;
	struct heap due;       /* schedules by wall time */
	struct heap catch_up;  /* schedules that wait for their turn to start what was missed, by due time */
	struct heap run_timer; /* runs by boot time: retries, conditions to be asked again */
	struct run_queue ready;
	unsigned slots_used, claims, launches, under_way;
	uint64_t last_tag, last_run, last_sid, last_end;
	struct now now;          /* of this step */
	int64_t skew, last_skew; /* wall - boot: as last believed, and as last seen */
	int64_t max_skew;        /* as ever believed, or by what is on record: a clock behind it is wrong */
	struct wall loaded_at, stepped_at, resumed_at,
		stalled_at;       /* lateness up to these instants has that cause */
	struct wall restored_at;  /* what lies up to here may have run, and is not known to the store … */
	uint64_t restored_run;    /* … nor what became of runs up to this one */
	struct boot token_refill; /* of the tokens for what was missed */
	int64_t tokens;           /* millionths of one */
	uint32_t
		rewind; /* schedules up to here have been looked at since the clock stepped back; NONE: all */
	struct hold_row global_pause;
	bool rewind_waits;
	bool paused_all, is_loaded;
	bool documents_first; /* they have not been put in yet: nothing comes due */
	int64_t max_ahead;    /* how far ahead of most_skew it may be to be believed */
	bool clock_held; /* it ran far ahead: nothing comes due until it is back, or a person believes it */
	struct effects *fx;
	bool broken;
};

/* The clock is not believed; or it was turned back, and what that means for this schedule has not been asked
 * for yet. Its times must not be changed before. */
static inline bool clock_is_unsettled(const struct engine *e, const struct sched *s)
{
	return e->clock_held || (e->rewind != NONE && (uint32_t)(s - e->sched) >= e->rewind);
}

/* Its record is older than what is known of it: it may have had further attempts, or ended. */
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

/* --- engine.c: memory and effects --- */
struct sched *engine_sched(struct engine *e, uint64_t sid); /* or NULL */
struct sched *engine_pending_sched(struct engine *e, const struct pending *w);
struct run *engine_run(struct engine *e, uint64_t run);
struct sched *engine_add_sched(struct engine *e, const struct sched_row *row);
struct run *engine_add_run(struct engine *e, const struct run_row *row, uint32_t sched);
void engine_remove_run(struct engine *e, struct run *r);
void engine_remove_sched(struct engine *e, struct sched *s);
void engine_set_removed(struct engine *e, struct sched *s);       /* removed, but it has runs */
struct resource *engine_resource(struct engine *e, uint32_t key); /* made if need be; NULL for key 0 */
void engine_set_row(struct engine *e, struct sched *s, const struct sched_row *row);
/* Its times are still those that its rules were compiled for. */
bool engine_times_valid(const struct engine *e, const struct sched *s);
/* Sends a request, remembering what it is for. */
void engine_submit_store(struct engine *e, struct st_req *r, enum request_purpose what, uint64_t run,
			 uint64_t command, const struct sched *s /* or NULL */);
bool engine_room(void **items, unsigned n, unsigned *room, size_t size); /* for one more; doubles */
void engine_submit_runner(struct engine *e, const struct rn_req *r);
void engine_reply(struct engine *e, struct reply reply);
void engine_reply_code(struct engine *e, uint64_t tag, enum reply_code code, uint64_t sid, uint64_t run);
static inline uint32_t sched_index(const struct engine *e, const struct sched *s)
{
	return (uint32_t)(s - e->sched);
}
static inline uint32_t run_index(const struct engine *e, const struct run *r)
{
	return (uint32_t)(r - e->run);
}

/* --- clock.c: which clock to believe --- */
void clock_init(struct engine *e);        /* after a load: has too long passed since the last record? */
void clock_update(struct engine *e);      /* in every step */
void clock_accept(struct engine *e);      /* a person does */
bool clock_rewind_next(struct engine *e); /* after it went back; false: all is done, or waits for an answer */

/* --- dates.c: start and end --- */
bool dates_have_ended(const struct sched *s);
bool dates_open(struct engine *e, struct sched *s); /* its start has come: closes the range before it */
/* Before its start, or after its end: sees to the range, and when to look again. False: it is within them. */
bool dates_exclude(struct engine *e, struct sched *s);

/* --- check.c: a next time that one of its runs has set --- */
void next_check_set(struct engine *e, const struct command *c);
/* Regular times before it are not dealt with yet: the first of them. */
bool next_check_gates(const struct sched *s, struct wall *first);
bool next_check_open(struct engine *e, struct sched *s); /* it has come: closes the range before it */
/* Until then: sees to that range, and when to look again. False: there is nothing to be kept out. */
bool next_check_exclude(struct engine *e, struct sched *s);

/* --- due.c: from due time to record --- */
void due_run(struct engine *e);                      /* everything that is due, within the limits of a step */
void due_enqueue(struct engine *e, struct sched *s); /* puts it where it belongs after a change of its row */
void due_dequeue(struct engine *e, struct sched *s); /* it is out of the queue */
void due_claim(struct engine *e, struct sched *s, struct wall nominal,
	       const struct leader_end *end /* or NULL */, enum run_kind kind, uint64_t command);
void due_record(struct engine *e, struct sched *s, struct wall nominal, const struct leader_end *end,
		enum run_kind kind, enum run_state state, enum reason reason, uint64_t command);
void due_open_range(struct engine *e, struct sched *s, struct wall first, enum reason reason);
void due_record_range(struct engine *e, struct sched *s, struct wall last, enum run_state state,
		      enum reason reason);
struct wall due_next(const struct sched *s, struct wall after);
struct wall due_time(const struct sched *s, struct wall nominal); /* with its jitter */
bool due_has_come(const struct engine *e, const struct sched *s, struct wall nominal);
/* The last nominal time, from the one in turn on, that has been due for so long. */
struct wall due_last_since(const struct engine *e, const struct sched *s, int64_t since);
/* The last of those up to `last` that share the fate of the one in turn. */
struct wall due_same_bar(const struct engine *e, const struct sched *s, struct wall last);
struct st_req due_new_request(const struct sched *s, enum st_op op, enum st_lane lane);
struct row_move due_keep_row(const struct sched *s); /* a move that moves nothing */
void due_acked(struct engine *e, const struct pending *w,
	       const struct st_ack *ack); /* FOR_CLAIM, FOR_RANGE, FOR_OPEN */
/* The last at or before `t`, from the one in turn on; false: that is later. The one in turn need not be the
 * rule's. */
bool due_prev(const struct sched *s, struct wall t, struct wall *ret);
bool due_last_pending(const struct engine *e, const struct sched *s,
		      struct wall *ret); /* of those due and not taken up */
bool due_is_overlap(const struct engine *e, const struct sched *s,
		    enum run_kind kind); /* is it refused for that? */
bool due_is_late(const struct engine *e, const struct sched *s, struct wall nominal);
enum reason due_bar(const struct engine *e, const struct sched *s, struct wall nominal);
struct wall due_held_until(struct engine *e, const struct sched *s); /* its agent or its account */
int64_t due_grace(const struct sched *s);                            /* lateness that needs no policy */

/* --- late.c: what was missed --- */
void late_settle(struct engine *e, struct sched *s); /* the one in turn, by its policy */
enum reason late_cause(struct engine *e, const struct sched *s, struct wall due);
unsigned late_limit(const struct sched *s); /* of its catch-up */
/* May what it has missed start now? Else it waits for its turn, which goes by `due`. */
bool late_take_token(struct engine *e, struct sched *s, struct wall due);
int64_t late_tokens(const struct engine *e, struct boot now);                   /* USEC of them are a start */
bool late_next_token(const struct engine *e, struct now now, struct wall *ret); /* false: nobody waits */

/* --- follow.c: from the end of a leader's run to the follower's record --- */
void follow_add_end(struct engine *e, struct sched *follower, const struct run_row *run);
void follow_drop_handled(struct engine *e, struct sched *s); /* the ends it has acted on, or has no use for */
void follow_drop_all(struct engine *e, struct sched *s);
void follow_run_first(struct engine *e, struct sched *s);         /* the first of them */
void follow_shift_first(struct engine *e, const struct sched *s); /* its time is another's */
bool follow_refuse_pending(struct engine *e, struct sched *s); /* before a change; false: none is left over */

/* --- runs.c: from record to exit --- */
void runs_recorded(struct engine *e, struct run *r);
void runs_report(struct engine *e, const struct rn_report *says);
void runs_acked(struct engine *e, const struct pending *w, const struct st_ack *ack); /* FOR_RUN */
void runs_timers(struct engine *e); /* retries and conditions whose time has come */
void runs_hold(struct engine *e, struct run *r, const struct hold_row *hold);
void runs_release(struct engine *e, struct sched *s); /* what held its runs is over */
void runs_start(struct engine *e, struct run *r);     /* it has its slot */
void runs_state_changed(struct engine *e, uint32_t key);
void runs_refuse(struct engine *e, struct run *r, enum run_state state, enum reason reason);
void runs_end_retries(struct engine *e, struct run *r);                /* a retry that will not be */
void runs_cancel(struct engine *e, struct run *r, enum reason reason); /* whatever its phase */
void runs_drop_retry(struct engine *e, struct run *r);                 /* if it has one pending */
void runs_drop_retries(struct engine *e, struct sched *s);
void runs_recover(struct engine *e, struct run *r);
bool runs_is_live(const struct run *r);    /* counts for overlap */
bool runs_is_waiting(const struct run *r); /* for an answer, its turn or a slot */
unsigned runs_live(const struct engine *e, const struct sched *s);
unsigned runs_open(const struct engine *e, const struct sched *s); /* live or not */
void runs_start_waiting(struct engine *e, struct sched *s);        /* one of its runs has ended */

struct sched *runs_sched(struct engine *e, const struct run *r);
struct st_req runs_new_request(const struct run *r, enum st_op op, enum st_lane lane);
bool runs_is_paused(const struct engine *e, const struct run *r);
void runs_launch_answered(struct engine *e, struct run *r); /* the runner has answered its start */

/* --- finish.c: the end of an attempt, and of the run --- */
void finish_attempt(struct engine *e, struct run *r, const struct rn_report *says);
/* As its row says: finished, or to be retried. `avoided`: a model call was, by its check. */
void finish_record(struct engine *e, struct run *r, bool avoided);
void finish_notify_followers(struct engine *e, const struct run_row *run); /* the followers */
int64_t finish_max_delay(const struct policy *p);                          /* seconds */

/* --- gate.c: slots --- */
void gate_enqueue(struct engine *e, struct run *r);
void gate_dequeue(struct engine *e, struct run *r);    /* it stands in a queue no more */
void gate_claim_slot(struct engine *e, struct run *r); /* a slot, whatever the limits: it is alive already */
void gate_release_slot(struct engine *e, struct run *r); /* its slot; handed on */
void gate_start_ready(struct engine *e);

/* --- command.c --- */
void command_handle(struct engine *e, const struct command *c);
/* A change of its row, to be filled in, and sent; the schedule is busy then. */
struct st_req command_new_put(const struct sched *s, struct wall at);
void command_submit(struct engine *e, struct sched *s, struct st_req *r, enum request_purpose what,
		    uint64_t command);
void command_acked(struct engine *e, const struct pending *w, const struct st_ack *ack);
void command_backfill_next(struct engine *e, struct sched *s, enum st_res res); /* goes on with a backfill */
void command_sched_removed(struct engine *e, struct sched *s);                  /* the store has it no more */
void command_hold(struct engine *e, uint32_t key, enum reason reason, struct wall until);
void command_close_range_before(struct engine *e, struct sched *s,
				struct wall before); /* its own dates begin */
void command_resume(struct engine *e, struct sched *s, uint64_t command);
void command_pause(struct engine *e, struct sched *s, struct wall until, struct str note, uint64_t command);
