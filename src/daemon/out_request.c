/* Writes requests for rota-out as JSON, and finds the values in them that must be masked. */
#include "daemon/out_request.h"

#include "base/json.h"
#include "core/doc/config/config.h"

/* Headers whose values are not secret. The values of all other headers may be secret. */
static const char *const plain[] = { "accept", "accept-language", "content-type", "user-agent" };

static bool is_plain(struct str name)
{
	for (unsigned i = 0; i < ARRAY_LEN(plain); i++)
		if (str_ieq(name, str_of(plain[i])))
			return true;
	return false;
}

static void put_text(struct buf *out, const char *name, struct str value)
{
	buf_addf(out, "%s\"%s\":", out->n > 1 ? "," : "", name);
	json_write_str(out, value);
}

static void put_number(struct buf *out, const char *name, int64_t n)
{
	buf_addf(out, ",\"%s\":%lld", name, (long long)n);
}

/* --- headers --- */

struct masks {
	struct str *value;
	unsigned n, room;
};

static void add_mask(struct masks *m, struct str value)
{
	if (m->n < m->room && value.n >= SECRET_BYTES_MIN && value.n <= SECRET_BYTES_MAX)
		m->value[m->n++] = value;
}

/* Masks the value, and also the part after its last space: a receiver may repeat a token without "Bearer".
 */
static void mask_header(struct masks *m, struct str value)
{
	size_t word = value.n;
	while (word > 0 && value.p[word - 1] != ' ')
		word--;
	add_mask(m, value);
	if (word)
		add_mask(m, str_from(value, word));
}

static void put_headers(const struct doc_action *action, const struct out_request_texts *texts,
			struct masks *m, struct buf *out)
{
	const struct val *map = &action->headers;
	unsigned n = map->kind == VAL_MAP ? map->map.n : 0;
	struct buf headers = { 0 };
	bool typed = action->body.kind == VAL_NULL;
	buf_addc(&headers, '{');
	for (unsigned i = 0; i < n; i++) {
		const struct val_pair *p = &map->map.pair[i];
		struct str value = texts->expand(texts->ctx, p->value.str);
		typed |= str_ieq(p->key, STR("content-type"));
		if (!is_plain(p->key))
			mask_header(m, value);
		if (i)
			buf_addc(&headers, ',');
		json_write_str(&headers, p->key);
		buf_addc(&headers, ':');
		json_write_str(&headers, value);
	}
	if (!typed)
		put_text(&headers, "Content-Type",
			 action->body.kind == VAL_STR ? STR("text/plain; charset=utf-8")
						      : STR("application/json"));
	buf_addf(out, ",\"headers\":%s}", buf_str(&headers).p);
	out->failed |= headers.failed;
	buf_free(&headers);
}

/* --- body --- */

/* A copy of the value with all its strings expanded. */
enum err out_expand_all(const struct val *v, const struct out_request_texts *texts, struct arena *a,
			struct val *ret)
{
	enum err e = OK;
	*ret = *v;
	if (v->kind == VAL_STR) {
		ret->str = texts->expand(texts->ctx, v->str);
	} else if (v->kind == VAL_LIST && v->list.n) {
		struct val *item = arena_alloc(a, v->list.n * sizeof *item);
		if (!item)
			return E_NOMEM;
		for (unsigned i = 0; i < v->list.n && !e; i++)
			e = out_expand_all(&v->list.item[i], texts, a, &item[i]);
		ret->list.item = item;
	} else if (v->kind == VAL_MAP && v->map.n) {
		struct val_pair *pair = arena_alloc(a, v->map.n * sizeof *pair);
		if (!pair)
			return E_NOMEM;
		for (unsigned i = 0; i < v->map.n && !e; i++) {
			pair[i] = v->map.pair[i];
			e = out_expand_all(&v->map.pair[i].value, texts, a, &pair[i].value);
		}
		ret->map.pair = pair;
	}
	return e;
}

static enum err put_body(const struct doc_action *action, const struct out_request_texts *texts,
			 struct arena *a, struct buf *out)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	struct val body;
	if (action->body.kind == VAL_NULL)
		return OK;
	enum err e = out_expand_all(&action->body, texts, a, &body);
	if (e)
		return e;
	if (body.kind != VAL_STR)
		json_write(&text, &body);
	put_text(out, "body", body.kind == VAL_STR ? body.str : buf_str(&text));
	out->failed |= text.failed;
	return OK;
}

/* --- the request --- */

static void put_rules(const struct config_out *rules, struct buf *out)
{
	for (unsigned i = 0; i < rules->allowed; i++) {
		buf_addf(out, "%s", i ? "," : ",\"allow\":[");
		json_write_str(out, rules->allow[i].text);
	}
	if (rules->allowed)
		buf_addc(out, ']');
	if (rules->ca.n)
		put_text(out, "ca", rules->ca);
	if (rules->downgrade)
		buf_addf(out, ",\"downgrade\":true");
}

/* The buffer holds secrets. p NULL: no memory. */
static struct str copy_and_wipe(struct buf *out, struct arena *a)
{
	struct str text = { out->failed ? NULL : arena_dup(a, buf_str(out)), out->n };
	if (out->p)
		explicit_bzero(out->p, out->n);
	return text;
}

enum err out_request_render(const struct doc_action *action, int64_t timeout, const struct config_out *rules,
			    const struct out_request_texts *texts, struct arena *a, struct out_request *ret)
{
	_cleanup_(buf_free) struct buf out = { 0 };
	/* The time limit of the request is longer than the timeout of the run, so that the timeout of the run
	 * ends it, as it ends every other run. */
	const int64_t most = OUT_TOTAL_MS_MAX / 1000;
	int64_t seconds = timeout && timeout < most - RUN_GRACE_SECONDS ? timeout + RUN_GRACE_SECONDS : most;
	struct masks m = { .room = SECRETS_MAX };
	m.value = arena_alloc(a, m.room * sizeof *m.value);
	if (!m.value)
		return E_NOMEM;
	buf_addc(&out, '{');
	put_text(&out, "url", action->url);
	put_text(&out, "method", str_of(doc_methods[action->method]));
	put_number(&out, "timeout", seconds);
	put_headers(action, texts, &m, &out);
	put_rules(rules, &out);
	enum err e = put_body(action, texts, a, &out);
	buf_addc(&out, '}');
	struct str text = copy_and_wipe(&out, a);
	if (!e && !text.p)
		e = E_NOMEM;
	if (!e)
		*ret = (struct out_request){ text, m.value, m.n };
	return e;
}

enum err out_request_message(const struct out_request_message *m, const struct config_out *rules,
			     struct arena *a, struct str *ret)
{
	_cleanup_(buf_free) struct buf out = { 0 };
	buf_addc(&out, '{');
	put_text(&out, "url", m->url);
	put_text(&out, "method", STR("POST"));
	put_number(&out, "timeout", m->seconds);
	put_number(&out, "limit", REQUEST_ANSWER_BYTES);
	buf_addf(&out, ",\"headers\":{\"Content-Type\":\"%s\"}", m->type);
	put_text(&out, "body", m->body);
	if (m->secret.n) {
		put_text(&out, "id", m->id);
		put_text(&out, "secret", m->secret);
	}
	put_rules(rules, &out);
	buf_addc(&out, '}');
	struct str text = copy_and_wipe(&out, a);
	if (!text.p)
		return E_NOMEM;
	*ret = text;
	return OK;
}
