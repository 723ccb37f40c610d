/* Tests of functions that only the model has. */
#include "conformance.h"

TEST(model_clone_is_deep)
{
	struct fixture f;
	struct buf before = { 0 }, after = { 0 };
	fixture_open(&f, FIXTURE_MODEL);
	struct st_req p = req_put(5, 0, 10);
	p.id = STR("a");
	p.document = STR("b");
	ask(&f, p);
	ask(&f, req_range(5, 1, 10, INT64_MAX));
	ask(&f, req_occ(5, 1, 1, 100));
	ask(&f, req_hold(1, 1, 1));
	struct model *copy = model_clone(((struct model_store *)f.store)->model);
	dump_model(copy, &before);
	p = req_put(5, 1, 20);
	p.id = STR("c");
	p.document = STR("d");
	p.close_range = true;
	ask(&f, p);
	for (unsigned i = 0; i < 1000; i++)
		fixture_ask(&f, req_occ(5, 2, 10 + i, 200 + i));
	ask(&f, req_finish(5, 1, 1, RUN_FINISHED, 300));
	ask(&f, req_hold(1, 0, 0));
	dump_model(copy, &after);
	CHECK_SAME(&after, &before);
	model_free(copy);
	fixture_close(&f);
	buf_free(&before);
	buf_free(&after);
}

static void apply(struct model *m, struct st_req r)
{
	struct st_ack ack;
	model_apply(m, &r, &ack);
}

TEST(model_answers_queries)
{
	struct model *m = model_new();
	apply(m, req_put(5, 0, 10));
	apply(m, req_occ(5, 1, 1, 100));
	CHECK(model_sched(m, 5) && !model_sched(m, 6));
	CHECK(model_run(m, 1) && !model_run(m, 2));
	CHECK(model_occurrence(m, 5, AT(100)) == model_run(m, 1));
	CHECK(!model_occurrence(m, 5, AT(101)));
	CHECK_INT(model_open_runs(m), 1);
	apply(m, req_finish(5, 1, 1, RUN_FINISHED, 300));
	CHECK_INT(model_open_runs(m), 0);
	model_free(m);
}
