/* Lists and shows the messages to the targets of notifications, with the results of their delivery. */
#include "api/handlers/handlers.h"
#include "api/handlers/notify.h"

#include "api/json_out.h"
#include "daemon/notify/message.h"

/* A message that was joined with others has the state of the message that it is part of. */
static void write_message_json(struct buf *out, struct reader *r, const struct message_row *n)
{
	_cleanup_(arena_free) struct arena a = { 0 };
	_cleanup_(buf_free) struct buf to = { 0 };
	struct message_row whole = *n;
	struct str id = { 0 };
	struct why why;
	if (n->joined && read_message(r, n->joined, &a, &whole, &why))
		whole = *n;
	if (n->sid && read_id(r, n->sid, &a, &id, &why))
		id = (struct str){ 0 };
	message_receiver_name(n, &to);
	buf_addf(out, "{\"number\":%llu,\"type\":\"%s\"", (unsigned long long)n->number,
		 message_kind_word(n->kind));
	json_add_str(out, "to", buf_str(&to));
	json_add_str(out, "schedule", id);
	if (n->run)
		buf_addf(out, ",\"run\":\"r%llu\"", (unsigned long long)n->run);
	if (n->problem)
		buf_addf(out, ",\"problem\":%llu", (unsigned long long)n->problem);
	if (n->joined)
		buf_addf(out, ",\"joined\":%llu", (unsigned long long)n->joined);
	buf_addf(out, ",\"state\":\"%s\",\"attempts\":%u", message_state_words[whole.state], whole.attempts);
	json_add_time(out, "at", n->at);
	json_add_time(out, "tried", whole.tried_at);
	if (whole.state == MESSAGE_WAITING)
		json_add_time(out, "next", whole.next);
	json_add_str(out, "said", whole.result);
	buf_addc(out, '}');
}

static void write_messages_json(struct buf *out, struct reader *r, const struct read_messages *list)
{
	buf_add(out, STR("\"messages\":["));
	for (unsigned i = 0; i < list->n; i++) {
		buf_add(out, i ? STR(",") : STR(""));
		write_message_json(out, r, &list->item[i]);
	}
	buf_addc(out, ']');
}

enum err messages_write_run(struct api_call *call, struct api *api, uint64_t run)
{
	struct read_messages list;
	enum err e = read_messages_of(api_reader(api), run, 0, call->arena, &list, call->why);
	if (e)
		return e;
	buf_addc(&call->answer, ',');
	write_messages_json(&call->answer, api_reader(api), &list);
	return OK;
}

enum err handle_messages(struct api_call *call, struct api *api)
{
	const struct arg *limit = op_arg(&call->args, "limit");
	struct read_messages list;
	uint64_t before;
	enum err e = api_read_before(call, "message", &before);
	if (!e)
		e = read_messages(api_reader(api), before, limit->given ? limit->count : 20, call->arena,
				  &list, call->why);
	if (e)
		return e;
	buf_addc(&call->answer, '{');
	write_messages_json(&call->answer, api_reader(api), &list);
	if (list.more && list.n)
		buf_addf(&call->answer, ",\"before\":%llu", (unsigned long long)list.item[list.n - 1].number);
	buf_addc(&call->answer, '}');
	return OK;
}

enum err handle_message(struct api_call *call, struct api *api)
{
	struct str text = op_arg(&call->args, "message")->text;
	struct message_row n;
	uint64_t number;
	if (!str_number(text, INT64_MAX, &number))
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "'%.*s' is not the number of a message",
			       STR_SHORT(text));
	enum err e = read_message(api_reader(api), number, call->arena, &n, call->why);
	if (!e)
		write_message_json(&call->answer, api_reader(api), &n);
	return e;
}
