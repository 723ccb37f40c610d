#include "core/doc/agent/word_list.h"
#include "base/json.h"
#include "base/keyshape.h"
#include "core/doc/internal.h"
#include "core/doc/text_position.h"

/* --- one line to words --- */

static bool is_between(char c, bool names)
{
	return is_space(c) || (names && c == ',');
}

/* The word that begins at *at, without its quotes, into `word`; *at goes on behind it. */
static enum err read_word(struct key_reader *r, const char *what, const struct val *v, bool names, size_t *at,
			  char *word, size_t *n)
{
	struct str s = v->str;
	char quote = 0;
	size_t opened = *at;
	for (*n = 0; *at < s.n && (quote || !is_between(s.p[*at], names)); ++*at) {
		char c = s.p[*at];
		if (!quote && (c == '"' || c == '\'')) {
			quote = c;
			opened = *at;
		} else if (c == quote) {
			quote = 0;
		} else {
			if (c == '\\' && quote != '\'' && *at + 1 < s.n)
				c = s.p[++*at];
			word[(*n)++] = c;
		}
	}
	if (quote)
		return why_set(r->why, E_INPUT, inside(r->source, v, opened), "%s: this quote is not closed",
			       what);
	return OK;
}

static enum err split(struct key_reader *r, const char *what, const struct val *v, bool names,
		      struct val *list)
{
	char *text = arena_alloc(r->arena, v->str.n + 1); /* of all words: quotes only go */
	if (!text)
		return E_NOMEM;
	for (size_t at = 0;;) {
		while (at < v->str.n && is_between(v->str.p[at], names))
			at++;
		if (at == v->str.n)
			return OK;
		if (list->list.n == LAUNCH_ARGS_MAX)
			return why_set(r->why, E_LIMIT, v->at, "%s has at most %d words", what,
				       LAUNCH_ARGS_MAX);
		struct val word = { .kind = VAL_STR, .at = (uint32_t)inside(r->source, v, at) };
		struct val *item = val_item(list, r->arena);
		enum err e = item ? read_word(r, what, v, names, &at, text, &word.str.n) : E_NOMEM;
		if (e)
			return e;
		word.str.p = text;
		text += word.str.n;
		*item = word;
		list->list.n++;
	}
}

enum err words_of(struct key_reader *r, const char *what, const struct val *v, bool names, struct val *list)
{
	struct val all = { .kind = VAL_LIST, .at = v->at };
	enum err e = OK;
	if (v->kind == VAL_LIST)
		all = *v;
	else
		e = split(r, what, v, names, &all);
	if (e)
		return e;
	if (!all.list.n)
		return why_set(r->why, E_INPUT, v->at, "%s is empty", what);
	if (all.list.n > LAUNCH_ARGS_MAX)
		return why_set(r->why, E_LIMIT, v->at, "%s has at most %d words", what, LAUNCH_ARGS_MAX);
	for (unsigned i = 0; i < all.list.n; i++) {
		const struct val *word = &all.list.item[i];
		if (word->kind != VAL_STR)
			return keys_wrong(r, "a word of the list", KEY_KIND(VAL_STR), word);
		if (names && !word->str.n)
			return why_set(r->why, E_INPUT, word->at, "%s has an empty name", what);
	}
	*list = all;
	return OK;
}

enum err words_map(struct key_reader *r, const char *what, const struct val *v, struct val *map)
{
	struct val words = { 0 }, all = { .kind = VAL_MAP, .at = v->at };
	enum err e = words_of(r, what, v, false, &words);
	for (unsigned i = 0; !e && i < words.list.n; i++) {
		const struct val *word = &words.list.item[i];
		const char *equals = memchr(word->str.p, '=', word->str.n);
		if (!equals)
			return why_set(r->why, E_INPUT, word->at, "'%.*s' is not NAME=VALUE",
				       STR_SHORT(word->str));
		size_t n = (size_t)(equals - word->str.p);
		struct str name = str_sub(word->str, 0, n);
		if (val_get(&all, name))
			return why_set(r->why, E_INPUT, word->at, "%s: '%.*s' is given twice", what,
				       STR_SHORT(name));
		struct val_pair *pair = val_pair(&all, r->arena);
		if (!pair)
			return E_NOMEM;
		*pair = (struct val_pair){
			name, word->at, { .kind = VAL_STR, .at = word->at, .str = str_from(word->str, n + 1) }
		};
		all.map.n++;
	}
	if (!e)
		*map = all;
	return e;
}

enum err words_take(struct key_reader *r, const struct val *list, struct agent_words *ret)
{
	struct str *word = arena_alloc(r->arena, (list->list.n + 1) * sizeof *word);
	if (!word)
		return E_NOMEM;
	for (unsigned i = 0; i < list->list.n; i++)
		word[i] = list->list.item[i].str;
	*ret = (struct agent_words){ word, list->list.n };
	return OK;
}

void words_write(const struct agent_words *w, struct buf *out)
{
	for (unsigned i = 0; i < w->n; i++) {
		buf_addc(out, i ? ',' : '[');
		json_write_str(out, w->word[i]);
	}
	if (w->n)
		buf_addc(out, ']');
}

/* --- what looks like a secret --- */

static bool has_shape(struct str s)
{
	for (unsigned i = 0; i < ARRAY_LEN(key_shapes); i++) {
		size_t n = 0;
		while (n < s.n && key_in_word(s.p[n]))
			n++;
		if (n >= key_shapes[i].min && str_starts(s, str_of(key_shapes[i].prefix)))
			return true;
	}
	return false;
}

bool agent_is_secret(struct str name, struct str value)
{
	static const char *const ends[] = { "API_KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD" };
	if (!value.n || memmem(value.p, value.n, "{{", 2))
		return false;
	for (unsigned i = 0; i < ARRAY_LEN(ends); i++) {
		struct str end = str_of(ends[i]);
		if (name.n >= end.n && str_ieq(str_from(name, name.n - end.n), end) &&
		    (name.n == end.n || name.p[name.n - end.n - 1] == '_'))
			return true;
	}
	for (size_t i = 0; i < value.n; i++)
		if ((i == 0 || !key_in_word(value.p[i - 1])) && has_shape(str_from(value, i)))
			return true;
	return false;
}
