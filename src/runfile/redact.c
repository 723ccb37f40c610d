/* Finds secrets byte by byte, and replaces them. */
#include "runfile/redact.h"
#include "base/keyshape.h"
#include "base/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The index in `known` of the bit for the first SECRET_BYTES_MIN bytes of a secret. */
static unsigned bit_of(const char *p)
{
	uint32_t v;
	static_assert(SECRET_BYTES_MIN >= sizeof v, "every secret has so many bytes");
	memcpy(&v, p, sizeof v);
	return v * 2654435761u >> 16;
}

int redact_init(struct redact *r, const struct str *secret, unsigned secrets)
{
	*r = (struct redact){ .secret = secret, .secrets = secrets };
	for (unsigned i = 0; i < ARRAY_LEN(key_shapes); i++) {
		r->first[(unsigned char)key_shapes[i].prefix[0]] = true;
		r->longest = key_shapes[i].min > r->longest ? key_shapes[i].min : r->longest;
	}
	for (unsigned i = 0; i < secrets; i++) {
		if (secret[i].n < SECRET_BYTES_MIN)
			continue;
		r->known[bit_of(secret[i].p) / 8] |= (unsigned char)(1u << bit_of(secret[i].p) % 8);
		r->first[(unsigned char)secret[i].p[0]] = true;
		r->longest = secret[i].n > r->longest ? secret[i].n : r->longest;
	}
	r->held = malloc(r->longest + REDACT_PIECE);
	return r->held ? 0 : ENOMEM;
}

/* The length of the longest secret of the list that begins at `p`; 0: none. `open`: with more bytes, a longer
 * secret may begin there. */
static size_t secret_at(const struct redact *r, const char *p, size_t n, bool *open)
{
	size_t best = 0;
	if (n >= SECRET_BYTES_MIN && !(r->known[bit_of(p) / 8] >> bit_of(p) % 8 & 1))
		return 0;
	for (unsigned i = 0; i < r->secrets; i++) {
		const struct str *s = &r->secret[i];
		if (s->n < SECRET_BYTES_MIN || s->p[0] != p[0])
			continue;
		if (s->n <= n && memcmp(s->p, p, s->n) == 0)
			best = s->n > best ? s->n : best;
		else if (s->n > n && memcmp(s->p, p, n) == 0)
			*open = true;
	}
	return best;
}

/* The same for key shapes. Returns the minimal length of the key; the rest of its word must be masked,
 * too. */
static size_t key_at(const char *p, size_t n, bool *open)
{
	for (unsigned i = 0; i < ARRAY_LEN(key_shapes); i++) {
		size_t k = strlen(key_shapes[i].prefix);
		if (memcmp(key_shapes[i].prefix, p, k < n ? k : n) != 0)
			continue;
		size_t word = 0;
		while (word < n && word < key_shapes[i].min && key_in_word(p[word]))
			word++;
		if (word == key_shapes[i].min)
			return word;
		*open |= word == n;
	}
	return 0;
}

static void scan(struct redact *r, bool end, redact_sink *sink, void *ctx)
{
	const char *p = r->held;
	size_t n = r->held_n, i = 0, clear = 0; /* clear: the first byte that was not passed on yet */
	for (; i < n; i++) {
		if (r->word && r->masked == 0) {
			if (key_in_word(p[i]))
				r->masked = 1;
			else
				r->word = false;
		}
		bool hidden = r->masked > 0;
		if (r->first[(unsigned char)p[i]]) {
			bool open = false;
			size_t hit = secret_at(r, p + i, n - i, &open);
			size_t key = key_in_word(i ? p[i - 1] : r->before) ? 0 : key_at(p + i, n - i, &open);
			if (open && !end)
				break;
			r->word |= key > 0;
			hit = key > hit ? key : hit;
			if (hit && !hidden) {
				sink(ctx, p + clear, i - clear);
				sink(ctx, REDACT_MASK, sizeof REDACT_MASK - 1);
				hidden = true;
			}
			r->masked = hit > r->masked ? hit : r->masked;
		}
		if (hidden) {
			clear = i + 1;
			r->masked--;
		}
	}
	sink(ctx, p + clear, i - clear);
	if (i > 0)
		r->before = p[i - 1];
	memmove(r->held, p + i, n - i);
	r->held_n = n - i;
}

void redact(struct redact *r, const char *p, size_t n, redact_sink *sink, void *ctx)
{
	assert(n <= REDACT_PIECE && r->held_n < r->longest);
	memcpy(r->held + r->held_n, p, n);
	r->held_n += n;
	scan(r, false, sink, ctx);
}

void redact_end(struct redact *r, redact_sink *sink, void *ctx)
{
	scan(r, true, sink, ctx);
}

void redact_reset(struct redact *r)
{
	r->held_n = r->masked = 0;
	r->word = false;
	r->before = 0;
}
