#pragma once
/* Numbers that the store gave out in blocks (ST_NUMBERS): one block in use and one in reserve, so that no
 * caller waits for the next block as long as the store answers in time. */
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

struct number_blocks {
	uint64_t next, reserve;      /* the first number of the block in use, and of the one after it */
	uint32_t left, reserve_left; /* how many numbers are left in each */
	bool asked;                  /* a block was requested and has not come yet */
};

static inline bool number_blocks_ready(const struct number_blocks *b)
{
	return b->left || b->reserve_left;
}

/* To be called only if a number is ready. */
static inline uint64_t number_blocks_take(struct number_blocks *b)
{
	assert(number_blocks_ready(b));
	if (!b->left) {
		b->next = b->reserve;
		b->left = b->reserve_left;
		b->reserve_left = 0;
	}
	b->left--;
	return b->next++;
}

/* True once if there is no reserve: the caller must ask for a block. */
static inline bool number_blocks_ask(struct number_blocks *b)
{
	bool ask = !b->asked && !b->reserve_left;
	b->asked |= ask;
	return ask;
}

/* Adds the block that the store has given. */
static inline void number_blocks_add(struct number_blocks *b, uint64_t first, uint32_t n)
{
	b->asked = false;
	b->reserve = first;
	b->reserve_left = n;
}
