#pragma once
/* A store with a reader, for the tests of struct reader. */
#include "fixture.h"
#include "requests.h"
#include "store/sqlite/read/query.h"
#include "test.h"

struct scene {
	struct fixture f;
	struct reader *r;
	struct arena a;
	struct why why;
};

void scene_open(struct scene *s);
void scene_close(struct scene *s);
/* Opens s->r. */
void scene_open_reader(struct scene *s);
/* Sends the store a request that must succeed. */
void scene_ask(struct scene *s, struct st_req r);
/* Adds a schedule; id and document may be NULL. */
void scene_put(struct scene *s, uint64_t sid, const char *id, const char *document);
