#pragma once
/* The few compiler attributes and constants every file may use. */
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define must_check           __attribute__((warn_unused_result))
#define printf_like(fmt, at) __attribute__((format(printf, fmt, at)))
/* `_cleanup_(zone_freep) struct zone *z = NULL;` calls zone_freep(&z) at the end of the scope. */
#define _cleanup_(fn) __attribute__((cleanup(fn)))
#define ARRAY_LEN(a)  (sizeof(a) / sizeof((a)[0]))

/* Defines fn##p, which takes a pointer to the handle as _cleanup_ needs it; fn(NULL) must be safe. */
#define DEFINE_CLEANUP(type, fn)                                                                             \
	static inline void fn##p(type *p)                                                                    \
	{                                                                                                    \
		fn(*p);                                                                                      \
	}
