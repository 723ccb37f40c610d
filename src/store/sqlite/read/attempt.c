/* Reads all that preparing an attempt needs, in one transaction. */
#include "store/sqlite/read/query.h"

static int find_agent(struct sqlite_reader *r, const struct attempt_request *q, struct arena *a,
		      struct read_attempt *ret)
{
	bool found;
	int64_t agents;
	int rc = db_first_number(r->stmt[READ_AGENT_COUNT], SQLITE_OK, &found, &agents);
	if (rc != SQLITE_OK)
		return rc;
	ret->agents = (unsigned)agents;
	if (!q->agent.n)
		return SQLITE_OK;
	rc = db_looked(query_agent(r, q->agent, a, &ret->agent));
	if (rc == SQLITE_OK)
		rc = db_looked(query_state(r, q->agent, a, &ret->state));
	if (rc == SQLITE_OK && q->notes)
		rc = db_looked(query_memories(r, q->agent, 0, 0, q->notes, a, &ret->notes));
	return rc;
}

/* SQLITE_DONE: there is no such document or run. */
static int find_attempt(struct sqlite_reader *r, const struct attempt_request *q, struct arena *a,
			struct read_attempt *ret)
{
	int rc = query_document(r, q->sid, q->rev, a, &ret->document);
	if (rc == SQLITE_ROW)
		rc = ret->document.p ? query_run(r, q->run, &ret->run) : SQLITE_DONE;
	if (rc != SQLITE_ROW)
		return rc;
	rc = query_previous_run(r, &ret->run, &ret->has_previous, &ret->previous);
	if (rc == SQLITE_OK && ret->has_previous)
		rc = db_looked(query_run_text(r, ret->previous.run, RUN_TEXT_RESULT, a, &ret->result));
	if (rc == SQLITE_OK)
		rc = db_looked(query_state(r, STR(""), a, &ret->user));
	return rc == SQLITE_OK ? find_agent(r, q, a, ret) : rc;
}

enum err sqlite_read_attempt(struct reader *reader, const struct attempt_request *q, struct arena *a,
			     struct read_attempt *ret, struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	struct read_attempt found = { .agent.name = q->agent, .state.key = q->agent, .has_notes = q->notes };
	int rc = reader_begin(r);
	if (rc == SQLITE_OK)
		rc = find_attempt(r, q, a, &found);
	enum err e = reader_end(r, rc, why);
	if (e == OK && rc == SQLITE_DONE)
		return why_set(why, E_NOTFOUND, WHY_NOWHERE, "there is no %s of run r%llu",
			       found.document.p ? "record" : "document", (unsigned long long)q->run);
	if (e == OK)
		*ret = found;
	return e;
}
