/* The JSON parser, and the writer. */
#include "base/json.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>

struct json_reader {
	struct str text;
	size_t at;
	struct arena *arena;
	struct why *why;
	unsigned values;
};

static enum err refuse(struct json_reader *r, const char *what)
{
	return why_set(r->why, E_INPUT, r->at, "%s", what);
}

/* Skips white space; returns the next character without consuming it, 0 at the end. */
static char next_char(struct json_reader *r)
{
	while (r->at < r->text.n && is_space(r->text.p[r->at]))
		r->at++;
	return r->at < r->text.n ? r->text.p[r->at] : 0;
}

static enum err read_hex4(struct json_reader *r, uint32_t *ret)
{
	uint32_t v = 0;
	for (unsigned i = 0; i < 4; i++, r->at++) {
		int digit = hex_digit(r->at < r->text.n ? r->text.p[r->at] : 0);
		if (digit < 0)
			return refuse(r, "\\u needs four hexadecimal digits");
		v = v << 4 | (uint32_t)digit;
	}
	*ret = v;
	return OK;
}

/* Reads an escape after its backslash, and writes its character as UTF-8. */
static enum err read_escape(struct json_reader *r, char **out)
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
		return refuse(r, "unknown escape in a string");
	size_t from = r->at++ - 1;
	uint32_t code, low = 0;
	enum err e = read_hex4(r, &code);
	if (e)
		return e;
	if (code >= 0xD800 && code < 0xE000) {
		bool pair = code < 0xDC00 && r->text.n - r->at >= 6 && r->text.p[r->at] == '\\' &&
			    r->text.p[r->at + 1] == 'u';
		if (pair) {
			r->at += 2;
			e = read_hex4(r, &low);
			if (e)
				return e;
		}
		if (low < 0xDC00 || low > 0xDFFF)
			return why_set(r->why, E_INPUT, from, "the escape is only half of a surrogate pair");
		code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
	}
	if (code == 0)
		return why_set(r->why, E_INPUT, from, "a string may not contain U+0000");
	*out += utf8_write(code, *out);
	return OK;
}

/* Finds the closing quote of the string that begins at r->at. Sets *escapes if the string has escapes. */
static enum err string_end(struct json_reader *r, size_t *ret, bool *escapes)
{
	size_t end = r->at + 1;
	*escapes = false;
	for (; end < r->text.n && r->text.p[end] != '"'; end++)
		if (r->text.p[end] == '\\') {
			*escapes = true;
			end++;
		}
	*ret = end;
	return end < r->text.n ? OK : refuse(r, "a string has no end");
}

/* Checks one character that is not escaped, and moves past it. */
static enum err check_plain(struct json_reader *r, size_t end, unsigned *length)
{
	if ((unsigned char)r->text.p[r->at] < 32)
		return refuse(r, "a control character in a string must be escaped");
	*length = utf8_length(str_sub(r->text, r->at, end));
	if (!*length)
		return refuse(r, "a string is not valid UTF-8");
	r->at += *length;
	return OK;
}

static enum err unescape(struct json_reader *r, size_t end, struct str *ret)
{
	/* An escape is never shorter than its character in UTF-8. */
	char *copy = arena_alloc(r->arena, end - r->at + 1), *out = copy;
	if (!copy)
		return E_NOMEM;
	while (r->at < end) {
		unsigned n = 0;
		enum err e;
		if (r->text.p[r->at] == '\\') {
			r->at++;
			e = read_escape(r, &out);
		} else {
			e = check_plain(r, end, &n);
			memcpy(out, r->text.p + r->at - n, n);
			out += n;
		}
		if (e)
			return e;
	}
	*ret = (struct str){ copy, (size_t)(out - copy) };
	return OK;
}

static enum err read_string(struct json_reader *r, struct str *ret)
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
		e = check_plain(r, end, &n);
	if (!e)
		r->at = end + 1;
	return e;
}

static enum err read_number(struct json_reader *r, struct val *v)
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
		return refuse(r, "expected a value");
	if (i < n && p[i] == '.') {
		whole = false;
		size_t at = ++i;
		while (i < n && is_digit(p[i]))
			i++;
		if (i == at)
			return refuse(r, "a number needs a digit after its decimal point");
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
			return refuse(r, "a number needs a digit in its exponent");
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
		return refuse(r, "a number is too large");
	}
	return OK;
}

static enum err read_value(struct json_reader *r, unsigned depth, struct val *v);

static enum err read_list(struct json_reader *r, unsigned depth, struct val *v)
{
	v->kind = VAL_LIST;
	r->at++;
	if (next_char(r) == ']') {
		r->at++;
		return OK;
	}
	for (;;) {
		struct val *item = val_list_room(v, r->arena);
		enum err e = item ? read_value(r, depth + 1, item) : E_NOMEM;
		if (e)
			return e;
		v->list.n++;
		char c = next_char(r);
		if (c != ',' && c != ']')
			return refuse(r, "expected ',' or ']' in a list");
		r->at++;
		if (c == ']')
			return OK;
	}
}

