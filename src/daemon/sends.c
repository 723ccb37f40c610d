#include "daemon/daemon_inner.h"

#include <stdlib.h>
#include <unistd.h>

void sends_free(struct sending *s)
{
	arena_free(&s->texts);
	free(s);
}

void sends_take(void *arg)
{
	struct sending *s = arg;
	if (pump_send(s->d->pump, &s->req)) {
		sends_free(s); /* its caller is told when its time is up */
		return;
	}
	s->next = s->d->sent;
	s->d->sent = s;
}

static bool keep_text(struct sending *s, struct str *text)
{
	if (!text->p)
		return true;
	text->p = arena_dup(&s->texts, *text);
	return text->p != NULL;
}

static bool keep_texts(struct sending *s)
{
	struct problem_said *p = &s->req.problem;
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
	case ST_WORDS:
		return keep_text(s, &s->req.words.text);
	case ST_SOURCE:
		return keep_text(s, &s->req.source.from);
	default:
		return true;
	}
}

enum err daemon_send(struct daemon *d, const struct st_req *r, sent_fn *done, void *ctx)
{
	struct sending *s = calloc(1, sizeof *s);
	if (!s)
		return E_NOMEM;
	*s = (struct sending){ .d = d, .req = *r, .done = done, .ctx = ctx };
	enum err e = keep_texts(s) ? mailbox_put(d->mail, sends_take, s) : E_NOMEM;
	if (e)
		sends_free(s);
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
	uint32_t number = agent.n ? names_known(d->names, DOC_AGENT, agent) : 0;
	if (number || !agent.n) /* nobody waits for one that no schedule names */
		loop_event(d->loop, &(struct event){ .kind = EV_STATE, .key = number });
}

void sends_answered(void *ctx, const struct st_ack *ack)
{
	struct daemon *d = ctx;
	for (struct sending **at = &d->sent; *at; at = &(*at)->next) {
		struct sending *s = *at;
		if (s->req.tag != ack->tag)
			continue;
		*at = s->next;
		struct pump_fact f = { .op = s->req.op, .res = ack->res, .at = ack->done };
		f.problem.act = s->req.problem.act;
		f.problem.number = ack->problem;
		f.problem.fresh = ack->count == 1;
		if (s->req.op == ST_STATE && ack->res == ST_OK)
			state_changed(d, s->req.state.key);
		if (s->req.op == ST_AGENT && ack->res == ST_OK)
			outdated_agent(d, &s->req.agent);
		if (s->done)
			s->done(s->ctx, ack);
		if (f.op == ST_PROBLEM)
			daemon_tell(d, &f, ack);
		sends_free(s);
		return;
	}
}

/* From the desk's thread. There is room sooner or later: the loop empties its mail at every turn. */
void sends_problem(void *ctx, const struct st_req *r)
{
	struct daemon *d = ctx;
	while (daemon_send(d, r, NULL, NULL) == E_BUSY && !d->closing)
		usleep(1000);
}
