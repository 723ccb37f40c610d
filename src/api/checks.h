#pragma once
/* The results of `rota doctor`, as items of a JSON list: what is checked, its state, and what to do. The
 * handler (api/handlers/doctor.c) and the verb (admin/doctor.c) add to it. */
#include "base/buf.h"

enum check_state { CHECK_OK, CHECK_WARN, CHECK_FAIL };
extern const char *const check_state_words[];

/* `advice`: what to do; NULL: nothing. */
void check_add(struct buf *out, enum check_state state, const char *what, const char *advice, const char *fmt,
	       ...) printf_like(5, 6);
/* What to do about an error of the system or of SQLite, by its text. */
const char *check_advice(const char *text);

/* How much room is left, and whether it can be written. */
void check_disk(struct buf *out, const char *path);
/* It is there, and is ours alone. */
void check_directory(struct buf *out, const char *what, const char *path);
