#pragma once
/* ST_PROBLEM in SQLite. */
#include "store/sqlite/write/statements.h"

#include "port/store.h"

/* Carries it out within the transaction that has begun, and fills in its answer. A result of SQLite's. */
must_check int problem_carry_out(struct sql_set *sql, const struct st_req *r, struct st_ack *ret);
