/* Programs that misbehave, in place of agents. The first five ignore SIGTERM.
 *
 *	tree FILE	forks twice, each child in its own session; all print without end and append their
 *			pids to FILE
 *	leave FILE	the same, but the first process ends at once with 0
 *	orphan FILE	leaves a silent grandchild in its own session; both append their pids
 *	strip FILE	the same with an empty environment
 *	bomb FILE	forks again whenever a child dies
 *	shout BYTES	prints that many bytes of numbered lines
 *	pieces TEXT	prints one byte at a time
 *	fds		prints its open descriptors, one per line
 *	signals		prints the signals that are blocked or ignored
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void append_pid(const char *file)
{
	char line[16];
	int fd = open(file, O_WRONLY | O_CREAT | O_APPEND, 0600);
	int n = snprintf(line, sizeof line, "%d\n", getpid());
	if (fd < 0 || write(fd, line, (size_t)n) != n)
		_exit(3);
	close(fd);
}

static void print_forever(void)
{
	static char text[4096];
	memset(text, 'x', sizeof text);
	text[sizeof text - 1] = '\n';
	for (;;)
		if (write(1, text, sizeof text) < 0)
			usleep(1000); /* the pipe is closed; the program continues anyway */
}

static int tree(const char *file, int leaves)
{
	signal(SIGTERM, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	if (fork() == 0) {
		setsid();
		if (fork() == 0) {
			setsid();
			if (fork() == 0)
				setsid();
			append_pid(file);
			print_forever();
		}
		if (fork() > 0) { /* this process ends, and its children become orphans */
			_exit(0);
		}
		append_pid(file);
		print_forever();
	}
	append_pid(file);
	if (leaves) {
		usleep(300000);
		return 0;
	}
	print_forever();
	return 0;
}

static int orphan(const char *file)
{
	if (fork() == 0) {
		if (fork() > 0)
			_exit(0);
		signal(SIGTERM, SIG_IGN);
		setsid();
		append_pid(file);
		int null = open("/dev/null", O_RDWR);
		for (int i = 0; i < 3; i++)
			dup2(null, i);
		pause();
		_exit(0);
	}
	wait(NULL);
	append_pid(file);
	pause();
	return 0;
}

static int bomb(const char *file)
{
	signal(SIGTERM, SIG_IGN);
	append_pid(file);
	for (int i = 0; i < 8; i++)
		if (fork() == 0)
			for (;;) {
				pid_t pid = fork();
				if (pid == 0) {
					setsid();
					usleep(2000);
					_exit(0);
				}
				usleep(1000);
				waitpid(-1, NULL, WNOHANG);
			}
	for (;;)
		pause();
}

static int shout(long long bytes)
{
	for (long long n = 0, line = 0; n < bytes; line++)
		n += printf("%015lld\n", line);
	return 0;
}

static int pieces(const char *text)
{
	for (; *text; text++) {
		if (write(1, text, 1) != 1)
			return 1;
		usleep(500);
	}
	return 0;
}

static int fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	for (struct dirent *e; d && (e = readdir(d));)
		if (e->d_name[0] != '.' && atoi(e->d_name) != dirfd(d))
			printf("%s\n", e->d_name);
	return 0;
}

static int signals(void)
{
	sigset_t blocked;
	sigprocmask(SIG_BLOCK, NULL, &blocked);
	for (int s = 1; s < 65; s++) {
		struct sigaction a;
		if (sigismember(&blocked, s) == 1 || (sigaction(s, NULL, &a) == 0 && a.sa_handler != SIG_DFL))
			printf("%d\n", s);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *with = argc > 2 ? argv[2] : "";
	if (strcmp(what, "tree") == 0 || strcmp(what, "leave") == 0)
		return tree(with, what[0] == 'l');
	if (strcmp(what, "orphan") == 0)
		return orphan(with);
	if (strcmp(what, "strip") == 0) {
		char *const none[] = { NULL };
		return execle("/proc/self/exe", "agent", "orphan", with, (char *)NULL, none);
	}
	if (strcmp(what, "bomb") == 0)
		return bomb(with);
	if (strcmp(what, "shout") == 0)
		return shout(atoll(with));
	if (strcmp(what, "pieces") == 0)
		return pieces(with);
	if (strcmp(what, "fds") == 0)
		return fds();
	if (strcmp(what, "signals") == 0)
		return signals();
	return 2;
}
