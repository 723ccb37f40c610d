/* Reads and writes org files. */
#include "cli/plan_file.h"

#include "core/org/stamp.h"
#include "core/when/iso.h"
#include "host/docfile.h"
#include "sys/clock.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

enum err plan_file_read(struct cli_call *call, struct str path, struct org *ret)
{
	struct str text;
	const char *name = arena_dup(call->arena, path);
	enum err e = name ? docfile_text(name, call->arena, &text, call->why) : E_NOMEM;
	if (e)
		return e;
	call->source = text;
	call->source_name = name;
	e = org_read(text, call->arena, ret, call->why);
	return e ? plan_failure(call, e, name) : OK;
}

enum err plan_failure(struct cli_call *call, enum err e, const char *where)
{
	struct why why = *call->why;
	return e == E_NOMEM || why.at != WHY_NOWHERE
		       ? e
		       : why_set(call->why, e, WHY_NOWHERE, "%.100s: %s", where, why.text);
}

/* 0 or an errno. The new file is complete on disk before it replaces the old one. */
static int replace_file(const char *path, const char *temporary, int fd, struct str text)
{
	struct stat old;
	int error = stat(path, &old) < 0 ? errno : 0;
	if (!error)
		error = write_all(fd, text.p, text.n);
	if (!error && (fchmod(fd, old.st_mode & 07777) < 0 || fsync(fd) < 0))
		error = errno;
	/* Only root can give a file to another user; for others it becomes their own, as with any editor. */
	if (!error && (old.st_uid != geteuid() || old.st_gid != getegid()) &&
	    fchown(fd, old.st_uid, old.st_gid) < 0 && geteuid() == 0)
		error = errno;
	if (!error && rename(temporary, path) < 0)
		error = errno;
	return error;
}

enum err plan_file_write(struct cli_call *call, const char *path, struct str text)
{
	char real[PATH_MAX];
	if (!realpath(path, real))
		return why_set(call->why, E_IO, WHY_NOWHERE, "cannot find %.150s: %s", path, strerror(errno));
	char *temporary = arena_printf(call->arena, "%s.XXXXXX", real);
	if (!temporary)
		return E_NOMEM;
	int fd = mkostemp(temporary, O_CLOEXEC), error = fd < 0 ? errno : 0;
	if (!error) {
		error = replace_file(real, temporary, fd, text);
		close(fd);
		if (error)
			unlink(temporary);
	}
	return error ? why_set(call->why, E_IO, WHY_NOWHERE, "cannot write %.150s: %s", path, strerror(error))
		     : OK;
}

enum err plan_check_failure(enum err e)
{
	return err_table[e].exit_code == 1 ? E_INPUT : e;
}

/* --- time --- */

static enum err find_zone(struct cli_call *call, struct plan_clock *ret)
{
	const struct arg *tz = op_arg_if(&call->args, "tz");
	const struct zone_source *zones = zoneinfo_source(call->zones);
	struct settings settings;
	if (tz && tz->given) {
		ret->zone_name = tz->text;
		return cli_option_error(call, "tz", zones_find(zones, tz->text, &ret->zone, call->why));
	}
	enum err e = cli_settings(call, &settings);
	if (e)
		return e;
	ret->zone_name = zoneinfo_local(call->zones);
	for (unsigned i = 0; config_settings[i].key.name; i++)
		if (!strcmp(config_settings[i].key.name, "timezone") &&
		    settings.source[i].origin != CONFIG_DEFAULT)
			ret->zone_name = settings.config.timezone;
	return zones_find(zones, ret->zone_name, &ret->zone, call->why);
}

enum err plan_clock(struct cli_call *call, struct plan_clock *ret)
{
	const struct arg *now = op_arg_if(&call->args, "now");
	struct plan_clock clock = { .now = wall_seconds(clock_wall()) };
	struct iso t;
	enum err e = find_zone(call, &clock);
	if (!e && now && now->given) {
		struct why wrong;
		if (iso_parse(now->text, &t, &wrong))
			return why_set(call->why, E_INPUT, WHY_NOWHERE, "--now '%.*s': %s",
				       STR_SHORT(now->text), wrong.text);
		clock.now = iso_utc(&t, clock.zone, NULL);
	}
	if (!e)
		*ret = clock;
	return e;
}

const char *plan_stamp(struct cli_call *call, const struct plan_clock *clock)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	buf_addc(&text, '[');
	stamp_write_date(clock->now + zone_offset(clock->zone, clock->now), true, &text);
	buf_addc(&text, ']');
	return text.failed ? NULL : arena_dup(call->arena, buf_str(&text));
}
