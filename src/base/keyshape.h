#pragma once
/* Words that have the shape of well-known keys. A header alone: the shim is linked with next to nothing. */
#include <stdbool.h>
#include <stddef.h>

/* Words that begin so, and go on for at least so many bytes, are keys. */
static const struct {
	const char *prefix;
	size_t min; /* with the prefix */
} key_shapes[] = {
	{ "sk-", 24 },   { "AKIA", 20 },        { "ghp_", 24 },   { "gho_", 24 },
	{ "ghs_", 24 },  { "github_pat_", 40 }, { "glpat-", 20 }, { "xoxb-", 24 },
	{ "xoxp-", 24 }, { "AIza", 35 },        { "hf_", 24 },    { "rota_", 32 },
};

static inline bool key_in_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       c == '-';
}
