/* The parser: from tokens to instructions, by recursive descent. */
#include "core/expr/code.h"
#include "core/expr/lex.h"

#include <stdio.h>

struct parser {
	struct lexer lex;
	struct token token; /* the next token */
	size_t base;        /* the place of the text in its source */
	const struct expr_names *names;
	struct arena *arena;
	struct instruction *code;
	struct expr_value *constant;
	unsigned n, constants, stack, deepest, depth;
	unsigned landing; /* the last target of a jump */
	bool has_names;
};

static const char *const token_words[TOK_COUNT] = {
	[TOK_ROUND] = "'('",      [TOK_ROUND_END] = "')'", [TOK_SQUARE] = "'['",
	[TOK_SQUARE_END] = "']'", [TOK_CURLY] = "'{'",     [TOK_CURLY_END] = "'}'",
	[TOK_COLON] = "':'",      [TOK_COMMA] = "','",     [TOK_END] = "the end",
};

/* --- instructions --- */

/* Adds an instruction, which changes the height of the stack by `grow`. */
static enum err emit(struct parser *p, enum expr_op op, unsigned arg, unsigned argc, int grow, size_t at)
{
	struct instruction *code = arena_grow(p->arena, p->code, p->n, sizeof *code);
	if (!code)
		return E_NOMEM;
	p->code = code;
	code[p->n++] = (struct instruction){ (uint8_t)op, (uint8_t)argc, arg, (uint32_t)(p->base + at) };
	p->stack = (unsigned)((int)p->stack + grow);
	if (p->stack > p->deepest)
		p->deepest = p->stack;
	return OK;
}

static enum err emit_constant(struct parser *p, enum expr_op op, struct expr_value v, unsigned argc, int grow,
			      size_t at)
{
	struct expr_value *all = arena_grow(p->arena, p->constant, p->constants, sizeof *all);
	if (!all)
		return E_NOMEM;
	p->constant = all;
	all[p->constants] = v;
	return emit(p, op, p->constants++, argc, grow, at);
}

static enum err emit_text(struct parser *p, enum expr_op op, struct str s, unsigned argc, int grow, size_t at)
{
	return emit_constant(p, op, (struct expr_value){ .kind = EXPR_STRING, .str = s }, argc, grow, at);
}

/* Makes instruction `jump` lead to the next instruction. */
static void land_here(struct parser *p, unsigned jump)
{
	p->code[jump].arg = p->landing = p->n;
}

/* --- tokens --- */

static enum err next_token(struct parser *p)
{
	return lex_next(&p->lex, &p->token);
}

#define refuse(p, at, ...) why_set((p)->lex.why, E_INPUT, at, __VA_ARGS__)

/* The next token, for a message. */
static const char *found_text(const struct parser *p, char text[64])
{
	if (p->token.kind == TOK_END)
		return token_words[TOK_END];
	struct str s = str_sub(p->lex.text, p->token.at, p->token.end);
	snprintf(text, 64, "'%.*s'", STR_SHORT(s));
	return text;
}

static enum err expect_token(struct parser *p, enum token_kind kind, const char *after)
{
	char text[64];
	if (p->token.kind != kind)
		return refuse(p, p->token.at, "expected %s %s, found %s", token_words[kind], after,
			      found_text(p, text));
	return next_token(p);
}

const char *expr_near(struct str name, const struct expr_names *names, struct arena *a)
{
	struct str best = { 0 };
	unsigned least = name.n < 5 ? 2 : 3;
	for (unsigned i = 0; names && i < names->n && i < NEAR_NAMES_MAX; i++) {
		unsigned d = str_distance(name, names->name[i], 2);
		if (d < least) {
			least = d;
			best = names->name[i];
		}
	}
	const char *text = best.n ? arena_printf(a, " (near: %.*s)", STR_SHORT(best)) : NULL;
	return text ? text : "";
}

/* --- grammar --- */

static enum err read_expression(struct parser *p);

/* Reads expressions, or pairs of them, separated by commas, up to `end`; the opening bracket was read
 * already. `loose`: a comma after the last one is allowed. */
static enum err read_several(struct parser *p, enum token_kind end, bool pairs, bool loose, unsigned *count)
{
	enum err e = OK;
	*count = 0;
	while (p->token.kind != end || (*count && !loose)) {
		e = read_expression(p);
		if (!e && pairs)
			e = expect_token(p, TOK_COLON, "after a key");
		if (!e && pairs)
			e = read_expression(p);
		if (e)
			return e;
		++*count;
		char text[64];
		if (p->token.kind == end)
			break;
		if (p->token.kind != TOK_COMMA)
			return refuse(p, p->token.at, "expected ',' or %s, found %s", token_words[end],
				      found_text(p, text));
		e = next_token(p);
		if (e)
			return e;
	}
	return next_token(p);
}

