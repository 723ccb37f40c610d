/* ST_NAME: assigns numbers to names. */
#include "store/sqlite/write/operations.h"

int write_name(struct operation *o)
{
	const struct name_row *n = &o->r->name;
	sqlite3_stmt *number = o->sql->stmt[SQL_NAME_NUMBER], *put = o->sql->stmt[SQL_NAME_PUT];
	bool found;
	int64_t has = 0;
	if (!n->text.p || n->text.n > STORE_NAME_BYTES_MAX)
		return operation_answer(o, ST_REFUSED);
	DB_BIND(number, n->kind);
	int rc = db_first_number(number, db_bind_text(number, 2, n->text), &found, &has);
	if (rc != SQLITE_OK)
		return rc;
	if (found) {
		o->ack->name = (uint32_t)has;
		return operation_answer(o, o->ack->name == n->number ? ST_OK : ST_LOST);
	}
	OP_BIND(o, SQL_NAME_TAKEN, n->kind, n->number);
	rc = operation_has_row(o, SQL_NAME_TAKEN, &found, NULL);
	if (rc != SQLITE_OK || found)
		return rc != SQLITE_OK ? rc : operation_answer(o, ST_COLLISION);
	o->ack->name = n->number;
	operation_number_used(o, NUMBER_NAME + n->kind, n->number);
	DB_BIND(put, n->kind, n->number);
	return db_step_bound(put, db_bind_text(put, 3, n->text));
}
