/* Sockets and ends: who may listen where, and stopping in the middle of everything. */
#include "http/listen.h"
#include "rig.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void ignore(void *ctx, struct http_request *q)
{
	(void)ctx;
	http_answer(q, 204, NULL, STR(""));
}

static enum err open_at(const char *path, struct http **ret, struct why *why)
{
	struct http_options o = { .path = path, .limits = rig_limits(), .handle = ignore };
	*why = (struct why){ .at = WHY_NOWHERE };
	return http_open(&o, ret, why);
}

TEST(the_socket_is_ours_alone)
{
	struct rig r;
	struct stat st;
	mode_t old = umask(0);
	if (!rig_open(&r, rig_limits()))
		return;
	umask(old);
	CHECK(stat(r.path, &st) == 0 && S_ISSOCK(st.st_mode) && (st.st_mode & 0777) == 0600);
	struct http *h = NULL;
	struct why why;
	char path[160];
	/* Its directory is made where it is missing. */
	snprintf(path, sizeof path, "%s/new/socket", r.dir);
	CHECK_INT(open_at(path, &h, &why), OK);
	http_close(h);
	snprintf(path, sizeof path, "%s/new", r.dir);
	CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0700);
	CHECK(rmdir(path) == 0);
	/* And refused where others can get at it. */
	CHECK(mkdir(path, 0700) == 0 && chmod(path, 0755) == 0);
	snprintf(path, sizeof path, "%s/new/socket", r.dir);
	CHECK_INT(open_at(path, &h, &why), E_DENIED);
	CHECK(contains(why.text, "chmod 700"));
	snprintf(path, sizeof path, "%s/new", r.dir);
	rmdir(path);
	rig_close(&r);
}

