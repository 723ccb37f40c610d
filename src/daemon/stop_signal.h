#pragma once
/* SIGTERM and SIGINT end the process, whatever hangs. A thread of its own waits for the signals: it notifies
 * the daemon's thread, and ends the process if it is still there DAEMON_END_MS later. That loses nothing:
 * what was acknowledged is on the disk, and runs go on without the daemon, as after kill -9. */
#include "base/err.h"

struct stop_signal;

/* Blocks both signals in the calling thread. Call it before other threads are started, which inherit that,
 * and close it last: until then the process ends by itself. */
must_check enum err stop_signal_open(struct stop_signal **ret, struct why *why);
void stop_signal_close(struct stop_signal *s);

/* An eventfd that counts the signals. */
int stop_signal_fd(const struct stop_signal *s);
