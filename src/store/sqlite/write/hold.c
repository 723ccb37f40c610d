/* ST_HOLD: holds and releases accounts and agents. */
#include "store/sqlite/write/operations.h"

static int put_hold(struct operation *o)
{
	const struct hold_row *h = &o->r->hold;
	sqlite3_stmt *s = o->sql->stmt[SQL_HOLD_PUT];
	DB_BIND(s, h->key, h->reason, h->until.us, h->set_back_from.us);
	return db_step_bound(s, db_bind_text(s, 5, o->r->note));
}

/* Whether the request changes the reason or the time of the hold. */
static int is_change(struct operation *o, bool *ret)
{
	const struct hold_row *h = &o->r->hold;
	sqlite3_stmt *s = o->sql->stmt[SQL_HOLD_GET];
	DB_BIND(s, h->key);
	int rc = sqlite3_step(s);
	bool same = sqlite3_column_int64(s, 0) == h->reason && sqlite3_column_int64(s, 1) == h->until.us;
	*ret = rc == SQLITE_ROW ? !h->reason || !same : h->reason != 0;
	return db_looked(db_leave(s, rc));
}

int write_hold(struct operation *o)
{
	const struct hold_row *h = &o->r->hold;
	struct event_row event = { .subject = h->key };
	bool change;
	int rc = is_change(o, &change);
	if (rc == SQLITE_OK)
		rc = h->reason ? put_hold(o) : OP_RUN(o, SQL_HOLD_REMOVE, h->key);
	if (rc != SQLITE_OK || !change)
		return rc;
	if (h->reason) {
		event.reason = h->reason;
		event.first = h->until;
	}
	return operation_log(o, h->reason ? EVENT_HOLD_SET : EVENT_HOLD_FREED, &event);
}
