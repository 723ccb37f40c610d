/* Descriptions of schedules, compiled to rules, and random ones. */
#include "spec.h"

#include <stdio.h>
#include <stdlib.h>

struct rules spec_rules(const struct spec *s)
{
	const struct zone *z = world_zone(s->policy.zone);
	struct rules r = { .version = RULES_VERSION,
			   .active = s->active,
			   .zone_print = zone_fingerprint(z),
			   .policy = s->policy };
	r.when.from = s->from ? s->from : RULE_FROM_ALWAYS;
	r.when.until = s->until ? s->until : RULE_UNTIL_NEVER;
	r.when.jitter = s->jitter;
	r.when.spread = hash_number(s->jitter + 12345u);
	if (s->cron) {
		struct why why = { 0 };
		r.when.kind = RULE_CRON;
		if (cron_parse(str_of(s->cron), STR("sim"), &r.when.cron, &why)) {
			fprintf(stderr, "%s: %s\n", s->cron, why.text);
			abort();
		}
		if (s->fold)
			r.when.cron.fold = (uint8_t)s->fold;
		if (s->gap)
			r.when.cron.gap = (uint8_t)s->gap;
	} else if (s->every) {
		r.when.kind = RULE_EVERY;
		r.when.every.interval = s->every;
	} else {
		r.when.kind = RULE_AT;
		r.when.at = s->at;
	}
	if (!r.policy.catch_up_limit)
		r.policy.catch_up_limit = 100;
	if (!r.policy.retry_most)
		r.policy.retry_most = 3600;
	if (!r.policy.retry_delay)
		r.policy.retry_delay = 60;
	/* Every version wants all news, because the engine decides by the version that it has. */
	r.policy.news = (1u << (NEWS_PING + 1)) - 1;
	if (r.policy.agent && !r.policy.agent_slots)
		r.policy.agent_slots = 1;
	return r;
}

struct command spec_command(const struct spec *s, uint64_t sid)
{
	return (struct command){ .kind = CMD_PUT,
				 .sid = sid,
				 .rules = spec_rules(s),
				 .enabled = !s->disabled,
				 .bulk = s->bulk,
				 .max_runs = s->max_runs ? s->max_runs : UINT32_MAX,
				 .after = s->after,
				 .document = STR("{}") };
}

static void choose_times(struct world *w, struct spec *s, bool dense)
{
	static const char *const crons[] = { "*/10 * * * *",   "0 * * * *",         "30 2 * * *",
					     "0 9 * * *",      "*/30 * * * *",      "15 */6 * * *",
					     "0 0 * * 1",      "30 1 * * *",        "0 3 * * *",
					     "*/20 1-3 * * *", "5,35 8-18 * * 1-5", "0 12 1 * *" };
	static const char *const often[] = { "* * * * *", "*/2 * * * *", "*/5 * * * *", "30 * * * * *",
					     "*/10 * * * *" };
	static const int64_t intervals[] = { 420, 2700, 5400, 86400, 600 };
	s->cron = NULL;
	s->every = s->at = s->from = s->until = 0;
	s->fold = s->gap = s->jitter = 0;
	int64_t now = wall_seconds(world_wall(w));
	uint64_t form = world_random(w, 20);
	if (form < 2) {
		s->at = now + 60 + (int64_t)world_random(w, dense ? 7200 : 20 * 86400);
	} else if (form < 6) {
		s->every = dense ? 60 + (int64_t)world_random(w, 600)
				 : intervals[world_random(w, ARRAY_LEN(intervals))];
	} else {
		s->cron = dense ? often[world_random(w, ARRAY_LEN(often))]
				: crons[world_random(w, ARRAY_LEN(crons))];
		s->fold = (unsigned)world_random(w, 3);
		s->gap = (unsigned)world_random(w, 2);
	}
	if (world_chance(w, 20))
		s->jitter = 1 + (unsigned)world_random(w, 300);
	if (world_chance(w, 8))
		s->until = now + (int64_t)world_random(w, dense ? 86400 : 20 * 86400);
	if (!s->at && world_chance(w, 12))
		s->from = now + (int64_t)world_random(w, dense ? 20000 : 10 * 86400);
	if (s->until && s->from >= s->until)
		s->from = 0;
	s->policy.zone = (uint16_t)world_random(w, WORLD_ZONES);
	s->policy.calendar = world_chance(w, 20) ? CALENDAR_SOME : CALENDAR_NONE;
}

static void choose_policy(struct world *w, struct spec *s)
{
	static const uint8_t kinds[] = { 1 << ASK_BUDGET, 1 << ASK_CONDITION, 1 << ASK_HOOK, 1 << ASK_CHECK };
	struct policy p = { .zone = s->policy.zone, .calendar = s->policy.calendar };
	p.missed = (uint8_t)world_random(w, MISSED_COUNT);
	p.overlap = (uint8_t)world_random(w, OVERLAP_COUNT);
	p.backoff = (uint8_t)world_random(w, BACKOFF_COUNT);
	p.action = world_chance(w, 20) ? ACTION_EVENT : ACTION_RUN;
	for (unsigned i = 0; i < ARRAY_LEN(kinds); i++)
		if (world_chance(w, 20))
			p.preconditions |= kinds[i];
	p.after = (uint8_t)world_random(w, 3);
	p.priority = (int8_t)((int)world_random(w, 5) - 2);
	p.retries = world_chance(w, 50) ? (uint16_t)(1 + world_random(w, 4)) : 0;
	p.retry_delay = (uint32_t)(5 + world_random(w, 300));
	p.retry_most = (uint32_t)(60 + world_random(w, 3600));
	p.catch_up_limit = (uint16_t)(world_chance(w, 50)   ? 1 + world_random(w, 5)
				      : world_chance(w, 80) ? 100
							    : UINT16_MAX);
	p.max_failures = world_chance(w, 15) ? (uint16_t)(2 + world_random(w, 4)) : 0;
	p.window = world_chance(w, 30) ? (uint32_t)(30 + world_random(w, 3600)) : 0;
	if (world_chance(w, 60)) {
		p.agent = 1 + (uint32_t)world_random(w, 3);
		p.agent_slots = (uint8_t)p.agent; /* all schedules of an agent must have the same value */
		p.account = world_chance(w, 60) ? 10 + p.agent / 2 : 0;
		p.action = p.action == ACTION_RUN ? ACTION_TURN : p.action;
	}
	if (world_chance(w, 20))
		p.key = 20 + (uint32_t)world_random(w, 2);
	s->policy = p;
	s->max_runs = world_chance(w, 10) ? 1 + (uint32_t)world_random(w, 20) : 0;
}

struct spec spec_random(struct world *w, bool dense)
{
	struct spec s = { 0 };
	choose_times(w, &s, dense);
	choose_policy(w, &s);
	s.disabled = world_chance(w, 5);
	if (world_chance(w, 15))
		s.active = (struct hours){ (uint16_t)world_random(w, 1440), (uint16_t)world_random(w, 1440),
					   (uint16_t)world_random(w, WORLD_ZONES) };
	return s;
}

struct spec spec_new_times(struct world *w, struct spec s, bool dense)
{
	choose_times(w, &s, dense);
	return s;
}

struct spec spec_new_policy(struct world *w, struct spec s)
{
	choose_policy(w, &s);
	return s;
}
