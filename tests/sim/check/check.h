#pragma once
/* The judge: it watches what passes through the ports and what stands in the rows, and shares no code with
 * the engine's decisions. It may ask a rule for its nominal times, nothing more. What it finds is printed
 * once, with the true and the wall time, and counted. */
#include "world.h"

enum { CHECK_FAILURES_MAX = 100, CHECK_KINDS_MAX = 32 }; /* then the history ends */

struct check *check_new(struct world *w);
void check_free(struct check *c);
unsigned check_failures(const struct check *c);
const char *check_first_finding(const struct check *c); /* what was found first; "" if nothing */
void check_set_quiet(struct check *c);                  /* count, do not print: for planted bugs */
/* Look for a finding that says this; it ends the history. */
void check_expect_finding(struct check *c, const char *text);
bool check_has_finding(const struct check *c);
void check_fail(struct check *c, const char *fmt, ...) printf_like(2, 3);

/* What command `tag` was answered; false: not yet. */
/* Does the engine believe the clock when it should? */
void check_clock(struct check *c);
bool check_reply_of(const struct check *c, uint64_t tag, struct reply *ret);

/* What the world tells it, at the moment it happens. */
void observe_command(struct check *c, const struct command *cmd);
void observe_reply(struct check *c, const struct reply *r);
void observe_step(struct check *c, const struct effects *fx);
void observe_submit(struct check *c, const struct st_req *q);
void observe_applied(struct check *c, const struct st_req *q, const struct st_ack *a);
void observe_ack(struct check *c, const struct st_req *q, const struct st_ack *a);
void observe_request(struct check *c, const struct rn_req *q);
void observe_started(struct check *c, const struct run_file *f);
void observe_ended(struct check *c, const struct run_file *f);
void observe_report(struct check *c, const struct rn_report *s);
void observe_up(struct check *c);
void observe_down(struct check *c, bool machine);
void observe_outage(struct check *c, int64_t until);
void observe_clock_step(struct check *c, int64_t wall_before);
void observe_suspend(struct check *c, int64_t since);

/* At the end, when all is quiet: every nominal time accounted for. */
struct tally {
	uint64_t due;     /* nominal times that came */
	uint64_t healthy; /* … while up and well */
	uint64_t on_time; /* … of those, recorded in time or rightly refused */
	uint64_t runs, skipped, missed;
	uint64_t lost, twice;
	uint64_t down;    /* came due while down */
	uint64_t settled; /* … of those, settled as their policy says */
	int64_t latest;   /* the worst lateness of those on time */
};
struct tally check_account(struct check *c);
