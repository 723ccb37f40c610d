/* Finds the other programs of rota. */
#include "admin/programs.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

/* Looks for a program: first at the path in the variable, then among the installed programs, then beside this
 * program, as in a build tree. */
static const char *find_program(struct arena *a, const char *name, const char *variable)
{
	static const char *const places[] = { "../libexec/rota/", "", NULL };
	char self[PATH_MAX];
	const char *path = getenv(variable);
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (path)
		return path;
	while (n > 0 && self[n - 1] != '/')
		n--;
	for (unsigned i = 0; n > 0 && places[i]; i++) {
		path = arena_printf(a, "%.*s%s%s", (int)n, self, places[i], name);
		if (path && access(path, X_OK) == 0)
			return path;
	}
	return NULL;
}

const char *find_launcher(struct arena *a)
{
	return find_program(a, "rota-launcher", "ROTA_LAUNCHER");
}

const char *find_rota_out(struct arena *a)
{
	return find_program(a, "rota-out", "ROTA_OUT");
}

const char *find_rota(struct arena *a)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	return n > 0 ? arena_printf(a, "%.*s", (int)n, self) : NULL;
}
