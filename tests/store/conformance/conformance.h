#pragma once
/* Tests the promises of port/store.h on the model and on SQLite. Each request is sent twice: the second
 * answer must be the same, and the second request must change nothing. */
#include "dump.h"
#include "fixture.h"
#include "requests.h"
#include "test.h"

/* A test that runs on each kind of store. After it, closing and opening the store must change nothing. */
#define ON_EACH(fn)                                                                                          \
	static void fn##_on(struct fixture *f);                                                              \
	TEST(fn)                                                                                             \
	{                                                                                                    \
		run_on_each(fn##_on);                                                                        \
	}                                                                                                    \
	static void fn##_on(struct fixture *f)
void run_on_each(void (*fn)(struct fixture *f));

/* Sends a request twice, and returns the first answer. */
struct st_ack ask_at(const char *file, int line, struct fixture *f, struct st_req r);
#define ask(f, r) ask_at(__FILE__, __LINE__, f, r)
/* Does the same with a request that must change nothing. */
struct st_ack ask_unchanged_at(const char *file, int line, struct fixture *f, struct st_req r);
#define ask_unchanged(f, r)         ask_unchanged_at(__FILE__, __LINE__, f, r)
#define CHECK_RES(f, r, want)       CHECK_INT(ask(f, r).res, want)
#define CHECK_UNCHANGED(f, r, want) CHECK_INT(ask_unchanged(f, r).res, want)

/* Compares the dumped rows of a kind with `want`. A row is written without the name of its kind: "5 1 …|6 1
 * …". */
void expect_at(const char *file, int line, struct fixture *f, const char *kind, const char *want);
#define EXPECT(f, kind, want) expect_at(__FILE__, __LINE__, f, kind, want)
/* Compares the numbers of all runs with `want`, in which they are separated by spaces. */
void expect_runs_at(const char *file, int line, struct fixture *f, const char *want);
#define EXPECT_RUNS(f, want) expect_runs_at(__FILE__, __LINE__, f, want)
/* Checks that the dumped items of load contain `want`. */
void expect_in_load_at(const char *file, int line, struct fixture *f, const char *want);
#define EXPECT_IN_LOAD(f, want) expect_in_load_at(__FILE__, __LINE__, f, want)

#define NEVER_S "9223372036854775807"

/* Records a run of `sid` that is finished at once, and returns the number of its end. */
uint64_t record_end(struct fixture *f, uint64_t sid, uint64_t run, int64_t nominal);
struct st_req req_memory(enum memory_act act, uint64_t run, const char *text, int64_t at);
struct st_req prune_runs(uint64_t first, uint64_t last, int64_t at);
