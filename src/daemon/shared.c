/* What the daemon takes from the store because several nodes share it: the key of run tokens, and numbers for
 * names. */
#include "daemon/internal.h"

#include <poll.h>

enum { FIRST_NUMBERS = 64 };

/* --- the key of run tokens --- */

static void key_stored(void *ctx, const struct st_ack *ack)
{
	struct daemon *d = ctx;
	if (ack->res == ST_OK)
		token_key_remove_file(d->options.data);
}

enum err shared_open_key(struct daemon *d, struct why *why)
{
	struct st_req r = { .op = ST_KEY, .lane = LANE_USER };
	if (d->has_token_key) {
		/* An earlier daemon may have been killed before it removed the file. */
		token_key_remove_file(d->options.data);
		return OK;
	}
	enum err e = token_key_new(d->options.data, &d->token_key, why);
	memcpy(r.key, d->token_key.bytes, sizeof r.key);
	return e ? e : daemon_send(d, &r, key_stored, d);
}

/* --- numbers for names --- */

/* Waits for the answer to a request that is the only one under way. False: the store does not answer. */
static bool ask_store(struct daemon *d, const struct st_req *r, struct st_ack *ret)
{
	const struct store_ops *ops = d->store->ops;
	struct pollfd fd = { .fd = ops->fd(d->store), .events = POLLIN };
	if (ops->submit(d->store, r))
		return false;
	for (unsigned waits = 0; waits < INTERN_WAIT_MS / 10; waits++) {
		if (ops->collect(d->store, ret, 1))
			return true;
		poll(&fd, 1, 10);
	}
	return false; /* a late answer is ignored, because no request has its tag */
}

void shared_take_numbers(struct daemon *d)
{
	for (unsigned kind = 0; kind < NAME_KINDS; kind++) {
		struct st_req r = { .op = ST_NUMBERS, .lane = LANE_USER };
		struct st_ack ack;
		r.numbers = (struct numbers_request){ (uint8_t)(NUMBER_NAME + kind), FIRST_NUMBERS };
		if (!ask_store(d, &r, &ack))
			return; /* they are asked for again when a name needs one */
		if (ack.res == ST_OK)
			intern_add_numbers(d->intern, (enum name_kind)kind, ack.first, FIRST_NUMBERS);
	}
}

static void numbers_came(void *ctx, const struct st_ack *ack)
{
	const struct name_numbers *asked = ctx;
	if (ack->res == ST_OK)
		intern_add_numbers(asked->d->intern, asked->kind, ack->first, asked->n);
}

/* At most one request of a kind is under way. */
static bool ask_numbers(void *ctx, enum name_kind kind, uint32_t n)
{
	struct daemon *d = ctx;
	struct st_req r = { .op = ST_NUMBERS, .lane = LANE_USER };
	r.numbers = (struct numbers_request){ (uint8_t)(NUMBER_NAME + kind), n };
	d->name_numbers[kind] = (struct name_numbers){ d, kind, n };
	return daemon_send(d, &r, numbers_came, &d->name_numbers[kind]) == OK;
}

void shared_number_names(struct daemon *d)
{
	static_assert((int)NAME_KINDS == (int)STORE_NAME_KINDS,
		      "the store has numbers for every kind of name");
	intern_ask_numbers(d->intern, ask_numbers, d);
}

/* --- loading --- */

void shared_load(struct daemon *d, const struct load_item *item)
{
	if (item->kind == LOAD_NAME &&
	    intern_load(d->intern, (enum name_kind)item->name.kind, item->name.number, item->name.text))
		return; /* rules that use the name are outdated and do not come due until they are compiled
			   again */
	if (item->kind == LOAD_KEY) {
		memcpy(d->token_key.bytes, item->key, sizeof d->token_key.bytes);
		d->has_token_key = true;
	}
}
