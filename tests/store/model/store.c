/* The model behind port/store.h. */
#include "model/store.h"
#include "model/inner.h"

struct model_store *model_store_new(struct model *model)
{
	struct model_store *s = must_realloc(NULL, sizeof *s);
	*s = (struct model_store){ .model = model };
	return s;
}

void model_store_free(struct model_store *s)
{
	if (!s)
		return;
	model_free(s->model);
	free(s->ack);
	free(s);
}

static enum err submit(void *store, const struct st_req *r)
{
	struct model_store *s = store;
	ADD_ROOM(s->ack, s->room, s->acks);
	model_apply(s->model, r, &s->ack[s->acks++]);
	return OK;
}

static unsigned collect(void *store, struct st_ack *ret, unsigned max)
{
	struct model_store *s = store;
	unsigned n = 0;
	while (n < max && s->collected < s->acks)
		ret[n++] = s->ack[s->collected++];
	if (s->collected == s->acks)
		s->collected = s->acks = 0;
	return n;
}

static int fd(void *store)
{
	(void)store;
	return -1;
}

static enum err load(void *store, load_fn *fn, void *ctx)
{
	model_load(((struct model_store *)store)->model, fn, ctx);
	return OK;
}

const struct store_ops model_store_ops = {
	.submit = submit, .collect = collect, .fd = fd, .load = load, .reader = model_store_reader
};
