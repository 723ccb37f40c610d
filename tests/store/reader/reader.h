#pragma once
/* A store with a reader, for the tests of struct reader. */
#include "fixture.h"
#include "requests.h"
#include "store/sqlite/read/query.h"
#include "test.h"

/* A test that runs on each store, of which a scene opens one. */
#define TEST_ON_EACH(fn)                                                                                     \
	static void fn##_on_one(void);                                                                       \
	TEST(fn)                                                                                             \
	{                                                                                                    \
		scenes_on_each(fn##_on_one);                                                                 \
	}                                                                                                    \
	static void fn##_on_one(void)
void scenes_on_each(void (*fn)(void));

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
