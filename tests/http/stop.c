/* The listening socket, and stopping with connections in every phase. */
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

static void answer_204(void *ctx, struct http_request *q)
{
	(void)ctx;
	http_answer(q, 204, NULL, STR(""));
}

static enum err open_server(const char *path, struct http **ret, struct why *why)
{
	struct http_options o = { .path = path, .limits = rig_limits(), .handle = answer_204 };
	*why = (struct why){ .at = WHY_NOWHERE };
	return http_open(&o, ret, why);
}

TEST(socket_is_private)
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
	/* A missing directory is created. */
	snprintf(path, sizeof path, "%s/new/socket", r.dir);
	CHECK_INT(open_server(path, &h, &why), OK);
	http_close(h);
	snprintf(path, sizeof path, "%s/new", r.dir);
	CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0700);
	CHECK(rmdir(path) == 0);
	/* A directory that others may access is refused. */
	CHECK(mkdir(path, 0700) == 0 && chmod(path, 0755) == 0);
	snprintf(path, sizeof path, "%s/new/socket", r.dir);
	CHECK_INT(open_server(path, &h, &why), E_DENIED);
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
	CHECK_INT(open_server(path, &h, &why), E_INPUT);
	CHECK(contains(why.text, "199 bytes") && contains(why.text, "allows 107"));
	CHECK_INT(open_server("", &h, &why), E_INPUT);
	CHECK_INT(open_server("/tmp/", &h, &why), E_INPUT);
	CHECK_INT(open_server("/does/not/exist/socket", &h, &why), E_IO);
	char dir[] = "/tmp/rota-http.XXXXXX";
	CHECK(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/file", dir);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	CHECK_INT(open_server(path, &h, &why), E_INPUT);
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
	CHECK_INT(open_server(r.path, &h, &why), E_CONFLICT);
	CHECK(contains(why.text, "already listens"));
	int fd = connect_to(r.path);
	send_text(fd, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK(contains(receive_until(fd, "pid:", 20000), "GET /echo")); /* the first server still answers */
	close(fd);
	rig_close(&r);

	/* The socket of a daemon that was killed. */
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
	CHECK_INT(open_server(path, &h, &why), OK);
	/* If another daemon has replaced the socket, the first daemon does not remove it. */
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

static void *open_in_race(void *arg)
{
	struct racer *me = arg;
	struct why why;
	me->e = open_server(me->path, &me->http, &why);
	return NULL;
}

TEST(one_of_many_daemons_replaces_a_dead_socket)
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
			pthread_create(&thread[i], NULL, open_in_race, &racer[i]);
		}
		unsigned won = 0, refused = 0;
		for (int i = 0; i < N; i++) {
			pthread_join(thread[i], NULL);
			won += racer[i].e == OK;
			refused += racer[i].e == E_CONFLICT;
		}
		CHECK_INT(won, 1);
		CHECK_INT(refused, N - 1);
		int fd = connect_to(path);
		close(fd);
		for (int i = 0; i < N; i++)
			http_close(racer[i].http);
	}
	CHECK(rmdir(dir) == 0);
}

TEST(stopping_with_everything_open)
{
	static const char *const requests[] = {
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
	enum { EACH = 5, N = EACH * ARRAY_LEN(requests) };
	int fd[N];
	struct rig r;
	if (!rig_open(&r, rig_limits()))
		return;
	for (unsigned i = 0; i < N; i++) {
		fd[i] = connect_to(r.path);
		send_text(fd[i], requests[i % ARRAY_LEN(requests)]);
	}
	CHECK(rig_await(&r.held, 3 * EACH) && rig_await(&r.streams, 2 * EACH));
	rig_write_streams(&r, "last words\n", 1);
	http_stop(r.http);
	CHECK(rig_await(&r.closed, 2 * EACH)); /* streams end at once */
	CHECK(access(r.path, F_OK) != 0);      /* no new connections */
	/* Answers that come in time are sent. */
	rig_answer_kept(&r);
	CHECK(contains(receive_until(fd[4], NULL, 20000), "late\n"));
	/* The other requests get 503. */
	CHECK(contains(receive_until(fd[3], NULL, 20000), "HTTP/1.1 503"));
	const char *got = receive_until(fd[5], NULL, 20000);
	CHECK(contains(got, "last words\n") && contains(got, "\r\n0\r\n\r\n"));
	for (unsigned i = 0; i < N; i++)
		if (i % ARRAY_LEN(requests) != 7)
			CHECK(is_closed(fd[i], 20000));
	rig_close(&r);
	for (unsigned i = 0; i < N; i++)
		close(fd[i]);
}

TEST(closing_at_once_leaves_nothing_open)
{
	for (int round = 0; round < 20; round++) {
		struct rig r;
		struct http_limits l = rig_limits();
		l.stop_ms = round % 2 ? 0 : 20;
		if (!rig_open(&r, l))
			return;
		int fd[8];
		for (int i = 0; i < 8; i++) {
			fd[i] = connect_to(r.path);
			send_text(fd[i], i % 2 ? "GET /never HTTP/1.1\r\nHost: x\r\n\r\n"
					       : "GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
		}
		usleep(1000u * (unsigned)(round % 5));
		rig_close(&r);
		for (int i = 0; i < 8; i++)
			close(fd[i]);
	}
	http_close(NULL);
}

TEST(requests_while_stopping_are_refused)
{
	struct rig r;
	struct http_limits l = rig_limits();
	l.stop_ms = 2000;
	if (!rig_open(&r, l))
		return;
	int fd = connect_to(r.path);
	send_text(fd, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n");
	CHECK(rig_await_connections(&r, 1));
	usleep(50000);
	http_stop(r.http);
	usleep(20000);
	send_text(fd, "abc");
	const char *got = receive_until(fd, NULL, 20000);
	CHECK(contains(got, "HTTP/1.1 503") && contains(got, "the daemon is stopping"));
	close(fd);
	rig_close(&r);
}
