/* Of which run a process is: the walk over invented processes. */
#include "exec/lineage.h"
#include "test.h"

/* Processes by pid; parent -1: there is no such process. At the look of the number `change` one gets another
 * parent, and one goes. */
struct world {
	struct ancestor at[8];
	unsigned looks, change;
	pid_t changed, parent, gone;
	bool none; /* no descriptor is left */
};

static enum err look(void *ctx, pid_t pid, struct ancestor *ret)
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

static struct ancestor kin(pid_t parent, uint64_t start, uint64_t run)
{
	return (struct ancestor){ .parent = parent, .start = start, .shim = { run, run ? 1u : 0u } };
}

/* 1 init, 2 a session of a person's, 3 his client; 4 the shim of r12, 5 an agent, 6 its client. */
static struct world usual(void)
{
	return (struct world){ .at = { [1] = kin(0, 1, 0),
				       [2] = kin(1, 10, 0),
				       [3] = kin(2, 20, 0),
				       [4] = kin(1, 30, 12),
				       [5] = kin(4, 31, 0),
				       [6] = kin(5, 32, 0),
				       [7] = kin(-1, 0, 0) } };
}

TEST(people_and_runs_are_told_apart)
{
	struct world w = usual();
	struct lineage l = { 7, 7 };
	CHECK(lineage_walk(look, &w, 3, 100, &l) == OK && l.run == 0);
	CHECK(lineage_walk(look, &w, 6, 100, &l) == OK && l.run == 12 && l.attempt == 1);
	CHECK(lineage_walk(look, &w, 4, 100, &l) == OK && l.run == 12);
	CHECK(lineage_walk(look, &w, 1, 100, &l) == OK && l.run == 0);
}

TEST(of_several_shims_the_topmost_counts)
{
	struct world w = usual();
	struct lineage l;
	w.at[5].shim = (struct lineage){ 13, 1 };
	CHECK(lineage_walk(look, &w, 6, 100, &l) == OK && l.run == 12);
}

TEST(who_is_gone_is_nobody)
{
	struct world w = usual();
	struct lineage l = { 7, 7 };
	CHECK(lineage_walk(look, &w, 7, 100, &l) == E_GONE);
	CHECK(lineage_walk(look, &w, 0, 100, &l) == E_GONE);
	/* Its pid is another's by now. */
	CHECK(lineage_walk(look, &w, 3, 19, &l) == E_GONE && lineage_walk(look, &w, 3, 20, &l) == OK);
	w.none = true;
	l = (struct lineage){ 7, 7 };
	CHECK(lineage_walk(look, &w, 3, 100, &l) == E_BUSY && l.run == 7);
}

TEST(parents_may_go_meanwhile)
{
	/* Whenever the agent goes, its client is the shim's. */
	for (unsigned n = 1; n < 8; n++) {
		struct world w = usual();
		struct lineage l = { 0 };
		w.change = n;
		w.changed = 6;
		w.parent = 4;
		w.gone = 5;
		CHECK(lineage_walk(look, &w, 6, 100, &l) == OK && l.run == 12);
	}
	struct world w = usual();
	struct lineage l;
	w.at[5] = kin(1, 99, 0); /* the agent's pid is a stranger's, younger than its child */
	w.change = 3;
	w.changed = 6;
	w.parent = 4;
	CHECK(lineage_walk(look, &w, 6, 100, &l) == OK && l.run == 12);
}

TEST(a_circle_has_an_end)
{
	struct world w = usual();
	struct lineage l = { 7, 7 };
	w.at[2] = kin(3, 10, 0);
	w.at[3] = kin(2, 10, 0);
	CHECK(lineage_walk(look, &w, 3, 100, &l) == E_LIMIT && l.run == 7);
}
