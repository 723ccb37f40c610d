/* Time zones: reading TZif files, and finding the offset of an instant or of a local time. */
#include "core/when/zone/zone.h"
#include "base/hash.h"
#include "core/when/civil.h"
#include "core/when/zone/posixtz.h"

#include <stdlib.h>

/* Span i is [at[i], at[i + 1]) with offset[i]; at[0] is -ZONE_FOREVER. After the last span the rule
 * decides. */
struct zone {
	struct tz_rule rule; /* std equal to dst: the last offset holds for ever */
	int64_t rule_from;   /* the file's last change; not in `at` if it kept the offset */
	uint64_t fingerprint;
	uint32_t n;
	int64_t *at;
	int32_t *offset;
};

static uint32_t read_be32(const char *p)
{
	const unsigned char *u = (const unsigned char *)p;
	return (uint32_t)u[0] << 24 | (uint32_t)u[1] << 16 | (uint32_t)u[2] << 8 | u[3];
}

static int64_t read_be64(const char *p)
{
	return (int64_t)((uint64_t)read_be32(p) << 32 | read_be32(p + 4));
}

/* The six counts of a TZif header, and the sizes that follow from them. */
struct tzif_block {
	uint32_t isut, isstd, leap, time, type, chars;
	size_t time_size, size; /* bytes of one transition time; of the whole data block */
};

enum { HEADER = 44 };

static enum err read_header(struct str s, size_t time_size, struct tzif_block *ret, struct why *why)
{
	if (s.n < HEADER || memcmp(s.p, "TZif", 4) != 0)
		return why_set(why, E_INPUT, 0, "not a TZif file");
	struct tzif_block b = { read_be32(s.p + 20), read_be32(s.p + 24),
				read_be32(s.p + 28), read_be32(s.p + 32),
				read_be32(s.p + 36), read_be32(s.p + 40),
				time_size,           0 };
	if (b.time > TZIF_TRANSITIONS_MAX || b.type == 0 || b.type > TZIF_TYPES_MAX ||
	    b.chars > TZIF_BYTES_MAX || b.leap > TZIF_TRANSITIONS_MAX || b.isut > b.type || b.isstd > b.type)
		return why_set(why, E_INPUT, 20, "TZif counts are out of range");
	b.size =
		b.time * (time_size + 1) + b.type * 6 + b.chars + b.leap * (time_size + 4) + b.isstd + b.isut;
	if (s.n - HEADER < b.size)
		return why_set(why, E_INPUT, HEADER, "TZif file is cut short");
	*ret = b;
	return OK;
}

static enum err zone_new(uint32_t room, struct zone **ret)
{
	struct zone *z = calloc(1, sizeof *z + room * (sizeof(int64_t) + sizeof(int32_t)));
	if (!z)
		return E_NOMEM;
	z->at = (int64_t *)(z + 1);
	z->offset = (int32_t *)(z->at + room);
	*ret = z;
	return OK;
}

static void add_span(struct zone *z, int64_t at, int32_t offset)
{
	if (z->n && z->offset[z->n - 1] == offset)
		return; /* only the name or a flag changed */
	z->at[z->n] = at;
	z->offset[z->n++] = offset;
}