const char *expr_unknown_function(struct str name, struct arena *a)
{
	/* Functions of CEL that rota does not have; other names are misspelt. */
	static const char *const cel[] = { "all",     "exists", "exists_one", "map", "filter",
					   "matches", "type",   "dyn",        "int", "uint",
					   "double",  "string", "bytes",      "bool" };
	struct str known[32];
	struct expr_names names = { known, 0 };
	const char *text = NULL;
	for (size_t i = 0; i < ARRAY_LEN(cel); i++)
		if (str_eq(name, str_of(cel[i])))
			text = arena_printf(a, "%s() is part of CEL, but rota does not support it", cel[i]);
	for (const struct expr_function *f = expr_functions; f->name && names.n < ARRAY_LEN(known); f++) {
		known[names.n++] = str_of(f->name);
		if (str_eq(name, str_of(f->name)))
			text = arena_printf(a,
					    f->method ? "%s() is called on a value: x.%s()"
						      : "%s() is not called on a value: %s(x)",
					    f->name, f->name);
	}
	if (!text)
		text = arena_printf(a, "there is no function %.*s()%s", STR_SHORT(name),
				    expr_near(name, &names, a));
	return text ? text : "there is no such function";
}

static enum err emit_unknown(struct parser *p, struct str name, unsigned argc, size_t at)
{
	if (!p->names && argc <= UINT8_MAX)
		return emit_text(p, DO_UNKNOWN, name, argc, 1 - (int)argc, at);
	return refuse(p, at, "%s", expr_unknown_function(name, p->arena));
}

/* Reads a call after its name and '('. The value before the dot of a method is on the stack already. */
static enum err read_call(struct parser *p, struct str name, bool method, size_t at)
{
	unsigned argc;
	enum err e = read_several(p, TOK_ROUND_END, false, false, &argc);
	if (e)
		return e;
	argc += method;
	const struct expr_function *f = expr_functions;
	while (f->name && (!str_eq(name, str_of(f->name)) || !(method ? f->method : f->global)))
		f++;
	if (!f->name)
		return emit_unknown(p, name, argc, at);
	if (argc < f->least || argc > f->most)
		return refuse(p, at, "%s() takes %u%s argument%s, not %u", f->name, f->least - method,
			      f->most > f->least ? " or 1" : "", f->most - method == 1 ? "" : "s",
			      argc - method);
	return emit(p, DO_CALL, (unsigned)(f - expr_functions), argc, 1 - (int)argc, at);
}

/* has(a.b): turns the selection into a test. */
static enum err read_has(struct parser *p, size_t at)
{
	size_t from = p->token.at;
	enum err e = read_expression(p);
	if (!e)
		e = expect_token(p, TOK_ROUND_END, "after the field of has()");
	if (e)
		return e;
	struct instruction *last = &p->code[p->n - 1];
	if (last->op != DO_SELECT || p->landing == p->n)
		return refuse(p, from, "has() takes a field, such as has(user.name)");
	last->op = DO_HAS;
	last->at = (uint32_t)(p->base + at);
	return OK;
}

static enum err read_name(struct parser *p)
{
	struct token t = p->token;
	enum err e = next_token(p);
	if (e)
		return e;
	if (p->token.kind == TOK_ROUND) {
		e = next_token(p);
		if (e)
			return e;
		return str_eq(t.str, STR("has")) ? read_has(p, t.at) : read_call(p, t.str, false, t.at);
	}
	if (lex_reserved(t.str))
		return refuse(p, t.at, "'%.*s' is a reserved word", STR_SHORT(t.str));
	bool known = !p->names || str_eq(t.str, STR("now"));
	for (unsigned i = 0; !known && i < p->names->n; i++)
		known = str_eq(t.str, p->names->name[i]);
	if (!known)
		return refuse(p, t.at, "'%.*s' is not a name in scope%s", STR_SHORT(t.str),
			      expr_near(t.str, p->names, p->arena));
	p->has_names = true;
	return emit_text(p, DO_NAME, t.str, 0, 1, t.at);
}

static enum err read_literal(struct parser *p, bool minus)
{
	struct token t = p->token;
	struct expr_value v = { 0 };
	switch (t.kind) {
	case TOK_INT:
		if (t.number > (uint64_t)INT64_MAX + minus)
			return refuse(p, t.at, "the number does not fit a 64-bit int");
		v.kind = EXPR_INT;
		v.integer = (int64_t)(minus ? -t.number : t.number);
		break;
	case TOK_UINT:
		v.kind = EXPR_UINT;
		v.whole = t.number;
		break;
	case TOK_DOUBLE:
		v.kind = EXPR_DOUBLE;
		v.real = minus ? -t.real : t.real;
		break;
	case TOK_STRING:
	case TOK_BYTES:
		v.kind = t.kind == TOK_STRING ? EXPR_STRING : EXPR_BYTES;
		v.str = t.str;
		break;
	case TOK_TRUE:
	case TOK_FALSE:
		v.kind = EXPR_BOOL;
		v.boolean = t.kind == TOK_TRUE;
		break;
	default:
		v.kind = EXPR_NULL;
	}
	enum err e = emit_constant(p, DO_CONST, v, 0, 1, t.at);
	return e ? e : next_token(p);
}

