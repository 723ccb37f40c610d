#pragma once
/* Named scenarios: a world without randomness, scripted runs and answers, and the expected rows written as
 * text. Every port takes 10 ms, so a run that is due at 08:10:00 is recorded within that second, and times
 * are compared by the second. */
#include "check/check.h"
#include "spec.h"

struct scenario_rig;

struct scenario {
	const char *name;
	void (*run)(struct scenario_rig *s);
	struct scenario *next;
};
void scenario_register(struct scenario *s);
const struct scenario *scenario_first(void);
/* True if the rows were as expected and the checker found nothing. */
bool scenario_run(const struct scenario *s, bool verbose);

#define SCENARIO(fn)                                                                                         \
	static void fn(struct scenario_rig *s);                                                              \
	__attribute__((constructor)) static void fn##_register(void)                                         \
	{                                                                                                    \
		static struct scenario x = { #fn, fn, NULL };                                                \
		scenario_register(&x);                                                                       \
	}                                                                                                    \
	static void fn(struct scenario_rig *s)

struct world *rig_world(struct scenario_rig *s);

/* To be called before anything else. If they are not called, the world starts at 2026-03-05 08:00 UTC with 16
 * slots. */
void start_at(struct scenario_rig *s, const char *when);
void set_slots(struct scenario_rig *s, unsigned n);

/* Adds or changes a schedule. If the engine refuses that, the scenario fails. */
uint64_t add_schedule(struct scenario_rig *s, struct spec spec); /* returns its sid */
void change_schedule(struct scenario_rig *s, uint64_t sid, struct spec spec);
/* Sends any other command, and waits for the reply. */
struct reply send_command(struct scenario_rig *s, struct command c);
/* Lets time pass up to "09:10", "09:10:30" or "09:10:00.5" of the day, or "03-08 09:10". */
void run_until(struct scenario_rig *s, const char *when);
struct wall at(struct scenario_rig *s, const char *when);

/* Sets what the schedule's next attempt does. Several calls set one attempt after another; the last call
 * applies to all further attempts. Without a call, attempts succeed after 1 s. */
void script_run(struct scenario_rig *s, uint64_t sid, struct process_plan plan);
/* Sets the answer of the precondition from now on. Without a call the answer is yes. */
void script_answer(struct scenario_rig *s, uint64_t sid, enum rn_ask ask, bool yes, enum reason reason);

/* The rows that the schedule must have: one record after another by nominal time, separated by "; ".
 *   08:10 done 08:10-08:35          a run, from start to end
 *   08:10 claimed 08:10             a run that has not ended
 *   catch_up 08:10 done …           a run of another kind than KIND_TIMER
 *   08:10 done #3 …                 its third attempt
 *   08:10 done … missed 4           it was told of four missed times
 *   backfill 08:10 done … was missed   it replaced a missed record
 *   08:20 skipped/overlap           a refused time
 *   08:20..08:50 missed/superseded  a range, or neighbouring records with the same reason
 *   08:20.. skipped/paused          an open range */
void expect_rows_at(struct scenario_rig *s, int line, uint64_t sid, const char *text);
#define expect_rows(s, sid, text) expect_rows_at((s), __LINE__, (sid), (text))
/* The record of a run that took 1 s. */
#define RAN(t) t " done " t "-" t ":01; "
void expect_true_at(struct scenario_rig *s, int line, bool is, const char *what);
#define expect_true(s, cond) expect_true_at((s), __LINE__, (cond), #cond)

static inline struct process_plan lasting(int64_t us)
{
	return (struct process_plan){ .lasts = us, .outcome = OUTCOME_DONE };
}

static inline struct process_plan failing(int64_t us, enum reason reason)
{
	return (struct process_plan){ .lasts = us, .outcome = OUTCOME_FAILED, .reason = (uint16_t)reason };
}
