/* Fills a database with schedules as a daemon would store them: documents are read, compiled and stored, with
 * many requests in progress at a time. For benchmarks with very many schedules.
 *
 * usage: bench_fill DATABASE COUNT EXPRESSION [LEAD]
 *
 * Ids are s0, s1, …; the action is `event`; none is due within LEAD seconds (default 0). */
#include "base/json.h"
#include "daemon/intern.h"
#include "store/sqlite/store.h"
#include "sys/clock.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

/* The schedules look two hours old, so that their times are spread evenly over the period from the start. */
enum { AHEAD = 8 * STORE_GROUP_MAX, AGE_SECONDS = 7200 };

static void die(const char *what, const char *why)
{
	fprintf(stderr, "bench_fill: %s: %s\n", what, why);
	exit(1);
}

struct filler {
	struct store *store;
	struct intern *names;
	struct doc_env env;
	struct wall from;
	unsigned in_progress;
};

static void collect_answers(struct filler *f, unsigned most)
{
	static struct st_ack ack[STORE_GROUP_MAX];
	while (f->in_progress > most) {
		unsigned n = store_sqlite_ops.collect(f->store, ack, ARRAY_LEN(ack));
		for (unsigned i = 0; i < n; i++)
			if (ack[i].res != ST_OK)
				die("put", "refused");
		f->in_progress -= n;
		if (!n)
			poll(&(struct pollfd){ store_sqlite_ops.fd(f->store), POLLIN, 0 }, 1, -1);
	}
}

static void submit(struct filler *f, const struct st_req *r)
{
	if (store_sqlite_ops.submit(f->store, r))
		die("submit", "the store is full");
	f->in_progress++;
	if (f->in_progress >= AHEAD)
		collect_answers(f, AHEAD / 2);
}

static void put_schedule(struct filler *f, unsigned i, const char *expression)
{
	struct arena a = { 0 };
	struct buf text = { 0 }, canonical = { 0 };
	struct val value, documents = { .kind = VAL_LIST, .list = { &value, 1 } };
	struct doc_list list;
	struct rules rules;
	struct wall next, due, put_at = f->env.when.now;
	struct doc_names names = intern_for_documents(f->names);
	struct why why = { 0 };
	buf_addf(&text,
		 "{\"id\":\"s%u\",\"expression\":\"%s\",\"action\":{\"type\":\"event\",\"name\":\"bench\"}}",
		 i, expression);
	if (json_read(buf_str(&text), &a, &value, &why) ||
	    doc_read(buf_str(&text), &documents, &f->env, &a, &list, &why) ||
	    doc_rules(&list.doc[0], &names, &rules))
		die(expression, why.text);
	struct when_walk walk = when_walk(&list.doc[0].when, f->from);
	if (when_walk_next(&walk, &next, &due))
		die(expression, "never comes due");
	doc_write(&list.doc[0], &canonical);
	rules.max_runs = UINT32_MAX;
	struct st_req r = { .tag = i + 1, .op = ST_PUT, .lane = LANE_USER, .sid = i + 1, .at = put_at };
	r.id = list.doc[0].id;
	r.document = buf_str(&canonical);
	r.row = (struct sched_row){ .sid = i + 1,
				    .flags = SCHED_ENABLED,
				    .left = UINT32_MAX,
				    .next = next,
				    .high = put_at,
				    .changed = put_at,
				    .paused_until = WALL_NEVER };
	memcpy(r.row.rules, &rules, sizeof rules);
	submit(f, &r);
	buf_free(&text);
	buf_free(&canonical);
	arena_free(&a);
}

static void save_name(void *ctx, enum name_kind kind, uint32_t number, struct str text)
{
	struct st_req r = { .tag = UINT64_MAX, .op = ST_NAME, .name = { (uint8_t)kind, number, text } };
	submit(ctx, &r);
}

int main(int argc, char **argv)
{
	struct zoneinfo *zones = NULL;
	struct filler f = { 0 };
	struct why why = { 0 };
	if (argc != 4 && argc != 5)
		return 2;
	f.from.us = clock_wall().us + (argc > 4 ? atoi(argv[4]) : 0) * USEC;
	if (store_sqlite_open(argv[1], &f.store, &why) || zoneinfo_open(&zones) || intern_new(&f.names))
		die(argv[1], why.text);
	for (unsigned kind = 0; kind < NAME_KINDS; kind++)
		intern_add_numbers(f.names, (enum name_kind)kind, 1, 1000);
	const struct zone_source *source = zoneinfo_source(zones);
	f.env.when = (struct when_env){ .now = { clock_wall().us - AGE_SECONDS * USEC },
					.zones = source,
					.zone = source->find(source->self, STR("UTC")),
					.zone_name = STR("UTC") };
	for (unsigned i = 0; i < (unsigned)atoi(argv[2]); i++)
		put_schedule(&f, i, argv[3]);
	intern_unsaved(f.names, save_name, &f);
	collect_answers(&f, 0);
	store_sqlite_close(f.store);
	intern_free(f.names);
	zoneinfo_close(zones);
	return 0;
}
