/* Agents, their states and notes. */
#include "model/read/inner.h"

static struct read_agent answer_of(const struct model_agent *x, struct arena *a)
{
	return (struct read_agent){ .name = copy_text(a, x->row.name),
				    .text = copy_text(a, x->row.text),
				    .rev = x->row.rev,
				    .at = x->at,
				    .source = { copy_text(a, x->source.from), x->source.line } };
}

enum err model_read_agent(struct reader *r, struct str name, struct arena *a, struct read_agent *ret,
			  struct why *why)
{
	const struct model *m = model_of(r);
	(void)why;
	*ret = (struct read_agent){ .name = name };
	for (unsigned i = 0; i < m->agents; i++)
		if (str_eq(m->agent[i].row.name, name))
			*ret = answer_of(&m->agent[i], a);
	return OK;
}

static int by_name(const void *a, const void *b)
{
	const struct model_agent *x = *(const struct model_agent *const *)a,
				 *y = *(const struct model_agent *const *)b;
	return compare_texts(x->row.name, y->row.name);
}

enum err model_read_agents(struct reader *r, struct str after, unsigned limit, struct arena *a,
			   struct read_agents *ret, struct why *why)
{
	const struct model *m = model_of(r);
	struct row_set found = { 0 };
	(void)why;
	for (unsigned i = 0; i < m->agents; i++)
		if (m->agent[i].row.text.p && compare_texts(m->agent[i].row.name, after) > 0)
			rows_add(&found, &m->agent[i]);
	ret->more = rows_page(&found, limit, by_name);
	ret->n = found.n;
	ret->item = arena_alloc(a, (found.n + 1) * sizeof *ret->item);
	for (unsigned i = 0; i < found.n; i++)
		ret->item[i] = answer_of(found.row[i], a);
	rows_free(&found);
	return OK;
}

enum err model_read_state(struct reader *r, struct str key, struct arena *a, struct state_row *ret,
			  struct why *why)
{
	const struct model *m = model_of(r);
	(void)why;
	*ret = (struct state_row){ .key = key };
	for (unsigned i = 0; i < m->states; i++)
		if (str_eq(m->state[i].row.key, key)) {
			ret->text = copy_text(a, m->state[i].row.text);
			ret->rev = m->state[i].row.rev;
		}
	return OK;
}

/* --- notes --- */

static struct read_memory note_of(const struct model *m, const struct memory_row *row, struct arena *a)
{
	struct read_memory ret = { .row = *row };
	const struct model_run *run = row->run ? find_run(m, row->run) : NULL;
	const struct model_sched *s = run ? find_sched(m, run->row.sid) : NULL;
	ret.row.agent = copy_text(a, row->agent);
	ret.row.text = copy_text(a, row->text);
	ret.row.tags = copy_text(a, row->tags);
	if (s)
		ret.schedule = copy_text(a, s->id);
	return ret;
}

enum err model_read_memory(struct reader *r, uint64_t number, struct arena *a, struct read_memory *ret,
			   struct why *why)
{
	const struct model *m = model_of(r);
	for (unsigned i = 0; i < m->memories; i++)
		if (m->memory[i].number == number) {
			*ret = note_of(m, &m->memory[i], a);
			return OK;
		}
	return why_set(why, E_NOTFOUND, WHY_NOWHERE, "there is no note %llu", (unsigned long long)number);
}

static int newest_note(const void *a, const void *b)
{
	const struct memory_row *x = *(const struct memory_row *const *)a,
				*y = *(const struct memory_row *const *)b;
	return compare_numbers(y->number, x->number);
}

static enum err answer_notes(const struct model *m, struct row_set *found, unsigned limit, struct arena *a,
			     struct read_memories *ret)
{
	ret->more = rows_page(found, limit, newest_note);
	ret->n = found->n;
	ret->item = arena_alloc(a, (found->n + 1) * sizeof *ret->item);
	for (unsigned i = 0; i < found->n; i++)
		ret->item[i] = note_of(m, found->row[i], a);
	rows_free(found);
	return OK;
}

enum err model_read_memories(struct reader *r, struct str agent, uint64_t run, uint64_t before,
			     unsigned limit, struct arena *a, struct read_memories *ret, struct why *why)
{
	const struct model *m = model_of(r);
	struct row_set found = { 0 };
	(void)why;
	for (unsigned i = 0; i < m->memories; i++) {
		const struct memory_row *row = &m->memory[i];
		if ((!agent.n || str_eq(row->agent, agent)) && (!run || row->run == run) &&
		    (!before || row->number < before))
			rows_add(&found, row);
	}
	return answer_notes(m, &found, limit, a, ret);
}

/* --- searching --- */

static bool is_letter(char c)
{
	return is_alpha(c) || is_digit(c);
}

/* Whether a word of `words` is a word of the text. */
static bool has_word(struct str text, struct str words)
{
	for (size_t i = 0, end; i < words.n; i = end + 1) {
		for (end = i; end < words.n && is_letter(words.p[end]);)
			end++;
		struct str word = str_sub(words, i, end);
		for (size_t at = 0; word.n > 1 && at + word.n <= text.n; at++)
			if (str_ieq(str_sub(text, at, at + word.n), word) &&
			    (!at || !is_letter(text.p[at - 1])) &&
			    (at + word.n == text.n || !is_letter(text.p[at + word.n])))
				return true;
	}
	return false;
}

/* Each store has its own full-text engine, which knows other forms of a word, too. The model knows only the
 * word itself, and does not rank. */
enum err model_read_memories_with(struct reader *r, struct str agent, struct str text, unsigned limit,
				  struct arena *a, struct read_memories *ret, struct why *why)
{
	const struct model *m = model_of(r);
	struct row_set found = { 0 };
	(void)why;
	for (unsigned i = 0; i < m->memories; i++) {
		const struct memory_row *row = &m->memory[i];
		if ((!agent.n || str_eq(row->agent, agent)) &&
		    (has_word(row->text, text) || has_word(row->tags, text)))
			rows_add(&found, row);
	}
	return answer_notes(m, &found, limit, a, ret);
}

enum err model_read_memories_about(struct reader *r, struct str agent, struct str text, unsigned least,
				   unsigned limit, struct arena *a, struct read_memories *ret,
				   struct why *why)
{
	(void)least;
	return model_read_memories_with(r, agent, text, limit, a, ret, why);
}
