/* Finding the run of a process, in a table of invented processes. */
#include "exec/lineage.h"
#include "test.h"

/* Processes by pid; parent -1: there is no such process. At read number `change` one process gets another
 * parent, and one process ends. */
struct world {
	struct ancestor at[8];
	unsigned looks, change;
	pid_t changed, parent, gone;
	bool none; /* no descriptor is left */
};

static enum err read_process(void *ctx, pid_t pid, struct ancestor *ret)
{
	struct world *w = ctx;
	if (w->none)
		return E_BUSY;
	if (w->change && ++w->looks == w->change) {
		w->at[w->changed].parent = w->parent;
		w->at[w->gone].parent = -1;
	}
	if (pid < 1 || pid > 7 || w->at[pid].parent < 0)
		return E_NOTFOUND;
	*ret = w->at[pid];
	return OK;
}

static struct ancestor process(pid_t parent, uint64_t start, uint64_t run)
{
	return (struct ancestor){ .parent = parent,
				  .start = start,
				  .shim = { .run = run, .attempt = run ? 1u : 0u } };
}

/* 1 is init, 2 the login shell of a person, 3 a client started by 2; 4 is the shim of r12, 5 its agent, 6 a
 * client started by 5. */
static struct world usual(void)
{
	return (struct world){ .at = { [1] = process(0, 1, 0),
				       [2] = process(1, 10, 0),
				       [3] = process(2, 20, 0),
				       [4] = process(1, 30, 12),
				       [5] = process(4, 31, 0),
				       [6] = process(5, 32, 0),
				       [7] = process(-1, 0, 0) } };
}

TEST(people_and_runs_are_distinguished)
{
	struct world w = usual();
	struct lineage l = { .run = 7, .attempt = 7 };
	CHECK(lineage_walk(read_process, &w, 3, 100, &l) == OK && l.run == 0);
	CHECK(lineage_walk(read_process, &w, 6, 100, &l) == OK && l.run == 12 && l.attempt == 1);
	CHECK(lineage_walk(read_process, &w, 4, 100, &l) == OK && l.run == 12);
	CHECK(lineage_walk(read_process, &w, 1, 100, &l) == OK && l.run == 0);
}

TEST(the_topmost_shim_counts)
{
	struct world w = usual();
	struct lineage l;
	w.at[5].shim = (struct lineage){ .run = 13, .attempt = 1 };
	CHECK(lineage_walk(read_process, &w, 6, 100, &l) == OK && l.run == 12);
}

TEST(a_process_that_has_ended)
{
	struct world w = usual();
	struct lineage l = { .run = 7, .attempt = 7 };
	CHECK(lineage_walk(read_process, &w, 7, 100, &l) == E_GONE);
	CHECK(lineage_walk(read_process, &w, 0, 100, &l) == E_GONE);
	/* The pid of the client was reused. */
	CHECK(lineage_walk(read_process, &w, 3, 19, &l) == E_GONE &&
	      lineage_walk(read_process, &w, 3, 20, &l) == OK);
	w.none = true;
	l = (struct lineage){ .run = 7, .attempt = 7 };
	CHECK(lineage_walk(read_process, &w, 3, 100, &l) == E_BUSY && l.run == 7);
}

TEST(parents_may_end_meanwhile)
{
	/* Whenever the agent ends, its client becomes a child of the shim. */
	for (unsigned n = 1; n < 8; n++) {
		struct world w = usual();
		struct lineage l = { 0 };
		w.change = n;
		w.changed = 6;
		w.parent = 4;
		w.gone = 5;
		CHECK(lineage_walk(read_process, &w, 6, 100, &l) == OK && l.run == 12);
	}
	struct world w = usual();
	struct lineage l;
	w.at[5] = process(1, 99, 0); /* the pid of the agent was reused by a process younger than its child */
	w.change = 3;
	w.changed = 6;
	w.parent = 4;
	CHECK(lineage_walk(read_process, &w, 6, 100, &l) == OK && l.run == 12);
}

TEST(a_cycle_is_not_followed_forever)
{
	struct world w = usual();
	struct lineage l = { .run = 7, .attempt = 7 };
	w.at[2] = process(3, 10, 0);
	w.at[3] = process(2, 10, 0);
	CHECK(lineage_walk(read_process, &w, 3, 100, &l) == E_LIMIT && l.run == 7);
}

/* The shim of r12 was killed: its processes are children of the launcher, 4, which is a child of the
 * daemon, 2. */
TEST(processes_that_the_daemon_adopted_are_not_people)
{
	struct world w = usual();
	struct lineage l;
	w.at[2].adopts = 11;
	w.at[4] = process(2, 30, 0);
	CHECK(lineage_walk(read_process, &w, 6, 100, &l) == OK && l.run == 0 && l.other && l.descends);
	CHECK(lineage_walk(read_process, &w, 3, 100, &l) == OK && l.run == 0 && l.other && l.descends);
	/* A job that the daemon's process had started before it became the daemon. */
	w.at[2].adopts = 21;
	CHECK(lineage_walk(read_process, &w, 3, 100, &l) == OK && l.run == 0 && !l.other && !l.descends);
	/* Shims of runs are still recognized. */
	w.at[4] = process(2, 30, 12);
	CHECK(lineage_walk(read_process, &w, 6, 100, &l) == OK && l.run == 12 && !l.other && l.descends);
	/* The daemon is itself in a run of another daemon, whose shim is 1. */
	w.at[1].shim = (struct lineage){ .run = 5, .attempt = 1 };
	CHECK(lineage_walk(read_process, &w, 6, 100, &l) == OK && l.descends);
	CHECK(lineage_walk(read_process, &w, 1, 100, &l) == OK && l.run == 5 && !l.descends);
	w.at[1].shim = (struct lineage){ 0 };
	/* A shim of the notifier. */
	w.at[4].shim = (struct lineage){ .other = true };
	CHECK(lineage_walk(read_process, &w, 6, 100, &l) == OK && l.run == 0 && l.other);
}

TEST(cgroups_of_runs)
{
	static const struct {
		int line;
		const char *own;
		uint64_t run;
		unsigned attempt;
	} rows[] = {
		{ __LINE__, "/a.slice/rota.service/run-12.1-99", 12, 1 },
		{ __LINE__, "/a.slice/rota.service/run-12.1-99/below/it", 12, 1 },
		{ __LINE__, "/a.slice/rota.service", 0, 0 },
		{ __LINE__, "/a.slice/rota.service/run-x", 0, 0 },
		{ __LINE__, "/a.slice/other.service/run-12.1-99", 0, 0 },
		{ __LINE__, "/run-12.1-99", 0, 0 },
		{ __LINE__, "/", 0, 0 },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct lineage l = { 0 };
		bool found = lineage_of_cgroup(str_of(rows[i].own),
					       STR("/sys/fs/cgroup/a.slice/rota.service"), &l);
		CHECK_INT_AT(rows[i].line, found, rows[i].run > 0);
		CHECK_INT_AT(rows[i].line, l.run, rows[i].run);
		CHECK_INT_AT(rows[i].line, l.attempt, rows[i].attempt);
	}
}
