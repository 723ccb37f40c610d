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

/* The stable hash of one field of one schedule: the hash of "id/field". */
static inline uint64_t hash_field(struct str id, struct str field)
{
	return fnv1a(fnv1a(fnv1a(FNV_START, id), STR("/")), field);
}
