/* From a document to what the engine works with. */
#include "core/doc/doc.h"

enum err doc_rules(const struct schedule_doc *d, const struct doc_names *names, struct rules *ret)
{
	struct rules r;
	memset(&r, 0, sizeof r); /* they are stored as bytes */
	r.version = RULES_VERSION;
	r.zone_print = zone_print(d->when.zone);
	r.when = d->when.rule;
	struct policy *p = &r.policy;
	p->missed = d->missed;
	p->overlap = d->overlap;
	p->backoff = d->retry.backoff;
	p->action = d->action.kind == DOC_EVENT ? ACTION_EVENT : ACTION_RUN;
	p->after = d->after.outcome;
	p->priority = (int8_t)d->priority;
	p->retries = (uint16_t)d->retry.count;
	p->catch_up_limit = (uint16_t)d->catch_up_limit;
	p->max_failures = (uint16_t)d->max_failures;
	p->window = (uint32_t)d->window;
	p->retry_delay = (uint32_t)d->retry.delay;
	p->retry_most = (uint32_t)d->retry.most;
	enum err e = names->zone(names->self, d->when.zone_name, d->when.zone, &p->zone);
	if (!e && d->when.except.n)
		e = names->days(names->self, &d->when.except, &p->calendar);
	if (!e && d->concurrency_key.n)
		e = names->name(names->self, DOC_CONCURRENCY_KEY, d->concurrency_key, &p->key);
	if (!e)
		*ret = r;
	return e;
}
