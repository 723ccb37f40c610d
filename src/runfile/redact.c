/* Finds secrets byte by byte, and replaces them. */
#include "runfile/redact.h"
#include "base/keyshape.h"
#include "base/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The list of secrets that begin like p, which has at least SECRET_BYTES_MIN bytes. */
static unsigned hash_of(const struct redact *r, const char *p)
{
	uint32_t v;
	static_assert(SECRET_BYTES_MIN >= sizeof v, "every secret has so many bytes");
	memcpy(&v, p, sizeof v);
	return v * 2654435761u >> (32 - r->hash_bits);
}

static void add_to_list(uint32_t *list, uint32_t *next, unsigned secret)
{
	next[secret] = *list;
	*list = secret + 1;
}

/* Without the lists, a text that repeats the beginning of one secret would be compared with all of them at
 * every byte. */
static bool make_lists(struct redact *r)
{
	enum { BITS_MIN = 4, BYTES = 256 };
	r->hash_bits = BITS_MIN;
	while (r->hash_bits < 20 && 1u << r->hash_bits < 2 * r->secrets)
		r->hash_bits++;
	size_t lists = (size_t)1 << r->hash_bits;
	r->by_start = calloc(lists + BYTES + 2 * (size_t)r->secrets, sizeof *r->by_start);
	if (!r->by_start)
		return false;
	r->by_byte = r->by_start + lists;
	r->next_by_start = r->by_byte + BYTES;
	r->next_by_byte = r->next_by_start + r->secrets;
	return true;
}

int redact_init(struct redact *r, const struct str *secret, unsigned secrets)
{
	*r = (struct redact){ .secret = secret, .secrets = secrets };
	for (unsigned i = 0; i < ARRAY_LEN(key_shapes); i++) {
		r->first[(unsigned char)key_shapes[i].prefix[0]] = true;
		r->longest = key_shapes[i].min > r->longest ? key_shapes[i].min : r->longest;
	}
	if (!make_lists(r))
		return ENOMEM;
	for (unsigned i = 0; i < secrets; i++) {
		if (secret[i].n < SECRET_BYTES_MIN)
			continue;
		unsigned char byte = (unsigned char)secret[i].p[0];
		add_to_list(&r->by_start[hash_of(r, secret[i].p)], r->next_by_start, i);
		add_to_list(&r->by_byte[byte], r->next_by_byte, i);
		r->first[byte] = true;
		r->longest = secret[i].n > r->longest ? secret[i].n : r->longest;
	}
	r->held = malloc(r->longest + REDACT_PIECE);
	if (!r->held)
		redact_free(r);
	return r->held ? 0 : ENOMEM;
}

void redact_free(struct redact *r)
{
	if (r->held)
		explicit_bzero(r->held, r->longest + REDACT_PIECE);
	free(r->held);
	free(r->by_start);
	*r = (struct redact){ 0 };
}

/* The length of the longest secret of the list that begins at `p`; 0: none. `open`: with more bytes, a longer
 * secret may begin there. */
static size_t secret_at(const struct redact *r, const char *p, size_t n, bool *open)
{
	size_t best = 0;
	bool whole = n >= SECRET_BYTES_MIN;
	const uint32_t *next = whole ? r->next_by_start : r->next_by_byte;
	uint32_t i = whole ? r->by_start[hash_of(r, p)] : r->by_byte[(unsigned char)p[0]];
	for (; i; i = next[i - 1]) {
		const struct str *s = &r->secret[i - 1];
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
