#pragma once
/* Tables for people: columns as wide as their widest cell, without control sequences. */
#include "base/arena.h"
#include "base/val.h"
#include "core/when/zone/zones.h"
#include "sys/print.h"

enum { TABLE_COLUMNS_MAX = 8, TABLE_ROWS_MAX = 10000 };

struct table {
	unsigned columns, n; /* rows */
	unsigned room;       /* cells */
	const char **cell;   /* row by row; the first row is the heading */
};

struct table table_new(unsigned columns, const char *const *heading);
/* Adds a row of `columns` texts, which must outlive the table; NULL is shown as a dash. Rows beyond
 * TABLE_ROWS_MAX, or beyond memory, are left out. */
void table_row(struct table *t, const char *const *cell);
void table_print(const struct table *t, FILE *out);
void table_free(struct table *t);

/* A member of a JSON object as text; NULL: it is missing or null. */
const char *val_text(struct arena *a, const struct val *map, const char *name);
/* Like val_text, with newlines replaced by spaces. */
const char *val_line(struct arena *a, const struct val *map, const char *name);
/* "2026-11-16T14:00:00Z" for people: "2026-11-16 15:00:00 (in 5 min)", in the given zone; NULL stays NULL. */
const char *time_text(struct arena *a, const char *iso, const struct zone_source *zones, struct str zone);
