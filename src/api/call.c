/* Answers calls, and lets calls wait for the engine, the store and the daemon's thread. */
#include "api/api.h"
#include "api/operations.h"
#include "api/zone_files.h"
#include "wire/problem_document.h"

enum { HOOK_TEXT_BYTES = 2 * HOOK_WORDS_BYTES };

/* One answer that a deferred call waits for. */
struct api_wait {
	struct api *api;
	struct api_call *call;
	const void *item;
	union {
		api_command_fn *replied;
		api_store_fn *stored;
		api_hook_fn *hook;
		struct {
			api_daemon_fn *fn;
			api_done_fn *then;
		} daemon;
	};
	union {
		struct reply reply;
		struct st_ack ack;
		struct {
			enum create_answer answer;
			char *text; /* HOOK_TEXT_BYTES, in the call's arena */
		} hooked;
	};
	struct api_wait *next;
};

/* --- answers --- */

void api_release(struct api_call *call)
{
	zone_files_release(call->zone_files);
	call->zone_files = NULL;
}

/* Runs on the HTTP thread. The answer frees the request, and the call with it. */
static void send_answer(void *arg)
{
	struct api_call *call = arg;
	struct buf body = call->answer;
	call->answer = (struct buf){ 0 };
	http_answer(call->request, call->status,
		    call->status < 400 ? "application/json" : PROBLEM_DOCUMENT_TYPE, buf_str(&body));
	buf_free(&body);
}

void api_finish(struct api_call *call, enum err e)
{
	struct buf *out = &call->answer;
	api_release(call);
	if (!e && out->failed)
		e = E_NOMEM;
	if (e) {
		buf_free(out);
		/* A disk that fails may recover: the client can try again. */
		call->status = problem_document_write(e, e == E_IO ? 503 : 0, call->why, call->source, out);
	} else {
		buf_addc(out, '\n');
		call->status = call->status ? call->status : 200;
	}
	if (http_add_task(http_server(call->request), send_answer, call))
		return; /* the client gets 503 at its deadline, and the server frees the request when it stops
			 */
}

/* Whether the store fails; call->why says how. */
static bool store_cannot_write(struct api_call *call, struct api *a)
{
	struct why why;
	if (daemon_can_write(api_daemon(a), &why) == OK)
		return false;
	why_write(call->why, WHY_NOWHERE, "the store cannot write now: %s; `rota doctor` says what to do",
		  why.text);
	return true;
}

enum err api_refusal(struct api_call *call, const struct reply *r, const char *what)
{
	static const struct {
		enum err e;
		const char *text;
	} words[] = {
		[REPLY_OK] = { OK, "" },
		[REPLY_NOT_FOUND] = { E_NOTFOUND, "it does not exist any more" },
		[REPLY_BUSY] = { E_BUSY, "it is being changed, or is running already; try again" },
		[REPLY_REFUSED] = { E_CONFLICT,
				    "its current state does not allow this; `rota show` shows its state" },
	};
	/* If the store cannot write, call->why has the reason (see run_replied), which explains
	 * REPLY_BUSY. */
	struct why store = *call->why;
	const char *text = r->code == REPLY_BUSY && store.text[0] ? store.text : words[r->code].text;
	return why_set(call->why, words[r->code].e, WHY_NOWHERE, "%s: %s", what, text);
}

/* --- waiting --- */

static struct api_wait *wait_new(struct api_call *call, struct api *a)
{
	struct api_wait *w = call->free_waits;
	if (w)
		call->free_waits = w->next;
	else
		w = arena_alloc(call->arena, sizeof *w);
	if (w)
		*w = (struct api_wait){ .api = a, .call = call, .item = call->item };
	return w;
}

/* Ends a wait and returns a copy of it: the caller's next step may finish the call and free its memory. */
static struct api_wait wait_end(void *arg)
{
	struct api_wait *w = arg, copy = *w;
	w->next = w->call->free_waits;
	w->call->free_waits = w;
	copy.call->item = copy.item;
	copy.call->why->text[0] = '\0'; /* an earlier lookup may have left a text */
	return copy;
}

