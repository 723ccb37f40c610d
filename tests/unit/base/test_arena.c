/* Arenas and buffers. */
#include "base/arena.h"
#include "base/buf.h"
#include "test.h"

TEST(arena_gives_zeroed_aligned_memory)
{
	struct arena a = { 0 };
	for (size_t size = 0; size < 40000; size = size * 2 + 1) {
		char *p = arena_alloc(&a, size);
		CHECK_INT((uintptr_t)p % 16, 0);
		for (size_t i = 0; i < size; i++)
			if (p[i])
				CHECK(false);
		memset(p, 0xAB, size);
	}
	arena_reset(&a);
	char *again = arena_alloc(&a, 64);
	arena_reset(&a);
	CHECK(arena_alloc(&a, 64) == again); /* the chunk is used again from its start */
	CHECK_INT(again[63], 0);             /* the memory is zeroed again */
	CHECK_STR(arena_printf(&a, "%d-%s", 7, "x"), "7-x");
	CHECK_STR(arena_dup(&a, STR("copy")), "copy");
	arena_free(&a);
	arena_free(&a); /* a second call is safe */
}

TEST(buf_grows_and_ends_with_zero)
{
	struct buf b = { 0 };
	CHECK_INT(buf_str(&b).n, 0);
	for (unsigned i = 0; i < 1000; i++)
		buf_addf(&b, "%u,", i);
	CHECK_INT(b.n, 3890);
	CHECK_INT(strlen(b.p), b.n);
	buf_addc(&b, 'z');
	CHECK_INT(b.p[b.n - 1], 'z');
	buf_free(&b);
	CHECK(!b.p && !b.n);
}
