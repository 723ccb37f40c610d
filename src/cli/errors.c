/* Prints errors and warnings on one line with their position. */
#include "cli/errors.h"

#include "base/buf.h"
#include "cli/table.h"

static void print_message(FILE *to, const char *kind, enum err e, const struct why *why, struct str source,
			  const char *source_name)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	err_describe(e, why, source, &text);
	print(to, "rota: ");
	if (source_name && why->at != WHY_NOWHERE) {
		print_text(to, str_of(source_name));
		print(to, ": ");
	}
	print(to, "%s", kind);
	print_indented(to, buf_str(&text), 6);
	print(to, "\n");
}

void print_error(FILE *to, enum err e, const struct why *why, struct str source, const char *source_name)
{
	print_message(to, "", e, why, source, source_name);
}

void print_warning(FILE *to, const struct why *why, struct str source, const char *source_name)
{
	print_message(to, "warning: ", OK, why, source, source_name);
}
