/* Features that are read but not supported yet. A schedule or agent that uses one gets a warning and is
 * blocked: a run without its budget would look as if the budget had been applied. */
#include "core/doc/agent/agent.h"
#include "core/doc/internal.h"

static const char *const features[DOC_UNSUPPORTED_COUNT] = {
	[DOC_UNSUPPORTED_BUDGET] = "budgets are not supported yet",
	[DOC_UNSUPPORTED_RUNNER] = "only agents with runner 'command' and a command are supported so far",
};

void doc_note_unsupported(struct key_reader *r, enum doc_unsupported feature, size_t at)
{
	unsigned *used = reader_of(r)->unsupported, bit = 1u << feature;
	if (!(*used & bit))
		doc_warn(r, at, "%s: the %s is accepted, but blocked", features[feature],
			 reader_of(r)->schedule ? "schedule" : "agent");
	*used |= bit;
}

static const char *first_unsupported(unsigned used)
{
	for (unsigned i = 0; i < DOC_UNSUPPORTED_COUNT; i++)
		if (used >> i & 1)
			return features[i];
	return NULL;
}

const char *doc_blocked(const struct schedule_doc *d)
{
	return d->turn.blocked ? d->turn.blocked : first_unsupported(d->unsupported);
}

const char *agent_blocked(const struct agent_doc *d)
{
	return first_unsupported(d->unsupported);
}
