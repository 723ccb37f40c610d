#pragma once
/* Rows behind port/store.h: submit carries out at once, fd is -1, nothing ever fails. */
#include "model.h"

struct rows_store {
	struct rows *rows;
	struct st_ack *ack; /* not yet collected, from `taken` on */
	size_t acks, taken, room;
};

/* Takes over `rows`. */
struct rows_store *rows_store_new(struct rows *rows);
void rows_store_free(struct rows_store *s);

/* To be used with a struct rows_store. */
extern const struct store_ops rows_store_ops;
