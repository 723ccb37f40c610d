#include "model_store.h"

#include "table.h"

#include <stdlib.h>

struct rows_store *rows_store_new(struct rows *rows)
{
	struct rows_store *s = grow(NULL, sizeof *s);
	*s = (struct rows_store){ .rows = rows };
	return s;
}

void rows_store_free(struct rows_store *s)
{
	if (!s)
		return;
	rows_free(s->rows);
	free(s->ack);
	free(s);
}

static enum err submit(void *store, const struct st_req *r)
{
	struct rows_store *s = store;
	if (s->acks == s->room) {
		s->room = s->room ? 2 * s->room : 16;
		s->ack = grow(s->ack, s->room * sizeof *s->ack);
	}
	rows_apply(s->rows, r, &s->ack[s->acks++]);
	return OK;
}

static unsigned collect(void *store, struct st_ack *ret, unsigned max)
{
	struct rows_store *s = store;
	unsigned n = 0;
	while (n < max && s->taken < s->acks)
		ret[n++] = s->ack[s->taken++];
	if (s->taken == s->acks)
		s->taken = s->acks = 0;
	return n;
}

static int fd(void *store)
{
	(void)store;
	return -1;
}

static enum err load(void *store, load_fn *fn, void *ctx)
{
	rows_load(((struct rows_store *)store)->rows, fn, ctx);
	return OK;
}

const struct store_ops rows_store_ops = { .submit = submit, .collect = collect, .fd = fd, .load = load };
