/* events: what happened, and what happens as it happens. */
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
		fwrite(text.p, 1, text.n, call->out);
		fputc('\n', call->out);
		return;
	}
	const char *type = val_text(call->arena, v, "type");
	fprintf(call->out, "%s  %s", cli_time(call, val_text(call->arena, v, "time")), type ? type : "?");
	for (unsigned i = 0; i < ARRAY_LEN(members); i++) {
		const char *member = val_text(call->arena, v, members[i]);
		if (member) {
			fputs("  ", call->out);
			print_safe(call->out, str_of(member));
		}
	}
	fputc('\n', call->out);
}

/* A stream that is taken up again where it was left when the daemon is back. */
struct following {
	struct cli_call call; /* with an arena for each event */
	char seen[64];        /* "Last-Event-ID: N" */
	bool lost;            /* it was there, and went away */
	bool enough;          /* nobody reads what is written */
	unsigned times;       /* it was looked for in vain */
};

static bool came(void *ctx, const struct sse_event *e)
{
	struct following *f = ctx;
	struct val v;
	if (e->id.n && e->id.n < 32)
		snprintf(f->seen, sizeof f->seen, "Last-Event-ID: %.*s", STR_ARG(e->id));
	if (f->lost)
		fputs("rota: the daemon is back\n", stderr);
	f->lost = false;
	f->times = 0;
	if (str_eq(e->event, STR("hello")))
		return true;
	bool read = json_read(e->data, f->call.arena, &v, NULL) == OK;
	print_event(&f->call, read ? &v : NULL, e->data);
	arena_reset(f->call.arena); /* it may go on for months */
	f->enough = fflush(f->call.out) != 0;
	return !f->enough;
}

/* One connection, up to its end. */
static enum err listen(struct following *f, const char *socket, struct why *why)
{
	const char *headers[] = { f->seen, NULL };
	struct client_request ask = { .method = "GET",
				      .target = "/api/v1/events?follow=true",
				      .socket = socket,
				      .token = remote_token(),
				      .headers = f->seen[0] ? headers : NULL };
	struct client_answer answer = { 0 };
	_cleanup_(buf_free) struct buf problem = { 0 };
	enum err e = client_events(&ask, came, f, &answer, why);
	if (!e)
		e = problem_document_read(answer.status, buf_str(&answer.body), &problem);
	if (problem.n)
		why_write(why, WHY_NOWHERE, "%.*s", STR_ARG(buf_str(&problem)));
	client_answer_free(&answer);
	return e;
}

/* Whether to look for it again, after a while. */
static bool again(struct following *f, enum err e)
{
	bool away = e == OK || e == E_GONE || e == E_NODAEMON || e == E_BUSY;
	if (f->enough || !f->seen[0] || !away || f->times++ == CLIENT_RETRIES_MAX)
		return false;
	if (!f->lost)
		fputs("rota: the daemon went away; waiting for it\n", stderr);
	f->lost = true;
	nanosleep(&(struct timespec){ 0, CLIENT_RETRY_MS * 1000000L }, NULL);
	return true;
}

static enum err follow(struct cli_call *call)
{
	_cleanup_(arena_free) struct arena own = { 0 };
	struct following f = { .call = *call };
	const char *socket;
	enum err e = remote_socket(call, &socket);
	if (e)
		return e;
	f.call.arena = &own;
	do
		e = listen(&f, socket, call->why);
	while (again(&f, e));
	if (f.enough)
		return OK; /* main says that the output cannot be written */
	if (f.lost)
		return why_set(call->why, E_NODAEMON, WHY_NOWHERE,
			       "the daemon at %.150s stayed away for %u seconds; `rota serve` starts one",
			       socket, CLIENT_RETRIES_MAX * CLIENT_RETRY_MS / 1000);
	if (e == E_NODAEMON)
		why_write(call->why, WHY_NOWHERE, "no daemon at %s; `rota serve` starts one", socket);
	return e;
}

enum err verb_events(struct cli_call *call)
{
	struct str text;
	struct val v;
	if (op_arg(&call->args, "follow")->given)
		return follow(call);
	enum err e = remote_ask(call, (struct str){ 0 }, &text, &v);
	const struct val *list = e ? NULL : val_get(&v, STR("events"));
	if (!e && call->json)
		fwrite(text.p, 1, text.n, call->out);
	for (unsigned i = 0; list && !call->json && i < list->list.n; i++)
		print_event(call, &list->list.item[i], (struct str){ 0 });
	return e;
}
