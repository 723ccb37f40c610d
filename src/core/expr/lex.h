#pragma once
/* Splits an expression into tokens. Pure. */
#include "base/arena.h"
#include "base/err.h"

enum token_kind {
	TOK_END,
	TOK_NAME,
	TOK_FIELD, /* `in backticks`: a field whose name is not a TOK_NAME */
	TOK_INT,
	TOK_UINT,
	TOK_DOUBLE,
	TOK_STRING,
	TOK_BYTES,
	TOK_TRUE,
	TOK_FALSE,
	TOK_NULL,
	TOK_OR,
	TOK_AND,
	TOK_EQ,
	TOK_NE,
	TOK_LT,
	TOK_LE,
	TOK_GT,
	TOK_GE,
	TOK_IN,
	TOK_ADD,
	TOK_SUB,
	TOK_MUL,
	TOK_DIV,
	TOK_MOD,
	TOK_NOT,
	TOK_QUESTION,
	TOK_COLON,
	TOK_DOT,
	TOK_COMMA,
	TOK_ROUND,
	TOK_ROUND_END,
	TOK_SQUARE,
	TOK_SQUARE_END,
	TOK_CURLY,
	TOK_CURLY_END,
	TOK_COUNT
};

struct token {
	enum token_kind kind;
	size_t at, end; /* byte offsets in the text */
	union {
		struct str str;  /* names, strings, bytes */
		uint64_t number; /* without its sign: a minus is a token of its own */
		double real;
	};
};

struct lexer {
	struct str text; /* strings of tokens point into it, or into the arena if they have escapes */
	size_t at;
	bool cut; /* the text was longer than CEL_BYTES_MAX and was cut */
	struct arena *arena;
	struct why *why;
};

must_check enum err lex_next(struct lexer *l, struct token *ret);
/* Is it one of CEL's reserved words, which can be fields but not names? */
bool lex_reserved(struct str word);
