/* Tables of names by number, and the tables that the engine reads by these numbers: zones, days, agents. */
#include "daemon/intern.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/number_blocks.h"
#include "daemon/agent_index.h"
#include "sys/thread.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct name {
	char *text;
	size_t length;
};

struct table {
	struct name *name; /* the names, indexed by number */
	unsigned n, room;
	uint32_t most;
	struct map by_hash;
	struct number_blocks numbers;
	uint8_t *known;    /* by number: whether it belongs to a name; few of its pages are ever touched */
	uint32_t *unsaved; /* numbers of names that intern_unsaved has not passed on */
	unsigned unsaveds, unsaved_room;
};

struct intern {
	pthread_mutex_t lock;
	pthread_cond_t numbers_came;
	ask_numbers_fn *ask;
	void *ask_ctx;
	struct zoneinfo *zoneinfo;
	struct zoneinfo *previous; /* the engine may point into it until it gets EV_ZONES */
	struct zoneinfo *reread;   /* read again, but not in use yet */
	struct table table[NAME_KINDS];
	const struct zone *zone[ZONES_MAX];
	struct str default_zone; /* name of the zone of the configuration */
	uint32_t default_number; /* number of that zone; MAP_NONE: it has none yet */
	struct days days[CALENDARS_MAX];
	struct agent_index agents;
	uint64_t *agent;          /* fingerprints by number; few of its pages are ever touched */
	struct str default_agent; /* name of the default agent */
	uint64_t default_fingerprint;
};

static_assert(EXCEPT_DATES_MAX * sizeof "2932896" <= STORE_NAME_BYTES_MAX,
	      "the excluded days of any document fit: seven digits and a comma each");

#define AGENT "agent:" /* prefix of names of agents */

static const struct zone *utc(struct intern *n)
{
	const struct zone_source *s = zoneinfo_source(n->zoneinfo);
	return s->find(s->self, STR("UTC"));
}

enum err intern_new(struct intern **ret)
{
	struct intern *n = calloc(1, sizeof *n);
	if (!n)
		return E_NOMEM;
	pthread_mutex_init(&n->lock, NULL);
	thread_cond_init(&n->numbers_came);
	n->table[NAME_ZONE].most = ZONES_MAX;
	n->table[NAME_DAYS].most = CALENDARS_MAX;
	n->table[NAME_OTHER].most = NAMES_MAX;
	n->default_zone = STR("UTC");
	n->agent = calloc(NAMES_MAX, sizeof *n->agent);
	bool room = n->agent != NULL;
	for (unsigned k = 0; k < NAME_KINDS; k++) {
		n->table[k].known = calloc(n->table[k].most, 1);
		room &= n->table[k].known != NULL;
	}
	if (!room || zoneinfo_open(&n->zoneinfo)) {
		intern_free(n);
		return E_NOMEM;
	}
	for (unsigned i = 0; i < ZONES_MAX; i++)
		n->zone[i] = utc(n);
	*ret = n;
	/* Number 0 means none: UTC, no days, no agent. */
	static const struct str none[NAME_KINDS] = {
		[NAME_ZONE] = { "UTC", 3 }, [NAME_DAYS] = { "", 0 }, [NAME_OTHER] = { "", 0 }
	};
	for (unsigned k = 0; k < NAME_KINDS; k++)
		if (intern_load(n, (enum name_kind)k, 0, none[k])) {
			intern_free(n);
			return E_NOMEM;
		}
	return OK;
}

void intern_free(struct intern *n)
{
	if (!n)
		return;
	for (unsigned k = 0; k < NAME_KINDS; k++) {
		struct table *t = &n->table[k];
		for (uint32_t i = 0; i < t->n; i++)
			free(t->name[i].text);
		free(t->name);
		free(t->known);
		free(t->unsaved);
		map_free(&t->by_hash);
	}
	for (unsigned i = 0; i < CALENDARS_MAX; i++)
		free((void *)n->days[i].day);
	agent_index_free(&n->agents);
	free(n->agent);
	zoneinfo_close(n->zoneinfo);
	zoneinfo_close(n->previous);
	zoneinfo_close(n->reread);
	pthread_cond_destroy(&n->numbers_came);
	pthread_mutex_destroy(&n->lock);
	free(n);
}

/* --- tables --- */

/* Returns the key of a text in by_hash, and sets *number to the text's number, or to MAP_NONE if it has none.
 * If two texts have the same hash, the second one has the next key. */
