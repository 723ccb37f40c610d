/* Requests to the store that do not come from the engine. Any thread may send one; it is passed to the pump,
 * and the store's answer back to the sender. */
#include "daemon/internal.h"

#include <stdlib.h>

void store_requests_free(struct store_request *s)
{
	arena_free(&s->texts);
	free(s);
}

void store_requests_take(void *arg)
{
	struct store_request *s = arg;
	struct daemon *d = s->d;
	if (pump_send(d->pump, &s->req)) {
		/* Out of memory: the request is tried again later, because the notifier and the retention
		 * thread wait for its answer without a time limit. */
		if (mailbox_put(d->mail, store_requests_take, s))
			store_requests_free(s);
		return;
	}
	s->next = d->sent;
	d->sent = s;
}

/* --- copying --- */

static bool copy_text(struct arena *a, struct str *text)
{
	if (!text->p)
		return true;
	text->p = arena_dup(a, *text);
	return text->p != NULL;
}

static bool copy_message(struct arena *a, struct message_row *m)
{
	return copy_text(a, &m->origin) && copy_text(a, &m->target) && copy_text(a, &m->body) &&
	       copy_text(a, &m->result);
}

static bool copy_messages(struct arena *a, struct message_batch *t)
{
	struct message_row *all = arena_alloc(a, (t->n + 1) * sizeof *all);
	bool copied = all != NULL;
	for (unsigned i = 0; i < t->n && copied; i++) {
		all[i] = t->message[i];
		copied = copy_message(a, &all[i]);
	}
	t->message = all;
	return copied;
}

static bool copy_texts(struct arena *a, struct st_req *r)
{
	struct problem_change *p = &r->problem;
	switch ((enum st_op)r->op) {
	case ST_PROBLEM:
		return copy_text(a, &p->key) && copy_text(a, &p->subject) && copy_text(a, &p->text) &&
		       copy_text(a, &p->by) && copy_text(a, &p->note);
	case ST_STATE:
		return copy_text(a, &r->state.key) && copy_text(a, &r->state.text);
	case ST_MEMORY:
		return copy_text(a, &r->memory.agent) && copy_text(a, &r->memory.text) &&
		       copy_text(a, &r->memory.tags);
	case ST_AGENT:
		return copy_text(a, &r->agent.name) && copy_text(a, &r->agent.text) &&
		       copy_text(a, &r->source.from);
	case ST_NAME:
		return copy_text(a, &r->name.text);
	case ST_REPORT:
		return copy_text(a, &r->report.text);
	case ST_RUN_TEXT:
		return copy_text(a, &r->run_text.text);
	case ST_MESSAGES:
		return copy_messages(a, &r->messages);
	case ST_DELIVERY:
		return copy_message(a, &r->delivery);
	case ST_SOURCE:
		return copy_text(a, &r->source.from);
	default:
		return true;
	}
}

/* NULL: no memory. */
static struct store_request *copy_request(struct daemon *d, const struct st_req *r, store_answer_fn *answered,
					  void *ctx)
{
	struct store_request *s = malloc(sizeof *s);
	if (!s)
		return NULL;
	*s = (struct store_request){ .d = d, .req = *r, .answered = answered, .ctx = ctx };
	if (copy_texts(&s->texts, &s->req))
		return s;
	store_requests_free(s);
	return NULL;
}

/* --- sending --- */

enum err store_requests_submit(struct daemon *d, const struct st_req *r)
{
	struct store_request *s = copy_request(d, r, NULL, NULL);
	if (s)
		store_requests_take(s);
	return s ? OK : E_NOMEM;
}

/* From any thread. */
static enum err send_request(struct daemon *d, const struct st_req *r, bool wait, store_answer_fn *answered,
			     void *ctx)
{
	struct store_request *s = copy_request(d, r, answered, ctx);
	if (!s)
		return E_NOMEM;
	enum err e = wait ? mailbox_put_wait(d->mail, store_requests_take, s)
			  : mailbox_put(d->mail, store_requests_take, s);
	if (e)
		store_requests_free(s);
	return e == E_LIMIT ? E_BUSY : e;
}

enum err daemon_send(struct daemon *d, const struct st_req *r, store_answer_fn *answered, void *ctx)
{
	return send_request(d, r, false, answered, ctx);
}

enum err daemon_send_wait(struct daemon *d, const struct st_req *r, store_answer_fn *answered, void *ctx)
{
	return send_request(d, r, true, answered, ctx);
}

/* --- answers --- */

/* When a state has changed, waiting conditions that can read it are asked again. All conditions can read the
 * user's state. */
static void state_changed(struct daemon *d, struct str key)
{
	uint32_t agent = key.n ? intern_known(d->intern, DOC_AGENT, key) : 0;
	if (agent || !key.n) /* else no schedule uses this agent */
		loop_event(d->loop, &(struct event){ .kind = EV_STATE, .key = agent });
	if (str_eq(key, STR(NOTIFIER_STATE_KEY)))
		notifier_config_changed(d->notifier);
}

static void publish_message(struct daemon *d, const struct st_req *r, const struct message_row *m,
			    uint64_t number, const struct st_ack *ack)
{
	struct pump_fact f = { .op = r->op, .res = ack->res, .sid = m->sid, .at = ack->done };
	/* These messages do not come from the notifier, so it must be woken to deliver them. */
	f.news = r->op == ST_MESSAGES && !r->messages.news_upto;
	f.run.run = m->run;
	f.message.number = number;
	f.message.kind = m->kind;
	f.message.state = m->state;
	pump_publish(d->pump, &f, ack);
}

static void publish_problem(struct daemon *d, const struct st_req *r, const struct st_ack *ack)
{
	struct pump_fact f = { .op = r->op, .res = ack->res, .news = r->news, .at = ack->done };
	f.problem.act = r->problem.act;
	f.problem.number = ack->problem;
	f.problem.fresh = ack->count == 1;
	pump_publish(d->pump, &f, ack);
}

static void carried_out(struct daemon *d, const struct st_req *r, const struct st_ack *ack)
{
	switch ((enum st_op)r->op) {
	case ST_STATE:
		state_changed(d, r->state.key);
		break;
	case ST_AGENT:
		recompile_agent(d, &r->agent);
		break;
	case ST_DELIVERY:
		publish_message(d, r, &r->delivery, r->delivery.number, ack);
		break;
	case ST_MESSAGES:
		for (unsigned i = 0; ack->message && i < r->messages.n; i++)
			publish_message(d, r, &r->messages.message[i], ack->message + i, ack);
		break;
	default:
		break;
	}
}

void store_requests_answered(void *ctx, const struct st_ack *ack)
{
	struct daemon *d = ctx;
	struct store_request **at = &d->sent;
	while (*at && (*at)->req.tag != ack->tag)
		at = &(*at)->next;
	struct store_request *s = *at;
	assert(s); /* only requests of store_requests_take are not the engine's */
	*at = s->next;
	if (ack->res == ST_OK)
		carried_out(d, &s->req, ack);
	if (s->answered)
		s->answered(s->ctx, ack);
	if (s->req.op == ST_PROBLEM)
		publish_problem(d, &s->req, ack);
	if (s->req.op == ST_NAME)
		recompile_name(d, &s->req.name, ack);
	store_requests_free(s);
}
