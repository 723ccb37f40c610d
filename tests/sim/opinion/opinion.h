#pragma once
/* The second opinion: a slow and plain model of schedules.md, run beside every history. It follows what the
 * store has, what the daemon was told, and which processes start and end, and says of each decision whether
 * the specification asks for it: which times run, which are skipped or missed and why, in which order runs
 * start, what ends them, what is counted and what is reported.
 *
 * It shares no code with the engine. Nominal times and the jitter come from core/when, which has oracles of
 * its own (libc, Python, systemd, croner); exclusions, active hours, delays and policies are computed here.
 *
 * It depends on no field of a request but the operation, the schedule and the run: everything else is read
 * from the rows. A decision is judged by what the daemon knew when it made it. Where that cannot be said from
 * outside, because two things happened together, the opinion says nothing. */
#include "world.h"

struct opinion;
struct opinion *opinion_new(struct world *w);
void opinion_free(struct opinion *o);

/* The world calls these functions when the event happens. */
void opinion_up(struct opinion *o); /* before the engine's first step */
void opinion_down(struct opinion *o);
void opinion_outage(struct opinion *o, int64_t until);
void opinion_suspended(struct opinion *o, int64_t since);
void opinion_stepped(struct opinion *o, int64_t by); /* the wall clock was stepped */
void opinion_command(struct opinion *o, const struct command *c);
void opinion_replied(struct opinion *o, const struct reply *r);
/* A request to the store: when the engine sends it, when it is carried out, and just before the engine gets
 * the answer. */
void opinion_asked(struct opinion *o, const struct st_req *q);
void opinion_written(struct opinion *o, const struct st_req *q, const struct st_ack *a);
void opinion_told(struct opinion *o, const struct st_req *q, const struct st_ack *a);
/* A request to the runner: when the engine sends it, and just before the engine gets a report. */
void opinion_requested(struct opinion *o, const struct rn_req *q);
void opinion_reported(struct opinion *o, const struct rn_report *s);
/* A process was started, or has ended. */
void opinion_started(struct opinion *o, const struct run_file *f);
void opinion_ended(struct opinion *o, const struct run_file *f);
void opinion_step_done(struct opinion *o);
void opinion_pruned(struct opinion *o);   /* old records were removed */
void opinion_restored(struct opinion *o); /* the rows are those of a backup */
/* At the end, when the engine is quiet. */
void opinion_account(struct opinion *o);
