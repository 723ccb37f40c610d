/* events: prints the last events, and follows new ones. */
#include "cli/verbs/verbs.h"

#include "base/json.h"
#include "cli/remote.h"
#include "cli/table.h"
#include "wire/client.h"
#include "wire/problem_document.h"

#include <time.h>

/* "2026-11-16 08:30:00 (1 s ago)  17  run:finished  backup  r7  failed  exit": the members of the data that
 * are texts or numbers, in the order of the event. */
static void print_event(struct cli_call *call, const struct val *v, struct str text)
{
	const struct val *data = v ? val_get(v, STR("data")) : NULL;
	if (call->json || !v) {
		print_json(call->out, text);
		print(call->out, "\n");
		return;
	}
	const char *type = val_text(call->arena, v, "type"), *number = val_text(call->arena, v, "seq");
	print(call->out, "%s  %s  ", cli_time(call, val_text(call->arena, v, "ts")), number ? number : "?");
	print_text(call->out, type ? str_of(type) : STR("?"));
	for (unsigned i = 0; data && data->kind == VAL_MAP && i < data->map.n; i++) {
		const char *name = arena_dup(call->arena, data->map.pair[i].key);
		const char *member = name ? val_text(call->arena, data, name) : NULL;
		if (!member)
			continue;
		print(call->out, "  ");
		if (type && !strncmp(type, "custom:", 7)) {
			print_text(call->out, data->map.pair[i].key);
			print(call->out, "=");
		}
		print_text(call->out, str_of(member));
	}
	print(call->out, "\n");
}

/* Says that events are missing: they were pruned, or the daemon has another log. */
static void print_gap(const struct val *v, struct arena *a)
{
	const char *after = v ? val_text(a, v, "after") : NULL, *oldest = v ? val_text(a, v, "oldest") : NULL;
	if (after && oldest)
		print(stderr, "rota: events after %s were pruned; the oldest that is kept is %s\n", after,
		      oldest);
	else if (after)
		print(stderr, "rota: the log has no event %s yet; it is followed from its end\n", after);
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
	bool read = json_read(e->data, f->call.arena, &v, NULL) == OK;
	if (str_eq(e->event, STR("pruned")) || str_eq(e->event, STR("unknown")))
		print_gap(read ? &v : NULL, f->call.arena);
	if (e->event.n)
		return true; /* a message about the stream itself, such as hello */
	print_event(&f->call, read ? &v : NULL, e->data);
	arena_reset(f->call.arena); /* the stream may last for months */
	f->closed = fflush(f->call.out) != 0;
	return !f->closed;
}

/* Reads one connection to its end. */
static enum err read_stream(struct event_stream *f, const char *socket, const char *target, struct why *why)
{
	const char *headers[] = { f->seen, NULL };
	struct client_request request = { .method = "GET",
					  .target = target,
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
	_cleanup_(buf_free) struct buf target = { 0 };
	const char *socket;
	enum err e = remote_socket(call, &socket);
	remote_add_target(call, &target);
	if (e || target.failed)
		return e ? e : E_NOMEM;
	f.call.arena = &own;
	do
		e = read_stream(&f, socket, target.p, call->why);
	while (wait_for_daemon(&f, e));
	if (f.closed)
		return OK; /* cli_main reports that the output cannot be written */
	if (f.lost)
		return why_set(call->why, E_NODAEMON, WHY_NOWHERE,
			       "no daemon at %.150s for %u seconds; `rota serve` starts one", socket,
			       CLIENT_RETRIES_MAX * CLIENT_RETRY_MS / 1000);
	return e;
}

static int64_t number_of(const struct val *v, const char *name)
{
	const struct val *number = val_get(v, str_of(name));
	return number && number->kind == VAL_INT ? number->integer : 0;
}

/* Asks for one page. An answer may be empty because the daemon has searched a part of the log only: then it
 * is asked again from there. */
static enum err ask_page(struct cli_call *call, struct str *text, struct val *ret)
{
	bool after = op_arg(&call->args, "after")->given, told = false;
	for (;;) {
		enum err e = remote_ask(call, (struct str){ 0 }, text, ret);
		if (e)
			return e;
		if (after && !told && number_of(ret, "after") + 1 < number_of(ret, "oldest"))
			print_gap(ret, call->arena);
		told = true;
		const struct val *list = val_get(ret, STR("events"));
		if (!after || !list || list->list.n || number_of(ret, "next") >= number_of(ret, "last"))
			return OK;
		const char *next = val_text(call->arena, ret, "next");
		op_set_arg(&call->args, "after", str_of(next ? next : "0"));
	}
}

enum err verb_events(struct cli_call *call)
{
	struct str text;
	struct val v;
	if (op_arg(&call->args, "follow")->given)
		return follow_events(call);
	enum err e = ask_page(call, &text, &v);
	const struct val *list = e ? NULL : val_get(&v, STR("events"));
	if (!e && call->json)
		print_json(call->out, text);
	for (unsigned i = 0; list && !call->json && i < list->list.n; i++)
		print_event(call, &list->list.item[i], (struct str){ 0 });
	if (!e && !call->json && op_arg(&call->args, "after")->given &&
	    number_of(&v, "next") < number_of(&v, "last"))
		print(stderr, "rota: there are more events: --after %lld\n",
		      (long long)number_of(&v, "next"));
	return e;
}
