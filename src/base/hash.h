#pragma once
/* 64-bit FNV-1a. The times of H and JITTER and the checksums of run files depend on it, so it must never
 * change; test vectors fix it. Inline only: the shim is not linked with base. */
#include "base/str.h"

#define FNV_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t fnv1a(uint64_t h, struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.p[i]) * UINT64_C(0x100000001b3);
	return h;
}

/* A faster hash for tables in memory: eight bytes at a time. It may change. */
static inline uint64_t hash_text(struct str s)
{
	uint64_t h = FNV_START ^ s.n, word = 0;
	for (; s.n >= sizeof word; s = str_from(s, sizeof word)) {
		memcpy(&word, s.p, sizeof word);
		h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 32;
	}
	word = 0;
	if (s.n)
		memcpy(&word, s.p, s.n);
	h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 32;
}

/* The stable hash of one field of one schedule: the hash of "id/field". */
static inline uint64_t hash_field(struct str id, struct str field)
{
	return fnv1a(fnv1a(fnv1a(FNV_START, id), STR("/")), field);
}
