#pragma once
/* What the files of the runner share. */
#include "base/map.h"
#include "exec/runner.h"

enum slot_state {
	SLOT_FREE,
	SLOT_WANTED,   /* waits for what to execute */
	SLOT_HELD,     /* waits for a launcher, or for its next try */
	SLOT_SENT,     /* a shim should be on its way */
	SLOT_ALIVE,    /* born; watched by pidfd, or else by looking now and then */
	SLOT_SWEEP,    /* its shim is dead: somebody must end its tree */
	SLOT_SWEEPING, /* somebody does */
	SLOT_LOOK,     /* its file could not be read: again later */
	SLOT_LINE,     /* a check that waits for others to end */
};

/* One attempt. */
struct slot {
	uint64_t run;
	uint64_t ticket; /* of what was sent last; answers to others are stale */
	int64_t at;      /* when to act, by the boot clock; INT64_MAX: when something happens */
	int64_t pause;   /* before the next try */
	int64_t handed;  /* to the launcher, the last time */
	int memfd, pidfd;
	uint32_t turn; /* tells users of the same slot apart */
	uint16_t attempt, doom;
	uint32_t number, rev, next; /* a check: of the question; what it is about; who comes after it */
	uint64_t sid;
	bool counted; /* a check: among those under way */
	uint8_t state;
	bool kill_pending; /* to be killed, recording `doom` */
	bool burning;      /* to be made unstartable */
	bool starting;     /* birth is to be told as RN_STARTED, else as RN_ALIVE */
	bool told;         /* it was */
	bool sent;         /* at least once: a shim may be there that nobody told us of */
};

enum { TROUBLE_LAUNCHER, TROUBLE_BIRTH, TROUBLE_FILES, TROUBLES };
struct trouble {
	struct wall since; /* 0: none */
	struct why why;
};

struct runner {
	struct runner_config c;
	char *runs, *cgroup, *lease;
	char boot[40];
	int epoll, timer, ready; /* ready: an eventfd, set while there is something to say */
	struct launcher launcher;
	int64_t launcher_at; /* runner_keep_launcher starts none before */
	int64_t heard;       /* of a launcher, the last time */
	struct slot *slot;
	uint32_t slots, used, *spare; /* spare: indices of free slots */
	uint32_t spares;
	struct map of; /* attempt_key to slot */
	struct rn_report *say;
	uint32_t says, say_room, said; /* said: of them collected */
	uint64_t tickets;              /* given so far */
	uint32_t checks, first, last;  /* checks under way; those in line, by their slots */
	struct trouble trouble[TROUBLES];
};

static inline uint64_t attempt_key(uint64_t run, uint16_t attempt)
{
	return run << 16 | attempt;
}

static inline bool is_check(const struct slot *s)
{
	return s->attempt & RUN_CHECK;
}

/* runner.c */
/* Of this attempt; room was reserved. What becomes of a check is said as its answer. */
void runner_speak(struct runner *r, const struct slot *s, const struct rn_report *says);
void runner_watch(struct runner *r, struct slot *s, int pidfd);
void runner_unwatch(struct runner *r, struct slot *s);
void runner_forget(struct runner *r, struct slot *s);
void runner_trouble_set(struct runner *r, unsigned which, const char *fmt, ...) printf_like(3, 4);
void runner_trouble_over(struct runner *r, unsigned which);
/* Acts again after the slot's pause, which doubles. */
void runner_later(struct slot *s, enum slot_state state);

/* runner_check.c: checks, so many at a time and the others in line. */
void check_ask(struct runner *r, struct slot *s, const struct rn_req *q, bool is_new);
void check_next(struct runner *r);
void check_over(struct runner *r, struct slot *s); /* before it is forgotten */
/* Its file is of a former life, or there is none: it is asked now. */
bool check_is_old(const struct slot *s);
void check_anew(struct runner *r, struct slot *s);
/* What it ended with, as an answer; false: it has not ended. */
bool check_answer(const struct slot *s, const struct rn_report *says, struct rn_report *ret);

/* runner_life.c: from what the run file says to what is said. */
void life_look(struct runner *r, struct slot *s);
void life_burn(struct runner *r, struct slot *s);
void life_signal(struct runner *r, struct slot *s);
void life_say(struct runner *r, struct slot *s, enum rn_report_kind say);
void life_born(struct runner *r, struct slot *s);

/* runner_launch.c: the launcher's socket. */
void launch_overdue(struct runner *r, struct slot *s); /* sent, and nothing was heard */
void launch_send(struct runner *r, struct slot *s);
void launch_sweep(struct runner *r, struct slot *s);
/* Takes all there is. */
void launch_hear(struct runner *r);
void launch_lost(struct runner *r);
