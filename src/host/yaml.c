/* Turns the events of libyaml into values. */
#include "host/yaml.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <yaml.h>

struct yaml_reader {
	yaml_parser_t parser;
	yaml_event_t event;
	bool has_event;
	struct str text;
	struct arena *arena;
	struct why *why;
	/* libyaml counts characters, we count bytes. Marks mostly go forward, so this cursor converts all of
	 * them in about one pass. */
	size_t chars, bytes;
	unsigned values;
};

static size_t offset_of(struct yaml_reader *r, size_t index)
{
	if (index < r->chars)
		r->chars = r->bytes = 0;
	for (; r->chars < index && r->bytes < r->text.n; r->chars++)
		do
			r->bytes++;
		while (r->bytes < r->text.n && ((unsigned char)r->text.p[r->bytes] & 0xC0) == 0x80);
	return r->bytes;
}

/* --- errors --- */

/* Replaces messages of libyaml that do not help an author who wrote a cron expression without quotes. */
static enum err syntax_error(struct yaml_reader *r)
{
	const yaml_parser_t *p = &r->parser;
	if (p->error == YAML_MEMORY_ERROR)
		return E_NOMEM;
	if (p->error == YAML_READER_ERROR)
		return why_set(r->why, E_INPUT, p->problem_offset < r->text.n ? p->problem_offset : r->text.n,
			       "%s", p->problem);
	size_t at = offset_of(r, p->problem_mark.index);
	if (p->context && strcmp(p->context, "while scanning an alias") == 0)
		return why_set(r->why, E_INPUT, offset_of(r, p->context_mark.index),
			       "text that begins with '*' must be in quotes");
	if (at < r->text.n && strchr("@`%", r->text.p[at]) && r->text.p[at] &&
	    strcmp(p->problem, "found character that cannot start any token") == 0)
		return why_set(r->why, E_INPUT, at, "text that begins with '%c' must be in quotes",
			       r->text.p[at]);
	if (at < r->text.n && r->text.p[at] == '\t')
		return why_set(r->why, E_INPUT, at, "a tab cannot indent or begin a value; use spaces");
	return why_set(r->why, E_INPUT, at, "%s%s%s", p->context ? p->context : "", p->context ? ", " : "",
		       p->problem);
}

static size_t event_offset(struct yaml_reader *r)
{
	return offset_of(r, r->event.start_mark.index);
}

static enum err next_event(struct yaml_reader *r)
{
	if (r->has_event)
		yaml_event_delete(&r->event);
	r->has_event = yaml_parser_parse(&r->parser, &r->event);
	return r->has_event ? OK : syntax_error(r);
}

/* --- scalars: the core schema --- */

static bool all_of(struct str s, const char *set)
{
	size_t n = 0;
	while (n < s.n && s.p[n] && strchr(set, s.p[n]))
		n++;
	return s.n > 0 && n == s.n;
}

static bool is_one_of(struct str s, const char *const *words)
{
	for (; *words; words++)
		if (strcmp(s.p, *words) == 0) /* libyaml terminates scalars, and they contain no NUL */
			return true;
	return false;
}

/* A quick test before null, true, false, infinity and NaN are compared: few texts begin like them. */
static bool may_be_keyword(struct str s)
{
	return !s.n || memchr("~nNtTfF.+-", s.p[0], 10);
}

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
static bool is_real_number(struct str s)
{
	size_t i = 0, whole, fraction = 0;
	if (i < s.n && (s.p[i] == '-' || s.p[i] == '+'))
		i++;
	for (whole = i; i < s.n && is_digit(s.p[i]);)
		i++;
	whole = i - whole;
	if (i < s.n && s.p[i] == '.') {
		for (fraction = ++i; i < s.n && is_digit(s.p[i]);)
			i++;
		fraction = i - fraction;
	}
	if (!whole && !fraction)
		return false;
	if (i < s.n && (s.p[i] == 'e' || s.p[i] == 'E')) {
		i++;
		if (i < s.n && (s.p[i] == '-' || s.p[i] == '+'))
			i++;
		return all_of(str_from(s, i), "0123456789");
	}
	return i == s.n;
}

static bool read_integer(struct str s, int64_t *ret)
{
	bool minus = s.n && s.p[0] == '-', sign = minus || (s.n && s.p[0] == '+');
	uint64_t n;
	if (!str_number(str_from(s, sign), (uint64_t)INT64_MAX + minus, &n))
		return false;
	*ret = (int64_t)(minus ? -n : n);
	return true;
}

/* 0o17, 0xff */
static bool read_based_integer(struct str s, int64_t *ret)
{
	if (s.n < 3 || s.n > 18 || s.p[0] != '0' || (s.p[1] != 'o' && s.p[1] != 'x'))
		return false;
	bool hex = s.p[1] == 'x';
	if (!all_of(str_from(s, 2), hex ? "0123456789abcdefABCDEF" : "01234567"))
		return false;
	uint64_t n = strtoull(s.p + 2, NULL, hex ? 16 : 8); /* libyaml terminates scalars */
	*ret = (int64_t)n;
	return n <= INT64_MAX;
}