static enum err read_block(struct str s, const struct tzif_block *b, uint32_t room, struct zone **ret,
			   struct why *why)
{
	const char *times = s.p + HEADER;
	const char *indexes = times + b->time * b->time_size;
	const char *types = indexes + b->time;
	_cleanup_(zone_freep) struct zone *z = NULL;
	enum err e = zone_new(1 + b->time + room, &z);
	if (e)
		return e;
	int64_t last = INT64_MIN;
	for (uint32_t i = 0; i <= b->time; i++) {
		/* Type 0 is in force before the first transition (RFC 8536, 3.2). */
		unsigned type = i ? (unsigned char)indexes[i - 1] : 0;
		if (type >= b->type)
			return why_set(why, E_INPUT, (size_t)(indexes - s.p) + i,
				       "TZif transition has a type that does not exist");
		int32_t offset = (int32_t)read_be32(types + type * 6);
		if (offset < -25 * 3600 || offset > 26 * 3600)
			return why_set(why, E_INPUT, (size_t)(types - s.p), "TZif offset is out of range");
		int64_t at = -ZONE_FOREVER;
		if (i) {
			const char *p = times + (i - 1) * b->time_size;
			at = b->time_size == 8 ? read_be64(p) : (int32_t)read_be32(p);
			if (i > 1 && at <= last)
				return why_set(why, E_INPUT, (size_t)(p - s.p),
					       "TZif transitions are out of order");
			if (at > SECONDS_MAX)
				return why_set(why, E_INPUT, (size_t)(p - s.p),
					       "TZif transition is beyond the year 9999");
			last = at;
			if (at < SECONDS_MIN) { /* how some writers mark the beginning of time */
				z->n = 0;
				at = -ZONE_FOREVER;
			}
		}
		add_span(z, at, offset);
		z->rule_from = at;
	}
	*ret = z;
	z = NULL;
	return OK;
}

/* "Fat" files list changes that "slim" files leave to the rule. Adds them, so that both kinds of files are
 * searched alike. */
static void fill_table(struct zone *z)
{
	int32_t year = z->rule_from < SECONDS_MIN ? 1900 : date_of(floor_div(z->rule_from, DAY)).year;
	for (; year <= ZONE_TABLE_YEAR; year++) {
		struct tz_change c[2];
		tz_rule_year(&z->rule, year, c);
		for (unsigned i = 0; i < 2; i++)
			if (c[i].at > z->rule_from)
				add_span(z, c[i].at, c[i].offset);
	}
}

/* Reads the rule in the footer of a version 2+ file, and fills the table with it. */
static enum err read_footer(struct zone *z, struct str foot, struct why *why)
{
	struct str line;
	if (foot.n < 2 || foot.p[0] != '\n' || !memchr(foot.p + 1, '\n', foot.n - 1))
		return why_set(why, E_INPUT, 0, "TZif footer is missing");
	foot = str_from(foot, 1);
	if (!str_line(&foot, &line))
		return why_set(why, E_INPUT, 0, "TZif footer is missing");
	enum err e = line.n ? tz_rule_parse(line, &z->rule, why) : OK;
	if (!e && z->rule.std != z->rule.dst)
		fill_table(z);
	return e;
}

/* A copy without unused room. Does not use realloc, because both arrays are in one block. */
static enum err copy_tight(const struct zone *z, struct zone **ret)
{
	struct zone *tight;
	enum err e = zone_new(z->n, &tight);
	if (e)
		return e;
	tight->rule = z->rule;
	tight->rule_from = z->rule_from;
	tight->fingerprint = z->fingerprint;
	tight->n = z->n;
	memcpy(tight->at, z->at, z->n * sizeof *z->at);
	memcpy(tight->offset, z->offset, z->n * sizeof *z->offset);
	*ret = tight;
	return OK;
}

enum err zone_parse(struct str tzif, struct zone **ret, struct why *why)
{
	struct tzif_block b;
	if (tzif.n > TZIF_BYTES_MAX)
		return why_set(why, E_LIMIT, 0, "TZif file is larger than %d bytes", TZIF_BYTES_MAX);
	enum err e = read_header(tzif, 4, &b, why);
	if (e)
		return e;
	struct str body = tzif;
	bool wide = tzif.p[4] >= '2'; /* a second block has 64-bit times, and a footer follows */
	if (wide) {
		body = str_from(tzif, HEADER + b.size);
		e = read_header(body, 8, &b, why);
		if (e)
			return e;
	}
	if (b.leap)
		return why_set(why, E_INPUT, 28, "zone data that counts leap seconds is not supported");

