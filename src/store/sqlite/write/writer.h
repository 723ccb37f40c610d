#pragma once
/* The writer thread: takes queued requests, carries out many of them in one transaction, and answers when
 * they are on the disk. In an outage it tries the same requests again until they succeed. Damage ends the
 * thread, and its requests stay unanswered. A request that fails by its own fault is refused; the others of
 * its group are carried out. */
#include "store/request_queue.h"
#include "store/sqlite/checkpoint.h"
#include "store/sqlite/store.h"
#include "store/sqlite/write/statements.h"

struct writer {
	sqlite3 *db;
	struct write_statements sql;
	struct request_queue *queue;
	struct checkpoint *checkpoint;
	struct store_failures *failures;
	struct store_tuning tuning;
	pthread_t thread;
	unsigned log;        /* pages in the write-ahead log */
	unsigned file;       /* pages in the log's file, which does not shrink when the log restarts */
	unsigned restart_at; /* a log of more pages is restarted, even if requests must wait for it */
	enum err error;      /* the last failure */
	struct why why;      /* its reason */
	struct queue_entry *group[STORE_GROUP_MAX];
};

/* Takes over `db` if it succeeds. The caller has set queue, checkpoint, failures and tuning. */
must_check enum err writer_start(struct writer *w, sqlite3 *db, struct why *why);
/* Waits for the thread to end. To be called after queue_close. */
void writer_stop(struct writer *w);
/* Closes the connection. To be closed last: the last connection of a database removes its log. */
void writer_free(struct writer *w);