static enum err read_primary(struct parser *p, bool minus)
{
	size_t at = p->token.at;
	unsigned n;
	char text[64];
	enum token_kind kind = p->token.kind;
	enum err e;
	switch (kind) {
	case TOK_INT:
	case TOK_UINT:
	case TOK_DOUBLE:
	case TOK_STRING:
	case TOK_BYTES:
	case TOK_TRUE:
	case TOK_FALSE:
	case TOK_NULL:
		return read_literal(p, minus);
	case TOK_NAME:
		return read_name(p);
	case TOK_DOT: /* .name means name: rota has no containers */
		e = next_token(p);
		if (!e && p->token.kind != TOK_NAME)
			e = refuse(p, p->token.at, "expected a name after '.', found %s",
				   found_text(p, text));
		return e ? e : read_name(p);
	case TOK_ROUND:
		e = next_token(p);
		if (!e)
			e = read_expression(p);
		return e ? e : expect_token(p, TOK_ROUND_END, "to close '('");
	case TOK_SQUARE:
	case TOK_CURLY:
		e = next_token(p);
		if (!e)
			e = read_several(p, kind == TOK_SQUARE ? TOK_SQUARE_END : TOK_CURLY_END,
					 kind == TOK_CURLY, true, &n);
		if (e)
			return e;
		return kind == TOK_SQUARE ? emit(p, DO_LIST, n, 0, 1 - (int)n, at)
					  : emit(p, DO_MAP, n, 0, 1 - 2 * (int)n, at);
	default:
		return refuse(
			p, at,
			"expected a value (a name, number, text in quotes, true, false, null, '(', '[' or "
			"'{'), found %s",
			found_text(p, text));
	}
}

/* A value with its fields, indices and methods. */
static enum err read_member(struct parser *p, bool minus)
{
	char text[64];
	enum err e = read_primary(p, minus);
	while (!e && (p->token.kind == TOK_DOT || p->token.kind == TOK_SQUARE)) {
		size_t at = p->token.at;
		bool dot = p->token.kind == TOK_DOT;
		e = next_token(p);
		if (e)
			return e;
		if (!dot) {
			e = read_expression(p);
			if (!e)
				e = expect_token(p, TOK_SQUARE_END, "to close '['");
			if (!e)
				e = emit(p, DO_INDEX, 0, 0, -1, at);
			continue;
		}
		struct token t = p->token;
		if (t.kind != TOK_NAME && t.kind != TOK_FIELD)
			return refuse(p, t.at, "expected the name of a field after '.', found %s",
				      found_text(p, text));
		e = next_token(p);
		if (!e && t.kind == TOK_NAME && p->token.kind == TOK_ROUND) {
			e = next_token(p);
			if (!e)
				e = read_call(p, t.str, true, t.at);
		} else if (!e) {
			e = emit_text(p, DO_SELECT, t.str, 0, 0, t.at);
		}
	}
	return e;
}

static enum err read_unary(struct parser *p)
{
	enum token_kind kind = p->token.kind;
	size_t from = p->token.at;
	unsigned n = 0;
	if (kind != TOK_NOT && kind != TOK_SUB)
		return read_member(p, false);
	for (; p->token.kind == kind; n++) {
		enum err e = next_token(p);
		if (e)
			return e;
	}
	/* A minus before a number is part of it, so that the smallest int can be written. */
	bool minus = kind == TOK_SUB && (p->token.kind == TOK_INT || p->token.kind == TOK_DOUBLE);
	enum err e = read_member(p, minus);
	for (unsigned i = minus; !e && i < n; i++)
		e = emit(p, kind == TOK_NOT ? DO_NOT : DO_NEGATE, 0, 0, 0, from);
	return e;
}

static const struct {
	uint8_t level;    /* precedence; 0: not a binary operator */
	uint8_t op, skip; /* skip: the jump that leaves out the right side */
} infix[TOK_COUNT] = {
	[TOK_OR] = { 1, DO_OR, DO_IF_TRUE },
	[TOK_AND] = { 2, DO_AND, DO_IF_FALSE },
	[TOK_EQ] = { 3, DO_EQ },
	[TOK_NE] = { 3, DO_NE },
	[TOK_LT] = { 3, DO_LT },
	[TOK_LE] = { 3, DO_LE },
	[TOK_GT] = { 3, DO_GT },
	[TOK_GE] = { 3, DO_GE },
	[TOK_IN] = { 3, DO_IN },
	[TOK_ADD] = { 4, DO_ADD },
	[TOK_SUB] = { 4, DO_SUB },
	[TOK_MUL] = { 5, DO_MUL },
	[TOK_DIV] = { 5, DO_DIV },
	[TOK_MOD] = { 5, DO_MOD },
};