/* Sets kind and value of a plain scalar; the caller keeps the text of a string. */
static enum err read_plain(struct yaml_reader *r, struct str s, struct val *v)
{
	static const char *const nulls[] = { "", "~", "null", "Null", "NULL", NULL };
	static const char *const trues[] = { "true", "True", "TRUE", NULL };
	static const char *const falses[] = { "false", "False", "FALSE", NULL };
	static const char *const not_finite[] = { ".inf",  ".Inf",  ".INF",  "+.inf", "+.Inf",
						  "+.INF", "-.inf", "-.Inf", "-.INF", ".nan",
						  ".NaN",  ".NAN",  NULL };
	bool keyword = may_be_keyword(s);
	if (keyword && is_one_of(s, nulls)) {
		v->kind = VAL_NULL;
	} else if (keyword && (is_one_of(s, trues) || is_one_of(s, falses))) {
		v->kind = VAL_BOOL;
		v->boolean = to_lower(s.p[0]) == 't';
	} else if (read_integer(s, &v->integer) || read_based_integer(s, &v->integer)) {
		v->kind = VAL_INT;
	} else if (keyword && is_one_of(s, not_finite)) {
		return why_set(r->why, E_INPUT, v->at,
			       "the number %.*s is not supported; if this is text, put it in quotes",
			       STR_SHORT(s));
	} else if (is_real_number(s)) {
		v->kind = VAL_FLOAT;
		v->real = strtod(s.p, NULL);
		if (v->real - v->real != 0)
			return why_set(r->why, E_INPUT, v->at,
				       "this number is too large; if it is text, put it in quotes");
	} else {
		v->kind = VAL_STR;
	}
	return OK;
}

/* The text of a scalar, terminated; valid until the next event. */
static enum err scalar_text(struct yaml_reader *r, struct str *ret)
{
	struct str s = { (const char *)r->event.data.scalar.value, r->event.data.scalar.length };
	if (r->event.data.scalar.tag)
		return why_set(r->why, E_INPUT, event_offset(r),
			       "YAML tags are not supported; if this is text, put it in quotes");
	if (memchr(s.p, 0, s.n))
		return why_set(r->why, E_INPUT, event_offset(r), "a string may not contain U+0000");
	*ret = s;
	return OK;
}

/* Makes the text of a scalar permanent: a part of the source if it is unchanged there, else a copy in the
 * arena. */
static enum err keep_text(struct yaml_reader *r, struct str s, struct str *ret)
{
	size_t from = event_offset(r) + (r->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE);
	if (from <= r->text.n && s.n <= r->text.n - from && memcmp(r->text.p + from, s.p, s.n) == 0) {
		*ret = str_sub(r->text, from, from + s.n);
		return OK;
	}
	char *copy = arena_dup(r->arena, s);
	if (!copy)
		return E_NOMEM;
	*ret = (struct str){ copy, s.n };
	return OK;
}

