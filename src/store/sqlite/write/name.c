/* ST_NAME: assigns numbers to names. */
#include "store/sqlite/write/operations.h"

int write_name(struct operation *o)
{
	const struct name_row *n = &o->r->name;
	sqlite3_stmt *get = o->sql->stmt[SQL_NAME_GET], *put = o->sql->stmt[SQL_NAME_PUT];
	bool found;
	int64_t same = 0;
	if (!n->text.p || n->text.n > STORE_PROBLEM_BYTES_MAX)
		return operation_answer(o, ST_REFUSED);
	DB_BIND(get, n->kind, n->number);
	int rc = db_first_number(get, db_bind_text(get, 3, n->text), &found, &same);
	if (rc != SQLITE_OK || found)
		return rc != SQLITE_OK ? rc : operation_answer(o, same ? ST_OK : ST_COLLISION);
	operation_number_used(o, NUMBER_NAME + n->kind, n->number);
	DB_BIND(put, n->kind, n->number);
	return db_step_bound(put, db_bind_text(put, 3, n->text));
}
