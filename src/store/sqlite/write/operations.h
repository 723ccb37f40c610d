#pragma once
/* What each request does, on the writer's connection, inside of a transaction that its caller begins and
 * ends. */
#include "port/store.h"
#include "store/sqlite/write/statements.h"

/* SQLITE_OK: carried out, or refused, and answered in `ret`. Else it may be half done: roll back. */
must_check int ops_carry_out(struct sql_set *sql, const struct st_req *r, struct st_ack *ret);
