#include "base/json.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>

struct reader {
	struct str text;
	size_t at;
	struct arena *arena;
	struct why *why;
	unsigned values;
};

static enum err bad(struct reader *r, const char *what)
{
	return why_set(r->why, E_INPUT, r->at, "%s", what);
}

static char look(struct reader *r)
{
	while (r->at < r->text.n && is_space(r->text.p[r->at]))
		r->at++;
	return r->at < r->text.n ? r->text.p[r->at] : 0;
}

static enum err hex4(struct reader *r, uint32_t *ret)
{
	uint32_t v = 0;
	for (unsigned i = 0; i < 4; i++, r->at++) {
		char c = r->at < r->text.n ? to_lower(r->text.p[r->at]) : 0;
		if (is_digit(c))
			v = v << 4 | (uint32_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			v = v << 4 | (uint32_t)(c - 'a' + 10);
		else
			return bad(r, "\\u needs four hexadecimal digits");
	}
	*ret = v;
	return OK;
}

/* What follows a backslash, as UTF-8. */
static enum err escape(struct reader *r, char **out)
{
	static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	char c = r->at < r->text.n ? r->text.p[r->at] : 0;
	const char *known = c ? strchr(names, c) : NULL;
	if (known) {
		r->at++;
		*(*out)++ = values[known - names];
		return OK;
	}
	if (c != 'u')
		return bad(r, "unknown escape in a string");
	size_t from = r->at++ - 1;
	uint32_t code, low = 0;
	enum err e = hex4(r, &code);
	if (e)
		return e;
	if (code >= 0xD800 && code < 0xE000) {
		bool pair = code < 0xDC00 && r->text.n - r->at >= 6 && r->text.p[r->at] == '\\' &&
			    r->text.p[r->at + 1] == 'u';
		if (pair) {
			r->at += 2;
			e = hex4(r, &low);
			if (e)
				return e;
		}
		if (low < 0xDC00 || low > 0xDFFF)
			return why_set(r->why, E_INPUT, from, "half of a surrogate pair");
		code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
	}
	if (code == 0)
		return why_set(r->why, E_INPUT, from, "a string may not contain U+0000");
	*out += utf8_write(code, *out);
	return OK;
}

/* Where the string that begins at r->at ends, and whether it has escapes. */
static enum err string_end(struct reader *r, size_t *ret, bool *escapes)
{
	size_t end = r->at + 1;
	*escapes = false;
	for (; end < r->text.n && r->text.p[end] != '"'; end++)
		if (r->text.p[end] == '\\') {
			*escapes = true;
			end++;
		}
	*ret = end;
	return end < r->text.n ? OK : bad(r, "a string has no end");
}

/* One character that is not escaped, checked and passed over. */
static enum err plain(struct reader *r, size_t end, unsigned *length)
{
	if ((unsigned char)r->text.p[r->at] < 32)
		return bad(r, "a control character in a string must be escaped");
	*length = utf8_length(str_sub(r->text, r->at, end));
	if (!*length)
		return bad(r, "a string is not valid UTF-8");
	r->at += *length;
	return OK;
}

static enum err unescape(struct reader *r, size_t end, struct str *ret)
{
	/* An escape is never shorter than what it stands for. */
	char *copy = arena_alloc(r->arena, end - r->at + 1), *out = copy;
	if (!copy)
		return E_NOMEM;
	while (r->at < end) {
		unsigned n = 0;
		enum err e;
		if (r->text.p[r->at] == '\\') {
			r->at++;
			e = escape(r, &out);
		} else {
			e = plain(r, end, &n);
			memcpy(out, r->text.p + r->at - n, n);
			out += n;
		}
		if (e)
			return e;
	}
	*ret = (struct str){ copy, (size_t)(out - copy) };
	return OK;
}

static enum err string(struct reader *r, struct str *ret)
{
	size_t end, from = r->at + 1;
	bool escapes;
	unsigned n;
	enum err e = string_end(r, &end, &escapes);
	if (e)
		return e;
	r->at = from;
	if (escapes)
		e = unescape(r, end, ret);
	else
		*ret = str_sub(r->text, from, end);
	while (!e && r->at < end)
		e = plain(r, end, &n);
	if (!e)
		r->at = end + 1;
	return e;
}

static enum err number(struct reader *r, struct val *v)
{
	size_t from = r->at;
	const char *p = r->text.p;
	size_t n = r->text.n, i = from;
	bool whole = true;
	if (i < n && p[i] == '-')
		i++;
	size_t digits = i;
	while (i < n && is_digit(p[i]))
		i++;
	if (i == digits || (p[digits] == '0' && i > digits + 1))
		return bad(r, "expected a value");
	if (i < n && p[i] == '.') {
		whole = false;
		size_t at = ++i;
		while (i < n && is_digit(p[i]))
			i++;
		if (i == at)
			return bad(r, "a number ends in its decimal point");
	}
	if (i < n && (p[i] == 'e' || p[i] == 'E')) {
		whole = false;
		i++;
		if (i < n && (p[i] == '+' || p[i] == '-'))
			i++;
		size_t at = i;
		while (i < n && is_digit(p[i]))
			i++;
		if (i == at)
			return bad(r, "a number ends in its exponent");
	}
	bool minus = p[from] == '-';
	uint64_t magnitude;
	r->at = i;
	if (whole && str_number(str_sub(r->text, digits, i), (uint64_t)INT64_MAX + minus, &magnitude)) {
		v->kind = VAL_INT;
		v->integer = (int64_t)(minus ? -magnitude : magnitude);
		return OK;
	}
	char *copy = arena_dup(r->arena, str_sub(r->text, from, i));
	if (!copy)
		return E_NOMEM;
	v->kind = VAL_FLOAT;
	v->real = strtod(copy, NULL);
	if (v->real - v->real != 0) {
		r->at = from;
		return bad(r, "a number is too large");
	}
	return OK;
}

static enum err value(struct reader *r, unsigned depth, struct val *v);

static enum err list(struct reader *r, unsigned depth, struct val *v)
{
	v->kind = VAL_LIST;
	r->at++;
	if (look(r) == ']') {
		r->at++;
		return OK;
	}
	for (;;) {
		struct val *item = val_item(v, r->arena);
		enum err e = item ? value(r, depth + 1, item) : E_NOMEM;
		if (e)
			return e;
		v->list.n++;
		char c = look(r);
		if (c != ',' && c != ']')
			return bad(r, "expected ',' or ']' in a list");
		r->at++;
		if (c == ']')
			return OK;
	}
}

static enum err twice(struct reader *r, const struct val_pair *p)
{
	return why_set(r->why, E_INPUT, p->at, "key \"%.*s\" is given twice", STR_SHORT(p->key));
}

static enum err end_of_map(struct reader *r, const struct val *v)
{
	const struct val_pair *again;
	enum err e = val_twice(v, r->arena, &again);
	return !e && again ? twice(r, again) : e;
}

static enum err pair(struct reader *r, unsigned depth, struct val *v)
{
	if (look(r) != '"')
		return bad(r, "expected a key in double quotes");
	if (v->map.n == JSON_KEYS_MAX)
		return why_set(r->why, E_LIMIT, r->at, "a map has at most %d keys", JSON_KEYS_MAX);
	struct val_pair *p = val_pair(v, r->arena);
	if (!p)
		return E_NOMEM;
	p->at = (uint32_t)r->at;
	enum err e = string(r, &p->key);
	if (e)
		return e;
	if (v->map.n < VAL_FEW && val_get(v, p->key))
		return twice(r, p);
	if (look(r) != ':')
		return bad(r, "expected ':' after a key");
	r->at++;
	e = value(r, depth + 1, &p->value);
	if (!e)
		v->map.n++;
	return e;
}

static enum err map(struct reader *r, unsigned depth, struct val *v)
{
	v->kind = VAL_MAP;
	r->at++;
	if (look(r) == '}') {
		r->at++;
		return OK;
	}
	for (;;) {
		enum err e = pair(r, depth, v);
		if (e)
			return e;
		char c = look(r);
		if (c != ',' && c != '}')
			return bad(r, "expected ',' or '}' in a map");
		r->at++;
		if (c == '}')
			return end_of_map(r, v);
	}
}

static enum err word(struct reader *r, struct val *v)
{
	static const struct {
		const char *text;
		struct val value;
	} words[] = { { "null", { .kind = VAL_NULL } },
		      { "true", { .kind = VAL_BOOL, .boolean = true } },
		      { "false", { .kind = VAL_BOOL, .boolean = false } } };
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		struct str w = str_of(words[i].text);
		if (str_starts(str_from(r->text, r->at), w)) {
			uint32_t at = v->at;
			*v = words[i].value;
			v->at = at;
			r->at += w.n;
			return OK;
		}
	}
	return bad(r, "expected a value");
}