static enum err read_scalar(struct yaml_reader *r, struct val *v)
{
	struct str s;
	enum err e = scalar_text(r, &s);
	if (e)
		return e;
	v->kind = VAL_STR;
	if (r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
		e = read_plain(r, s, v);
	return !e && v->kind == VAL_STR ? keep_text(r, s, &v->str) : e;
}

/* --- lists and maps --- */

static enum err read_value(struct yaml_reader *r, unsigned depth, struct val *v);

static enum err read_list(struct yaml_reader *r, unsigned depth, struct val *v)
{
	v->kind = VAL_LIST;
	for (;;) {
		enum err e = next_event(r);
		if (e || r->event.type == YAML_SEQUENCE_END_EVENT)
			return e;
		struct val *item = val_list_room(v, r->arena);
		e = item ? read_value(r, depth + 1, item) : E_NOMEM;
		if (e)
			return e;
		v->list.n++;
	}
}

static enum err key_twice(struct yaml_reader *r, const struct val_pair *p)
{
	return why_set(r->why, E_INPUT, p->at, "key \"%.*s\" is given twice", STR_SHORT(p->key));
}

static enum err read_key(struct yaml_reader *r, struct val *map, struct val_pair *p)
{
	p->at = (uint32_t)event_offset(r);
	if (r->event.type != YAML_SCALAR_EVENT || r->event.data.scalar.length == 0)
		return why_set(r->why, E_INPUT, p->at, "a key must be a single text, and must not be empty");
	struct str text;
	enum err e = scalar_text(r, &text);
	if (!e)
		e = keep_text(r, text, &p->key);
	return !e && map->map.n < VAL_FEW && val_get(map, p->key) ? key_twice(r, p) : e;
}

static enum err check_keys_once(struct yaml_reader *r, const struct val *v)
{
	const struct val_pair *again;
	enum err e = val_find_duplicate(v, r->arena, &again);
	return !e && again ? key_twice(r, again) : e;
}

static enum err read_map(struct yaml_reader *r, unsigned depth, struct val *v)
{
	v->kind = VAL_MAP;
	for (;;) {
		enum err e = next_event(r);
		if (e)
			return e;
		if (r->event.type == YAML_MAPPING_END_EVENT)
			return check_keys_once(r, v);
		if (v->map.n == JSON_KEYS_MAX)
			return why_set(r->why, E_LIMIT, event_offset(r), "a map can have at most %d keys",
				       JSON_KEYS_MAX);
		struct val_pair *p = val_map_room(v, r->arena);
		e = p ? read_key(r, v, p) : E_NOMEM;
		if (!e)
			e = next_event(r);
		if (!e)
			e = read_value(r, depth + 1, &p->value);
		if (e)
			return e;
		v->map.n++;
	}
}

/* Reads the value that begins with the current event. */
static enum err read_value(struct yaml_reader *r, unsigned depth, struct val *v)
{
	const yaml_event_t *ev = &r->event;
	*v = (struct val){ .at = (uint32_t)event_offset(r) };
	if (depth > JSON_DEPTH_MAX)
		return why_set(r->why, E_LIMIT, v->at, "lists and maps are nested more than %d deep",
			       JSON_DEPTH_MAX);
	if (++r->values > JSON_VALUES_MAX)
		return why_set(r->why, E_LIMIT, v->at, "there are more than %d values", JSON_VALUES_MAX);
	if (ev->type == YAML_ALIAS_EVENT)
		return why_set(
			r->why, E_INPUT, v->at,
			"YAML aliases such as *%.30s are not supported; if this is text, put it in quotes",
			(const char *)ev->data.alias.anchor);
	if (ev->type == YAML_SCALAR_EVENT)
		return read_scalar(r, v);
	bool is_list = ev->type == YAML_SEQUENCE_START_EVENT;
	assert(is_list || ev->type == YAML_MAPPING_START_EVENT);
	if (is_list ? ev->data.sequence_start.tag : ev->data.mapping_start.tag)
		return why_set(r->why, E_INPUT, v->at, "YAML tags are not supported");
	return is_list ? read_list(r, depth, v) : read_map(r, depth, v);
}

static enum err read_documents(struct yaml_reader *r, struct val *all)
{
	for (;;) {
		enum err e = next_event(r);
		if (e || r->event.type == YAML_STREAM_END_EVENT)
			return e;
		if (r->event.type != YAML_DOCUMENT_START_EVENT)
			continue; /* the start of the stream, the end of a document */
		if (r->event.data.document_start.tag_directives.start !=
		    r->event.data.document_start.tag_directives.end)
			return why_set(r->why, E_INPUT, event_offset(r),
				       "YAML tags are not supported; remove the TAG directives");
		struct val *v = val_list_room(all, r->arena);
		e = v ? next_event(r) : E_NOMEM;
		if (!e)
			e = read_value(r, 0, v);
		if (e)
			return e;
		all->list.n++;
	}
}

/* --- the whole --- */

static enum err check_utf8(struct yaml_reader *r)
{
	unsigned n;
	for (struct str s = r->text; s.n; s = str_from(s, n)) {
		n = utf8_length(s);
		if (!n)
			return why_set(r->why, E_INPUT, (size_t)(s.p - r->text.p),
				       "byte 0x%02x is not valid UTF-8", (unsigned char)s.p[0]);
	}
	return OK;
}

/* Whether a line may begin behind this byte: a line break of YAML or a byte order mark ends with it. */
static bool may_end_line(char c)
{
	return c == '\n' || c == '\r' || c == '\x85' || c == '\xA8' || c == '\xA9' || c == '\xBF';
}

/* libyaml compares every %TAG directive with all earlier ones, so that very many take hours. Tags are not
 * supported anyway. Such a line may also be in a string, so a few are left to libyaml. */
static enum err check_tag_directives(struct yaml_reader *r)
{
	unsigned n = 0;
	const char *at;
	for (struct str rest = r->text; (at = rest.n ? memmem(rest.p, rest.n, "%TAG", 4) : NULL);) {
		size_t offset = (size_t)(at - r->text.p);
		n += !offset || may_end_line(at[-1]);
		if (n > YAML_TAG_LINES_MAX)
			return why_set(r->why, E_LIMIT, offset,
				       "more than %d TAG directives; YAML tags are not supported",
				       YAML_TAG_LINES_MAX);
		rest = str_from(r->text, offset + 4);
	}
	return OK;
}

enum err yaml_read(struct str text, struct arena *a, struct val *ret, struct why *why)
{
	struct yaml_reader r = { .text = text, .arena = a, .why = why };
	struct val all = { .kind = VAL_LIST };
	if (text.n > YAML_BYTES_MAX)
		return why_set(why, E_LIMIT, 0, "the YAML text has more than %u bytes", YAML_BYTES_MAX);
	enum err e = check_utf8(&r);
	if (!e)
		e = check_tag_directives(&r);
	if (e)
		return e;
	if (!yaml_parser_initialize(&r.parser))
		return E_NOMEM;
	/* Without this, libyaml would take some texts for UTF-16. */
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)text.p, text.n);
	e = read_documents(&r, &all);
	if (r.has_event)
		yaml_event_delete(&r.event);
	yaml_parser_delete(&r.parser);
	if (!e)
		*ret = all;
	return e;
}
