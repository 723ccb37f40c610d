#pragma once
/* Shared by the files of the runner: the table of attempts and its states.
 *
 *	state		waits for				next state
 *	UNKNOWN		its run file to be read, now or later	by the file
 *	QUEUED		a check or hook: others to end		UNKNOWN
 *	WANTED		runner_give or runner_refuse		HELD, SENT; removed if refused
 *	HELD		a launcher, or the end of a pause	SENT
 *	SENT		the reply of launcher and shim		ALIVE, HELD; by the file
 *	ALIVE		the end of its shim			by the file
 *	SWEEP		a launcher, to start a sweep		SWEEPING
 *	SWEEPING	the end of the sweep			by the file
 *
 * By the file: ALIVE while the shim lives; SWEEP if it died without an exit section; HELD if there is no file
 * and the attempt can be sent again. In all other cases the end is reported, and the attempt is removed from
 * the table. */
#include "base/map.h"
#include "exec/runner.h"

enum attempt_state {
	ATTEMPT_FREE, /* an unused entry of the table */
	ATTEMPT_UNKNOWN,
	ATTEMPT_QUEUED,
	ATTEMPT_WANTED,
	ATTEMPT_HELD,
	ATTEMPT_SENT,
	ATTEMPT_ALIVE,
	ATTEMPT_SWEEP,
	ATTEMPT_SWEEPING,
};

struct attempt {
	uint64_t run;
	uint64_t ticket; /* of the last packet sent; replies with another one are stale */
	int64_t at;      /* when to act, by the boot clock; INT64_MAX: only on an event */
	int64_t pause;   /* the pause before the next retry, microseconds */
	int64_t sent_at; /* when the last packet was sent */
	int memfd, pidfd;
	uint32_t generation; /* distinguishes successive users of one entry */
	uint16_t attempt;    /* with RUN_CHECK: the check before the attempt; or a hook (run_is_hook) */
	uint16_t kill_reason;
	uint8_t state;
	bool kill_pending;    /* to be killed, with kill_reason */
	bool prevent_pending; /* to be prevented from starting */
	bool start_asked;     /* report its start as RN_STARTED, else as RN_ALIVE */
	bool start_reported;
	bool sent; /* a packet was sent at least once, so there may be a shim that has not replied */
	/* For a check or hook: */
	bool counted; /* in `running` of its queue */
	uint8_t ask;
	uint32_t number, rev, agent;
	uint32_t next; /* in its queue: index, or UINT32_MAX */
	uint64_t sid;
};

enum { TROUBLE_LAUNCHER, TROUBLE_START, TROUBLE_FILES, TROUBLES };
struct runner_trouble {
	struct wall since; /* 0: none */
	struct why why;
};

/* Questions of one kind that run, and those that wait for them. */
enum { QUEUE_CHECKS, QUEUE_HOOKS, QUEUES };
struct question_queue {
	unsigned running;
	uint32_t first, last; /* queued; first UINT32_MAX: none */
	bool changed;         /* since questions_start: perhaps one can start */
};

struct runner {
	struct runner_config config;
	char *runs, *cgroup, *lease;
	char boot[40];
	int epoll, timer, ready; /* ready: an eventfd, set while there are reports */
	struct launcher launcher;
	int64_t launcher_at; /* runner_keep_launcher starts no launcher before this time */
	int64_t heard_at;    /* when a launcher last sent a packet */
	struct attempt *attempt;
	unsigned attempts, used; /* attempts: all entries of the table, free ones included */
	uint32_t *spare;         /* indices of free entries */
	unsigned spares, spare_room;
	struct map by_key; /* attempt_key to index */
	struct rn_report *report;
	unsigned reports, report_room, collected; /* collected: how many reports were collected */
	uint64_t tickets;                         /* issued so far */
	struct question_queue queue[QUEUES];
	uint64_t hook_sid[RUNNER_HOOKS_MAX]; /* schedules whose hook runs; 0: a free place */
	struct runner_trouble trouble[TROUBLES];
};

static inline uint64_t attempt_key(uint64_t run, uint16_t attempt)
{
	return run << 16 | attempt;
}

/* Whether it is a check or a hook. */
static inline bool is_question(const struct attempt *a)
{
	return a->attempt & RUN_CHECK || run_is_hook(a->attempt);
}

/* Events on `epoll` carry one of these, or the index and generation of an attempt. */
enum { EVENT_SOCKET = UINT32_MAX - 8, EVENT_LAUNCHER, EVENT_TIMER, EVENT_READY };

/* runner.c */
bool runner_listen(struct runner *r, int fd, uint64_t event);
/* Queues a report about this attempt; room was reserved. The end of a check or hook is reported as its
 * answer.
 */
void runner_report(struct runner *r, const struct attempt *a, const struct rn_report *report);
void runner_trouble_set(struct runner *r, unsigned which, const char *fmt, ...) printf_like(3, 4);
void runner_trouble_clear(struct runner *r, unsigned which);

/* table.c: the table of attempts. */
struct attempt *attempt_find(struct runner *r, uint64_t run, uint16_t attempt); /* NULL: not in the table */
must_check enum err attempt_add(struct runner *r, uint64_t run, uint16_t attempt, struct attempt **ret);
void attempt_remove(struct runner *r, struct attempt *a);
/* Takes over the pidfd (-1: none) and waits for the end of the process by it. */
void attempt_watch(struct runner *r, struct attempt *a, int pidfd);
void attempt_unwatch(struct runner *r, struct attempt *a);
/* Enters `state` and acts again after the pause, which is then doubled. */
void attempt_retry(struct attempt *a, enum attempt_state state);

/* attempt.c: from the run file to the state of an attempt and to reports. */
void attempt_update(struct runner *r, struct attempt *a); /* reads its run file */
void attempt_prevent(struct runner *r, struct attempt *a);
void attempt_signal(struct runner *r, struct attempt *a); /* if a kill is pending */
void attempt_report(struct runner *r, struct attempt *a, enum rn_report_kind kind);
void attempt_started(struct runner *r, struct attempt *a);

/* questions.c: checks and hooks. At most RUNNER_CHECKS_MAX checks and RUNNER_HOOKS_MAX hooks run at a time,
 * and one hook of a schedule; the others are queued. */
/* The attempt number of the program that answers this request; false: no program does. */
bool question_attempt(const struct rn_req *q, uint16_t *ret);
void question_ask(struct runner *r, struct attempt *a, const struct rn_req *q, bool is_new);
bool questions_can_start(const struct runner *r);
void questions_start(struct runner *r);                     /* those that need not wait any more */
void question_uncount(struct runner *r, struct attempt *a); /* to be called before it is removed */
/* Whether the run file belongs to an earlier question, because this runner has not started the program. */
bool question_is_stale(const struct attempt *a);
/* Removes its run file, and calls `want` to get the program again. */
void question_restart(struct runner *r, struct attempt *a);
/* Turns a report about the program into its answer; false: the program has not ended. */
bool question_answer(const struct attempt *a, const struct rn_report *report, struct rn_report *ret);

/* launch_socket.c: the socket of the launcher. */
void launch_send_start(struct runner *r, struct attempt *a);
void launch_send_sweep(struct runner *r, struct attempt *a);
void launch_overdue(struct runner *r, struct attempt *a); /* no reply for RUNNER_ANSWER_MS */
void launch_receive(struct runner *r);                    /* all packets that have arrived */
void launch_disconnect(struct runner *r);                 /* the launcher has died, or hangs */
