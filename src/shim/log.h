#pragma once
/* A log file of bounded size: the beginning of what was written, a line that says how much was left out, and
 * its end. It is plain text at every moment, and never larger than head + 2 tail and that line. A disk that
 * says no ends the log and nothing else. */
#include "port/runfile.h"

struct log {
	int fd; /* -1: none */
	uint64_t head, tail;
	uint64_t size;     /* of the file */
	uint64_t left_out; /* in the middle, or for want of disk */
	uint8_t state;     /* enum run_log */
};

/* How the line looks; the number has a fixed width, so that it can be written over in place. */
#define LOG_GAP       "\n[rota: %020llu bytes left out]\n"
#define LOG_GAP_BYTES 45

void log_open(struct log *l, int dir, const char *name, uint64_t head, uint64_t tail);
void log_write(struct log *l, const char *p, size_t n);
/* Brings the end down to `tail` bytes, and closes. */
void log_close(struct log *l);
