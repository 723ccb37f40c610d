/* Functions that the tests of struct reader share. */
#include "reader.h"

static enum fixture_kind scene_kind = FIXTURE_SQLITE;

void scenes_on_each(void (*fn)(void))
{
	for (unsigned kind = 0; kind < FIXTURE_KINDS; kind++) {
		test_case("%s", fixture_name(kind));
		scene_kind = (enum fixture_kind)kind;
		fn();
	}
	scene_kind = FIXTURE_SQLITE;
	test_case(NULL);
}

void scene_open_reader(struct scene *s)
{
	/* Tests of SQLite's files open them while the store is closed. */
	enum err e = s->f.kind == FIXTURE_SQLITE ? sqlite_reader_open(s->f.path, &s->r, &s->why)
						 : s->f.ops->reader(s->f.store, &s->r, &s->why);
	if (!CHECK_INT(e, OK)) {
		printf("%s\n", s->why.text);
		abort();
	}
}

void scene_open(struct scene *s)
{
	*s = (struct scene){ 0 };
	fixture_open(&s->f, scene_kind);
	scene_open_reader(s);
}

void scene_close(struct scene *s)
{
	reader_close(s->r);
	fixture_close(&s->f);
	arena_free(&s->a);
}

void scene_ask(struct scene *s, struct st_req r)
{
	CHECK_INT(fixture_ask(&s->f, r).res, ST_OK);
}

void scene_put(struct scene *s, uint64_t sid, const char *id, const char *document)
{
	struct st_req r = req_put(sid, 0, 10);
	r.id = id ? str_of(id) : (struct str){ 0 };
	r.document = document ? str_of(document) : (struct str){ 0 };
	scene_ask(s, r);
}
