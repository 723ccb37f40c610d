/* One message: the words for its kind and state, its receiver, and sentences about runs. */
#include "daemon/notify/message.h"

#include "base/json.h"
#include "core/doc/target.h"

const char *message_kind_word(unsigned kind)
{
	static const char *const words[] = {
		[NEWS_SUCCESS] = "run.done",
		[NEWS_FAILURE] = "run.failed",
		[NEWS_MISSED] = "run.missed",
		[NEWS_RECOVERED] = "run.recovered",
		[NEWS_PING] = "ping",
		[NEWS_STARTED] = "ping",
		[NEWS_OPENED] = "problem.opened",
		[NEWS_CLOSED] = "problem.closed",
		[MESSAGE_TEST] = "test",
		[MESSAGE_DIGEST] = "digest",
	};
	return kind < ARRAY_LEN(words) ? words[kind] : "message";
}

const char *const message_state_words[MESSAGE_STATES] = {
	[MESSAGE_WAITING] = "waiting", [MESSAGE_DELIVERED] = "delivered", [MESSAGE_GIVEN_UP] = "given up",
	[MESSAGE_GONE] = "gone",       [MESSAGE_JOINED] = "joined",
};

/* --- runs --- */

void message_write_outcome(const struct run_row *r, struct buf *out)
{
	buf_addf(out, "%s", outcome_words[r->outcome]);
	if (r->reason == REASON_EXIT && r->exit_code >= 0)
		buf_addf(out, " with exit code %d", r->exit_code);
	else if (r->reason)
		buf_addf(out, " (%s)", reason_words[r->reason]);
	if (r->attempt > 1)
		buf_addf(out, " after %u attempts", r->attempt);
	if (r->state == RUN_FINISHED && r->retry_at.us)
		buf_addf(out, ", its retries were dropped");
}

void message_write_hint(const struct run_row *r, struct buf *out)
{
	bool executed =
		r->reason != REASON_CHECK && r->reason != REASON_DEFINITION && r->reason != REASON_TEMPLATE;
	buf_addf(out, executed ? "; `rota logs r%llu` shows what it printed" : "; `rota show r%llu` says why",
		 (unsigned long long)r->run);
}

/* --- receivers --- */

enum err message_target(const struct message_row *m, struct arena *a, struct doc_target *ret, struct why *why)
{
	struct key_reader r = { m->target, a, why, NULL };
	struct val list = { .kind = VAL_LIST }, *item = arena_alloc(a, sizeof *item);
	struct doc_target *to;
	unsigned count;
	if (!item)
		return E_NOMEM;
	enum err e = json_read(m->target, a, item, why);
	list.list.item = item;
	list.list.n = 1;
	if (!e)
		e = target_read_list(&r, "to", &list, &to, &count);
	if (!e)
		*ret = to[0];
	return e;
}

void message_receiver_name(const struct message_row *m, struct buf *out)
{
	_cleanup_(arena_free) struct arena a = { 0 };
	struct doc_target t;
	if (message_target(m, &a, &t, NULL))
		buf_addf(out, "unknown receiver");
	else if (m->kind == NEWS_PING)
		buf_addf(out, "%.*s", STR_SHORT(target_host(t.url)));
	else
		target_write_name(&t, out);
}