static uint64_t key_of(const struct table *t, struct str text, uint32_t *number)
{
	uint64_t key = fnv1a(FNV_START, text) | 1;
	for (;; key += 2) {
		*number = map_get(&t->by_hash, key);
		if (*number == MAP_NONE)
			return key;
		const struct name *m = &t->name[*number];
		if (str_eq((struct str){ m->text, m->length }, text))
			return key;
	}
}

static void look_up_zone(struct intern *n, uint32_t number, struct str text)
{
	const struct zone_source *s = zoneinfo_source(n->zoneinfo);
	const struct zone *z = s->find(s->self, text);
	n->zone[number] = z ? z : utc(n);
}

/* Days are stored as a text of their numbers: "20518,20519". */
static bool read_days(struct intern *n, uint32_t number, struct str text)
{
	unsigned count = text.n > 0;
	for (size_t i = 0; i < text.n; i++)
		count += text.p[i] == ',';
	int32_t *day = calloc(count ? count : 1, sizeof *day);
	if (!day)
		return false;
	const char *p = text.p;
	for (unsigned i = 0; i < count; i++) {
		char *end;
		day[i] = (int32_t)strtol(p, &end, 10);
		p = end + 1;
	}
	free((void *)n->days[number].day);
	n->days[number] = (struct days){ day, count };
	return true;
}

/* `key`: the key of the text in by_hash; 0: by_hash is not changed. */
static enum err set_name(struct intern *n, enum name_kind kind, uint32_t number, uint64_t key,
			 struct str text, bool unsaved)
{
	struct table *t = &n->table[kind];
	if (!array_reserve(&t->name, &t->room, number + 1, sizeof *t->name) ||
	    (unsaved && !ARRAY_ADD_ROOM(t->unsaved, t->unsaved_room, t->unsaveds)))
		return E_NOMEM;
	char *copy = malloc(text.n + 1);
	if (!copy || (key && !map_put(&t->by_hash, key, number)) ||
	    (kind == NAME_DAYS && !read_days(n, number, text))) {
		free(copy);
		return E_NOMEM;
	}
	memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	while (t->n <= number)
		t->name[t->n++] = (struct name){ 0 };
	free(t->name[number].text);
	t->name[number] = (struct name){ copy, text.n };
	t->known[number] = 1;
	if (unsaved)
		t->unsaved[t->unsaveds++] = number;
	if (kind == NAME_ZONE)
		look_up_zone(n, number, text);
	if (kind == NAME_ZONE && key && str_eq(text, n->default_zone))
		n->default_number = number;
	if (kind == NAME_OTHER && str_starts(text, STR(AGENT)))
		n->agent[number] = agent_index_get(&n->agents, str_from(text, sizeof AGENT - 1));
	return OK;
}

/* Adds a name that the store has. With the lock held. */
static enum err learn_name(struct intern *n, enum name_kind kind, uint32_t number, struct str text)
{
	uint32_t there;
	if (number >= n->table[kind].most)
		return E_LIMIT;
	uint64_t key = key_of(&n->table[kind], text, &there);
	if (there == number)
		return OK;
	return set_name(n, kind, number, there == MAP_NONE ? key : 0, text, false);
}

enum err intern_load(struct intern *n, enum name_kind kind, uint32_t number, struct str text)
{
	if (kind >= NAME_KINDS)
		return E_LIMIT;
	pthread_mutex_lock(&n->lock);
	enum err e = learn_name(n, kind, number, text);
	pthread_mutex_unlock(&n->lock);
	return e;
}

/* The number of the request was given to the name here, and to nothing else: it is not used again. */
static bool withdraw(struct table *t, const struct name_row *asked)
{
	uint32_t number;
	uint64_t key = key_of(t, asked->text, &number);
	if (number != asked->number)
		return false; /* the second answer: names are stored in two lanes */
	map_remove(&t->by_hash, key);
	t->known[number] = 0;
	return true;
}

bool intern_answered(struct intern *n, const struct name_row *asked, const struct st_ack *ack)
{
	struct table *t = &n->table[asked->kind];
	if (ack->res == ST_OK)
		return false;
	pthread_mutex_lock(&n->lock);
	bool withdrawn = withdraw(t, asked);
	enum err e =
		ack->res == ST_LOST ? learn_name(n, (enum name_kind)asked->kind, ack->name, asked->text) : OK;
	(void)e; /* out of memory: the next document that uses the name asks the store again */
	pthread_mutex_unlock(&n->lock);
	return withdrawn;
}

/* --- numbers --- */

void intern_ask_numbers(struct intern *n, ask_numbers_fn *ask, void *ctx)
{
	n->ask = ask;
	n->ask_ctx = ctx;
}

