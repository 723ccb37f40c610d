/* Problems, holds, news and messages. */
#include "model/read/inner.h"

/* --- problems and holds --- */

static struct problem_row problem_of(const struct problem_row *p, struct arena *a)
{
	struct problem_row ret = *p;
	ret.key = copy_text(a, p->key);
	ret.subject = copy_text(a, p->subject);
	ret.text = copy_text(a, p->text);
	ret.by = copy_text(a, p->by);
	ret.note = copy_text(a, p->note);
	return ret;
}

enum err model_read_problem(struct reader *r, uint64_t number, struct arena *a, struct problem_row *ret,
			    struct why *why)
{
	const struct model *m = model_of(r);
	if (!number || number > m->problems || !m->problem[number - 1].number)
		return why_set(why, E_NOTFOUND, WHY_NOWHERE, "there is no problem %llu",
			       (unsigned long long)number);
	*ret = problem_of(&m->problem[number - 1], a);
	return OK;
}

static int newest_problem(const void *a, const void *b)
{
	const struct problem_row *x = *(const struct problem_row *const *)a,
				 *y = *(const struct problem_row *const *)b;
	return compare_numbers(y->number, x->number);
}

enum err model_read_problems(struct reader *r, bool all, uint64_t before, unsigned limit, struct arena *a,
			     struct read_problems *ret, struct why *why)
{
	const struct model *m = model_of(r);
	struct row_set found = { 0 };
	(void)why;
	for (unsigned i = 0; i < m->problems; i++) {
		const struct problem_row *p = &m->problem[i];
		if (p->number && (!before || p->number < before) && (all || same_wall(p->closed, WALL_NEVER)))
			rows_add(&found, p);
	}
	ret->more = rows_page(&found, limit, newest_problem);
	ret->n = found.n;
	ret->item = arena_alloc(a, (found.n + 1) * sizeof *ret->item);
	for (unsigned i = 0; i < found.n; i++)
		ret->item[i] = problem_of(found.row[i], a);
	rows_free(&found);
	return OK;
}

static int by_key(const void *a, const void *b)
{
	const struct model_hold *x = *(const struct model_hold *const *)a,
				*y = *(const struct model_hold *const *)b;
	return compare_numbers(x->row.key, y->row.key);
}

enum err model_read_holds(struct reader *r, struct arena *a, struct read_holds *ret, struct why *why)
{
	const struct model *m = model_of(r);
	struct row_set found = { 0 };
	(void)why;
	for (unsigned i = 0; i < m->holds; i++)
		rows_add(&found, &m->hold[i]);
	ret->more = rows_page(&found, 0, by_key);
	ret->n = found.n;
	ret->item = arena_alloc(a, (found.n + 1) * sizeof *ret->item);
	for (unsigned i = 0; i < found.n; i++) {
		const struct model_hold *h = found.row[i];
		ret->item[i] = (struct read_hold){ h->row, copy_text(a, h->note) };
	}
	rows_free(&found);
	return OK;
}

/* --- news --- */

enum err model_read_news(struct reader *r, unsigned limit, struct arena *a, struct read_news *ret,
			 struct why *why)
{
	const struct model *m = model_of(r);
	unsigned most = limit && limit < READ_LIST_MAX ? limit : READ_LIST_MAX;
	(void)why;
	ret->more = m->news_n > most;
	ret->n = ret->more ? most : m->news_n;
	ret->item = arena_alloc(a, (ret->n + 1) * sizeof *ret->item);
	for (unsigned i = 0; i < ret->n; i++)
		ret->item[i] = m->news[i];
	return OK;
}

/* --- messages --- */

static struct message_row message_of(const struct message_row *x, struct arena *a)
{
	struct message_row ret = *x;
	ret.origin = copy_text(a, x->origin);
	ret.target = copy_text(a, x->target);
	ret.body = copy_text(a, x->body);
	ret.result = copy_text(a, x->result);
	return ret;
}

enum err model_read_message(struct reader *r, uint64_t number, struct arena *a, struct message_row *ret,
			    struct why *why)
{
	const struct model *m = model_of(r);
	if (!number || number > m->messages || !m->message[number - 1].number)
		return why_set(why, E_NOTFOUND, WHY_NOWHERE, "there is no message %llu",
			       (unsigned long long)number);
	*ret = message_of(&m->message[number - 1], a);
	return OK;
}

