#include "core/expr/scope.h"
#include "core/when/civil.h"
#include "core/when/iso.h"

enum { TIMESTAMP, DATE, TIME, DAY_OF_WEEK, COMPUTED };

static const struct str all[] = {
	[TIMESTAMP] = STR("timestamp"),
	[DATE] = STR("date"),
	[TIME] = STR("time"),
	[DAY_OF_WEEK] = STR("day_of_week"),
	[COMPUTED] = STR("schedule"),
	[COMPUTED + 1] = STR("agent"),
	[COMPUTED + 2] = STR("user"),
	[COMPUTED + 3] = STR("memory"),
	[COMPUTED + 4] = STR("variables"),
	[COMPUTED + 5] = STR("run"),
	[COMPUTED + 6] = STR("previous"),
};

const struct expr_names scope_names = { all, ARRAY_LEN(all) };

static struct expr_value string(struct str s)
{
	return (struct expr_value){ .kind = EXPR_STRING, .str = s };
}

static struct expr_value computed(struct scope *s, unsigned which)
{
	static const struct str days[] = { STR("Sunday"),   STR("Monday"), STR("Tuesday"), STR("Wednesday"),
					   STR("Thursday"), STR("Friday"), STR("Saturday") };
	int64_t utc = wall_seconds(s->nominal), local = utc + (s->zone ? zone_offset(s->zone, utc) : 0);
	char iso[ISO_SIZE];
	iso_format_local(local, iso); /* 2026-11-16T08:00:00 */
	switch (which) {
	case TIMESTAMP:
		return expr_of_wall(s->nominal);
	case DATE:
		memcpy(s->date, iso, 10);
		return string((struct str){ s->date, 10 });
	case TIME:
		memcpy(s->time, iso + 11, 5);
		return string((struct str){ s->time, 5 });
	default:
		return string(days[weekday_of(floor_div(local, DAY))]);
	}
}

bool scope_find(void *self, struct str name, struct expr_value *ret)
{
	struct scope *s = self;
	const struct val *given[] = { s->schedule,  s->agent, s->user,    s->memory,
				      s->variables, s->run,   s->previous };
	unsigned i = 0;
	while (i < ARRAY_LEN(all) && !str_eq(name, all[i]))
		i++;
	if (i == ARRAY_LEN(all) || (i >= COMPUTED && !given[i - COMPUTED]))
		return false;
	*ret = i < COMPUTED ? computed(s, i) : expr_of(given[i - COMPUTED]);
	return true;
}
