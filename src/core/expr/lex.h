#pragma once
/* The words of an expression. Pure. */
#include "base/arena.h"
#include "base/err.h"

enum token_kind {
	TOK_END,
	TOK_NAME,
	TOK_FIELD, /* `in backticks`: the name of a field that is no word */
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
	size_t at, end; /* in the text */
	union {
		struct str str;  /* names, strings, bytes */
		uint64_t number; /* its magnitude: what stands before it may be a minus */
		double real;
	};
};

struct lexer {
	struct str text; /* strings of tokens point into it where they have no escapes, else into the arena */
	size_t at;
	bool cut; /* the text goes on, and is too long */
	struct arena *arena;
	struct why *why;
};

must_check enum err lex_next(struct lexer *l, struct token *ret);
/* A word of CEL's that may not be a name, but may be a field. */
bool lex_reserved(struct str word);
