#include "daemon/agent_index.h"

#include <stdlib.h>

void agent_index_free(struct agent_index *r)
{
	for (unsigned i = 0; i < r->n; i++)
		free(r->agent[i].name);
	free(r->agent);
	*r = (struct agent_index){ 0 };
}

static int compare(const struct agent_index_agent *a, struct str name)
{
	int c = memcmp(a->name, name.p, a->length < name.n ? a->length : name.n);
	return c ? c : (a->length > name.n) - (a->length < name.n);
}

/* Where it is, or would go. */
static unsigned find(const struct agent_index *r, struct str name, bool *there)
{
	unsigned low = 0, high = r->n;
	while (low < high) {
		unsigned mid = low + (high - low) / 2;
		if (compare(&r->agent[mid], name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	*there = low < r->n && compare(&r->agent[low], name) == 0;
	return low;
}

static enum err insert(struct agent_index *r, unsigned at, struct str name, uint64_t print)
{
	char *copy = strndup(name.p, name.n);
	if (copy && r->n == r->room) {
		unsigned room = r->room ? 2 * r->room : 16;
		struct agent_index_agent *more = reallocarray(r->agent, room, sizeof *more);
		if (more) {
			r->agent = more;
			r->room = room;
		}
	}
	if (!copy || r->n == r->room) {
		free(copy);
		return E_NOMEM;
	}
	memmove(r->agent + at + 1, r->agent + at, (r->n - at) * sizeof *r->agent);
	r->agent[at] = (struct agent_index_agent){ copy, name.n, print };
	r->n++;
	return OK;
}

enum err agent_index_set(struct agent_index *r, struct str name, uint64_t print)
{
	bool there;
	unsigned at = find(r, name, &there);
	if (there && print) {
		r->agent[at].print = print;
	} else if (there) {
		free(r->agent[at].name);
		r->n--;
		memmove(r->agent + at, r->agent + at + 1, (r->n - at) * sizeof *r->agent);
	}
	return there || !print ? OK : insert(r, at, name, print);
}

uint64_t agent_index_print(const struct agent_index *r, struct str name)
{
	bool there;
	unsigned at = find(r, name, &there);
	return there ? r->agent[at].print : 0;
}

uint64_t agent_index_default(const struct agent_index *r, struct str name)
{
	return name.n ? agent_index_print(r, name) : r->n == 1 ? r->agent[0].print : 0;
}
