#pragma once
/* Documents on the command line's side: read from files, checked before anything is asked of the daemon, so
 * that what is wrong is told with its file, line and column. */
#include "base/map.h"
#include "surface/op.h"

struct docs {
	struct docs_item {
		struct str id, text; /* canonical */
		struct str after;    /* whom it follows; empty: nobody … */
		bool led;            /* … that is one of these */
		const char *file;
		struct str source; /* the file's text */
		uint32_t at;       /* in it */
	} * item;
	unsigned n, room;
	struct map *seen; /* where several files are read: by the hash of its id */
};

/* Appends the schedules of a file. On failure call->source and source_name say where why->at points. */
must_check enum err docs_file(struct op_call *call, const char *path, struct docs *into);
/* The same of every *.yaml, *.yml and *.json of a directory, by name. All that is refused is told on standard
 * error; the error is that something was. One id may be there once, in all of the files. */
must_check enum err docs_path(struct op_call *call, const char *path, struct docs *ret);

/* An expression alone; its errors have a place in it. */
must_check enum err docs_check_expression(struct op_call *call, struct str text);
/* A document that was made of arguments, so that its errors have no place. */
must_check enum err docs_check_text(struct op_call *call, struct str text);
