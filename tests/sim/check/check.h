#pragma once
/* The checker: it watches what passes through the ports and what the rows contain, and shares no code with
 * the engine's decisions; it only asks a rule for its nominal times. A finding is printed, once per kind,
 * with true and wall time, and counted. */
#include "world.h"

enum { CHECK_FAILURES_MAX = 100 /* then the history ends */, CHECK_KINDS_MAX = 32 };

struct check *check_new(struct world *w);
void check_free(struct check *c);
unsigned check_failures(const struct check *c);
const char *check_first_finding(const struct check *c); /* "" if there is none */
void check_set_quiet(struct check *c);                  /* count findings, but do not print them */
/* End the history at a finding that contains `text`. */
void check_expect_finding(struct check *c, const char *text);
bool check_has_finding(const struct check *c); /* the expected one */
void check_fail(struct check *c, const char *fmt, ...) printf_like(2, 3);

/* A finding if the engine trusts the clock when it should not, or the reverse. */
void check_clock(struct check *c);
/* The reply to command `tag`; false: there is none yet. */
bool check_reply_of(const struct check *c, uint64_t tag, struct reply *ret);

/* The world calls these when it happens. */
void observe_command(struct check *c, const struct command *cmd);
void observe_reply(struct check *c, const struct reply *r);
void observe_step(struct check *c, const struct effects *fx);
void observe_submit(struct check *c, const struct st_req *q);
void observe_applied(struct check *c, const struct st_req *q, const struct st_ack *a); /* by the store */
void observe_ack(struct check *c, const struct st_req *q, const struct st_ack *a);     /* by the engine */
void observe_request(struct check *c, const struct rn_req *q);
void observe_started(struct check *c, const struct run_file *f); /* a process */
void observe_ended(struct check *c, const struct run_file *f);
void observe_report(struct check *c, const struct rn_report *s);
void observe_up(struct check *c);
void observe_down(struct check *c);
void observe_outage(struct check *c, int64_t until);
void observe_clock_step(struct check *c, int64_t wall_before);
void observe_suspend(struct check *c, int64_t since);

/* Counts of nominal times. */
struct tally {
	uint64_t due;     /* that came due */
	uint64_t healthy; /* of `due`: while the daemon was up and well */
	uint64_t on_time; /* of `healthy`: recorded in time, or refused for a valid reason */
	uint64_t runs, skipped, missed;
	uint64_t lost, twice; /* without a record, with more than one */
	uint64_t down;        /* of `due`: while the daemon was down */
	uint64_t settled;     /* of `down`: settled as the policy says */
	int64_t latest;       /* the largest lateness of those on time */
};
/* At the end, when the engine is quiet: accounts for every nominal time. */
struct tally check_account(struct check *c);
