#pragma once
/* Tables for people: columns as wide as they must be, nothing in them that a terminal would obey. */
#include "base/arena.h"
#include "base/val.h"
#include "core/when/zone/zones.h"

#include <stdio.h>

enum { TABLE_COLUMNS_MAX = 8, TABLE_ROWS_MAX = 10000 };

struct table {
	unsigned columns, n, room;
	const char **cell; /* row by row; the first row is the heading */
	struct arena *arena;
};

struct table table_new(struct arena *a, unsigned columns, const char *const *heading);
/* `columns` texts; NULL is shown as a dash. */
void table_row(struct table *t, const char *const *cell);
void table_print(const struct table *t, FILE *out);

/* Writes a text with everything made harmless that a terminal would obey. */
void print_safe(FILE *to, struct str s);
/* A member of a JSON object as text; NULL: it is not there, or null. */
const char *val_text(struct arena *a, const struct val *map, const char *name);
/* The same on one line. */
const char *val_line(struct arena *a, const struct val *map, const char *name);
/* "2026-11-16T14:00:00Z" as people read it: "Mon 14:00:00 (in 5 min)" in the machine's zone; NULL stays NULL.
 */
const char *time_text(struct arena *a, const char *iso, const struct zone_source *zones, struct str zone);