void intern_add_numbers(struct intern *n, enum name_kind kind, uint64_t first, uint32_t count)
{
	pthread_mutex_lock(&n->lock);
	number_blocks_add(&n->table[kind].numbers, first, count);
	pthread_cond_broadcast(&n->numbers_came);
	pthread_mutex_unlock(&n->lock);
}

/* Asks for a block if there is none in reserve. With the lock held, which is released meanwhile. */
static void refill(struct intern *n, enum name_kind kind)
{
	static const uint32_t block[NAME_KINDS] = { [NAME_ZONE] = 64, [NAME_DAYS] = 64, [NAME_OTHER] = 4096 };
	struct number_blocks *b = &n->table[kind].numbers;
	if (!n->ask || !number_blocks_ask(b))
		return;
	pthread_mutex_unlock(&n->lock);
	bool asked = n->ask(n->ask_ctx, kind, block[kind]);
	pthread_mutex_lock(&n->lock);
	if (!asked)
		b->asked = false;
}

/* Waits until a number is ready. With the lock held, which is released meanwhile. E_BUSY: none came. */
static enum err wait_for_number(struct intern *n, enum name_kind kind)
{
	struct timespec until;
	int rc = 0;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += INTERN_WAIT_MS / 1000;
	refill(n, kind);
	while (!number_blocks_ready(&n->table[kind].numbers) && rc == 0 && n->ask)
		rc = pthread_cond_timedwait(&n->numbers_came, &n->lock, &until);
	return number_blocks_ready(&n->table[kind].numbers) ? OK : E_BUSY;
}

/* A name that has no number. With the lock held. */
static enum err add_name(struct intern *n, enum name_kind kind, struct str text, uint32_t *number)
{
	struct table *t = &n->table[kind];
	enum err e = wait_for_number(n, kind);
	uint64_t key = key_of(t, text, number);
	if (e || *number != MAP_NONE)
		return *number != MAP_NONE ? OK : e; /* another thread has added it meanwhile */
	uint64_t fresh = number_blocks_take(&t->numbers);
	*number = (uint32_t)fresh;
	return fresh < t->most ? set_name(n, kind, *number, key, text, true) : E_LIMIT;
}

/* The number of a name, a new one if it has none. */
static enum err number_of_name(struct intern *n, enum name_kind kind, struct str text, uint32_t *ret)
{
	enum err e = OK;
	pthread_mutex_lock(&n->lock);
	uint32_t number;
	key_of(&n->table[kind], text, &number);
	if (number == MAP_NONE)
		e = text.n > STORE_NAME_BYTES_MAX ? E_LIMIT : add_name(n, kind, text, &number);
	pthread_mutex_unlock(&n->lock);
	if (!e)
		*ret = number;
	return e;
}

void intern_unsaved(struct intern *n, name_fn *fn, void *ctx)
{
	pthread_mutex_lock(&n->lock);
	for (unsigned k = 0; k < NAME_KINDS; k++) {
		struct table *t = &n->table[k];
		for (unsigned i = 0; i < t->unsaveds; i++) {
			const struct name *m = &t->name[t->unsaved[i]];
			fn(ctx, (enum name_kind)k, t->unsaved[i], (struct str){ m->text, m->length });
		}
		t->unsaveds = 0;
	}
	pthread_mutex_unlock(&n->lock);
}

static struct str text_of(struct intern *n, enum name_kind kind, uint32_t number)
{
	const struct table *t = &n->table[kind];
	pthread_mutex_lock(&n->lock);
	struct str text = { "", 0 };
	if (number < t->n && t->name[number].text)
		text = (struct str){ t->name[number].text, t->name[number].length };
	pthread_mutex_unlock(&n->lock);
	return text;
}

struct str intern_text(struct intern *n, uint32_t number)
{
	return text_of(n, NAME_OTHER, number);
}

struct str intern_agent_name(struct intern *n, uint32_t number)
{
	struct str text = number ? intern_text(n, number) : (struct str){ 0 };
	return str_starts(text, STR(AGENT)) ? str_from(text, sizeof AGENT - 1) : (struct str){ 0 };
}

struct str intern_zone(struct intern *n, uint32_t number)
{
	return text_of(n, NAME_ZONE, number);
}

void intern_tables(struct intern *n, struct engine_config *ret)
{
	ret->zones = n->zone;
	ret->zone_count = ZONES_MAX;
	ret->default_zone = &n->default_number;
	ret->calendars = n->days;
	ret->calendar_count = CALENDARS_MAX;
	ret->agents = n->agent;
	ret->agent_count = NAMES_MAX;
	ret->known_zones = n->table[NAME_ZONE].known;
	ret->known_calendars = n->table[NAME_DAYS].known;
	ret->known_names = n->table[NAME_OTHER].known;
	ret->default_agent = &n->default_fingerprint;
}

