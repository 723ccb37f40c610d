#pragma once
/* News and notices: see ST_MESSAGES, ST_DELIVERY and st_req.news in port/store.h. */
#include "port/store.h"
#include "store/sqlite/write/statements.h"

/* What the request says of news becomes a row, if it says any: of this schedule, run and problem. */
must_check int news_add(struct sql_set *sql, const struct st_req *r, uint64_t sid, uint64_t run,
			uint64_t problem);
must_check int tell_carry_out(struct sql_set *sql, const struct st_req *r, struct st_ack *ret);
must_check int tried_carry_out(struct sql_set *sql, const struct st_req *r, struct st_ack *ret);