TEST(bad_paths_are_refused)
{
	struct http *h = NULL;
	struct why why;
	char path[200];
	memset(path, 'a', sizeof path - 1);
	path[sizeof path - 1] = 0;
	path[0] = '/';
	CHECK_INT(open_at(path, &h, &why), E_INPUT);
	CHECK(contains(why.text, "199 bytes") && contains(why.text, "allows 107"));
	CHECK_INT(open_at("", &h, &why), E_INPUT);
	CHECK_INT(open_at("/tmp/", &h, &why), E_INPUT);
	CHECK_INT(open_at("/does/not/exist/socket", &h, &why), E_IO);
	char dir[] = "/tmp/rota-http.XXXXXX";
	CHECK(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/file", dir);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	CHECK_INT(open_at(path, &h, &why), E_INPUT);
	CHECK(contains(why.text, "is not a socket"));
	CHECK(unlink(path) == 0 && rmdir(dir) == 0);
	CHECK(!h);
}

TEST(a_dead_socket_is_replaced_and_a_live_one_is_not)
{
	struct rig r;
	struct http *h = NULL;
	struct why why;
	if (!rig_open(&r, rig_limits()))
		return;
	CHECK_INT(open_at(r.path, &h, &why), E_CONFLICT);
	CHECK(contains(why.text, "already listens"));
	int fd = dial(r.path);
	say(fd, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK(contains(hear(fd, "pid:", 20000), "GET /echo")); /* undisturbed */
	close(fd);
	rig_close(&r);

	/* What a daemon leaves that was killed. */
	char dir[] = "/tmp/rota-http.XXXXXX", path[64];
	CHECK(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/socket", dir);
	struct listener l;
	pid_t child = fork();
	if (child == 0)
		_exit(listener_open(path, &l, &why) != OK);
	int status;
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	CHECK(access(path, F_OK) == 0);
	CHECK_INT(open_at(path, &h, &why), OK);
	/* Removed and taken by another: the first leaves it alone. */
	CHECK(unlink(path) == 0);
	CHECK(listener_open(path, &l, &why) == OK);
	http_close(h);
	CHECK(access(path, F_OK) == 0);
	listener_close(&l);
	listener_close(&l);
	CHECK(access(path, F_OK) != 0);
	CHECK(rmdir(dir) == 0);
}

struct racer {
	const char *path;
	struct http *http;
	enum err e;
};

static void *race(void *arg)
{
	struct racer *me = arg;
	struct why why;
	me->e = open_at(me->path, &me->http, &why);
	return NULL;
}

TEST(of_many_that_find_a_dead_socket_one_wins)
{
	enum { N = 8 };
	char dir[] = "/tmp/rota-http.XXXXXX", path[64];
	CHECK(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/socket", dir);
	for (int round = 0; round < 10; round++) {
		struct racer racer[N];
		pthread_t thread[N];
		struct sockaddr_un at = { .sun_family = AF_UNIX };
		snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
		int dead = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		CHECK(bind(dead, (struct sockaddr *)&at, sizeof at) == 0);
		close(dead);
		for (int i = 0; i < N; i++) {
			racer[i] = (struct racer){ .path = path };
			pthread_create(&thread[i], NULL, race, &racer[i]);
		}
		unsigned won = 0, refused = 0;
		for (int i = 0; i < N; i++) {
			pthread_join(thread[i], NULL);
			won += racer[i].e == OK;
			refused += racer[i].e == E_CONFLICT;
		}
		CHECK_INT(won, 1);
		CHECK_INT(refused, N - 1);
		int fd = dial(path);
		close(fd);
		for (int i = 0; i < N; i++)
			http_close(racer[i].http);
	}
	CHECK(rmdir(dir) == 0);
}

TEST(stopping_with_everything_open)
{
	static const char *const asks[] = {
		"",
		"GET /ec",
		"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc",
		"GET /never HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /late HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /events HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /lines HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /big/5000000 HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /echo HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /late HTTP/1.1\r\nHost: x\r\n\r\nGET /late HTTP/1.1\r\nHost: x\r\n\r\n",
	};
	enum { EACH = 5, N = EACH * ARRAY_LEN(asks) };
	int fd[N];
	struct rig r;
	if (!rig_open(&r, rig_limits()))
		return;
	for (unsigned i = 0; i < N; i++) {
		fd[i] = dial(r.path);
		say(fd[i], asks[i % ARRAY_LEN(asks)]);
	}
	CHECK(rig_await(&r.held, 3 * EACH) && rig_await(&r.streams, 2 * EACH));
	rig_write(&r, "last words\n", 1);
	http_stop(r.http);
	CHECK(rig_await(&r.closed, 2 * EACH)); /* streams are told at once */
	CHECK(access(r.path, F_OK) != 0);      /* and nobody new comes in */
	/* What is answered in time gets out. */
	rig_answer(&r);
	CHECK(contains(hear(fd[4], NULL, 20000), "late\n"));
	/* The rest is answered 503. */
	CHECK(contains(hear(fd[3], NULL, 20000), "HTTP/1.1 503"));
	const char *got = hear(fd[5], NULL, 20000);
	CHECK(contains(got, "last words\n") && contains(got, "\r\n0\r\n\r\n"));
	for (unsigned i = 0; i < N; i++)
		if (i % ARRAY_LEN(asks) != 7)
			CHECK(hung_up(fd[i], 20000));
	rig_close(&r);
	for (unsigned i = 0; i < N; i++)
		close(fd[i]);
}

TEST(closing_at_once_leaves_nothing)
{
	for (int round = 0; round < 20; round++) {
		struct rig r;
		struct http_limits l = rig_limits();
		l.stop_ms = round % 2 ? 0 : 20;
		if (!rig_open(&r, l))
			return;
		int fd[8];
		for (int i = 0; i < 8; i++) {
			fd[i] = dial(r.path);
			say(fd[i], i % 2 ? "GET /never HTTP/1.1\r\nHost: x\r\n\r\n"
					 : "GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
		}
		usleep(1000u * (unsigned)(round % 5));
		rig_close(&r);
		for (int i = 0; i < 8; i++)
			close(fd[i]);
	}
	http_close(NULL);
}

TEST(a_request_that_comes_while_stopping_is_refused)
{
	struct rig r;
	struct http_limits l = rig_limits();
	l.stop_ms = 2000;
	if (!rig_open(&r, l))
		return;
	int fd = dial(r.path);
	say(fd, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n");
	CHECK(rig_await_connections(&r, 1));
	usleep(50000);
	http_stop(r.http);
	usleep(20000);
	say(fd, "abc");
	const char *got = hear(fd, NULL, 20000);
	CHECK(contains(got, "HTTP/1.1 503") && contains(got, "the daemon is stopping"));
	close(fd);
	rig_close(&r);
}