enum err intern_reread(struct intern *n)
{
	struct zoneinfo *reread = NULL, *unused;
	enum err e = zoneinfo_open(&reread);
	if (e)
		return e;
	const struct zone_source *s = zoneinfo_source(reread);
	/* Loads the zones that are in use, so that intern_take_over reads no files. If the file of a zone is
	 * gone, intern_take_over replaces the zone by UTC. */
	for (uint32_t i = 0; i < ZONES_MAX; i++) {
		struct str name = text_of(n, NAME_ZONE, i);
		if (name.n && !s->find(s->self, name))
			continue;
	}
	pthread_mutex_lock(&n->lock);
	unused = n->reread;
	n->reread = reread;
	pthread_mutex_unlock(&n->lock);
	zoneinfo_close(unused);
	return OK;
}

bool intern_take_over(struct intern *n)
{
	pthread_mutex_lock(&n->lock);
	struct zoneinfo *reread = n->reread, *unused = reread ? n->previous : NULL;
	if (reread) {
		n->reread = NULL;
		n->previous = n->zoneinfo;
		n->zoneinfo = reread;
		const struct table *t = &n->table[NAME_ZONE];
		for (uint32_t i = 0; i < t->n; i++)
			look_up_zone(n, i, (struct str){ t->name[i].text, t->name[i].length });
		for (uint32_t i = t->n; i < ZONES_MAX; i++)
			n->zone[i] = utc(n);
	}
	pthread_mutex_unlock(&n->lock);
	zoneinfo_close(unused);
	return reread != NULL;
}

/* --- for documents --- */

static enum err number_zone(void *self, struct str name, const struct zone *zone, uint16_t *ret)
{
	uint32_t number;
	(void)zone;
	enum err e = number_of_name(self, NAME_ZONE, name, &number);
	if (!e)
		*ret = (uint16_t)number;
	return e;
}

static enum err number_days(void *self, const struct days *days, uint16_t *ret)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	uint32_t number;
	for (unsigned i = 0; i < days->n; i++)
		buf_addf(&text, "%s%d", i ? "," : "", days->day[i]);
	if (text.failed)
		return E_NOMEM;
	enum err e = number_of_name(self, NAME_DAYS, buf_str(&text), &number);
	if (!e)
		*ret = (uint16_t)number;
	return e;
}

/* Agents, accounts and keys share their numbers; a prefix keeps equal names apart. */
static void write_prefixed(enum doc_name kind, struct str name, struct buf *out)
{
	static const char *const prefixes[] = {
		[DOC_AGENT] = AGENT, [DOC_ACCOUNT] = "account:", [DOC_CONCURRENCY_KEY] = "key:"
	};
	buf_addf(out, "%s%.*s", prefixes[kind], STR_ARG(name));
}

static enum err number_other(void *self, enum doc_name kind, struct str name, uint32_t *ret)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	write_prefixed(kind, name, &text);
	return text.failed ? E_NOMEM : number_of_name(self, NAME_OTHER, buf_str(&text), ret);
}

uint32_t intern_known(struct intern *n, enum doc_name kind, struct str name)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	uint32_t number = MAP_NONE;
	write_prefixed(kind, name, &text);
	pthread_mutex_lock(&n->lock);
	if (!text.failed)
		key_of(&n->table[NAME_OTHER], buf_str(&text), &number);
	pthread_mutex_unlock(&n->lock);
	return number == MAP_NONE ? 0 : number;
}

void intern_default_zone(struct intern *n, struct str name)
{
	n->default_zone = name;
	key_of(&n->table[NAME_ZONE], name, &n->default_number);
}

enum err intern_number_default_zone(struct intern *n)
{
	uint32_t number;
	return number_of_name(n, NAME_ZONE, n->default_zone, &number);
}

void intern_default_agent(struct intern *n, struct str name)
{
	n->default_agent = name;
}

enum err intern_agent(struct intern *n, struct str name, uint64_t fingerprint)
{
	pthread_mutex_lock(&n->lock);
	enum err e = agent_index_set(&n->agents, name, fingerprint);
	n->default_fingerprint = agent_index_default(&n->agents, n->default_agent);
	pthread_mutex_unlock(&n->lock);
	/* A name without a number gets the fingerprint from the index when it gets a number. */
	uint32_t number = intern_known(n, DOC_AGENT, name);
	if (!e && number)
		n->agent[number] = fingerprint;
	return e;
}

struct doc_names intern_for_documents(struct intern *n)
{
	return (struct doc_names){ number_zone, number_days, number_other, n };
}
