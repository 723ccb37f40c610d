/* events: prints the last events, and follows new ones. */
#include "cli/verbs/verbs.h"

#include "base/json.h"
#include "cli/remote.h"
#include "cli/table.h"
#include "wire/client.h"
#include "wire/problem_document.h"

#include <time.h>

/* "2026-11-16 08:30:00 (1 s ago)  run.finished  backup  r7  failed/exit" */
static void print_event(struct cli_call *call, const struct val *v, struct str text)
{
	static const char *const members[] = { "schedule", "run",   "problem", "outcome",
					       "reason",   "count", "text" };
	if (call->json || !v) {
		print_json(call->out, text);
		print(call->out, "\n");
		return;
	}
	const char *type = val_text(call->arena, v, "type");
	print(call->out, "%s  %s", cli_time(call, val_text(call->arena, v, "time")), type ? type : "?");
	for (unsigned i = 0; i < ARRAY_LEN(members); i++) {
		const char *member = val_text(call->arena, v, members[i]);
		if (member) {
			print(call->out, "  ");
			print_text(call->out, str_of(member));
		}
	}
	print(call->out, "\n");
}

/* A stream of events. After a restart of the daemon it continues after the last event that was seen. */
struct event_stream {
	struct cli_call call; /* has an arena of its own, which is reset for each event */
	char seen[64];        /* "Last-Event-ID: N" */
	bool lost;            /* the connection was lost */
	bool closed;          /* the output is closed */
	unsigned tries;       /* failed connections since the last event */
};

static bool on_event(void *ctx, const struct sse_event *e)
{
	struct event_stream *f = ctx;
	struct val v;
	if (e->id.n && e->id.n < 32)
		snprintf(f->seen, sizeof f->seen, "Last-Event-ID: %.*s", STR_ARG(e->id));
	if (f->lost)
		print(stderr, "rota: the daemon is back\n");
	f->lost = false;
	f->tries = 0;
	if (str_eq(e->event, STR("hello")))
		return true;
	bool read = json_read(e->data, f->call.arena, &v, NULL) == OK;
	print_event(&f->call, read ? &v : NULL, e->data);
	arena_reset(f->call.arena); /* the stream may last for months */
	f->closed = fflush(f->call.out) != 0;
	return !f->closed;
}

/* Reads one connection to its end. */
static enum err read_stream(struct event_stream *f, const char *socket, struct why *why)
{
	const char *headers[] = { f->seen, NULL };
	struct client_request request = { .method = "GET",
					  .target = "/api/v1/events?follow=true",
					  .socket = socket,
					  .token = remote_token(),
					  .headers = f->seen[0] ? headers : NULL };
	struct client_answer answer = { 0 };
	_cleanup_(buf_free) struct buf problem = { 0 };
	enum err e = client_events(&request, on_event, f, &answer, why);
	if (!e)
		e = problem_document_read(answer.status, buf_str(&answer.body), &problem);
	if (problem.n)
		why_write(why, WHY_NOWHERE, "%.*s", STR_ARG(buf_str(&problem)));
	client_answer_free(&answer);
	return e;
}

/* Waits and returns true if a new connection is to be tried. */
static bool wait_for_daemon(struct event_stream *f, enum err e)
{
	bool retry = e == OK || e == E_GONE || e == E_NODAEMON || e == E_BUSY;
	if (f->closed || !f->seen[0] || !retry || f->tries++ == CLIENT_RETRIES_MAX)
		return false;
	if (!f->lost)
		print(stderr, "rota: lost the connection to the daemon; waiting for it\n");
	f->lost = true;
	nanosleep(&(struct timespec){ 0, CLIENT_RETRY_MS * 1000000L }, NULL);
	return true;
}

static enum err follow_events(struct cli_call *call)
{
	_cleanup_(arena_free) struct arena own = { 0 };
	struct event_stream f = { .call = *call };
	const char *socket;
	enum err e = remote_socket(call, &socket);
	if (e)
		return e;
	f.call.arena = &own;
	do
		e = read_stream(&f, socket, call->why);
	while (wait_for_daemon(&f, e));
	if (f.closed)
		return OK; /* cli_main reports that the output cannot be written */
	if (f.lost)
		return why_set(call->why, E_NODAEMON, WHY_NOWHERE,
			       "no daemon at %.150s for %u seconds; `rota serve` starts one", socket,
			       CLIENT_RETRIES_MAX * CLIENT_RETRY_MS / 1000);
	return e;
}

enum err verb_events(struct cli_call *call)
{
	struct str text;
	struct val v;
	if (op_arg(&call->args, "follow")->given)
		return follow_events(call);
	enum err e = remote_ask(call, (struct str){ 0 }, &text, &v);
	const struct val *list = e ? NULL : val_get(&v, STR("events"));
	if (!e && call->json)
		print_json(call->out, text);
	for (unsigned i = 0; list && !call->json && i < list->list.n; i++)
		print_event(call, &list->list.item[i], (struct str){ 0 });
	return e;
}
