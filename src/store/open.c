/* The choice of a store. There is only one kind so far, so the directory is not examined. */
#include "store/open.h"
#include "store/sqlite/kind.h"

static const struct store_kind *kind_of(const char *data)
{
	(void)data;
	return &sqlite_kind;
}

enum err store_open(const char *data, struct store **ret, struct why *why)
{
	return kind_of(data)->open(data, ret, why);
}

void store_name(const char *data, char *ret, size_t room)
{
	kind_of(data)->name(data, ret, room);
}

enum err store_check(const char *data, struct why *why)
{
	return kind_of(data)->check(data, why);
}

enum err store_backup(const char *data, const char *file, uint64_t *bytes, struct why *why)
{
	return kind_of(data)->backup(data, file, bytes, why);
}

enum err store_restore(const char *data, const char *file, uint64_t last_run, struct wall now, char *aside,
		       size_t room, struct why *why)
{
	return kind_of(data)->restore(data, file, last_run, now, aside, room, why);
}
