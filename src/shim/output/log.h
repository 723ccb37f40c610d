#pragma once
/* A log file of bounded size: the beginning of the output, a line that says how many bytes are left out, and
 * the end. It is valid text at every moment, and never has more bytes than head + 2 * tail and that line. If
 * writing fails, the log ends there; the run goes on. */
#include "port/runfile.h"

struct log {
	int fd; /* -1: none */
	uint64_t head, tail;
	uint64_t size;     /* of the file */
	uint64_t left_out; /* bytes, in the middle or after writing failed */
	uint8_t state;     /* enum run_log */
};

/* The line about bytes that are left out; its number has a fixed width, so that it can be overwritten in
 * place. */
#define LOG_GAP       "\n[rota: %020llu bytes left out]\n"
#define LOG_GAP_BYTES 45

void log_open(struct log *l, int dir, const char *name, uint64_t head, uint64_t tail);
void log_write(struct log *l, const char *p, size_t n);
/* Shortens the end to `tail` bytes, and closes the file. */
void log_close(struct log *l);
