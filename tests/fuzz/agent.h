#pragma once
/* An agent that was read, written and read again must be the same. */
#include "base/json.h"
#include "core/doc/agent/agent.h"

static inline void check_agent_again(const struct agent_doc *d, const struct doc_env *env, struct arena *a)
{
	struct buf first = { 0 }, second = { 0 };
	struct agent_doc again;
	struct why why = { 0 };
	struct val v;
	agent_write(d, &first);
	enum err e = json_read(buf_str(&first), a, &v, &why);
	assert(e == OK);
	e = agent_read(buf_str(&first), &v, env, a, &again, &why);
	assert(e == OK && again.unsupported == d->unsupported);
	agent_write(&again, &second);
	assert(str_eq(buf_str(&first), buf_str(&second)));
	buf_free(&first);
	buf_free(&second);
}
