/* Reads the pipes of the agent, and recognizes NO-WORK. */
#include "shim/output/output.h"
#include "base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

static const char no_work[] = "NO-WORK";

/* The file that has the output of one stream alone. */
static const struct {
	const char *kind;
	unsigned field;
} files[STREAMS] = { [STREAM_OUT] = { "out", FIELD_OUT }, [STREAM_ERR] = { "err", FIELD_ERR } };

int output_prepare(struct output *o, const struct launch_request *rq, int write[STREAMS])
{
	*o = (struct output){ .log.fd = -1 };
	for (unsigned i = 0; i < STREAMS; i++) {
		o->alone[i].fd = -1;
		o->has_alone[i] = rq->one[files[i].field].p;
		int fd[2], e = redact_init(&o->redact[i], rq->masks.item, rq->masks.n);
		if (e)
			return e;
		if (pipe2(fd, O_CLOEXEC) != 0 || fcntl(fd[0], F_SETFL, O_NONBLOCK) != 0)
			return errno;
		o->pipe[i] = fd[0];
		write[i] = fd[1];
	}
	return 0;
}

int output_set_secrets(struct output *o, const struct launch_request *rq)
{
	int e = 0;
	for (unsigned i = 0; i < STREAMS && !e; i++) {
		redact_free(&o->redact[i]);
		e = redact_init(&o->redact[i], rq->masks.item, rq->masks.n);
	}
	return e;
}

void output_open(struct output *o, const struct launch_request *rq, int dir)
{
	const struct launch_head *h = rq->head;
	char name[RUNFILE_NAME_MAX];
	runfile_name(name, h->run, h->attempt, "log");
	log_open(&o->log, dir, name, h->log_head, h->log_tail);
	for (unsigned i = 0; i < STREAMS; i++) {
		runfile_name(name, h->run, h->attempt, files[i].kind);
		if (o->has_alone[i])
			log_open(&o->alone[i], dir, name, h->log_head, h->log_tail);
	}
}

static void write_files(struct output *o, unsigned stream, const char *p, size_t n)
{
	log_write(&o->log, p, n);
	if (o->has_alone[stream])
		log_write(&o->alone[stream], p, n);
}

static void write_out(void *ctx, const char *p, size_t n)
{
	write_files(ctx, STREAM_OUT, p, n);
}

static void write_err(void *ctx, const char *p, size_t n)
{
	write_files(ctx, STREAM_ERR, p, n);
}

static redact_sink *const sinks[STREAMS] = { [STREAM_OUT] = write_out, [STREAM_ERR] = write_err };

static void look_for_no_work(struct output *o, const char *p, size_t n)
{
	for (; n && o->no_work < sizeof no_work - 1; p++, n--) {
		bool space = *p == ' ' || *p == '\t' || *p == '\n' || *p == '\r';
		if (*p == no_work[o->no_work])
			o->no_work++;
		else if (o->no_work || !space)
			o->no_work = UINT_MAX;
	}
}

bool output_says_no_work(const struct output *o)
{
	return o->no_work == sizeof no_work - 1;
}

void output_write(struct output *o, unsigned stream, const char *p, size_t n)
{
	o->bytes += n;
	if (stream == STREAM_OUT)
		look_for_no_work(o, p, n);
	redact(&o->redact[stream], p, n, sinks[stream], o);
}

bool output_read(struct output *o, unsigned stream)
{
	char piece[REDACT_PIECE];
	ssize_t n = o->pipe[stream] < 0 ? 0 : read(o->pipe[stream], piece, sizeof piece);
	if (n > 0) {
		output_write(o, stream, piece, (size_t)n);
	} else if (o->pipe[stream] >= 0 && (n == 0 || (errno != EAGAIN && errno != EINTR))) {
		close(o->pipe[stream]);
		o->pipe[stream] = -1;
	}
	return n > 0;
}

void output_drain(struct output *o)
{
	for (unsigned i = 0; i < STREAMS; i++) {
		uint64_t until = o->bytes + DRAIN_BYTES_MAX;
		while (o->bytes < until && output_read(o, i))
			;
	}
}

void output_close(struct output *o)
{
	output_drain(o);
	for (unsigned i = 0; i < STREAMS; i++)
		redact_end(&o->redact[i], sinks[i], o);
	log_close(&o->log);
	for (unsigned i = 0; i < STREAMS; i++)
		if (o->has_alone[i])
			log_close(&o->alone[i]);
}
