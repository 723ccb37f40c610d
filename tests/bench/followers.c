/* Clients that follow events: opens N streams on a socket, reads them for some seconds, and counts the events
 * of each.
 *
 *   bench_followers SOCKET N STALLED SECONDS      STALLED of them read nothing
 *
 * Prints one JSON line: the fewest and the most events that a client that reads has got, the gaps in the
 * numbers, and how many clients were disconnected. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

struct client {
	int fd;
	char rest[32]; /* the beginning of a line that is not complete */
	size_t n;
	uint64_t events, last, gaps;
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int connect_to(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	static const char request[] = "GET /api/v1/events?follow=true HTTP/1.0\r\n\r\n";
	snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) < 0 ||
	    send(fd, request, sizeof request - 1, 0) < 0) {
		perror("bench_followers");
		exit(1);
	}
	return fd;
}

/* A line "id: N" is one event; that of the message "hello" is the number before the first. */
static void count_line(struct client *c, const char *line, size_t n)
{
	if (n < 4 || memcmp(line, "id: ", 4) != 0)
		return;
	uint64_t number = strtoull(line + 4, NULL, 10);
	if (c->last)
		c->events++;
	c->gaps += c->last && number != c->last + 1;
	c->last = number;
}

static void count(struct client *c, char *text, size_t n)
{
	char *at = text, *end = text + n, *line;
	while ((line = memchr(at, '\n', (size_t)(end - at)))) {
		if (c->n) { /* a line that began in the part before; only its beginning matters */
			size_t more = (size_t)(line - at), room = sizeof c->rest - 1 - c->n;
			memcpy(c->rest + c->n, at, more < room ? more : room);
			c->n += more < room ? more : room;
			c->rest[c->n] = 0;
			count_line(c, c->rest, c->n);
			c->n = 0;
		} else {
			count_line(c, at, (size_t)(line - at));
		}
		at = line + 1;
	}
	size_t left = (size_t)(end - at), room = sizeof c->rest - 1 - c->n;
	memcpy(c->rest + c->n, at, left < room ? left : room);
	c->n += left < room ? left : room;
}

int main(int argc, char **argv)
{
	static char text[1 << 16];
	if (argc != 5) {
		fprintf(stderr, "usage: bench_followers SOCKET N STALLED SECONDS\n");
		return 2;
	}
	unsigned n = (unsigned)atoi(argv[2]), stalled = (unsigned)atoi(argv[3]), closed = 0;
	struct client *client = calloc(n + stalled, sizeof *client);
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	for (unsigned i = 0; client && i < n + stalled; i++) {
		client[i].fd = connect_to(argv[1]);
		struct epoll_event e = { .events = EPOLLIN, .data.u32 = i };
		if (i < n)
			epoll_ctl(epoll, EPOLL_CTL_ADD, client[i].fd, &e);
	}
	for (double end = now() + atof(argv[4]); client && now() < end;) {
		struct epoll_event e[64];
		int k = epoll_wait(epoll, e, 64, 100);
		for (int i = 0; i < k; i++) {
			struct client *c = &client[e[i].data.u32];
			ssize_t got = recv(c->fd, text, sizeof text, MSG_DONTWAIT);
			if (got > 0)
				count(c, text, (size_t)got);
			else if (got == 0) {
				closed++;
				epoll_ctl(epoll, EPOLL_CTL_DEL, c->fd, NULL);
			}
		}
	}
	uint64_t least = UINT64_MAX, most = 0, gaps = 0;
	for (unsigned i = 0; client && i < n; i++) {
		least = client[i].events < least ? client[i].events : least;
		most = client[i].events > most ? client[i].events : most;
		gaps += client[i].gaps;
	}
	printf("{\"least\": %llu, \"most\": %llu, \"gaps\": %llu, \"closed\": %u}\n",
	       (unsigned long long)least, (unsigned long long)most, (unsigned long long)gaps, closed);
	free(client);
	return 0;
}
