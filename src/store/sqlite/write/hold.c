/* ST_HOLD: holds and releases accounts and agents. */
#include "store/sqlite/write/operations.h"

int write_hold(struct operation *o)
{
	const struct hold_row *h = &o->r->hold;
	sqlite3_stmt *s = o->sql->stmt[SQL_HOLD_PUT];
	if (!h->reason)
		return OP_RUN(o, SQL_HOLD_REMOVE, h->key);
	DB_BIND(s, h->key, h->reason, h->until.us, h->set_back_from.us);
	return db_step_bound(s, db_bind_text(s, 5, o->r->note));
}
