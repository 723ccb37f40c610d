#pragma once
/* A file system for SQLite that lives in memory and fails on command. It knows what of every file would be on
 * the disk (was synced) and what would not; at a power cut only the former is certain, and any part of the
 * latter may survive, in sectors, in whatever order. Locks and the shared memory of the write-ahead log are
 * the real file system's, on empty files. For tests; any thread. */
#include "base/attr.h"

/* Makes it SQLite's default. Once. */
void faultfs_install(void);
/* Forgets all files, counts and faults. No file may be open. */
void faultfs_reset(void);

enum fault { FAULT_READ, FAULT_WRITE, FAULT_SYNC, FAULT_TRUNCATE, FAULTS };
/* The n-th such call from now on (1: the next) and the following `times` - 1 fail with an I/O error. */
void faultfs_fail(enum fault what, uint64_t nth, uint64_t times);
/* Such calls so far; and whether the fault that was ordered has come. */
uint64_t faultfs_count(enum fault what);
bool faultfs_has_failed(void);
/* All files together may not grow beyond this. */
void faultfs_capacity(size_t bytes);
size_t faultfs_used(void);

/* The machine stops at the n-th sync from now on (1: the next), in the midst of it: that and everything after
 * it fails. */
void faultfs_stop_at_sync(uint64_t nth);
void faultfs_stop(void);
bool faultfs_stopped(void);
/* And goes on again, when all files have been closed. */
enum faultfs_end {
	FAULTFS_KILLED,  /* only the process ended: what was written is there, and still not synced */
	FAULTFS_CUT,     /* the power went: what was not synced is gone */
	FAULTFS_CUT_SOME /* the power went: some sectors that were not synced are there */
};
void faultfs_restart(enum faultfs_end end, uint64_t seed);
