#pragma once
/* What the agent says: two pipes, through redaction, into the log and, standard output, into a file of its
 * own where that is wanted. */
#include "shim/log.h"
#include "shim/redact.h"

enum { STREAM_OUT, STREAM_ERR, STREAMS };

struct output {
	int pipe[STREAMS]; /* -1: at its end */
	struct redact redact[STREAMS];
	struct log log, out;
	bool has_out;
	uint64_t bytes;   /* that came in */
	unsigned no_work; /* so many letters of NO-WORK began standard output; UINT_MAX: something else did */
};

/* Makes the pipes; write[] are the agent's ends. 0 or an errno. The files are opened by output_open, later,
 * by the shim that has won. */
int output_prepare(struct output *o, const struct launch_request *rq, int write[STREAMS]);
/* There are more secrets now; nothing was taken yet. 0 or an errno. */
int output_set_secrets(struct output *o, const struct launch_request *rq);
/* As if it had been said there; at most REDACT_PIECE bytes. */
void output_write(struct output *o, unsigned stream, const char *p, size_t n);
void output_open(struct output *o, const struct launch_request *rq, int dir);
/* Takes what is there, at most one piece; whether there was anything. */
bool output_read(struct output *o, unsigned stream);
/* Takes what is left in the pipes, not waiting for their ends, which a stranger may hold. */
void output_drain(struct output *o);
/* The same, and closes everything. */
void output_close(struct output *o);
bool output_says_no_work(const struct output *o);
