/* Splits a line into words, and reads lists and maps that are written as one line. */
#include "core/doc/agent/word_list.h"
#include "core/doc/text_position.h"

static bool is_separator(char c, bool names)
{
	return is_space(c) || (names && c == ',');
}

/* Copies the word that begins at *at to `word`, without its quotes; *at becomes the end of the word. */
static enum err read_word(struct key_reader *r, const char *what, const struct val *v, bool names, size_t *at,
			  char *word, size_t *n)
{
	struct str s = v->str;
	char quote = 0;
	size_t opened = *at;
	for (*n = 0; *at < s.n && (quote || !is_separator(s.p[*at], names)); ++*at) {
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
		return why_set(r->why, E_INPUT, text_position(r->source, v, opened),
			       "%s: this quote is not closed", what);
	return OK;
}

static enum err split_words(struct key_reader *r, const char *what, const struct val *v, bool names,
			    struct val *list)
{
	char *text = arena_alloc(r->arena,
				 v->str.n + 1); /* holds all words: they are never longer than the line */
	if (!text)
		return E_NOMEM;
	for (size_t at = 0;;) {
		while (at < v->str.n && is_separator(v->str.p[at], names))
			at++;
		if (at == v->str.n)
			return OK;
		if (list->list.n == LAUNCH_ARGS_MAX)
			return why_set(r->why, E_LIMIT, v->at, "%s can have at most %d words", what,
				       LAUNCH_ARGS_MAX);
		struct val word = { .kind = VAL_STR, .at = (uint32_t)text_position(r->source, v, at) };
		struct val *item = val_list_room(list, r->arena);
		enum err e = item ? read_word(r, what, v, names, &at, text, &word.str.n) : E_NOMEM;
		if (e)
			return e;
		word.str.p = text;
		text += word.str.n;
		*item = word;
		list->list.n++;
	}
}

enum err word_list_read(struct key_reader *r, const char *what, const struct val *v, bool names,
			struct val *list)
{
	struct val all = { .kind = VAL_LIST, .at = v->at };
	enum err e = OK;
	if (v->kind == VAL_LIST)
		all = *v;
	else
		e = split_words(r, what, v, names, &all);
	if (e)
		return e;
	if (!all.list.n)
		return why_set(r->why, E_INPUT, v->at, "%s is empty", what);
	if (all.list.n > LAUNCH_ARGS_MAX)
		return why_set(r->why, E_LIMIT, v->at, "%s can have at most %d words", what, LAUNCH_ARGS_MAX);
	for (unsigned i = 0; i < all.list.n; i++) {
		const struct val *word = &all.list.item[i];
		if (word->kind != VAL_STR)
			return keys_wrong_kind(r, "an item of the list", KEY_KIND(VAL_STR), word);
		if (names && !word->str.n)
			return why_set(r->why, E_INPUT, word->at, "%s contains an empty name", what);
	}
	*list = all;
	return OK;
}

enum err word_list_read_map(struct key_reader *r, const char *what, const struct val *v, struct val *map)
{
	struct val words = { 0 }, all = { .kind = VAL_MAP, .at = v->at };
	enum err e = word_list_read(r, what, v, false, &words);
	for (unsigned i = 0; !e && i < words.list.n; i++) {
		const struct val *word = &words.list.item[i];
		const char *equals = memchr(word->str.p, '=', word->str.n);
		if (!equals)
			return why_set(r->why, E_INPUT, word->at, "%s: '%.*s' must have the form NAME=VALUE",
				       what, STR_SHORT(word->str));
		size_t n = (size_t)(equals - word->str.p);
		struct str name = str_sub(word->str, 0, n);
		if (val_get(&all, name))
			return why_set(r->why, E_INPUT, word->at, "%s: '%.*s' is given twice", what,
				       STR_SHORT(name));
		struct val_pair *pair = val_map_room(&all, r->arena);
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

enum err word_list_copy(struct key_reader *r, const struct val *list, struct word_list *ret)
{
	struct str *word = arena_alloc(r->arena, (list->list.n + 1) * sizeof *word);
	if (!word)
		return E_NOMEM;
	for (unsigned i = 0; i < list->list.n; i++)
		word[i] = list->list.item[i].str;
	*ret = (struct word_list){ word, list->list.n };
	return OK;
}

void word_list_write(const void *from, const struct key *k, struct buf *out)
{
	const struct word_list *w = KEY_CONST_FIELD(struct word_list, from, k);
	keys_write_strs(w->word, w->n, out);
}
