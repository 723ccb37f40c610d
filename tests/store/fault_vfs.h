#pragma once
/* An SQLite VFS in memory that fails on command. For each file it knows which bytes were synced and which
 * were only written. A power cut keeps what was synced; of the rest, any sectors may survive. Locks and the
 * shared memory of the write-ahead log are those of the real file system, on empty files. For tests; from any
 * thread. */
#include "base/attr.h"

/* Makes it the default VFS of SQLite; further calls do nothing. */
void fault_vfs_install(void);
/* Forgets all files, counts and faults. No file may be open. */
void fault_vfs_reset(void);

enum fault { FAULT_READ, FAULT_WRITE, FAULT_SYNC, FAULT_TRUNCATE, FAULTS };
/* The n-th such call from now on (1: the next) and the following `times` - 1 fail with an I/O error. */
void fault_vfs_fail(enum fault what, uint64_t nth, uint64_t times);
/* The number of such calls so far; whether a call has failed since fault_vfs_fail. */
uint64_t fault_vfs_count(enum fault what);
bool fault_vfs_has_failed(void);
/* The most bytes of all files together; and the bytes at present. */
void fault_vfs_capacity(size_t bytes);
size_t fault_vfs_used(void);

/* The machine stops during the n-th sync from now on (1: the next): that sync and every later call fail. */
void fault_vfs_stop_at_sync(uint64_t nth);
void fault_vfs_stop(void);
bool fault_vfs_stopped(void);
/* Starts the machine again. All files must have been closed. */
enum fault_vfs_end {
	FAULT_VFS_KILLED,  /* only the process ended: all that was written is there, synced or not */
	FAULT_VFS_CUT,     /* a power cut: what was not synced is lost */
	FAULT_VFS_CUT_SOME /* a power cut: some sectors that were not synced survive */
};
void fault_vfs_restart(enum fault_vfs_end end, uint64_t seed);
