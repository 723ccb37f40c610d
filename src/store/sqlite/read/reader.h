#pragma once
/* A reader of one database file, behind port/read.h: a read-only connection, used by one thread at a time. */
#include "port/read.h"

/* The store must be open, and stay open until the reader is closed. E_INPUT: the file is no database of rota,
 * or has another version than this program; opening the store migrates it. */
must_check enum err sqlite_reader_open(const char *path, struct reader **ret, struct why *why);
