#include "daemon/internal.h"

#include "sys/clock.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

void commands_free(struct pending_command *p)
{
	free(p->id);
	free(p->document);
	free(p->source);
	free(p->note);
	free(p);
}

void commands_free_all(struct pending_command *p)
{
	for (struct pending_command *next; p; p = next) {
		next = p->next;
		commands_free(p);
	}
}

static void stop_if_idle(struct daemon *d)
{
	if (d->stopping && !d->pending && !d->again)
		loop_stop(d->loop);
}

void commands_replied(void *ctx, const struct reply *r)
{
	struct daemon *d = ctx;
	for (struct pending_command **at = &d->pending; *at; at = &(*at)->next) {
		struct pending_command *p = *at;
		if (p->command.tag != r->tag)
			continue;
		*at = p->next;
		if (r->code == REPLY_BUSY && clock_boot().us < p->give_up.us) {
			p->next = d->again;
			d->again = p;
			return;
		}
		if (p->done)
			p->done(p->ctx, r);
		commands_free(p);
		stop_if_idle(d);
		return;
	}
}

/* The store has them and cannot write: nobody is kept waiting for that, but their texts are still needed. */
void commands_refuse_all(struct daemon *d)
{
	for (struct pending_command *p = d->pending; p; p = p->next) {
		reply_fn *done = p->done;
		if (!done || p->command.kind == CMD_RECOMPILE)
			continue;
		p->done = NULL;
		done(p->ctx, &(struct reply){ .code = REPLY_BUSY });
	}
}

/* A name is written before the rules that hold its number: both go the same way, one after the other. There
 * are two ways for schedules, and whoever comes next may go by the other; what is there twice is there once.
 */
static void save_name(void *ctx, enum name_kind kind, uint32_t number, struct str text)
{
	struct daemon *d = ctx;
	static const uint8_t ways[] = { LANE_USER, LANE_BULK };
	for (unsigned i = 0; i < ARRAY_LEN(ways); i++) {
		struct st_req r = { .op = ST_NAME, .lane = ways[i], .name = { (uint8_t)kind, number, text } };
		/* Out of memory here is met again by the request it is for. */
		if (pump_send(d->pump, &r))
			return;
	}
}

static void order(struct daemon *d, struct pending_command *p)
{
	p->command.tag = ++d->last_tag;
	p->next = d->pending;
	d->pending = p;
	loop_event(d->loop, &(struct event){ .kind = EV_COMMAND, .command = &p->command });
}

void commands_take(void *arg)
{
	struct pending_command *p = arg;
	intern_unsaved(p->d->names, save_name, p->d);
	order(p->d, p);
}

void commands_again(struct daemon *d)
{
	struct pending_command *all = d->again;
	d->again = NULL;
	while (all) {
		struct pending_command *p = all;
		all = p->next;
		order(d, p);
	}
}

/* What a person asks for, and must be durable before it is done. */
static bool needs_store(uint8_t kind)
{
	return kind != CMD_STOP && kind != CMD_CLOCK && kind != CMD_RECOMPILE;
}

/* How long a busy answer is not taken for an answer. */
static int64_t patience(uint8_t kind)
{
	switch (kind) {
	case CMD_PUT:
	case CMD_DROP:
	case CMD_PAUSE:
	case CMD_RESUME:
	case CMD_RECOMPILE:
		return ORDER_BUSY_MS;
	case CMD_RUN:
		return RUN_BUSY_MS;
	default:
		return 0;
	}
}

static char *copy(struct str s)
{
	char *p = malloc(s.n + 1);
	if (p) {
		memcpy(p, s.n ? s.p : "", s.n);
		p[s.n] = '\0';
	}
	return p;
}

enum err daemon_order(struct daemon *d, const struct command *c, reply_fn *done, void *ctx)
{
	if (needs_store(c->kind) && daemon_writes(d, NULL))
		return E_BUSY;
	struct pending_command *p = calloc(1, sizeof *p);
	if (!p)
		return E_NOMEM;
	*p = (struct pending_command){ .d = d, .command = *c, .done = done, .ctx = ctx };
	p->id = copy(c->id);
	p->document = copy(c->document);
	p->source = copy(c->source.from);
	p->note = copy(c->note);
	p->give_up.us = clock_boot().us + patience(c->kind) * 1000;
	p->command.id.p = p->id;
	p->command.document.p = p->document;
	if (c->source.from.p)
		p->command.source.from.p = p->source;
	if (c->note.p)
		p->command.note.p = p->note;
	bool copied = p->id && p->document && p->source && p->note;
	enum err e = copied ? mailbox_put(d->mail, commands_take, p) : E_NOMEM;
	if (e)
		commands_free(p);
	return e == E_LIMIT ? E_BUSY : e;
}

enum err daemon_call(struct daemon *d, mail_fn *fn, void *arg)
{
	enum err e = mailbox_put(d->mail, fn, arg);
	return e == E_LIMIT ? E_BUSY : e;
}

void commands_stop(void *arg)
{
	struct daemon *d = arg;
	d->stopping = true;
	stop_if_idle(d);
}

void daemon_stop(struct daemon *d)
{
	if (mailbox_put(d->mail, commands_stop, d))
		kill(getpid(), SIGTERM);
}
