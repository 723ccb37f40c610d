#pragma once
/* The output of the agent: read from two pipes, redacted, and written to the log. Standard output
 * also goes to the .out file, and standard error to the .err file, if the request asks for it. */
#include "runfile/redact.h"
#include "shim/output/log.h"
#include "shim/request.h"

enum { STREAM_OUT, STREAM_ERR, STREAMS };

struct output {
	int pipe[STREAMS]; /* -1: closed */
	struct redact redact[STREAMS];
	struct log log;            /* of both streams */
	struct log alone[STREAMS]; /* of one stream */
	bool has_alone[STREAMS];
	uint64_t bytes;   /* read so far */
	unsigned no_work; /* letters of NO-WORK at the beginning of standard output; UINT_MAX: it begins with
			     other bytes */
};

/* Creates the pipes; write[] are the ends for the agent. 0 or an errno. The files are opened by output_open,
 * when the shim has created the run file. */
int output_prepare(struct output *o, const struct launch_request *rq, int write[STREAMS]);
/* Replaces the list of secrets, before anything was read. 0 or an errno. */
int output_set_secrets(struct output *o, const struct launch_request *rq);
/* Handles bytes as if they had been read from the pipe; at most REDACT_PIECE. */
void output_write(struct output *o, unsigned stream, const char *p, size_t n);
void output_open(struct output *o, const struct launch_request *rq, int dir);
/* Reads at most REDACT_PIECE bytes. False: there were none. */
bool output_read(struct output *o, unsigned stream);
/* Reads the rest from the pipes. Does not wait until they are closed, because other processes may have them
 * open. */
void output_drain(struct output *o);
/* Drains the pipes, and closes the files. */
void output_close(struct output *o);
bool output_says_no_work(const struct output *o);
