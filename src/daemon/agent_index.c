/* The index is a sorted array: there are few agents, and they rarely change. */
#include "daemon/agent_index.h"

#include "base/array.h"

void agent_index_free(struct agent_index *x)
{
	for (unsigned i = 0; i < x->n; i++)
		free(x->agent[i].name);
	free(x->agent);
	*x = (struct agent_index){ 0 };
}

static int compare(const struct indexed_agent *a, struct str name)
{
	int c = memcmp(a->name, name.p, a->length < name.n ? a->length : name.n);
	return c ? c : (a->length > name.n) - (a->length < name.n);
}

/* Returns the index of the agent in the array; if the agent is not there, the index where it would be
 * inserted. */
static unsigned find_agent(const struct agent_index *x, struct str name, bool *there)
{
	unsigned low = 0, high = x->n;
	while (low < high) {
		unsigned mid = low + (high - low) / 2;
		if (compare(&x->agent[mid], name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	*there = low < x->n && compare(&x->agent[low], name) == 0;
	return low;
}

static enum err insert_agent(struct agent_index *x, unsigned at, struct str name, uint64_t fingerprint)
{
	char *copy = ARRAY_ADD_ROOM(x->agent, x->room, x->n) ? strndup(name.p, name.n) : NULL;
	if (!copy)
		return E_NOMEM;
	memmove(x->agent + at + 1, x->agent + at, (x->n - at) * sizeof *x->agent);
	x->agent[at] = (struct indexed_agent){ copy, name.n, fingerprint };
	x->n++;
	return OK;
}

enum err agent_index_set(struct agent_index *x, struct str name, uint64_t fingerprint)
{
	bool there;
	unsigned at = find_agent(x, name, &there);
	if (there && fingerprint) {
		x->agent[at].fingerprint = fingerprint;
	} else if (there) {
		free(x->agent[at].name);
		x->n--;
		memmove(x->agent + at, x->agent + at + 1, (x->n - at) * sizeof *x->agent);
	}
	return there || !fingerprint ? OK : insert_agent(x, at, name, fingerprint);
}

uint64_t agent_index_get(const struct agent_index *x, struct str name)
{
	bool there;
	unsigned at = find_agent(x, name, &there);
	return there ? x->agent[at].fingerprint : 0;
}

uint64_t agent_index_default(const struct agent_index *x, struct str name)
{
	return name.n ? agent_index_get(x, name) : x->n == 1 ? x->agent[0].fingerprint : 0;
}
