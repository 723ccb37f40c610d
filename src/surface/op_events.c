#include "surface/op_events.h"

#include "base/json.h"
#include "surface/api.h"
#include "surface/client.h"
#include "surface/events.h"
#include "surface/remote.h"
#include "surface/table.h"

enum err handle_events(struct op_call *call, struct api *api)
{
	struct http_request *r = call->request;
	uint64_t after = 0;
	if (op_arg(call, "follow")->given) {
		/* A client that lost its connection says what it saw last. */
		if (r->header[HTTP_LAST_EVENT_ID].p &&
		    !str_number(r->header[HTTP_LAST_EVENT_ID], INT64_MAX, &after))
			after = 0;
		call->later = true;
		events_follow(api_events(api), r, after);
		return OK;
	}
	buf_add(&call->answer, STR("{\"events\":"));
	events_list(api_events(api), 100, &call->answer);
	buf_addc(&call->answer, '}');
	return OK;
}

/* "2026-11-16 08:30:00 (1 s ago)  run.finished  backup  r7  failed/exit" */
static void print_event(struct op_call *call, const struct val *v, struct str text)
{
	static const char *const members[] = { "schedule", "run", "problem", "outcome", "reason" };
	if (call->json || !v) {
		fwrite(text.p, 1, text.n, call->out);
		fputc('\n', call->out);
		return;
	}
	const char *type = val_text(call->arena, v, "type");
	fprintf(call->out, "%s  %s", op_time(call, val_text(call->arena, v, "time")), type ? type : "?");
	for (unsigned i = 0; i < ARRAY_LEN(members); i++) {
		const char *member = val_text(call->arena, v, members[i]);
		if (member) {
			fputs("  ", call->out);
			print_safe(call->out, str_of(member));
		}
	}
	fputc('\n', call->out);
}

static bool came(void *ctx, const struct sse_event *e)
{
	struct op_call *call = ctx;
	struct val v;
	bool read = json_read(e->data, call->arena, &v, NULL) == OK;
	print_event(call, read ? &v : NULL, e->data);
	arena_reset(call->arena); /* it may go on for months */
	return fflush(call->out) == 0;
}

static enum err follow(struct op_call *call)
{
	struct client_ask ask = { .method = "GET", .target = "/api/v1/events?follow=true" };
	struct client_answer answer = { 0 };
	struct arena own = { 0 };
	struct op_call events = *call;
	enum err e = remote_socket(call, &ask.socket);
	events.arena = &own;
	if (!e)
		e = client_events(&ask, came, &events, &answer, call->why);
	if (e == E_NODAEMON)
		why_write(call->why, WHY_NOWHERE, "no daemon at %s; `rota serve` starts one", ask.socket);
	client_answer_free(&answer);
	arena_free(&own);
	return e;
}

enum err op_events(struct op_call *call)
{
	struct str text;
	struct val v;
	if (op_arg(call, "follow")->given)
		return follow(call);
	enum err e = remote_ask(call, (struct str){ 0 }, &text, &v);
	const struct val *list = e ? NULL : val_get(&v, STR("events"));
	if (!e && call->json)
		fwrite(text.p, 1, text.n, call->out);
	for (unsigned i = 0; list && !call->json && i < list->list.n; i++)
		print_event(call, &list->list.item[i], (struct str){ 0 });
	return e;
}