static int oldest_message(const void *a, const void *b)
{
	const struct message_row *x = *(const struct message_row *const *)a,
				 *y = *(const struct message_row *const *)b;
	return compare_numbers(x->number, y->number);
}

static int newest_message(const void *a, const void *b)
{
	return oldest_message(b, a);
}

static int longest_due(const void *a, const void *b)
{
	const struct message_row *x = *(const struct message_row *const *)a,
				 *y = *(const struct message_row *const *)b;
	if (x->next.us != y->next.us)
		return x->next.us < y->next.us ? -1 : 1;
	int order = compare_numbers(x->receiver, y->receiver);
	return order ? order : oldest_message(a, b);
}

static enum err answer_messages(struct row_set *found, unsigned limit,
				int (*compare)(const void *a, const void *b), struct arena *a,
				struct read_messages *ret)
{
	ret->more = rows_page(found, limit, compare);
	ret->n = found->n;
	ret->item = arena_alloc(a, (found->n + 1) * sizeof *ret->item);
	for (unsigned i = 0; i < found->n; i++)
		ret->item[i] = message_of(found->row[i], a);
	rows_free(found);
	return OK;
}

enum err model_read_messages_of(struct reader *r, uint64_t run, unsigned limit, struct arena *a,
				struct read_messages *ret, struct why *why)
{
	const struct model *m = model_of(r);
	struct row_set found = { 0 };
	(void)why;
	for (unsigned i = 0; i < m->messages && run; i++)
		if (m->message[i].number && m->message[i].run == run)
			rows_add(&found, &m->message[i]);
	return answer_messages(&found, limit, oldest_message, a, ret);
}

enum err model_read_messages(struct reader *r, uint64_t before, unsigned limit, struct arena *a,
			     struct read_messages *ret, struct why *why)
{
	const struct model *m = model_of(r);
	struct row_set found = { 0 };
	(void)why;
	for (unsigned i = 0; i < m->messages; i++)
		if (m->message[i].number && (!before || m->message[i].number < before))
			rows_add(&found, &m->message[i]);
	return answer_messages(&found, limit, newest_message, a, ret);
}

/* The messages that wait, except those to the receivers in `but`. */
static void find_waiting(const struct model *m, struct receiver_list but, struct row_set *ret)
{
	for (unsigned i = 0; i < m->messages; i++) {
		const struct message_row *x = &m->message[i];
		bool left_out = !x->number || x->state != MESSAGE_WAITING;
		for (unsigned k = 0; k < but.n; k++)
			left_out |= but.item[k] == x->receiver;
		if (!left_out)
			rows_add(ret, x);
	}
}

enum err model_read_messages_due(struct reader *r, struct wall by, struct receiver_list but, unsigned limit,
				 struct arena *a, struct read_messages *ret, struct why *why)
{
	struct row_set waiting = { 0 }, due = { 0 };
	(void)why;
	find_waiting(model_of(r), but, &waiting);
	for (unsigned i = 0; i < waiting.n; i++)
		if (((const struct message_row *)waiting.row[i])->next.us <= by.us)
			rows_add(&due, waiting.row[i]);
	rows_free(&waiting);
	return answer_messages(&due, limit, longest_due, a, ret);
}

enum err model_read_message_next(struct reader *r, struct receiver_list but, struct wall *ret,
				 struct why *why)
{
	struct row_set waiting = { 0 };
	(void)why;
	find_waiting(model_of(r), but, &waiting);
	*ret = WALL_NEVER;
	for (unsigned i = 0; i < waiting.n; i++) {
		struct wall next = ((const struct message_row *)waiting.row[i])->next;
		*ret = next.us < ret->us ? next : *ret;
	}
	rows_free(&waiting);
	return OK;
}

enum err model_read_message_after(struct reader *r, uint64_t sid, unsigned kind, uint64_t number, bool *ret,
				  struct why *why)
{
	const struct model *m = model_of(r);
	(void)why;
	*ret = false;
	for (unsigned i = 0; i < m->messages && sid; i++)
		*ret |= m->message[i].number > number && m->message[i].sid == sid &&
			m->message[i].kind == kind;
	return OK;
}

enum err model_read_receiver_gone(struct reader *r, struct str origin, bool *ret, struct why *why)
{
	const struct model *m = model_of(r);
	(void)why;
	*ret = false;
	for (unsigned i = 0; i < m->messages; i++)
		*ret |= m->message[i].number && m->message[i].state == MESSAGE_GONE &&
			str_eq(m->message[i].origin, origin);
	return OK;
}
