#pragma once
/* The checker watches the requests and answers that pass through the ports, and the rows of the store. It
 * shares no code with the engine's decisions: it uses only the nominal times of rules. A finding is counted
 * and, once per kind, printed with true time and wall time. */
#include "world.h"

enum { CHECK_FAILURES_MAX = 100 /* then the history ends */, CHECK_KINDS_MAX = 32 };

struct check *check_new(struct world *w);
void check_free(struct check *c);
unsigned check_failures(const struct check *c);
const char *check_first_finding(const struct check *c); /* "" if there is none */
void check_set_quiet(struct check *c);                  /* count findings, but do not print them */
/* Ends the history at a finding that contains `text`. */
void check_expect_finding(struct check *c, const char *text);
bool check_has_finding(const struct check *c); /* whether the expected finding has occurred */
void check_fail(struct check *c, const char *fmt, ...) printf_like(2, 3);

/* "2026-03-05 08:10:00.000"; valid until the eighth call after it. */
const char *check_time_text(struct wall at);
/* The clock jumped too far ahead to be trusted. */
bool check_clock_is_held(const struct check *c);
/* Reports a finding if the engine trusts a clock that it should not trust, or the reverse. */
void check_clock(struct check *c);
/* The reply to command `tag`; false: there is none yet. */
bool check_reply_of(const struct check *c, uint64_t tag, struct reply *ret);

/* The world calls these functions when the event happens. */
void observe_command(struct check *c, const struct command *cmd);
void observe_reply(struct check *c, const struct reply *r);
void observe_step(struct check *c, const struct effects *fx);
void observe_submit(struct check *c, const struct st_req *q);
/* The store is about to carry out the request. */
void observe_applying(struct check *c, const struct st_req *q);
/* The store has carried it out: compares the events that it has logged with what has changed. */
void check_events(struct check *c, const struct st_req *q, const struct st_ack *a);
/* The store has carried out the request. */
void observe_applied(struct check *c, const struct st_req *q, const struct st_ack *a);
/* The engine gets the answer. */
void observe_ack(struct check *c, const struct st_req *q, const struct st_ack *a);
void observe_request(struct check *c, const struct rn_req *q);
void observe_started(struct check *c, const struct run_file *f); /* a process was started */
void observe_ended(struct check *c, const struct run_file *f);
void observe_report(struct check *c, const struct rn_report *s);
void observe_up(struct check *c);
void observe_down(struct check *c);
void observe_outage(struct check *c, int64_t until);
void observe_clock_step(struct check *c, int64_t wall_before);
void observe_suspend(struct check *c, int64_t since);

/* The store's contents are those of true time `backup` again. */
void check_restored(struct check *c, int64_t backup);

/* Counts of nominal times. */
struct tally {
	uint64_t due;     /* times that came due */
	uint64_t healthy; /* times of `due` at which the daemon was up and nothing failed */
	uint64_t on_time; /* times of `healthy` that were recorded in time, or refused for a valid reason */
	uint64_t runs, skipped, missed;
	uint64_t lost, twice; /* times without a record; times with more than one record */
	uint64_t down;        /* times of `due` at which the daemon was down */
	uint64_t settled;     /* times of `down` that were settled as the policy says */
	int64_t latest;       /* the largest lateness of a time of `on_time` */
};
/* Accounts for every nominal time. To be called at the end, when the engine is quiet. */
struct tally check_account(struct check *c);