/* Reads operators of `level` and above, which group from the left. */
static enum err read_binary(struct parser *p, unsigned level)
{
	enum err e = read_unary(p);
	while (!e && infix[p->token.kind].level >= level) {
		enum token_kind kind = p->token.kind;
		size_t at = p->token.at;
		unsigned skip = p->n;
		if (infix[kind].skip)
			e = emit(p, infix[kind].skip, 0, 0, 0, at);
		if (!e)
			e = next_token(p);
		if (!e)
			e = read_binary(p, infix[kind].level + 1);
		if (!e)
			e = emit(p, infix[kind].op, 0, 0, -1, at);
		if (!e && infix[kind].skip)
			land_here(p, skip);
	}
	return e;
}

/* Reads a ? b : c ? d : e, without recursion after ':'. While the end is not known, the jumps to it form a
 * list: the argument of each is the jump before it. */
static enum err read_conditional(struct parser *p)
{
	unsigned ends = UINT32_MAX;
	enum err e = read_binary(p, 1);
	while (!e && p->token.kind == TOK_QUESTION) {
		unsigned branch = p->n;
		e = emit(p, DO_BRANCH, 0, 0, -1, p->token.at);
		if (!e)
			e = next_token(p);
		if (!e)
			e = read_binary(p, 1);
		if (!e)
			e = expect_token(p, TOK_COLON, "after the first choice of '?'");
		if (!e)
			e = emit(p, DO_JUMP, ends, 0, -1, p->token.at);
		if (e)
			return e;
		ends = p->n - 1;
		land_here(p, branch);
		e = read_binary(p, 1);
	}
	while (!e && ends != UINT32_MAX) {
		unsigned before = p->code[ends].arg;
		land_here(p, ends);
		ends = before;
	}
	return e;
}

static enum err read_expression(struct parser *p)
{
	if (p->depth == CEL_DEPTH_MAX)
		return why_set(p->lex.why, E_LIMIT, p->token.at, "the expression is nested more than %d deep",
			       CEL_DEPTH_MAX);
	p->depth++;
	enum err e = read_conditional(p);
	p->depth--;
	return e;
}

enum err expr_compile_front(struct str text, size_t base, const struct expr_names *names, struct arena *a,
			    const struct expr **ret, size_t *end, struct why *why)
{
	bool cut = text.n > CEL_BYTES_MAX;
	struct why where = { 0 };
	struct expr *x = arena_alloc(a, sizeof *x);
	if (!x)
		return E_NOMEM;
	text.n = cut ? CEL_BYTES_MAX : text.n;
	struct parser p = { .lex = { .text = text, .cut = cut, .arena = a, .why = &where },
			    .base = base,
			    .names = names,
			    .arena = a };
	enum err e = next_token(&p);
	if (!e && p.token.kind == TOK_END)
		e = refuse(&p, p.token.at, "an expression is missing");
	if (!e)
		e = read_expression(&p);
	if (e)
		return e == E_NOMEM ? e : why_set(why, e, base + where.at, "%s", where.text);
	*x = (struct expr){ p.code, p.constant, p.n, p.deepest, p.has_names };
	*ret = x;
	*end = p.token.at;
	return OK;
}

enum err expr_compile(struct str text, const struct expr_names *names, struct arena *a,
		      const struct expr **ret, struct why *why)
{
	static const struct {
		const char *word, *mark;
	} english[] = { { "and", "&&" }, { "or", "||" }, { "not", "!" }, { "is", "==" } };
	size_t end;
	const struct expr *x;
	char *copy = arena_dup(a, text);
	if (!copy)
		return E_NOMEM;
	text.p = copy;
	enum err e = expr_compile_front(text, 0, names, a, &x, &end, why);
	if (e)
		return e;
	if (end < text.n) {
		struct str rest = str_from(text, end), word = rest;
		word.n = 0;
		while (word.n < rest.n && is_alpha(rest.p[word.n]))
			word.n++;
		for (size_t i = 0; i < ARRAY_LEN(english); i++)
			if (str_ieq(word, str_of(english[i].word)))
				return why_set(why, E_INPUT, end, "'%.*s' is not an operator; write '%s'",
					       STR_SHORT(word), english[i].mark);
		return why_set(why, E_INPUT, end, "expected an operator or the end, found '%.*s'",
			       STR_SHORT(rest));
	}
	*ret = x;
	return OK;
}

bool expr_has_names(const struct expr *e)
{
	return e->names;
}
