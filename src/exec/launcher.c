/* Starts the launcher by posix_spawn, which does not copy the memory of the daemon as fork would. */
#include "exec/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_SOCKET = 3 };

/* The environment of this process, with the entry `owner` instead of one of that name. */
static char **environment_with(const char *owner)
{
	size_t n = 0, name = owner ? strcspn(owner, "=") + 1 : 0;
	while (environ[n])
		n++;
	char **all = calloc(n + 2, sizeof *all), **to = all;
	for (size_t i = 0; all && i < n; i++)
		if (!owner || strncmp(environ[i], owner, name) != 0)
			*to++ = environ[i];
	if (all && owner)
		*to = (char *)(uintptr_t)owner; /* posix_spawn does not change it */
	return all;
}

static int spawn_launcher(const char *program, const char *owner, int socket, pid_t *ret)
{
	char name[] = "rota-launcher", number[] = "3";
	char *argv[] = { name, number, NULL };
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	sigset_t none;
	sigemptyset(&none);
	int e = posix_spawn_file_actions_init(&fa);
	if (e)
		return e;
	e = posix_spawnattr_init(&attr);
	if (!e)
		e = posix_spawn_file_actions_adddup2(&fa, socket, CHILD_SOCKET);
	if (!e)
		e = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	if (!e)
		e = posix_spawnattr_setsigmask(&attr, &none);
	char **env = e ? NULL : environment_with(owner);
	if (!e)
		e = env ? posix_spawn(ret, program, &fa, &attr, argv, env) : ENOMEM;
	free(env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&fa);
	return e;
}

enum err launcher_start(const char *program, const char *owner, struct launcher *ret, struct why *why)
{
	int pair[2], e = 0;
	pid_t pid = 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return why_set(why, E_IO, WHY_NOWHERE, "cannot create a socket for the launcher: %s",
			       strerror(errno));
	/* The descriptor must not be CHILD_SOCKET itself: dup2 of a descriptor to itself keeps
	 * close-on-exec. */
	int high = fcntl(pair[1], F_DUPFD_CLOEXEC, CHILD_SOCKET + 1);
	e = high < 0 ? errno : spawn_launcher(program, owner, high, &pid);
	int pidfd = e ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);
	if (!e && pidfd < 0) {
		e = errno;
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	close(pair[1]);
	if (high >= 0)
		close(high);
	if (e) {
		close(pair[0]);
		return why_set(why, E_IO, WHY_NOWHERE, "cannot start the launcher %s: %s", program,
			       strerror(e));
	}
	*ret = (struct launcher){ pair[0], pidfd };
	return OK;
}
