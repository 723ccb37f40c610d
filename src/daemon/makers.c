/* Schedules that runs have made end with the schedule whose runs made them, the maker: when the maker is
 * removed, has expired, or no longer grants anything. After every fact that may have ended a maker, and at
 * the start, a thread of the prepare worker looks at all schedules that runs have made; there are few. So
 * nothing has to be remembered across a crash. */
#include "daemon/internal.h"

#include "base/json.h"
#include "core/model.h"
#include "port/read.h"

#include <string.h>

/* On the daemon's thread. A schedule that could not be removed now is found again by the next search. */
static void removed(void *ctx, const struct reply *r)
{
	(void)ctx;
	(void)r;
}

/* "run daily/r7" */
static struct str maker_id(struct str from)
{
	struct str id = str_from(from, sizeof SOURCE_BY_RUN - 1);
	const char *slash = memchr(id.p, '/', id.n);
	return slash ? (struct str){ id.p, (size_t)(slash - id.p) } : (struct str){ 0 };
}

/* Whether the maker still exists, has not expired, and grants something. */
static enum err is_in_force(struct reader *r, struct str id, struct arena *a, bool *ret)
{
	struct read_match m;
	struct val document;
	struct why why;
	*ret = false;
	enum err e = id.n ? read_sched_named(r, id, a, &m, &why) : E_NOTFOUND;
	if (e || m.n != 1 || !str_eq(m.sched.id, id))
		return e == E_NOTFOUND ? OK : e;
	e = json_read(m.sched.document, a, &document, &why);
	*ret = !e && val_get(&document, STR("grants")) &&
	       !(m.sched.open && m.sched.range.reason == REASON_EXPIRED);
	return e;
}

static void look_at(struct daemon *d, struct reader *r, const struct read_sched *s)
{
	_cleanup_(arena_free) struct arena a = { 0 };
	bool in_force;
	if (is_in_force(r, maker_id(s->source.from), &a, &in_force) || in_force)
		return;
	/* If too many commands wait already, the search is repeated when something has been stored. */
	if (daemon_command(d, &(struct command){ .kind = CMD_DROP, .sid = s->row.sid }, removed, d))
		atomic_store(&d->makers.again, true);
}

/* On a thread of the prepare worker. */
static void search(struct reader *r, void *arg)
{
	struct daemon *d = arg;
	_cleanup_(arena_free) struct arena a = { 0 };
	struct read_scheds page = { .more = r != NULL };
	struct read_sched last = { 0 };
	struct why why;
	atomic_store(&d->makers.pending, false);
	while (page.more && read_scheds_from(r, STR(SOURCE_BY_RUN), last.id.p ? &last : NULL, READ_LIST_MAX,
					     &a, &page, &why) == OK) {
		for (unsigned i = 0; i < page.n; i++)
			look_at(d, r, &page.item[i]);
		if (page.n)
			last = page.item[page.n - 1];
	}
}

void makers_check(struct daemon *d)
{
	if (atomic_exchange(&d->makers.pending, true))
		return;
	atomic_store(&d->makers.again, false);
	if (prepare_call(d->prepare, search, d)) {
		atomic_store(&d->makers.pending, false);
		atomic_store(&d->makers.again, true);
	}
}

void makers_happened(void *ctx, const struct pump_fact *f, const struct st_ack *ack)
{
	struct daemon *d = ctx;
	(void)ack;
	if (f->op == ST_DROP || f->op == ST_PUT || atomic_load(&d->makers.again) ||
	    (f->op == ST_RANGE && f->range.reason == REASON_EXPIRED))
		makers_check(d);
}
