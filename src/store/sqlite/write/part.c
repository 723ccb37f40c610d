/* ST_NUMBERS, ST_TAKE and ST_KEY: what several nodes share. */
#include "store/sqlite/write/operations.h"

/* --- numbers --- */

static int read_last_number(struct operation *o, unsigned kind, uint64_t *ret)
{
	static const enum write_statement last[] = {
		[NUMBER_RUN] = SQL_RUN_LAST, [NUMBER_SCHED] = SQL_SCHED_LAST
	};
	bool found;
	int64_t n = 0;
	enum write_statement which = kind < NUMBER_NAME ? last[kind] : SQL_NAME_LAST;
	if (kind >= NUMBER_NAME)
		OP_BIND(o, which, kind - NUMBER_NAME);
	int rc = operation_has_row(o, which, &found, &n);
	*ret = (uint64_t)n;
	return rc;
}

int write_numbers(struct operation *o)
{
	const struct numbers_request *want = &o->r->numbers;
	struct numbers_given *given = &o->sql->numbers;
	int rc = SQLITE_OK;
	if (want->kind >= NUMBER_KINDS || !want->n || want->n > STORE_NUMBERS_MAX)
		return operation_answer(o, ST_REFUSED);
	if (!given->known[want->kind])
		rc = read_last_number(o, want->kind, &given->last[want->kind]);
	if (rc != SQLITE_OK)
		return rc;
	given->known[want->kind] = true;
	o->ack->first = given->last[want->kind] + 1;
	given->last[want->kind] += want->n;
	return SQLITE_OK;
}

void operation_number_used(struct operation *o, unsigned kind, uint64_t number)
{
	struct numbers_given *given = &o->sql->numbers;
	if (kind < NUMBER_KINDS && number > given->last[kind])
		given->last[kind] = number; /* has no effect if the last number is not known: it is read
					       before it is used */
}

/* --- parts --- */

static int read_parts(struct operation *o)
{
	struct parts_read *p = &o->sql->parts;
	sqlite3_stmt *s = o->sql->stmt[SQL_PARTS];
	int rc;
	memset(p->part, 0, sizeof p->part);
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		int64_t part = sqlite3_column_int64(s, 0);
		if (part >= 0 && part < STORE_PARTS_MAX)
			p->part[part] = (struct part_row){ .part = (uint32_t)part,
							   .epoch = (uint64_t)sqlite3_column_int64(s, 1),
							   .node = (uint32_t)sqlite3_column_int64(s, 2) };
	}
	rc = db_leave(s, rc);
	p->known = db_looked(rc) == SQLITE_OK;
	return db_looked(rc);
}

int operation_is_fenced(struct operation *o, bool *ret)
{
	const struct parts_read *p = &o->sql->parts;
	int rc = p->known ? SQLITE_OK : read_parts(o);
	const struct part_row *own = o->r->part < STORE_PARTS_MAX ? &p->part[o->r->part] : NULL;
	*ret = !own || !own->node || own->epoch != o->r->epoch ||
	       (o->sched.found && o->sched.row.part != o->r->part);
	return rc;
}

int write_take(struct operation *o)
{
	const struct st_req *r = o->r;
	int rc = o->sql->parts.known ? SQLITE_OK : read_parts(o);
	if (rc != SQLITE_OK)
		return rc;
	if (r->part >= STORE_PARTS_MAX || !r->node)
		return operation_answer(o, ST_REFUSED);
	struct part_row *own = &o->sql->parts.part[r->part];
	bool repeated = own->node == r->node && own->epoch == r->epoch + 1;
	if (!repeated && own->epoch == r->epoch)
		*own = (struct part_row){ r->part, r->node, r->epoch + 1 };
	else
		operation_answer(o, repeated ? ST_OK : ST_FENCED);
	o->ack->part = *own;
	if (repeated || o->ack->res != ST_OK)
		return SQLITE_OK;
	return OP_RUN(o, SQL_PART_PUT, r->part, own->epoch, own->node);
}

/* --- the key of run tokens --- */

int write_key(struct operation *o)
{
	sqlite3_stmt *get = o->sql->stmt[SQL_KEY_GET], *put = o->sql->stmt[SQL_KEY_PUT];
	bool found;
	int64_t same = 0;
	int rc = sqlite3_bind_blob(get, 1, o->r->key, STORE_KEY_BYTES, SQLITE_STATIC);
	rc = db_first_number(get, rc, &found, &same);
	if (rc != SQLITE_OK || found)
		return rc != SQLITE_OK ? rc : operation_answer(o, same ? ST_OK : ST_LOST);
	return db_step_bound(put, sqlite3_bind_blob(put, 1, o->r->key, STORE_KEY_BYTES, SQLITE_STATIC));
}