static enum err value(struct reader *r, unsigned depth, struct val *v)
{
	if (depth > JSON_DEPTH_MAX)
		return why_set(r->why, E_LIMIT, r->at, "nested more than %d deep", JSON_DEPTH_MAX);
	char c = look(r);
	*v = (struct val){ .at = (uint32_t)r->at };
	if (++r->values > JSON_VALUES_MAX)
		return why_set(r->why, E_LIMIT, r->at, "more than %d values", JSON_VALUES_MAX);
	switch (c) {
	case '{':
		return map(r, depth, v);
	case '[':
		return list(r, depth, v);
	case '"':
		v->kind = VAL_STR;
		return string(r, &v->str);
	case 't':
	case 'f':
	case 'n':
		return word(r, v);
	default:
		return number(r, v);
	}
}

enum err json_read(struct str text, struct arena *a, struct val *ret, struct why *why)
{
	struct reader r = { .text = text, .arena = a, .why = why };
	struct val v;
	if (text.n > JSON_BYTES_MAX)
		return why_set(why, E_LIMIT, 0, "JSON of more than %u bytes", JSON_BYTES_MAX);
	enum err e = value(&r, 0, &v);
	if (e)
		return e;
	if (look(&r) || r.at < text.n)
		return bad(&r, "text after the value");
	*ret = v;
	return OK;
}

