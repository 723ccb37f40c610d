/* Timestamps: org (raw and compiled), ISO times, durations. */
#include "base/buf.h"
#include "core/when/civil.h"
#include "core/when/dur.h"
#include "core/when/iso.h"
#include "core/when/orgtime.h"
#include "fuzz.h"
#include "zoneinfo.h"

static void try_org(struct str text)
{
	struct org_stamp raw;
	struct org_rule o, again;
	struct why why = { 0 };
	bool off;
	if (org_stamp_read(text, &raw))
		assert(raw.date.n == 10);
	if (org_parse(text, &o, &off, &why)) {
		assert(why.text[0] && why.at <= text.n);
		return;
	}
	struct buf out = { 0 };
	org_format(&o, &out);
	assert(org_parse(buf_str(&out), &again, &off, &why) == OK && !off);
	assert(again.local == o.local && again.count == o.count && again.unit == o.unit &&
	       again.style == o.style);
	buf_free(&out);
	const struct zone *z = test_zone("America/New_York");
	int64_t t = 1794751200, next;
	for (unsigned i = 0; i < 4 && org_next(&o, z, t, &next) == OK; i++) {
		assert(next > t);
		t = next;
	}
	if (org_after_end(&o, z, 1794751200, &next) == OK)
		assert(next > 1794751200 - DAY);
}

static void try_iso(struct str text)
{
	struct iso t, again;
	struct why why = { 0 };
	if (iso_parse(text, &t, &why)) {
		assert(why.text[0] && why.at <= text.n);
		return;
	}
	char out[ISO_SIZE];
	iso_format_local(t.local, out);
	assert(iso_parse(str_of(out), &again, &why) == OK && again.local == t.local && !again.has_offset);
}

static void try_duration(struct str text)
{
	int64_t seconds, again;
	struct why why = { 0 };
	if (dur_parse(text, &seconds, &why)) {
		assert(why.text[0] && why.at <= text.n);
		return;
	}
	struct buf out = { 0 };
	dur_format(seconds, &out);
	assert(dur_parse(buf_str(&out), &again, &why) == OK && again == seconds);
	buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	try_org(text);
	try_iso(text);
	try_duration(text);
	return 0;
}
