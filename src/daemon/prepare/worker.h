#pragma once
/* The prepare worker: PREPARE_THREADS threads that read documents, so that the engine's thread never waits
 * for a disk. They render what an attempt executes, answer the engine's questions before a run, and compile
 * documents to rules.
 *
 * The tasks of one schedule are done one after the other. So a schedule that takes long to render occupies
 * one thread, and the attempts of others do not wait for it.
 *
 * A task that fails because of the machine (a disk that cannot be read, no descriptor, no memory) is tried
 * again every PREPARE_RETRY_MS until it succeeds; other tasks do not wait for it. */
#include "daemon/intern.h"
#include "daemon/prepare/render.h"
#include "exec/launch.h"
#include "port/runner.h"
#include "sys/pool.h"

enum prepare_kind {
	PREPARE_LAUNCH, /* render what an attempt, a check or a hook executes */
	PREPARE_ANSWER, /* answer RN_ASK */
	PREPARE_HOOK,   /* answer RN_ASK by the end of the hook's program */
	PREPARE_RULES,  /* compile a schedule's document to rules, with the present zone files and agents */
	PREPARE_CALL,   /* call a function of the caller */
	PREPARE_ZONES,  /* read the zone files again */
};

struct prepare_task {
	uint8_t kind;
	struct rn_req
		req; /* PREPARE_RULES: only sid; PREPARE_HOOK: run and ask; the others when it is finished */
	struct arena arena; /* holds everything the results point to */
	struct why why;     /* PREPARE_LAUNCH, if there is an outcome: what is wrong */
	void *ctx;          /* free for the owner of the finished task */
	/* PREPARE_LAUNCH */
	struct str input; /* the standard input of HOOK_OF_CREATE, allocated by malloc; freed with the task */
	struct launch launch;
	struct str provenance; /* the provenance of an agent's turn; p NULL: not a turn */
	uint8_t outcome;       /* if it is not OUTCOME_NONE, the attempt cannot be executed */
	uint16_t reason;       /* why the attempt cannot be executed */
	/* PREPARE_ANSWER, PREPARE_HOOK */
	struct rn_report program; /* PREPARE_HOOK: how the program ended */
	struct rn_report answer;
	struct str detail; /* see struct precondition_answer */
	bool hook_failed;  /* PREPARE_HOOK: it could not answer; `hook_words` says why */
	struct str hook_words;
	/* PREPARE_RULES */
	enum err error; /* the document can no longer be compiled */
	struct rules rules;
	/* The worker's own. */
	struct pool_task pool;
	void (*fn)(struct reader *reader, void *arg);
	void *arg;
	bool troubled; /* it was postponed because the machine failed */
};
void prepare_task_free(struct prepare_task *t);

struct store;
struct prepare_options {
	struct store *store;
	struct render_place place;
	struct doc_env defaults;
	struct intern *intern;
	void *ctx;
	/* Called on a thread of the worker with each finished task of the kinds up to PREPARE_RULES; the
	 * callee becomes the owner of the task. */
	void (*finished)(void *ctx, struct prepare_task *t);
	/* Called on a thread of the worker when the zone files have been read again. */
	void (*zones_read)(void *ctx);
};

struct prepare_worker;
must_check enum err prepare_open(const struct prepare_options *o, struct prepare_worker **ret,
				 struct why *why);
void prepare_close(struct prepare_worker *w); /* drops the tasks that are not finished */

/* --- from any thread. E_BUSY: too many tasks; E_NOMEM --- */

must_check enum err prepare_launch(struct prepare_worker *w, const struct rn_req *r);
/* The same for HOOK_OF_CREATE, whose standard input is `input`, allocated by malloc; on success the worker
 * becomes its owner. */
must_check enum err prepare_create_hook(struct prepare_worker *w, const struct rn_req *r, struct str input);
/* `program` is the runner's report about the program of a hook. */
must_check enum err prepare_hook(struct prepare_worker *w, const struct rn_report *program);
must_check enum err prepare_answer(struct prepare_worker *w, const struct rn_req *r);
must_check enum err prepare_rules(struct prepare_worker *w, uint64_t sid);
/* Does a finished task again after PREPARE_RETRY_MS, because the machine failed when its result was used. On
 * error the caller keeps the task. */
must_check enum err prepare_retry(struct prepare_worker *w, struct prepare_task *t);
/* Calls fn(reader, arg) on a thread of the worker. If the worker is closed before that, fn is called with a
 * NULL reader, so that it can free arg. */
must_check enum err prepare_call(struct prepare_worker *w, void (*fn)(struct reader *reader, void *arg),
				 void *arg);
/* To be called when the zone files have changed. The worker reads them again. From then on documents are
 * compiled with the new files, and intern_take_over can put the new zones into the tables. */
must_check enum err prepare_zones_changed(struct prepare_worker *w);

/* Returns E_IO and the reason while an attempt waits because the machine fails. */
must_check enum err prepare_trouble(struct prepare_worker *w, struct why *why);
