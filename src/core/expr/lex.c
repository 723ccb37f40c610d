/* The tokens of an expression: numbers, strings, words, marks. */
#include "core/expr/lex.h"
#include "base/utf8.h"

#include <stdlib.h>

static char peek(const struct lexer *l, size_t ahead)
{
	return l->at + ahead < l->text.n ? l->text.p[l->at + ahead] : 0;
}

static bool is_word_char(char c)
{
	return is_alpha(c) || is_digit(c) || c == '_';
}

static enum err skip_blank(struct lexer *l)
{
	for (;; l->at++) {
		if (peek(l, 0) == '/' && peek(l, 1) == '/')
			while (l->at < l->text.n && l->text.p[l->at] != '\n')
				l->at++;
		if (!is_space(peek(l, 0)) && peek(l, 0) != '\f')
			break;
	}
	if (l->at == l->text.n && l->cut)
		return why_set(l->why, E_LIMIT, l->at, "an expression has at most %d bytes", CEL_BYTES_MAX);
	return OK;
}

/* --- numbers --- */

static size_t count_digits(const struct lexer *l, size_t from)
{
	size_t n = from;
	while (is_digit(peek(l, n)))
		n++;
	return n - from;
}

/* The length of the number at the current position, if it has a fraction or an exponent; else 0. */
static size_t real_length(const struct lexer *l)
{
	size_t n = count_digits(l, 0), whole = n, fraction = 0;
	if (peek(l, n) == '.')
		fraction = count_digits(l, n + 1);
	if (fraction)
		n += 1 + fraction;
	else if (!whole)
		return 0;
	if (to_lower(peek(l, n)) == 'e') {
		size_t sign = peek(l, n + 1) == '+' || peek(l, n + 1) == '-';
		size_t exponent = count_digits(l, n + 1 + sign);
		if (exponent)
			return n + 1 + sign + exponent;
	}
	return fraction ? n : 0;
}

static bool parse_hex(struct str digit, uint64_t *ret)
{
	uint64_t v = 0;
	for (size_t i = 0; i < digit.n; i++) {
		if (v >> 60)
			return false;
		v = v << 4 | (uint64_t)hex_digit(digit.p[i]);
	}
	*ret = v;
	return digit.n > 0;
}

static enum err read_number(struct lexer *l, struct token *t)
{
	size_t n = real_length(l);
	if (n) {
		char *copy = arena_dup(l->arena, str_sub(l->text, l->at, l->at + n));
		if (!copy)
			return E_NOMEM;
		t->kind = TOK_DOUBLE;
		t->real = strtod(copy, NULL);
		if (t->real - t->real != 0)
			return why_set(l->why, E_INPUT, l->at, "the number is too large for a double");
		l->at += n;
	} else {
		bool hex = peek(l, 0) == '0' && to_lower(peek(l, 1)) == 'x', fits;
		l->at += hex ? 2 : 0;
		while (hex ? hex_digit(peek(l, n)) >= 0 : is_digit(peek(l, n)))
			n++;
		struct str digit = str_sub(l->text, l->at, l->at + n);
		fits = hex ? parse_hex(digit, &t->number) : str_number(digit, UINT64_MAX, &t->number);
		if (!fits && n)
			return why_set(l->why, E_INPUT, t->at, "the number does not fit 64 bits");
		l->at += n;
		t->kind = to_lower(peek(l, 0)) == 'u' ? TOK_UINT : TOK_INT;
		l->at += t->kind == TOK_UINT;
		if (!fits)
			t->kind = TOK_END; /* 0x without digits */
	}
	if (!is_word_char(peek(l, 0)) && t->kind != TOK_END)
		return OK;
	while (is_word_char(peek(l, 0)))
		l->at++;
	return why_set(l->why, E_INPUT, t->at, "'%.*s' is not a number such as 12, 0x1f, 12u or 1.5e3",
		       STR_SHORT(str_sub(l->text, t->at, l->at)));
}

/* --- strings --- */

