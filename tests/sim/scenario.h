#pragma once
/* The stage for named scenarios: a world without chance, scripted runs and guards, and what must stand in the
 * rows afterwards written down as text. Every port takes 10 ms; so an event at 08:10:00 is done within that
 * second, and times are compared by the second. */
#include "check/check.h"
#include "spec.h"

struct scenario_rig;

struct scenario {
	const char *name;
	void (*play)(struct scenario_rig *s);
	struct scenario *next;
};
void scenario_register(struct scenario *s);
const struct scenario *scenario_first(void);
/* True if all was as written. */
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

/* The day begins at 08:00 UTC on 2026-03-05 unless it is set, before anything else. */
void start_at(struct scenario_rig *s, const char *when);
void set_slots(struct scenario_rig *s, unsigned n); /* 16 unless set, before anything else */

/* Adds a schedule, and changes one; refused ones fail the scenario. */
uint64_t add_schedule(struct scenario_rig *s, struct spec spec);
void change_schedule(struct scenario_rig *s, uint64_t sid, struct spec spec);
/* Any other command; what it was answered. */
struct reply send_command(struct scenario_rig *s, struct command c);
/* Lets time pass up to "09:10", "09:10:30", "09:10:00.5" of the day, or "03-08 09:10". */
void run_until(struct scenario_rig *s, const char *when);
struct wall at(struct scenario_rig *s, const char *when);

/* The schedule's next starts end so, one after another; the last one given goes for all that follow. Without
 * any: done after 1 s. */
void script_run(struct scenario_rig *s, uint64_t sid, struct process_plan fate);
/* What its guards say from now on; yes unless told. */
void script_answer(struct scenario_rig *s, uint64_t sid, enum rn_ask ask, bool yes, enum reason reason);

/* What must stand in the rows of a schedule: one line per record, in order of the nominal time, separated by
 * "; ". `08:10 done 08:10-08:35`, `08:20 skipped/overlap`, `08:20..08:50 missed/superseded` (one range, or
 * several records of the same), `08:20.. skipped/paused` (open), `catch_up 08:10 done …`, `#3` for the third
 * attempt, `missed 4` for what it was told of, `was missed` for what it took over. */
void expect_rows_at(struct scenario_rig *s, int line, uint64_t sid, const char *text);
#define expect_rows(s, sid, text) expect_rows_at((s), __LINE__, (sid), (text))
/* One that ran for its second. */
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
