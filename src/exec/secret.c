/* Finds the files and commands of secrets in the configuration. */
#include "exec/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum err secret_path(const struct config_secret *s, struct arena *a, const char **ret, struct why *why)
{
	const char *directory = getenv("CREDENTIALS_DIRECTORY");
	*ret = NULL;
	if (s->credential.n && (!directory || directory[0] != '/'))
		return why_set(why, E_INPUT, WHY_NOWHERE,
			       "secret %.*s is a credential, but the daemon was started without credentials; "
			       "add LoadCredential= or LoadCredentialEncrypted= to its unit",
			       STR_SHORT(s->name));
	if (s->file.n)
		*ret = arena_dup(a, s->file);
	else if (s->credential.n)
		*ret = arena_printf(a, "%s/%.*s", directory, STR_ARG(s->credential));
	return *ret || (!s->file.n && !s->credential.n) ? OK : E_NOMEM;
}

static enum err copy_command(const struct doc_command *c, struct arena *a, const char *const **ret)
{
	unsigned n = c->shell.n ? 3 : c->argc;
	const char **argv = arena_alloc(a, (n + 1) * sizeof *argv);
	if (!argv)
		return E_NOMEM;
	for (unsigned i = 0; i < n; i++) {
		const struct str line[] = { STR("/bin/sh"), STR("-c"), c->shell };
		argv[i] = arena_dup(a, c->shell.n ? line[i] : c->argv[i]);
		if (!argv[i])
			return E_NOMEM;
	}
	argv[n] = NULL;
	*ret = argv;
	return OK;
}

static enum err find_secret(const struct secret_list *all, struct str name, const struct config_secret **ret,
			    struct why *why)
{
	for (unsigned i = 0; i < all->n; i++)
		if (str_eq(all->item[i].name, name)) {
			*ret = &all->item[i];
			return OK;
		}
	return why_set(why, E_INPUT, WHY_NOWHERE,
		       "secret %.*s: the configuration has no secret of that name; add it to `secrets:` in "
		       "rota.yaml",
		       STR_SHORT(name));
}

enum err secret_check(const struct secret_list *all, struct str name, struct arena *a, struct why *why)
{
	const struct config_secret *s;
	const char *path = NULL;
	struct stat st = { 0 };
	enum err e = find_secret(all, name, &s, why);
	if (!e)
		e = secret_path(s, a, &path, why);
	if (e || !path)
		return e;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return why_set(why, E_INPUT, WHY_NOWHERE, "secret %.*s: %s: %s", STR_SHORT(name), path,
			       strerror(errno));
	bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	close(fd);
	return regular ? OK
		       : why_set(why, E_INPUT, WHY_NOWHERE, "secret %.*s: %s is not a regular file",
				 STR_SHORT(name), path);
}

enum err secret_fill(const struct secret_list *all, const struct str *name, unsigned names, struct arena *a,
		     struct launch *ret, struct why *why)
{
	struct launch_fetch *fetch = arena_alloc(a, (names + 1) * sizeof *fetch);
	if (!fetch)
		return E_NOMEM;
	if (names > FETCHES_MAX)
		return why_set(why, E_LIMIT, WHY_NOWHERE, "the run has %u secrets; at most %d are allowed",
			       names, FETCHES_MAX);
	for (unsigned i = 0; i < names; i++) {
		const struct config_secret *s;
		enum err e = find_secret(all, name[i], &s, why);
		fetch[i] = (struct launch_fetch){ 0 };
		if (!e)
			e = secret_path(s, a, &fetch[i].file, why);
		if (!e && !fetch[i].file)
			e = copy_command(&s->command, a, &fetch[i].command);
		if (!e && !(fetch[i].name = arena_dup(a, s->name)))
			e = E_NOMEM;
		if (e)
			return e;
	}
	ret->fetch = fetch;
	ret->fetches = names;
	return OK;
}
