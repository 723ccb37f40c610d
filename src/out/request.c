/* The table of the keys of a request, and how each is read. */
#include "out/request.h"
#include "base/json.h"

#define IN_REQUEST(field) offsetof(struct out_request, field)

struct request_key;
typedef enum err setter(struct out_request *r, const struct request_key *key, const struct val *v,
			struct arena *a, struct why *why);

struct request_key {
	const char *name;
	enum val_kind kind;
	setter *set;
	size_t to;
	int64_t unit, most;
};

static enum err set_text(struct out_request *r, const struct request_key *key, const struct val *v,
			 struct arena *a, struct why *why)
{
	(void)a;
	(void)why;
	*(struct str *)(void *)((char *)r + key->to) = v->str;
	return OK;
}

static enum err bad_number(const struct request_key *key, const struct val *v, struct why *why)
{
	return why_set(why, E_INPUT, v->at, "%s is out of range; it must be 1 to %lld", key->name,
		       (long long)key->most);
}

static enum err set_time(struct out_request *r, const struct request_key *key, const struct val *v,
			 struct arena *a, struct why *why)
{
	(void)a;
	if (v->integer < 1 || v->integer > key->most)
		return bad_number(key, v, why);
	*(int64_t *)(void *)((char *)r + key->to) = v->integer * key->unit;
	return OK;
}

static enum err set_limit(struct out_request *r, const struct request_key *key, const struct val *v,
			  struct arena *a, struct why *why)
{
	(void)a;
	if (v->integer < 1 || v->integer > key->most)
		return bad_number(key, v, why);
	r->limit = (size_t)v->integer;
	return OK;
}

static enum err set_downgrade(struct out_request *r, const struct request_key *key, const struct val *v,
			      struct arena *a, struct why *why)
{
	(void)key;
	(void)a;
	(void)why;
	r->downgrade = v->boolean;
	return OK;
}

static enum err set_ca(struct out_request *r, const struct request_key *key, const struct val *v,
		       struct arena *a, struct why *why)
{
	(void)key;
	if (!v->str.n || memchr(v->str.p, 0, v->str.n))
		return why_set(why, E_INPUT, v->at, "ca must be a path: not empty, and without a 0 byte");
	r->ca = arena_dup(a, v->str);
	return r->ca ? OK : E_NOMEM;
}

static enum err set_headers(struct out_request *r, const struct request_key *key, const struct val *v,
			    struct arena *a, struct why *why)
{
	(void)key;
	if (v->map.n > OUT_HEADERS_MAX)
		return why_set(why, E_LIMIT, v->at, "there are more than %d headers", OUT_HEADERS_MAX);
	struct out_header *header = arena_alloc(a, (v->map.n + 1) * sizeof *header);
	if (!header)
		return E_NOMEM;
	for (unsigned i = 0; i < v->map.n; i++) {
		const struct val_pair *p = &v->map.pair[i];
		if (p->value.kind != VAL_STR)
			return why_set(why, E_INPUT, p->value.at, "a header's value must be a string, not %s",
				       val_kind_words[p->value.kind]);
		header[i] = (struct out_header){ p->key, p->value.str };
	}
	r->header = header;
	r->headers = v->map.n;
	return OK;
}

static enum err set_allow(struct out_request *r, const struct request_key *key, const struct val *v,
			  struct arena *a, struct why *why)
{
	(void)key;
	if (v->list.n > OUT_ALLOW_MAX)
		return why_set(why, E_LIMIT, v->at, "allow has more than %d entries", OUT_ALLOW_MAX);
	struct peer *allow = arena_alloc(a, (v->list.n + 1) * sizeof *allow);
	if (!allow)
		return E_NOMEM;
	for (unsigned i = 0; i < v->list.n; i++) {
		const struct val *item = &v->list.item[i];
		if (item->kind != VAL_STR)
			return why_set(why, E_INPUT, item->at, "an entry of allow must be a string, not %s",
				       val_kind_words[item->kind]);
		enum err e = peer_parse(item->str, &allow[i], why);
		if (e && why)
			why->at = item->at;
		if (e)
			return e;
	}
	r->allow = allow;
	r->allowed = v->list.n;
	return OK;
}

#define TEXT(name, field)                                                                                    \
	{                                                                                                    \
		(name), VAL_STR, set_text, IN_REQUEST(field), 0, 0                                           \
	}
static const struct request_key keys[] = {
	TEXT("url", url),
	TEXT("method", method),
	TEXT("body", body),
	TEXT("secret", secret),
	TEXT("id", id),
	{ "headers", VAL_MAP, set_headers, 0, 0, 0 },
	{ "allow", VAL_LIST, set_allow, 0, 0, 0 },
	{ "timeout", VAL_INT, set_time, IN_REQUEST(total_ms), 1000, OUT_TOTAL_MS_MAX / 1000 },
	{ "connect_timeout", VAL_INT, set_time, IN_REQUEST(connect_ms), 1000, OUT_TOTAL_MS_MAX / 1000 },
	{ "timestamp", VAL_INT, set_time, IN_REQUEST(timestamp), 1, INT64_C(1) << 40 },
	{ "limit", VAL_INT, set_limit, 0, 0, OUT_BODY_BYTES_MAX },
	{ "downgrade", VAL_BOOL, set_downgrade, 0, 0, 0 },
	{ "ca", VAL_STR, set_ca, 0, 0, 0 },
};

static enum err read_key(struct out_request *r, const struct val_pair *p, struct arena *a, struct why *why)
{
	unsigned i = 0;
	while (i < ARRAY_LEN(keys) && !str_eq(p->key, str_of(keys[i].name)))
		i++;
	if (i == ARRAY_LEN(keys))
		return why_set(why, E_INPUT, p->at, "a request has no key '%.*s'", STR_SHORT(p->key));
	if (p->value.kind != keys[i].kind)
		return why_set(why, E_INPUT, p->value.at, "%s must be a %s, not a %s", keys[i].name,
			       val_kind_words[keys[i].kind], val_kind_words[p->value.kind]);
	return keys[i].set(r, &keys[i], &p->value, a, why);
}

enum err out_request_read(struct str text, struct arena *a, struct out_request *ret, struct why *why)
{
	struct out_request r = { 0 };
	struct val v;
	enum err e = json_read(text, a, &v, why);
	if (e)
		return e;
	if (v.kind != VAL_MAP)
		return why_set(why, E_INPUT, v.at, "a request must be a map");
	for (unsigned i = 0; i < v.map.n && !e; i++)
		e = read_key(&r, &v.map.pair[i], a, why);
	if (!e && !r.url.n)
		e = why_set(why, E_INPUT, v.at, "a request needs a url");
	if (!e)
		*ret = r;
	return e;
}
