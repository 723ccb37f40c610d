/* Functions that the conformance tests share. */
#include "conformance.h"

void run_on_each(void (*fn)(struct fixture *f))
{
	for (unsigned kind = 0; kind < FIXTURE_KINDS; kind++) {
		struct buf before = { 0 }, after = { 0 };
		struct fixture f;
		test_case("%s", fixture_name(kind));
		fixture_open(&f, kind);
		fn(&f);
		fixture_dump(&f, &before);
		dump_load(f.ops, f.store, &before);
		fixture_reopen(&f);
		fixture_dump(&f, &after);
		dump_load(f.ops, f.store, &after);
		CHECK_SAME(&after, &before);
		fixture_close(&f);
		buf_free(&before);
		buf_free(&after);
	}
}

struct st_ack ask_at(const char *file, int line, struct fixture *f, struct st_req r)
{
	struct buf rows[2] = { 0 }, answer[2] = { 0 };
	struct st_ack ack = { 0 };
	for (unsigned i = 0; i < 2; i++) {
		struct st_ack a = fixture_ask(f, r);
		dump_ack(&a, &answer[i]);
		fixture_dump(f, &rows[i]);
		if (i == 0)
			ack = a;
	}
	is_same_dump(file, line, buf_str(&answer[1]), buf_str(&answer[0]));
	is_same_dump(file, line, buf_str(&rows[1]), buf_str(&rows[0]));
	for (unsigned i = 0; i < 2; i++) {
		buf_free(&rows[i]);
		buf_free(&answer[i]);
	}
	return ack;
}

struct st_ack ask_unchanged_at(const char *file, int line, struct fixture *f, struct st_req r)
{
	struct buf before = { 0 }, after = { 0 };
	fixture_dump(f, &before);
	struct st_ack ack = ask_at(file, line, f, r);
	fixture_dump(f, &after);
	is_same_dump(file, line, buf_str(&after), buf_str(&before));
	buf_free(&before);
	buf_free(&after);
	return ack;
}

void expect_at(const char *file, int line, struct fixture *f, const char *kind, const char *want)
{
	struct buf all = { 0 }, got = { 0 };
	fixture_dump(f, &all);
	struct str rest = buf_str(&all), row;
	while (str_line(&rest, &row)) {
		struct str word = str_token(&row);
		if (!str_eq(word, str_of(kind)))
			continue;
		if (got.n)
			buf_addc(&got, '|');
		buf_add(&got, str_trim(row));
	}
	check_str(file, line, buf_str(&got), str_of(want), kind);
	buf_free(&all);
	buf_free(&got);
}

void expect_runs_at(const char *file, int line, struct fixture *f, const char *want)
{
	struct buf all = { 0 }, got = { 0 };
	fixture_dump(f, &all);
	struct str rest = buf_str(&all), row;
	while (str_line(&rest, &row))
		if (str_eq(str_token(&row), STR("run"))) {
			struct str number = str_token(&row);
			buf_addf(&got, "%s%.*s", got.n ? " " : "", STR_ARG(number));
		}
	check_str(file, line, buf_str(&got), str_of(want), "runs");
	buf_free(&all);
	buf_free(&got);
}

void expect_in_load_at(const char *file, int line, struct fixture *f, const char *want)
{
	struct buf load = { 0 };
	dump_load(f->ops, f->store, &load);
	check_true(file, line, strstr(load.p, want) != NULL, want);
	buf_free(&load);
}

uint64_t record_end(struct fixture *f, uint64_t sid, uint64_t run, int64_t nominal)
{
	struct st_req r = req_occ(sid, 1, run, nominal);
	r.run.state = RUN_FINISHED;
	return ask(f, r).end;
}

struct st_req req_memory(enum memory_act act, uint64_t run, const char *text, int64_t at)
{
	return (struct st_req){ .op = ST_MEMORY,
				.lane = LANE_USER,
				.at = AT(at),
				.memory = { .act = (uint8_t)act,
					    .run = run,
					    .agent = STR("desk"),
					    .text = text ? str_of(text) : (struct str){ 0 } } };
}

struct st_req prune_runs(uint64_t first, uint64_t last, int64_t at)
{
	struct st_req r = req_prune(PRUNE_RUNS, 0, at);
	r.prune.first = first;
	r.prune.last = last;
	return r;
}
