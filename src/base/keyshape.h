#pragma once
/* Words that look like API keys of well-known services. A header only: the shim is not linked with base. */
#include <stdbool.h>
#include <stddef.h>

/* A word that begins with `prefix` and has at least `min` bytes is a key. */
static const struct {
	const char *prefix;
	size_t min; /* bytes, prefix included */
} key_shapes[] = {
	{ "sk-", 24 },   { "AKIA", 20 },        { "ghp_", 24 },   { "gho_", 24 },
	{ "ghs_", 24 },  { "github_pat_", 40 }, { "glpat-", 20 }, { "xoxb-", 24 },
	{ "xoxp-", 24 }, { "AIza", 35 },        { "hf_", 24 },    { "rota_", 32 },
};

/* Can c be part of such a word? */
static inline bool key_in_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       c == '-';
}
