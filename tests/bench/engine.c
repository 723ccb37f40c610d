/* Benchmark of the engine: one trigger, from due to answered claim, with a store that answers at once. The
 * peer is a loop that takes the first entry of a heap, computes its next time and puts it back. */
#include "core/engine/engine.h"
#include "core/engine/heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TRIGGERS = 1000000 };

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A schedule that is due once a minute; schedules are spread over the minute. */
static struct sched_row row_of(uint64_t sid, const struct zone *zone)
{
	struct sched_row row = { .sid = sid, .rev = 1, .flags = SCHED_ENABLED, .left = UINT32_MAX };
	struct rules rules = { .version = RULES_VERSION, .zone_print = zone_fingerprint(zone) };
	rules.when = (struct rule){ .kind = RULE_EVERY, .from = RULE_FROM_ALWAYS, .until = RULE_UNTIL_NEVER };
	rules.when.every.interval = 60;
	rules.when.every.anchor = (int64_t)(sid % 60);
	rules.policy.action = ACTION_EVENT;
	memcpy(row.rules, &rules, sizeof rules);
	row.next = wall_of(60 + (int64_t)(sid % 60));
	row.paused_until = WALL_NEVER;
	return row;
}

/* Answers the requests to the store, and those that the engine makes upon these answers. Returns the number
 * of claims. */
static unsigned answer_store(struct engine *e, struct sched_row *row, struct now now, struct effects *fx)
{
	static uint64_t last;
	unsigned claims = 0;
	for (unsigned i = 0; i < fx->stores; i++) {
		const struct st_req *r = &fx->store[i];
		struct st_ack ack = { .tag = r->tag, .op = r->op, .res = ST_OK };
		if (r->op == ST_NUMBERS) {
			ack.first = last + 1;
			last += r->numbers.n;
		} else {
			/* The engine reads from the answer what a claim can change. */
			row->sid = r->sid;
			row->next = r->move.next;
			row->high = r->move.high;
			ack.has_row = true;
			ack.row = *row;
			ack.run = r->run.run;
			claims++;
		}
		struct now before = { { now.wall.us - 1 }, now.boot }; /* nothing is due in this step */
		engine_step(e, &(struct event){ .kind = EV_ACK, .ack = &ack }, before, fx);
	}
	effects_clear(fx);
	return claims;
}

static double engine_ns(unsigned n, const struct engine_config *config, size_t *bytes)
{
	struct engine *e = NULL;
	struct sched_row row = { 0 };
	struct effects fx = { 0 };
	struct now now = { wall_of(59), { 0 } };
	if (engine_new(config, &e))
		exit(1);
	engine_load(e, &(struct load_item){ .kind = LOAD_PART, .part = { .node = 1 } });
	for (unsigned i = 1; i <= n; i++) {
		row = row_of(i, config->zones[0]);
		struct load_item item = { .kind = LOAD_SCHED, .sched = row };
		engine_load(e, &item);
	}
	struct event loaded = { .kind = EV_LOADED }, tick = { .kind = EV_TICK };
	engine_step(e, &loaded, now, &fx);
	answer_store(e, &row, now, &fx);
	double start = seconds();
	unsigned done = 0;
	while (done < TRIGGERS) {
		struct wall next;
		if (!engine_next(e, now, &next))
			exit(1);
		if (next.us > now.wall.us)
			now = (struct now){ next, { next.us } };
		engine_step(e, &tick, now, &fx);
		done += answer_store(e, &row, now, &fx);
	}
	double spent = seconds() - start;
	*bytes = engine_counts(e).bytes / n;
	engine_free(e);
	effects_free(&fx);
	return spent / done * 1e9;
}

static double bare_ns(unsigned n, const struct zone *zone)
{
	struct heap h = { 0 };
	struct rule *rule = calloc(n, sizeof *rule);
	if (!rule || !heap_reserve(&h, n))
		exit(1);
	for (unsigned i = 0; i < n; i++) {
		struct sched_row row = row_of(i + 1, zone);
		rule[i] = ((struct rules *)row.rules)->when;
		heap_put(&h, i, row.next.us);
	}
	double start = seconds();
	for (unsigned i = 0; i < TRIGGERS; i++) {
		uint32_t item = h.entry[0].item;
		struct wall next;
		if (rule_next(&rule[item], zone, (struct wall){ h.entry[0].key }, &next))
			exit(1);
		heap_put(&h, item, next.us);
	}
	double spent = seconds() - start;
	heap_free(&h);
	free(rule);
	return spent / TRIGGERS * 1e9;
}

int main(void)
{
	struct zone *utc = NULL;
	if (zone_fixed(0, &utc))
		return 1;
	const struct zone *zones[] = { utc };
	const struct days none = { 0 };
	struct engine_config config = { .slots = 16,
					.catch_up_per_second = 50,
					.zones = zones,
					.zone_count = 1,
					.calendars = &none,
					.calendar_count = 1 };
	double first = 0, last = 0;
	size_t bytes = 0;
	for (unsigned n = 1000; n <= 1000000; n *= 10) {
		last = engine_ns(n, &config, &bytes);
		first = first > 0 ? first : last;
		double peer = bare_ns(n, utc);
		printf("{\"name\": \"engine.trigger-%u\", \"ours\": %.0f, \"peer\": %.0f, \"ratio\": %.2f, "
		       "\"unit\": \"ns\"}\n",
		       n, last, peer, last / peer);
	}
	printf("{\"name\": \"engine.growth\", \"ours\": %.0f, \"peer\": %.0f, \"ratio\": %.2f, \"unit\": "
	       "\"ns\"}\n",
	       last, first, last / first);
	printf("{\"name\": \"engine.schedule\", \"ours\": %zu, \"peer\": %zu, \"ratio\": %.2f, \"unit\": "
	       "\"B\"}\n",
	       bytes, sizeof(struct sched_row), (double)bytes / sizeof(struct sched_row));
	zone_free(utc);
	return 0;
}
