/* Prints tables, and formats texts and times for people. */
#include "cli/table.h"

#include "base/array.h"
#include "core/when/iso.h"
#include "sys/clock.h"

#include <string.h>

struct table table_new(unsigned columns, const char *const *heading)
{
	struct table t = { .columns = columns };
	table_row(&t, heading);
	return t;
}

void table_row(struct table *t, const char *const *cell)
{
	if (t->n == TABLE_ROWS_MAX ||
	    !array_reserve(&t->cell, &t->room, (t->n + 1) * t->columns, sizeof *t->cell))
		return;
	for (unsigned i = 0; i < t->columns; i++)
		t->cell[t->n * t->columns + i] = cell[i] ? cell[i] : "-";
	t->n++;
}

void table_print(const struct table *t, FILE *out)
{
	size_t wide[TABLE_COLUMNS_MAX] = { 0 };
	for (unsigned r = 0; r < t->n; r++)
		for (unsigned c = 0; c < t->columns; c++) {
			size_t w = print_width(str_of(t->cell[r * t->columns + c]));
			wide[c] = w > wide[c] ? w : wide[c];
		}
	for (unsigned r = 0; r < t->n; r++) {
		for (unsigned c = 0; c < t->columns; c++) {
			const char *text = t->cell[r * t->columns + c];
			print_text(out, str_of(text));
			if (c + 1 < t->columns)
				print(out, "%*s", (int)(wide[c] - print_width(str_of(text)) + 2), "");
		}
		print(out, "\n");
	}
}

void table_free(struct table *t)
{
	free(t->cell);
}

const char *val_text(struct arena *a, const struct val *map, const char *name)
{
	const struct val *v = val_get(map, str_of(name));
	if (!v)
		return NULL;
	switch (v->kind) {
	case VAL_STR:
		return arena_dup(a, v->str);
	case VAL_INT:
		return arena_printf(a, "%lld", (long long)v->integer);
	case VAL_FLOAT:
		return arena_printf(a, "%g", v->real);
	case VAL_BOOL:
		return v->boolean ? "yes" : "no";
	default:
		return NULL;
	}
}

const char *val_line(struct arena *a, const struct val *map, const char *name)
{
	const char *text = val_text(a, map, name);
	char *line = text ? arena_dup(a, str_of(text)) : NULL;
	for (char *p = line; p && *p; p++)
		if (*p == '\n')
			*p = ' ';
	return line;
}

static const char *relative_time(struct arena *a, int64_t seconds)
{
	static const struct {
		int64_t up_to, unit;
		const char *word;
	} words[] = {
		{ 120, 1, "s" }, { 7200, 60, "min" }, { 172800, 3600, "h" }, { INT64_MAX, 86400, "d" }
	};
	int64_t n = seconds < 0 ? -seconds : seconds;
	if (n == 0)
		return "now";
	unsigned i = 0;
	while (n >= words[i].up_to)
		i++;
	return arena_printf(a, seconds < 0 ? "%lld %s ago" : "in %lld %s", (long long)(n / words[i].unit),
			    words[i].word);
}

const char *time_text(struct arena *a, const char *iso, const struct zone_source *zones, struct str zone)
{
	struct iso t;
	char local[ISO_SIZE];
	if (!iso || iso_parse(str_of(iso), &t, NULL))
		return iso;
	const struct zone *z = zones->find(zones->self, zone);
	int64_t utc = t.local - t.offset, now = wall_seconds(clock_wall());
	iso_format_local(utc + (z ? zone_offset(z, utc) : 0), local);
	local[10] = ' ';
	return arena_printf(a, "%s (%s)", local, relative_time(a, utc - now));
}
