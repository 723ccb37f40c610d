#include "daemon/internal.h"

#include <stdlib.h>
#include <unistd.h>

void store_requests_free(struct store_request *s)
{
	arena_free(&s->texts);
	free(s);
}

void store_requests_take(void *arg)
{
	struct store_request *s = arg;
	if (pump_send(s->d->pump, &s->req)) {
		/* The post waits for its answer, however long it takes; other callers are told when their
		 * time is up. */
		bool waits = s->req.op == ST_MESSAGES || s->req.op == ST_DELIVERY;
		if (!waits || mailbox_put(s->d->mail, store_requests_take, s))
			store_requests_free(s);
		return;
	}
	s->next = s->d->sent;
	s->d->sent = s;
}

static bool keep_text(struct store_request *s, struct str *text)
{
	if (!text->p)
		return true;
	text->p = arena_dup(&s->texts, *text);
	return text->p != NULL;
}

static bool keep_notice(struct store_request *s, struct message_row *n)
{
	return keep_text(s, &n->origin) && keep_text(s, &n->target) && keep_text(s, &n->body) &&
	       keep_text(s, &n->result);
}

static bool keep_notices(struct store_request *s, struct message_batch *t)
{
	struct message_row *all = arena_alloc(&s->texts, (t->n + 1) * sizeof *all);
	bool good = all != NULL;
	for (unsigned i = 0; i < t->n && good; i++) {
		all[i] = t->message[i];
		good = keep_notice(s, &all[i]);
	}
	t->message = all;
	return good;
}

static bool keep_texts(struct store_request *s)
{
	struct problem_change *p = &s->req.problem;
	switch ((enum st_op)s->req.op) {
	case ST_PROBLEM:
		return keep_text(s, &p->key) && keep_text(s, &p->subject) && keep_text(s, &p->text) &&
		       keep_text(s, &p->by) && keep_text(s, &p->note);
	case ST_STATE:
		return keep_text(s, &s->req.state.key) && keep_text(s, &s->req.state.text);
	case ST_MEMORY:
		return keep_text(s, &s->req.memory.agent) && keep_text(s, &s->req.memory.text) &&
		       keep_text(s, &s->req.memory.tags);
	case ST_AGENT:
		return keep_text(s, &s->req.agent.name) && keep_text(s, &s->req.agent.text) &&
		       keep_text(s, &s->req.source.from);
	case ST_RUN_TEXT:
		return keep_text(s, &s->req.run_text.text);
	case ST_MESSAGES:
		return keep_notices(s, &s->req.messages);
	case ST_DELIVERY:
		return keep_notice(s, &s->req.delivery);
	case ST_SOURCE:
		return keep_text(s, &s->req.source.from);
	default:
		return true;
	}
}

enum err daemon_send(struct daemon *d, const struct st_req *r, sent_fn *done, void *ctx)
{
	struct store_request *s = calloc(1, sizeof *s);
	if (!s)
		return E_NOMEM;
	*s = (struct store_request){ .d = d, .req = *r, .done = done, .ctx = ctx };
	enum err e = keep_texts(s) ? mailbox_put(d->mail, store_requests_take, s) : E_NOMEM;
	if (e)
		store_requests_free(s);
	return e == E_LIMIT ? E_BUSY : e;
}

void daemon_tell(struct daemon *d, const struct pump_fact *f, const struct st_ack *ack)
{
	if (d->options.happened)
		d->options.happened(d->options.ctx, f, ack);
}

/* Conditions that wait for a better moment are asked again: the user's profile is in the scope of all. */
static void state_changed(struct daemon *d, struct str agent)
{
	uint32_t number = agent.n ? intern_known(d->names, DOC_AGENT, agent) : 0;
	if (number || !agent.n) /* nobody waits for one that no schedule names */
		loop_event(d->loop, &(struct event){ .kind = EV_STATE, .key = number });
}

static void tell_notice(struct daemon *d, const struct st_req *r, const struct message_row *n,
			uint64_t number, const struct st_ack *ack)
{
	struct pump_fact f = { .op = r->op, .res = ack->res, .sid = n->sid, .at = ack->done };
	f.run.run = n->run;
	f.notice.number = number;
	f.notice.kind = n->kind;
	f.notice.state = n->state;
	daemon_tell(d, &f, ack);
}

/* Notices that were put, or tried, are told of one by one. */
static void tell_notices(struct daemon *d, const struct st_req *r, const struct st_ack *ack)
{
	if (ack->res != ST_OK)
		return;
	if (r->op == ST_DELIVERY)
		tell_notice(d, r, &r->delivery, r->delivery.number, ack);
	for (unsigned i = 0; r->op == ST_MESSAGES && ack->message && i < r->messages.n; i++)
		tell_notice(d, r, &r->messages.message[i], ack->message + i, ack);
	if (r->op == ST_MESSAGES && !r->messages.news_upto)
		notifier_news(d->post); /* somebody else's */
}

void store_requests_answered(void *ctx, const struct st_ack *ack)
{
	struct daemon *d = ctx;
	for (struct store_request **at = &d->sent; *at; at = &(*at)->next) {
		struct store_request *s = *at;
		if (s->req.tag != ack->tag)
			continue;
		*at = s->next;
		struct pump_fact f = { .op = s->req.op, .res = ack->res, .at = ack->done };
		f.problem.act = s->req.problem.act;
		f.problem.number = ack->problem;
		f.problem.fresh = ack->count == 1;
		if (s->req.op == ST_STATE && ack->res == ST_OK) {
			state_changed(d, s->req.state.key);
			if (str_eq(s->req.state.key, STR(NOTIFIER_STATE_KEY)))
				notifier_changed(d->post);
		}
		if (s->req.op == ST_MESSAGES || s->req.op == ST_DELIVERY)
			tell_notices(d, &s->req, ack);
		if (s->req.news && ack->res == ST_OK)
			notifier_news(d->post);
		if (s->req.op == ST_AGENT && ack->res == ST_OK)
			recompile_agent(d, &s->req.agent);
		if (s->done)
			s->done(s->ctx, ack);
		if (f.op == ST_PROBLEM)
			daemon_tell(d, &f, ack);
		store_requests_free(s);
		return;
	}
}

/* From the desk's thread. There is room sooner or later: the loop empties its mail at every turn. */
void store_requests_problem(void *ctx, const struct st_req *r)
{
	struct daemon *d = ctx;
	while (daemon_send(d, r, NULL, NULL) == E_BUSY && !d->closing)
		usleep(1000);
}

/* From the post's thread, which asks again. */
enum err store_requests_post(void *ctx, const struct st_req *r, sent_fn *done, void *arg)
{
	return daemon_send(ctx, r, done, arg);
}
