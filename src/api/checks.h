#pragma once
/* The results of `rota doctor`, as items of a JSON list: what was checked, its state, and what to do. Both
 * the handler (api/handlers/doctor.c) and the verb (admin/doctor.c) add items. */
#include "base/buf.h"

enum check_state { CHECK_OK, CHECK_WARN, CHECK_FAIL };
extern const char *const check_state_words[];

/* Adds a result. `advice`: what to do; NULL: nothing. */
void check_add(struct buf *out, enum check_state state, const char *what, const char *advice, const char *fmt,
	       ...) printf_like(5, 6);
/* What to do about an error of the system or of the store, by its text. */
const char *check_advice(const char *text);

/* Checks how much space is free, and that the file system can be written. */
void check_disk(struct buf *out, const char *path);
/* Checks that the directory exists and that no other user can read it. */
void check_directory(struct buf *out, const char *what, const char *path);
