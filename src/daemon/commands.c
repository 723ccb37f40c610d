/* Passes commands from other threads to the engine, and its replies back. */
#include "daemon/internal.h"

#include "sys/clock.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

void commands_free_all(struct pending_command *p)
{
	for (struct pending_command *next; p; p = next) {
		next = p->next;
		free(p);
	}
}

static void stop_if_idle(struct daemon *d)
{
	if (d->stopping && !d->pending && !d->busy)
		loop_stop(d->loop);
}

void commands_replied(void *ctx, const struct reply *r)
{
	struct daemon *d = ctx;
	struct pending_command **at = &d->pending;
	while (*at && (*at)->command.tag != r->tag)
		at = &(*at)->next;
	struct pending_command *p = *at;
	if (!p)
		return;
	*at = p->next;
	if (r->code == REPLY_BUSY && clock_boot().us < p->give_up.us) {
		p->next = d->busy;
		d->busy = p;
		return;
	}
	if (p->replied)
		p->replied(p->ctx, r);
	free(p);
	stop_if_idle(d);
}

/* Answers all commands that the engine has with REPLY_BUSY. They stay in the list of pending commands,
 * because requests that the store has point to their texts. */
void commands_refuse_all(struct daemon *d)
{
	for (struct pending_command *p = d->pending; p; p = p->next) {
		reply_fn *replied = p->replied;
		if (!replied || p->command.kind == CMD_RECOMPILE)
			continue;
		p->replied = NULL;
		replied(p->ctx, &(struct reply){ .code = REPLY_BUSY });
	}
}

/* Rules contain the numbers of names, and a name must be durable before rules that use its number. Rules are
 * sent in one of two lanes, and the store keeps the order within a lane only. So the name is sent in both
 * lanes; the second of the two requests changes nothing. */
static void save_name(void *ctx, enum name_kind kind, uint32_t number, struct str text)
{
	struct daemon *d = ctx;
	static const uint8_t lanes[] = { LANE_USER, LANE_BULK };
	for (unsigned i = 0; i < ARRAY_LEN(lanes); i++) {
		struct st_req r = { .op = ST_NAME,
				    .lane = lanes[i],
				    .name = { (uint8_t)kind, number, text } };
		if (store_requests_submit(d, &r))
			return; /* out of memory: after a restart, rules that use the number are outdated */
	}
}

static void give_to_engine(struct daemon *d, struct pending_command *p)
{
	p->command.tag = ++d->last_tag;
	p->next = d->pending;
	d->pending = p;
	loop_event(d->loop, &(struct event){ .kind = EV_COMMAND, .command = &p->command });
}

void commands_take(void *arg)
{
	struct pending_command *p = arg;
	intern_unsaved(p->d->intern, save_name, p->d);
	give_to_engine(p->d, p);
}

void commands_repeat(struct daemon *d)
{
	struct pending_command *all = d->busy;
	d->busy = NULL;
	while (all) {
		struct pending_command *p = all;
		all = p->next;
		give_to_engine(d, p);
	}
}

/* Whether a command of a person must be durable before it is answered. */
static bool needs_store(uint8_t kind)
{
	return kind != CMD_STOP && kind != CMD_CLOCK && kind != CMD_RECOMPILE;
}

/* How long a command is repeated while its schedule is busy. */
static int64_t busy_ms(uint8_t kind)
{
	switch (kind) {
	case CMD_PUT:
	case CMD_DROP:
	case CMD_PAUSE:
	case CMD_RESUME:
	case CMD_RECOMPILE:
		return COMMAND_BUSY_MS;
	case CMD_RUN:
		return RUN_BUSY_MS;
	default:
		return 0;
	}
}

static void copy_text(struct str *text, char **to)
{
	if (!text->p)
		return;
	memcpy(*to, text->p, text->n);
	text->p = *to;
	*to += text->n;
	*(*to)++ = '\0';
}

static struct pending_command *command_new(struct daemon *d, const struct command *c, reply_fn *replied,
					   void *ctx)
{
	size_t bytes = c->id.n + c->document.n + c->source.from.n + c->note.n + 4;
	struct pending_command *p = malloc(sizeof *p + bytes);
	if (!p)
		return NULL;
	*p = (struct pending_command){ .d = d, .command = *c, .replied = replied, .ctx = ctx };
	p->give_up.us = clock_boot().us + busy_ms(c->kind) * 1000;
	char *to = p->texts;
	copy_text(&p->command.id, &to);
	copy_text(&p->command.document, &to);
	copy_text(&p->command.source.from, &to);
	copy_text(&p->command.note, &to);
	return p;
}

enum err commands_give(struct daemon *d, const struct command *c, reply_fn *replied, void *ctx)
{
	struct pending_command *p = command_new(d, c, replied, ctx);
	if (p)
		commands_take(p);
	return p ? OK : E_NOMEM;
}

enum err daemon_command(struct daemon *d, const struct command *c, reply_fn *replied, void *ctx)
{
	if (needs_store(c->kind) && daemon_can_write(d, NULL))
		return E_BUSY;
	struct pending_command *p = command_new(d, c, replied, ctx);
	if (!p)
		return E_NOMEM;
	enum err e = daemon_call(d, commands_take, p);
	if (e)
		free(p);
	return e;
}

enum err daemon_call(struct daemon *d, mail_fn *fn, void *arg)
{
	return mailbox_put(d->mail, fn, arg) ? E_BUSY : OK;
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
