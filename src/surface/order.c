#include "surface/order.h"

/* From each, up to the first that is placed or follows nobody, and back. */
enum err order_leaders(const int *leader, unsigned n, struct arena *a, unsigned *ret, unsigned *cycle)
{
	bool *placed = arena_alloc(a, n + 1);
	unsigned *seen = arena_alloc(a, (n + 1) * sizeof *seen); /* from which, and one */
	unsigned *line = arena_alloc(a, (n + 1) * sizeof *line), done = 0;
	if (!placed || !seen || !line)
		return E_NOMEM;
	for (unsigned i = 0; i < n; i++) {
		unsigned length = 0;
		for (int at = (int)i; at != NO_LEADER && !placed[at]; at = leader[at]) {
			if (seen[at] == i + 1) {
				*cycle = (unsigned)at;
				return E_INPUT;
			}
			seen[at] = i + 1;
			line[length++] = (unsigned)at;
		}
		while (length) {
			placed[line[--length]] = true;
			ret[done++] = line[length];
		}
	}
	return OK;
}
