#pragma once
/* An SQLite VFS in memory that fails on command. For each file it knows which bytes were synced and which
 * were only written. A power cut keeps the synced bytes; of the others, any sectors may survive. Locks and
 * the shared memory of the write-ahead log are those of the real file system, on empty files. For tests; from
 * any thread. */
#include "base/attr.h"

/* Makes this VFS the default VFS of SQLite; further calls do nothing. */
void fault_vfs_install(void);
/* Forgets all files, counts and faults. No file may be open. */
void fault_vfs_reset(void);

enum fault { FAULT_READ, FAULT_WRITE, FAULT_SYNC, FAULT_TRUNCATE, FAULTS };
/* Makes the n-th call of this kind from now on (1: the next) and the `times` - 1 calls after it fail with an
 * I/O error. */
void fault_vfs_fail(enum fault what, uint64_t nth, uint64_t times);
/* The number of calls of this kind so far, and whether a call has failed since fault_vfs_fail. */
uint64_t fault_vfs_count(enum fault what);
bool fault_vfs_has_failed(void);
/* fault_vfs_capacity sets the largest total size of all files; fault_vfs_used returns their present size. */
void fault_vfs_capacity(size_t bytes);
size_t fault_vfs_used(void);

/* Stops the machine during the n-th sync from now on (1: the next): that sync and every later call fail. */
void fault_vfs_stop_at_sync(uint64_t nth);
void fault_vfs_stop(void);
bool fault_vfs_stopped(void);
/* Starts the machine again. All files must have been closed. */
enum fault_vfs_end {
	FAULT_VFS_KILLED,  /* only the process ended: all written bytes survive, synced or not */
	FAULT_VFS_CUT,     /* a power cut: bytes that were not synced are lost */
	FAULT_VFS_CUT_SOME /* a power cut: some sectors that were not synced survive */
};
void fault_vfs_restart(enum fault_vfs_end end, uint64_t seed);