/* Reads `count` digits of `base`; UINT32_MAX if there are fewer. */
static uint32_t read_code(struct lexer *l, unsigned count, int base)
{
	uint32_t v = 0;
	for (unsigned i = 0; i < count; i++, l->at++) {
		int d = hex_digit(peek(l, 0));
		if (d < 0 || d >= base)
			return UINT32_MAX;
		v = v * (uint32_t)base + (uint32_t)d;
	}
	return v;
}

/* Reads an escape after its backslash. In bytes, \x and octal digits give one byte; in strings, one code
 * point. */
static enum err read_escape(struct lexer *l, bool bytes, char **out)
{
	static const char names[] = "abfnrtv\\?\"'`", values[] = "\a\b\f\n\r\t\v\\?\"'`";
	size_t from = l->at - 1;
	char c = peek(l, 0);
	const char *known = c ? strchr(names, c) : NULL;
	if (known) {
		l->at++;
		*(*out)++ = values[known - names];
		return OK;
	}
	uint32_t v = UINT32_MAX;
	if (c >= '0' && c <= '3') {
		v = read_code(l, 3, 8);
	} else if (to_lower(c) == 'x') {
		l->at++;
		v = read_code(l, 2, 16);
	} else if (to_lower(c) == 'u' && !bytes) {
		l->at++;
		v = read_code(l, c == 'u' ? 4 : 8, 16);
	}
	if (v > 0x10FFFF || (v >= 0xD800 && v < 0xE000))
		return why_set(l->why, E_INPUT, from,
			       "unknown escape; there are \\n \\t \\r \\a \\b \\f \\v \\\\ \\? \\\" \\' \\` "
			       "\\x41 \\101%s",
			       bytes ? "" : " \\u0041 \\U00000041");
	if (bytes)
		*(*out)++ = (char)v;
	else
		*out += utf8_write(v, *out);
	return OK;
}

static bool at_quotes(const struct lexer *l, char quote, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (peek(l, i) != quote)
			return false;
	return true;
}

/* Reads a string from its opening quote on. Its value is never longer than its text. */
static enum err read_string(struct lexer *l, bool raw, bool bytes, struct token *t)
{
	char quote = peek(l, 0);
	unsigned n = peek(l, 1) == quote && peek(l, 2) == quote ? 3 : 1;
	l->at += n;
	size_t from = l->at;
	char *copy = NULL, *out = NULL;
	while (!at_quotes(l, quote, n)) {
		char c = peek(l, 0);
		if (l->at == l->text.n || (n == 1 && (c == '\n' || c == '\r')))
			return why_set(l->why, l->at == l->text.n && l->cut ? E_LIMIT : E_INPUT, t->at,
				       "the text that begins here has no closing %.*s", (int)n,
				       quote == '"' ? "\"\"\"" : "'''");
		unsigned length = utf8_length(str_from(l->text, l->at));
		if (!length)
			return why_set(l->why, E_INPUT, l->at, "this byte is not valid UTF-8");
		if (c == '\\' && !raw) {
			if (!copy) {
				copy = out = arena_alloc(l->arena, l->text.n - from + 1);
				if (!copy)
					return E_NOMEM;
				memcpy(copy, l->text.p + from, l->at - from);
				out += l->at - from;
			}
			l->at++;
			enum err e = read_escape(l, bytes, &out);
			if (e)
				return e;
			continue;
		}
		if (copy) {
			memcpy(out, l->text.p + l->at, length);
			out += length;
		}
		l->at += length;
	}
	t->kind = bytes ? TOK_BYTES : TOK_STRING;
	t->str = copy ? (struct str){ copy, (size_t)(out - copy) } : str_sub(l->text, from, l->at);
	l->at += n;
	return OK;
}

/* The prefix of a string: r"..", b'..', br"..", in either case and order. False: this is not a string. */
static bool string_prefix(const struct lexer *l, bool *raw, bool *bytes, size_t *length)
{
	*raw = *bytes = false;
	for (*length = 0; *length < 3; ++*length) {
		char c = peek(l, *length);
		if (c == '"' || c == '\'')
			return true;
		bool *which = to_lower(c) == 'r' ? raw : to_lower(c) == 'b' ? bytes : NULL;
		if (!which || *which)
			return false;
		*which = true;
	}
	return false;
}

/* --- words and marks --- */

