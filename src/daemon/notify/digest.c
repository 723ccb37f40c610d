/* Joins many messages to one target in one digest. Each of the messages keeps its own row, which names the
 * digest. */
#include "daemon/notify/message.h"

#include "base/json.h"
#include "daemon/notify/json_body.h"

#include <string.h>

/* Whether `b` can be joined with `a`. */
static bool is_alike(const struct message_row *a, const struct message_row *b)
{
	bool joinable = a->kind != NEWS_PING && a->kind != MESSAGE_TEST && a->state == MESSAGE_WAITING;
	return joinable && a->state == b->state && a->kind != MESSAGE_DIGEST && b->kind != NEWS_PING &&
	       str_eq(a->target, b->target);
}

static struct str text_of(struct arena *a, struct str body)
{
	struct val v;
	const struct val *text = json_read(body, a, &v, NULL) ? NULL : val_get(&v, STR("text"));
	return text && text->kind == VAL_STR ? text->str : (struct str){ 0 };
}

/* The body of a digest: of the message at index `from`, and of all later ones that are like it. The body
 * contains the first few of these messages. */
static struct str write_digest(const struct message_list *list, unsigned from, unsigned count)
{
	_cleanup_(buf_free) struct buf text = { 0 }, body = { 0 }, items = { 0 };
	unsigned contained = 0;
	buf_addf(&text, "%u messages:", count);
	for (unsigned i = from; i < list->n && contained < DIGEST_MESSAGES && items.n < DIGEST_BYTES; i++) {
		const struct message_row *m = &list->item[i];
		if (!is_alike(m, &list->item[from]))
			continue;
		buf_addf(&text, "\n%.*s", STR_LINE(text_of(list->arena, m->body)));
		buf_add(&items, contained++ ? STR(",") : STR(""));
		buf_add(&items, m->body);
	}
	if (count > contained)
		buf_addf(&text, "\nand %u others; `rota runs` and `rota` show all of them",
			 count - contained);
	body_open(&body, MESSAGE_DIGEST, buf_str(&text));
	buf_addf(&body, ",\"count\":%u,\"messages\":[%s]", count, buf_str(&items).p);
	body.failed |= text.failed || items.failed;
	return body.n < STORE_MESSAGE_BYTES_MAX ? body_close(&body, list->arena) : (struct str){ 0 };
}

struct joining {
	const struct message_list *in;
	struct message_row *out;
	unsigned n;
	bool *joined; /* for each message of `in`: it was added to a digest */
};

/* Adds the digest of the message at index `from` and of all later ones that are like it, and adds these
 * messages as parts of the digest. */
static enum err join_alike(struct joining *j, unsigned from, unsigned count)
{
	const struct message_row *in = j->in->item;
	struct message_row digest = in[from];
	digest.kind = MESSAGE_DIGEST;
	digest.sid = digest.run = digest.problem = 0;
	digest.body = write_digest(j->in, from, count);
	if (!digest.body.p)
		return E_NOMEM;
	j->out[j->n++] = digest;
	for (unsigned i = from; i < j->in->n; i++) {
		if (!is_alike(&in[i], &in[from]))
			continue;
		struct message_row *part = &j->out[j->n++];
		*part = in[i];
		part->state = MESSAGE_JOINED;
		part->joined = 1;
		part->body = STR("");
		j->joined[i] = true;
	}
	return OK;
}

enum err message_join_digests(struct message_list *list)
{
	struct joining j = { .in = list };
	j.joined = arena_alloc(list->arena, STORE_MESSAGES_MAX * sizeof *j.joined);
	j.out = arena_alloc(list->arena, STORE_MESSAGES_MAX * sizeof *j.out);
	if (!j.out || !j.joined)
		return E_NOMEM;
	memset(j.joined, 0, STORE_MESSAGES_MAX * sizeof *j.joined);
	for (unsigned i = 0; i < list->n; i++) {
		unsigned alike = 0;
		if (j.joined[i])
			continue;
		for (unsigned k = i; k < list->n; k++)
			alike += is_alike(&list->item[k], &list->item[i]);
		/* The digest needs a row of its own, for which there must be room. */
		if (alike <= DIGEST_ABOVE || j.n + (list->n - i) >= STORE_MESSAGES_MAX) {
			j.out[j.n++] = list->item[i];
			continue;
		}
		enum err e = join_alike(&j, i, alike);
		if (e)
			return e;
	}
	memcpy(list->item, j.out, j.n * sizeof *j.out);
	list->n = j.n;
	return OK;
}
