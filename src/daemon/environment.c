/* Chooses the daemon's variables that are passed on, and adds others. */
#include "daemon/environment.h"

#include "core/doc/config/config.h"

#include <string.h>
#include <unistd.h>

/* A name, or the beginning of names if it ends with '*'. */
static bool matches(struct str pattern, struct str name)
{
	bool open = pattern.n && pattern.p[pattern.n - 1] == '*';
	return open ? str_starts(name, str_sub(pattern, 0, pattern.n - 1)) : str_eq(name, pattern);
}

static bool is_listed(const char *const *list, struct str name)
{
	for (; *list; list++)
		if (matches(str_of(*list), name))
			return true;
	return false;
}

static bool is_passed(const struct config_pass_env *pass, struct str name)
{
	static const char *const always[] = { "HOME", "USER", "LOGNAME", "SHELL", "PATH",
					      "LANG", "LC_*", "TMPDIR",  "XDG_*", NULL };
	static const char *const never[] = { "NOTIFY_SOCKET", "WATCHDOG_*", "LISTEN_*",
					     "CREDENTIALS_DIRECTORY", NULL };
	if (is_listed(never, name))
		return false;
	bool passed = is_listed(always, name) || (pass && pass->all);
	for (unsigned i = 0; pass && i < pass->names && !passed; i++)
		passed = matches(pass->name[i], name);
	return passed;
}

static struct str name_of(const char *item)
{
	return (struct str){ item, strcspn(item, "=") };
}

static void add_item(struct environment *e, const char *item)
{
	if (!item || e->n == e->room) {
		e->failed = true;
		return;
	}
	for (unsigned i = 0; i < e->n; i++)
		if (str_eq(name_of(e->item[i]), name_of(item))) {
			e->item[i] = item;
			return;
		}
	e->item[e->n++] = item;
}

void environment_begin(struct environment *e, struct arena *a, const struct config_pass_env *pass,
		       unsigned more)
{
	unsigned inherited = 0;
	while (environ[inherited])
		inherited++;
	*e = (struct environment){ .arena = a, .room = inherited + more };
	e->item = arena_alloc(a, (e->room + 1) * sizeof *e->item);
	e->failed = !e->item;
	for (unsigned i = 0; i < inherited && !e->failed; i++)
		if (is_passed(pass, name_of(environ[i])))
			add_item(e, environ[i]);
}

void environment_set(struct environment *e, const char *name, struct str value)
{
	if (!e->failed)
		add_item(e, arena_printf(e->arena, "%s=%.*s", name, (int)value.n, value.p));
}

const char **environment_end(struct environment *e)
{
	if (e->failed)
		return NULL;
	e->item[e->n] = NULL;
	return e->item;
}
