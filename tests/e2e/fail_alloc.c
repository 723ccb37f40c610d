/* For LD_PRELOAD: allocation number $FAIL_ALLOC of the process fails. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>

static bool fails(void)
{
	static int left = -1;
	if (left < 0) {
		const char *n = getenv("FAIL_ALLOC");
		left = n ? atoi(n) : 0;
	}
	return left > 0 && --left == 0;
}

void *malloc(size_t size)
{
	static void *(*real)(size_t);
	if (!real)
		real = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
	return fails() ? NULL : real(size);
}

void *realloc(void *p, size_t size)
{
	static void *(*real)(void *, size_t);
	if (!real)
		real = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
	return fails() ? NULL : real(p, size);
}

/* dlsym itself may call calloc: it gets memory of a static array, which is never freed. */
void *calloc(size_t n, size_t size)
{
	static void *(*real)(size_t, size_t);
	static _Alignas(16) char early[4096];
	static size_t used;
	static bool looking;
	if (!real && !looking) {
		looking = true;
		real = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
	}
	if (!real) {
		used += n * size;
		return early + used - n * size;
	}
	return fails() ? NULL : real(n, size);
}