/* Adds a task that calls fn(w) on the operations thread. Any thread. If the queue is full, the client gets
 * 503 at its deadline, and its request is freed when the server stops. */
static void resume_call(struct api_wait *w, void (*fn)(void *arg))
{
	if (operations_add(api_operations(w->api), fn, w))
		return;
}

static void run_replied(void *arg)
{
	struct api_wait w = wait_end(arg);
	if (w.reply.code == REPLY_BUSY)
		store_cannot_write(w.call, w.api); /* sets call->why, which api_refusal uses */
	w.replied(w.call, w.api, &w.reply);
}

static void run_stored(void *arg)
{
	struct api_wait w = wait_end(arg);
	w.stored(w.call, w.api, &w.ack);
}

static void run_hooked(void *arg)
{
	struct api_wait w = wait_end(arg);
	w.hook(w.call, w.api, w.hooked.answer, str_of(w.hooked.text));
}

static void run_daemon_then(void *arg)
{
	struct api_wait w = wait_end(arg);
	w.daemon.then(w.call, w.api);
}

/* The next four functions are called on the daemon's thread. */

static void keep_hook_answer(void *ctx, enum create_answer answer, struct str words)
{
	struct api_wait *w = ctx;
	w->hooked.answer = answer;
	snprintf(w->hooked.text, HOOK_TEXT_BYTES, "%.*s", STR_ARG(words));
	resume_call(w, run_hooked);
}

static void keep_reply(void *ctx, const struct reply *r)
{
	struct api_wait *w = ctx;
	w->reply = *r;
	resume_call(w, run_replied);
}

static void keep_ack(void *ctx, const struct st_ack *ack)
{
	struct api_wait *w = ctx;
	w->ack = *ack;
	resume_call(w, run_stored);
}

static void run_daemon_fn(void *arg)
{
	struct api_wait *w = arg;
	w->daemon.fn(api_daemon(w->api), w->call->ctx);
	resume_call(w, run_daemon_then);
}

enum err api_command(struct api_call *call, struct api *a, const struct command *c, api_command_fn *then)
{
	struct api_wait *w = wait_new(call, a);
	if (!w)
		return E_NOMEM;
	w->replied = then;
	enum err e = daemon_command(api_daemon(a), c, keep_reply, w);
	call->deferred |= !e;
	if (e)
		call->why->text[0] = '\0';
	if (e == E_BUSY)
		store_cannot_write(call, a);
	return e;
}

enum err api_store_request(struct api_call *call, struct api *a, const struct st_req *r, api_store_fn *then)
{
	if (store_cannot_write(call, a))
		return E_BUSY;
	struct api_wait *w = wait_new(call, a);
	if (!w)
		return E_NOMEM;
	w->stored = then;
	enum err e = daemon_send(api_daemon(a), r, keep_ack, w);
	call->deferred |= !e;
	return e;
}

enum err api_ask_create_hook(struct api_call *call, struct api *a, struct str input, api_hook_fn *then)
{
	struct api_wait *w = wait_new(call, a);
	char *text = arena_alloc(call->arena, HOOK_TEXT_BYTES);
	if (!w || !text)
		return E_NOMEM;
	w->hook = then;
	w->hooked.text = text;
	enum err e = daemon_ask_create_hook(api_daemon(a), call->caller_run, input, keep_hook_answer, w);
	call->deferred |= !e;
	return e;
}

enum err api_ask_daemon(struct api_call *call, struct api *a, api_daemon_fn *fn, api_done_fn *then)
{
	struct api_wait *w = wait_new(call, a);
	if (!w)
		return E_NOMEM;
	w->daemon.fn = fn;
	w->daemon.then = then;
	enum err e = daemon_call(api_daemon(a), run_daemon_fn, w);
	call->deferred |= !e;
	return e;
}

enum err api_add_task(struct api_call *call, struct api *a, void (*fn)(void *call))
{
	enum err e = operations_add(api_operations(a), fn, call);
	call->deferred |= !e;
	return e;
}
