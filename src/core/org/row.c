/* Headlines as JSON. */
#include "core/org/row.h"
#include "base/json.h"
#include "core/when/orgtime.h"

void org_write_stamp(struct str text, struct buf *out)
{
	struct org_stamp s;
	_cleanup_(buf_free) struct buf at = { 0 };
	if (!org_stamp_read(text, &s)) {
		buf_add(out, STR("null"));
		return;
	}
	buf_add(&at, s.date);
	if (s.time.n) {
		buf_addc(&at, 'T');
		buf_add(&at, s.time);
	}
	out->failed |= at.failed;
	buf_add(out, STR("{\"at\":"));
	json_write_str(out, buf_str(&at));
	json_add_str(out, "repeat", s.repeat.n ? s.repeat : (struct str){ 0 });
	buf_add(out, s.active ? STR(",\"active\":true}") : STR(",\"active\":false}"));
}

void org_write_schedule(const struct org *o, const struct org_head *h, struct buf *out)
{
	struct org_property p;
	if (!org_property_find(o, h, STR("SCHEDULE"), &p)) {
		org_write_stamp(org_text(o, h->scheduled), out);
		return;
	}
	buf_add(out, STR("{\"cron\":"));
	json_write_str(out, p.value);
	buf_addc(out, '}');
}

/* ,"name":"text", or null if it is empty. */
static void add_text(struct buf *out, const char *name, struct str s)
{
	json_add_str(out, name, s.n ? s : (struct str){ 0 });
}

static void write_tags(const struct org *o, const struct org_head *h, struct buf *out)
{
	struct str tags = org_text(o, h->tags), tag;
	buf_add(out, STR(",\"tags\":["));
	for (bool first = true; org_tag_next(&tags, &tag); first = false) {
		if (!first)
			buf_addc(out, ',');
		json_write_str(out, tag);
	}
	buf_addc(out, ']');
}

/* Is there a later property of the same name? Only the last one counts. */
static bool is_overridden(const struct org *o, const struct org_head *h, uint32_t at, struct str key)
{
	struct org_property p;
	while (org_property_next(o, h, &at, &p))
		if (str_ieq(p.key, key))
			return true;
	return false;
}

static void write_properties(const struct org *o, const struct org_head *h, struct buf *out)
{
	struct org_property p;
	bool first = true;
	_cleanup_(buf_free) struct buf key = { 0 };
	buf_add(out, STR(",\"props\":{"));
	for (uint32_t at = 0; org_property_next(o, h, &at, &p);) {
		if (is_overridden(o, h, at, p.key))
			continue;
		if (!first)
			buf_addc(out, ',');
		first = false;
		key.n = 0;
		for (size_t i = 0; i < p.key.n; i++)
			buf_addc(&key, to_upper(p.key.p[i]));
		json_write_str(out, buf_str(&key));
		buf_addc(out, ':');
		json_write_str(out, p.value);
	}
	buf_addc(out, '}');
	out->failed |= key.failed;
}

void org_write_row(const struct org *o, const struct org_head *h, struct str file, struct buf *out)
{
	buf_addf(out, "{\"level\":%u,\"title\":", h->level);
	json_write_str(out, org_text(o, h->title));
	add_text(out, "state", org_text(o, h->state));
	add_text(out, "priority", org_text(o, h->priority));
	add_text(out, "id", org_text(o, h->id));
	write_tags(o, h, out);
	write_properties(o, h, out);
	buf_add(out, STR(",\"scheduled\":"));
	org_write_stamp(org_text(o, h->scheduled), out);
	buf_add(out, STR(",\"deadline\":"));
	org_write_stamp(org_text(o, h->deadline), out);
	buf_add(out, STR(",\"schedule\":"));
	org_write_schedule(o, h, out);
	buf_addf(out, ",\"line\":%u", h->line);
	if (file.n)
		json_add_str(out, "file", file);
	buf_addc(out, '}');
}
