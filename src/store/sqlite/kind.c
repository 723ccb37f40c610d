/* Opens, checks, copies and restores the database of a data directory. */
#include "store/sqlite/kind.h"
#include "store/sqlite/backup.h"
#include "store/sqlite/file.h"
#include "store/sqlite/restore.h"
#include "store/sqlite/store.h"

#include <stdio.h>

static void database_path(char ret[static PATH_MAX], const char *data)
{
	file_path(ret, data, "/rota.db");
}

static void write_name(const char *data, char *ret, size_t room)
{
	char path[PATH_MAX];
	database_path(path, data);
	snprintf(ret, room, "%s", path);
}

static enum err open_database(const char *data, struct store **ret, struct why *why)
{
	char path[PATH_MAX], aside[PATH_MAX];
	database_path(path, data);
	enum err e = restore_finish(path, aside, sizeof aside, why);
	return e ? e : store_sqlite_open(path, ret, why);
}

static enum err check_database(const char *data, struct why *why)
{
	char path[PATH_MAX];
	database_path(path, data);
	return store_sqlite_check(path, why);
}

static enum err backup_database(const char *data, const char *file, uint64_t *bytes, struct why *why)
{
	char path[PATH_MAX];
	database_path(path, data);
	return backup_make(path, file, bytes, why);
}

static enum err restore_database(const char *data, const char *file, uint64_t last_run, struct wall now,
				 char *aside, size_t room, struct why *why)
{
	char path[PATH_MAX], generation[PATH_MAX];
	database_path(path, data);
	file_beside(generation, path, "generation");
	return restore_backup(&(struct restore_request){ path, generation, last_run, now }, file, aside, room,
			      why);
}

const struct store_kind sqlite_kind = {
	.name = write_name,
	.open = open_database,
	.check = check_database,
	.backup = backup_database,
	.restore = restore_database,
};