	enum { ROOM = 2 * (ZONE_TABLE_YEAR + 1) };
	_cleanup_(zone_freep) struct zone *z = NULL;
	e = read_block(body, &b, ROOM, &z, why);
	if (e) {
		if (why)
			why->at += (size_t)(body.p - tzif.p);
		return e;
	}
	z->rule.std = z->rule.dst = z->offset[z->n - 1];
	if (wide) {
		e = read_footer(z, str_from(body, HEADER + b.size), why);
		if (e)
			return e;
	}
	z->fingerprint = fnv1a(FNV_START, tzif);
	return copy_tight(z, ret);
}

enum err zone_fixed(int32_t offset, struct zone **ret)
{
	enum err e = zone_new(1, ret);
	if (e)
		return e;
	add_span(*ret, -ZONE_FOREVER, offset);
	(*ret)->rule.std = (*ret)->rule.dst = offset;
	(*ret)->fingerprint = (uint64_t)(uint32_t)offset;
	return OK;
}

void zone_free(struct zone *z)
{
	free(z);
}

size_t zone_size(const struct zone *z)
{
	return sizeof *z + z->n * (sizeof *z->at + sizeof *z->offset);
}

uint64_t zone_fingerprint(const struct zone *z)
{
	return z->fingerprint;
}

/* The span around t, where the rule decides: t is not before the table's last change. */
static struct zone_span rule_span(const struct zone *z, int64_t t)
{
	uint32_t last = z->n - 1;
	struct zone_span s = { z->at[last], ZONE_FOREVER, z->offset[last],
			       last ? z->offset[last - 1] : z->offset[last], z->offset[last] };
	if (z->rule.std == z->rule.dst)
		return s;
	/* Before rule_from, the first change of the rule is the next one. */
	int32_t year = date_of(floor_div(t > z->rule_from ? t : z->rule_from, DAY)).year;
	for (int32_t y = year - 1; y <= year + 1; y++) {
		struct tz_change c[2];
		tz_rule_year(&z->rule, y, c);
		for (unsigned i = 0; i < 2; i++) {
			if (c[i].at <= s.from || c[i].at <= z->rule_from || c[i].offset == s.offset)
				continue;
			if (c[i].at > t) {
				s.to = c[i].at;
				s.after = c[i].offset;
				return s;
			}
			s = (struct zone_span){ c[i].at, ZONE_FOREVER, c[i].offset, s.offset, c[i].offset };
		}
	}
	return s;
}

struct zone_span zone_span(const struct zone *z, int64_t t)
{
	/* Finds the last change at or before t without branches, which the processor would mispredict. */
	const int64_t *base = z->at;
	for (uint32_t n = z->n; n > 1;) {
		uint32_t half = n / 2;
		base = base[half] <= t ? base + half : base;
		n -= half;
	}
	uint32_t i = (uint32_t)(base - z->at);
	if (i == z->n - 1)
		return rule_span(z, t);
	return (struct zone_span){ z->at[i], z->at[i + 1], z->offset[i], z->offset[i ? i - 1 : 0],
				   z->offset[i + 1] };
}

int64_t zone_utc(const struct zone *z, int64_t local, enum zone_fit *fit)
{
	/* Offsets are below 27 hours: only the spans this near can contain the local time. */
	enum { REACH = 27 * 3600 };
	struct zone_span s = zone_span(z, local - REACH);
	enum zone_fit f = ZONE_GAP;
	int64_t t = local - s.offset, in_gap = t;
	for (bool seen = false; f == ZONE_GAP; s = zone_span(z, s.to)) {
		t = local - s.offset;
		if (t >= s.from && t < s.to)
			f = s.after < s.offset && local - s.after >= s.to ? ZONE_TWICE : ZONE_ONCE;
		if (t < s.from && !seen) {
			in_gap = local - s.before;
			seen = true;
		}
		if (s.to > local + REACH)
			break;
	}
	if (fit)
		*fit = f;
	return f == ZONE_GAP ? in_gap : t;
}