/* The shortest text that is read back as the same number, and as a number with a fraction. */
static void write_real(struct buf *out, double v)
{
	char text[32];
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	buf_addf(out, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

static void write_map(struct buf *out, const struct val *v)
{
	uint32_t few[VAL_FEW], *order = few;
	if (v->map.n > VAL_FEW)
		order = malloc(v->map.n * sizeof *order);
	if (!order) {
		out->failed = true;
		return;
	}
	val_sort(v, order);
	buf_addc(out, '{');
	for (unsigned i = 0; i < v->map.n; i++) {
		const struct val_pair *p = &v->map.pair[order[i]];
		buf_add(out, i ? STR(",") : STR(""));
		json_write_str(out, p->key);
		buf_addc(out, ':');
		json_write(out, &p->value);
	}
	buf_addc(out, '}');
	if (order != few)
		free(order);
}

void json_write(struct buf *out, const struct val *v)
{
	switch (v->kind) {
	case VAL_NULL:
		buf_add(out, STR("null"));
		break;
	case VAL_BOOL:
		buf_add(out, v->boolean ? STR("true") : STR("false"));
		break;
	case VAL_INT:
		buf_addf(out, "%lld", (long long)v->integer);
		break;
	case VAL_FLOAT:
		write_real(out, v->real);
		break;
	case VAL_STR:
		json_write_str(out, v->str);
		break;
	case VAL_LIST:
		buf_addc(out, '[');
		for (unsigned i = 0; i < v->list.n; i++) {
			buf_add(out, i ? STR(",") : STR(""));
			json_write(out, &v->list.item[i]);
		}
		buf_addc(out, ']');
		break;
	case VAL_MAP:
		write_map(out, v);
		break;
	}
}

void json_write_str(struct buf *out, struct str s)
{
	static const char hex[] = "0123456789abcdef";
	buf_addc(out, '"');
	while (s.n) {
		size_t n = 0;
		/* A run of bytes that need no care goes out at once. */
		while (n < s.n && (unsigned char)s.p[n] >= 32 && (unsigned char)s.p[n] < 127 &&
		       s.p[n] != '"' && s.p[n] != '\\')
			n++;
		buf_add(out, str_sub(s, 0, n));
		s = str_from(s, n);
		if (!s.n)
			break;
		unsigned char c = (unsigned char)s.p[0];
		unsigned length = utf8_length(s);
		if (c == '"' || c == '\\') {
			buf_add(out, (struct str){ (char[]){ '\\', (char)c }, 2 });
		} else if (c == '\n') {
			buf_add(out, STR("\\n"));
		} else if (c < 32 || c == 127) {
			buf_add(out,
				(struct str){ (char[]){ '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] }, 6 });
		} else if (!length) {
			buf_add(out, STR("\xEF\xBF\xBD"));
		} else {
			buf_add(out, str_sub(s, 0, length));
		}
		s = str_from(s, length ? length : 1);
	}
	buf_addc(out, '"');
}

struct str json_source(struct str text, const struct val *v)
{
	size_t at = v->at, deep = 0;
	bool quoted = false;
	for (; at < text.n; at++) {
		char c = text.p[at];
		if (quoted) {
			at += c == '\\';
			quoted = c != '"';
		} else if (c == '"') {
			quoted = true;
		} else if (c == '{' || c == '[') {
			deep++;
		} else if ((c == '}' || c == ']' || c == ',') && !deep) {
			break; /* of what it stands in */
		} else if (c == '}' || c == ']') {
			deep--;
		}
	}
	return str_trim(str_sub(text, v->at, at < text.n ? at : text.n));
}
