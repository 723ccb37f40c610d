#pragma once
/* The order in which schedules of one set are put: a follower needs its leader's number, so leaders go first.
 */
#include "base/arena.h"
#include "base/err.h"

enum { NO_LEADER = -1 };
/* leader[i]: the one of the set that i follows, or NO_LEADER. Fills `ret`, n places. E_INPUT: *cycle follows
 * itself, by way of its leader. What follows nobody keeps its place before what comes after it. */
must_check enum err order_leaders(const int *leader, unsigned n, struct arena *a, unsigned *ret,
				  unsigned *cycle);