static const struct {
	const char *text;
	enum token_kind kind;
} words[] = { { "true", TOK_TRUE }, { "false", TOK_FALSE }, { "null", TOK_NULL }, { "in", TOK_IN } },
  marks[] = { /* the longer ones first */
	      { "||", TOK_OR },    { "&&", TOK_AND },       { "==", TOK_EQ },      { "!=", TOK_NE },
	      { "<=", TOK_LE },    { ">=", TOK_GE },        { "<", TOK_LT },       { ">", TOK_GT },
	      { "+", TOK_ADD },    { "-", TOK_SUB },        { "*", TOK_MUL },      { "/", TOK_DIV },
	      { "%", TOK_MOD },    { "!", TOK_NOT },        { "?", TOK_QUESTION }, { ":", TOK_COLON },
	      { ".", TOK_DOT },    { ",", TOK_COMMA },      { "(", TOK_ROUND },    { ")", TOK_ROUND_END },
	      { "[", TOK_SQUARE }, { "]", TOK_SQUARE_END }, { "{", TOK_CURLY },    { "}", TOK_CURLY_END }
  };

bool lex_reserved(struct str word)
{
	static const char *const reserved[] = { "as",   "break",    "const",     "continue", "else",
						"for",  "function", "if",        "import",   "let",
						"loop", "package",  "namespace", "return",   "var",
						"void", "while" };
	for (size_t i = 0; i < ARRAY_LEN(reserved); i++)
		if (str_eq(word, str_of(reserved[i])))
			return true;
	return false;
}

static void read_word(struct lexer *l, struct token *t)
{
	while (is_word_char(peek(l, 0)))
		l->at++;
	t->kind = TOK_NAME;
	t->str = str_sub(l->text, t->at, l->at);
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (str_eq(t->str, str_of(words[i].text)))
			t->kind = words[i].kind;
}

/* Reads `a field in backticks`. */
static enum err read_field(struct lexer *l, struct token *t)
{
	size_t from = ++l->at;
	while (is_word_char(peek(l, 0)) || (peek(l, 0) && strchr(".-/ ", peek(l, 0))))
		l->at++;
	if (peek(l, 0) != '`' || l->at == from)
		return why_set(l->why, E_INPUT, l->at,
			       "a field in backticks has letters, digits, '_', '.', '-', '/' and spaces");
	t->kind = TOK_FIELD;
	t->str = str_sub(l->text, from, l->at++);
	return OK;
}

static enum err read_mark(struct lexer *l, struct token *t)
{
	struct str rest = str_from(l->text, l->at);
	for (size_t i = 0; i < ARRAY_LEN(marks); i++)
		if (str_starts(rest, str_of(marks[i].text))) {
			t->kind = marks[i].kind;
			l->at += strlen(marks[i].text);
			return OK;
		}
	char c = rest.p[0];
	if (c == '=' || c == '&' || c == '|')
		return why_set(l->why, E_INPUT, l->at, "'%c' is not an operator; write '%c%c'", c, c, c);
	unsigned length = utf8_length(rest);
	if (!length)
		return why_set(l->why, E_INPUT, l->at, "this byte is not valid UTF-8");
	return why_set(l->why, E_INPUT, l->at, "'%.*s' does not belong in an expression", (int)length,
		       rest.p);
}

enum err lex_next(struct lexer *l, struct token *ret)
{
	struct token t = { 0 };
	bool raw, bytes;
	size_t prefix;
	enum err e = skip_blank(l);
	if (e)
		return e;
	t.at = l->at;
	char c = peek(l, 0);
	if (l->at == l->text.n) {
		t.kind = TOK_END;
	} else if (string_prefix(l, &raw, &bytes, &prefix)) {
		l->at += prefix;
		e = read_string(l, raw, bytes, &t);
	} else if (is_digit(c) || (c == '.' && is_digit(peek(l, 1)))) {
		e = read_number(l, &t);
	} else if (is_word_char(c)) {
		read_word(l, &t);
	} else if (c == '`') {
		e = read_field(l, &t);
	} else {
		e = read_mark(l, &t);
	}
	if (e)
		return e;
	t.end = l->at;
	*ret = t;
	return OK;
}
