#pragma once
/* The writer thread: takes what is queued, carries it out many requests to a transaction, and answers when
 * they are on the disk. An outage holds the same requests up until they can be carried out; damage ends the
 * thread, and they stay unanswered; a request that fails for a reason of its own is refused alone, the others
 * of its group are not. */
#include "store/request_queue.h"
#include "store/sqlite/checkpoint.h"
#include "store/sqlite/store.h"
#include "store/sqlite/write/statements.h"

struct writer {
	sqlite3 *db;
	struct sql_set sql;
	struct queue *queue;
	struct checkpoint *checkpoint;
	struct trouble *trouble;
	struct store_tuning tuning;
	pthread_t thread;
	unsigned log;      /* pages in the write-ahead log … */
	unsigned file;     /* … and in its file, which stays as long as it was when the log begins anew */
	unsigned log_full; /* a longer log is emptied even if requests must wait for it */
	struct why why;    /* of the last failure */
	struct ask *group[STORE_GROUP_MAX];
};

/* Takes over `db`, if it succeeds. The other members have been set. */
must_check enum err writer_start(struct writer *w, sqlite3 *db, struct why *why);
/* After queue_close: waits for the thread to end. */
void writer_stop(struct writer *w);
/* The connection closed last tidies the log away: best this one. */
void writer_free(struct writer *w);