static enum err refuse_duplicate(struct json_reader *r, const struct val_pair *p)
{
	return why_set(r->why, E_INPUT, p->at, "key \"%.*s\" is given twice", STR_SHORT(p->key));
}

static enum err check_keys(struct json_reader *r, const struct val *v)
{
	const struct val_pair *again;
	enum err e = val_find_duplicate(v, r->arena, &again);
	return !e && again ? refuse_duplicate(r, again) : e;
}

static enum err read_pair(struct json_reader *r, unsigned depth, struct val *v)
{
	if (next_char(r) != '"')
		return refuse(r, "expected a key in double quotes");
	if (v->map.n == JSON_KEYS_MAX)
		return why_set(r->why, E_LIMIT, r->at, "a map has at most %d keys", JSON_KEYS_MAX);
	struct val_pair *p = val_map_room(v, r->arena);
	if (!p)
		return E_NOMEM;
	p->at = (uint32_t)r->at;
	enum err e = read_string(r, &p->key);
	if (e)
		return e;
	if (v->map.n < VAL_FEW && val_get(v, p->key))
		return refuse_duplicate(r, p);
	if (next_char(r) != ':')
		return refuse(r, "expected ':' after a key");
	r->at++;
	e = read_value(r, depth + 1, &p->value);
	if (!e)
		v->map.n++;
	return e;
}

static enum err read_map(struct json_reader *r, unsigned depth, struct val *v)
{
	v->kind = VAL_MAP;
	r->at++;
	if (next_char(r) == '}') {
		r->at++;
		return OK;
	}
	for (;;) {
		enum err e = read_pair(r, depth, v);
		if (e)
			return e;
		char c = next_char(r);
		if (c != ',' && c != '}')
			return refuse(r, "expected ',' or '}' in a map");
		r->at++;
		if (c == '}')
			return check_keys(r, v);
	}
}

static enum err read_word(struct json_reader *r, struct val *v)
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
	return refuse(r, "expected a value");
}

static enum err read_value(struct json_reader *r, unsigned depth, struct val *v)
{
	if (depth > JSON_DEPTH_MAX)
		return why_set(r->why, E_LIMIT, r->at, "lists and maps are nested more than %d deep",
			       JSON_DEPTH_MAX);
	char c = next_char(r);
	*v = (struct val){ .at = (uint32_t)r->at };
	if (++r->values > JSON_VALUES_MAX)
		return why_set(r->why, E_LIMIT, r->at, "there are more than %d values", JSON_VALUES_MAX);
	switch (c) {
	case '{':
		return read_map(r, depth, v);
	case '[':
		return read_list(r, depth, v);
	case '"':
		v->kind = VAL_STR;
		return read_string(r, &v->str);
	case 't':
	case 'f':
	case 'n':
		return read_word(r, v);
	default:
		return read_number(r, v);
	}
}

enum err json_read(struct str text, struct arena *a, struct val *ret, struct why *why)
{
	struct json_reader r = { .text = text, .arena = a, .why = why };
	struct val v;
	if (text.n > JSON_BYTES_MAX)
		return why_set(why, E_LIMIT, 0, "the JSON text has more than %u bytes", JSON_BYTES_MAX);
	enum err e = read_value(&r, 0, &v);
	if (e)
		return e;
	if (next_char(&r) || r.at < text.n)
		return refuse(&r, "unexpected text after the value");
	*ret = v;
	return OK;
}

/* Writes the shortest text that reads back as the same number, and as VAL_FLOAT. */
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

/* `zero`: what U+0000 becomes. */
static void write_string(struct buf *out, struct str s, struct str zero)
{
	static const char hex[] = "0123456789abcdef";
	buf_addc(out, '"');
	while (s.n) {
		size_t n = 0;
		/* Bytes that need no escape are copied together. */
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
		} else if (!c) {
			buf_add(out, zero);
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

void json_write_str(struct buf *out, struct str s)
{
	write_string(out, s, STR("\xEF\xBF\xBD"));
}

void json_write_exact(struct buf *out, struct str s)
{
	write_string(out, s, STR("\\u0000"));
}

void json_add_str(struct buf *out, const char *name, struct str s)
{
	buf_addf(out, ",\"%s\":", name);
	if (s.p)
		json_write_str(out, s);
	else
		buf_add(out, STR("null"));
}

void json_add_words(struct buf *out, const char *name, struct str list)
{
	buf_addf(out, ",\"%s\":[", name);
	for (const char *comma = ""; list.n; comma = ",") {
		struct str word;
		str_cut(&list, ',', &word);
		buf_add(out, str_of(comma));
		json_write_str(out, str_trim(word));
	}
	buf_addc(out, ']');
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
			break; /* the end of the enclosing list or map */
		} else if (c == '}' || c == ']') {
			deep--;
		}
	}
	return str_trim(str_sub(text, v->at, at < text.n ? at : text.n));
}
