#pragma once
/* The model behind port/store.h: submit carries a request out at once, fd is -1, and nothing fails. */
#include "model/model.h"

struct model_store {
	struct model *model;
	struct st_ack *ack; /* answers; the first `collected` of them were taken */
	unsigned acks, collected, room;
};

/* Becomes the owner of `model`. */
struct model_store *model_store_new(struct model *model);
void model_store_free(struct model_store *s);

/* Opens a reader (port/read.h); free it before the store. */
must_check enum err model_store_reader(void *store, struct reader **ret, struct why *why);

/* To be used with a struct model_store. */
extern const struct store_ops model_store_ops;
