/* ST_VERDICT, ST_STARTED, ST_FINISH and ST_RUN_TEXT. */
#include "model/inner.h"

uint8_t apply_verdict(struct model *m, const struct st_req *q, struct st_ack *ret)
{
	struct model_run *x = find_run(m, q->run.run);
	(void)ret;
	if (!x || (q->run.state != RUN_CLAIMED && !is_idle(q->run.state)))
		return ST_REFUSED;
	if (x->row.state == q->run.state && x->row.reason == q->run.reason)
		return ST_OK; /* repeated */
	if (x->row.state != RUN_PENDING && (x->row.state != RUN_CLAIMED || x->row.attempt != 0))
		return ST_LOST;
	x->row.state = q->run.state;
	x->row.reason = q->run.reason;
	x->row.node = q->run.node;
	update_open(m, x);
	add_news(m, q, (struct news_row){ .sid = x->row.sid, .run = x->row.run });
	log_run(m,
		x->row.state == RUN_CLAIMED   ? EVENT_SCHEDULE_TRIGGERED
		: x->row.state == RUN_SKIPPED ? EVENT_SCHEDULE_SKIPPED
					      : EVENT_SCHEDULE_MISSED,
		&x->row);
	return ST_OK;
}

uint8_t apply_started(struct model *m, const struct st_req *q, struct st_ack *ret)
{
	struct model_run *x = find_run(m, q->run.run);
	(void)ret;
	if (!x)
		return ST_REFUSED;
	bool may_start = x->row.state == RUN_CLAIMED || x->row.state == RUN_RETRYING;
	if (!may_start || q->run.attempt < x->row.attempt)
		return ST_OK;
	bool first_seen = q->run.attempt > x->row.attempt;
	if (first_seen)
		add_news(
			m, q,
			(struct news_row){ .sid = x->row.sid, .run = x->row.run, .attempt = q->run.attempt });
	x->row.state = RUN_CLAIMED;
	x->row.attempt = q->run.attempt;
	x->row.started = q->run.started;
	x->row.node = q->run.node;
	if (first_seen)
		log_event(m, EVENT_RUN_STARTED,
			  (struct event_row){ .sid = x->row.sid,
					      .rev = x->row.rev,
					      .run = x->row.run,
					      .attempt = x->row.attempt,
					      .first = x->row.nominal });
	return ST_OK;
}

/* --- ends --- */

static void count_avoided(struct model *m, uint64_t sid, int64_t since)
{
	unsigned i = 0;
	while (i < m->avoided_n && (m->avoided[i].sid != sid || m->avoided[i].since != since))
		i++;
	if (i == m->avoided_n) {
		ADD_ROOM(m->avoided, m->avoided_room, m->avoided_n);
		m->avoided[m->avoided_n++] = (struct avoided_row){ sid, since, 0 };
	}
	m->avoided[i].n++;
}

void remove_avoided(struct model *m, uint64_t sid, int64_t before)
{
	for (unsigned i = 0; i < m->avoided_n;) {
		const struct avoided_row *x = &m->avoided[i];
		if (x->sid == sid && (sid || x->since != AVOIDED_EVER) && x->since < before)
			m->avoided[i] = m->avoided[--m->avoided_n];
		else
			i++;
	}
}

static bool is_same_end(const struct run_row *a, const struct run_row *b)
{
	return a->attempt == b->attempt && a->state == b->state && a->outcome == b->outcome &&
	       a->reason == b->reason && a->uncounted == b->uncounted && same_wall(a->ended, b->ended) &&
	       same_wall(a->retry_at, b->retry_at) && a->cost == b->cost && a->tokens_in == b->tokens_in &&
	       a->tokens_out == b->tokens_out && a->exit_code == b->exit_code;
}

static void set_end(struct run_row *row, const struct run_row *end)
{
	row->attempt = end->attempt;
	row->state = end->state;
	row->outcome = end->outcome;
	row->reason = end->reason;
	row->uncounted = end->uncounted;
	row->ended = end->ended;
	row->retry_at = end->retry_at;
	row->cost = end->cost;
	row->tokens_in = end->tokens_in;
	row->tokens_out = end->tokens_out;
	row->exit_code = end->exit_code;
	row->node = end->node;
}

/* Of a run that has finished. */
static void change_failures(struct sched_row *row, unsigned change)
{
	if (change == FAILURES_CLEAR)
		row->failures = 0;
	else if (change == FAILURES_GROW && row->failures < UINT32_MAX)
		row->failures++;
}

uint8_t apply_finish(struct model *m, const struct st_req *q, struct st_ack *ret)
{
	struct model_run *x = find_run(m, q->run.run);
	const struct run_row *end = &q->run;
	if (!x || (end->state != RUN_FINISHED && end->state != RUN_RETRYING) ||
	    q->failures >= FAILURES_CHANGES || q->result.n > STORE_RUN_TEXT_BYTES_MAX)
		return ST_REFUSED;
	struct run_row *row = &x->row;
	if (is_same_end(row, end)) {
		ret->end = row->end;
		return ST_OK; /* repeated */
	}
	if (!run_is_open(row) || row->attempt > end->attempt)
		return ST_LOST;
	if (q->avoided) {
		count_avoided(m, 0, AVOIDED_EVER);
		count_avoided(m, 0, avoided_since(end->ended));
		count_avoided(m, row->sid, AVOIDED_EVER);
	}
	set_end(row, end);
	if (row->state == RUN_FINISHED) {
		struct model_sched *s = find_sched(m, row->sid);
		change_failures(&s->row, q->failures);
		ret->end = row->end = ++s->last_end;
		if (q->result.n)
			set_run_text(m, row->run, RUN_TEXT_RESULT, q->result);
	}
	add_news(m, q, (struct news_row){ .sid = row->sid, .run = row->run, .attempt = row->attempt });
	log_end(m, q, row);
	update_open(m, x);
	return ST_OK;
}

/* --- texts --- */

void set_run_text(struct model *m, uint64_t run, enum run_text_kind kind, struct str text)
{
	unsigned i = 0;
	while (i < m->run_texts && (m->run_text[i].run != run || m->run_text[i].kind != kind))
		i++;
	if (i == m->run_texts && text.n) {
		ADD_ROOM(m->run_text, m->run_text_room, m->run_texts);
		m->run_text[m->run_texts++] = (struct run_text_row){ run, (uint8_t)kind, { 0 } };
	}
	if (text.n) {
		text_set(&m->run_text[i].text, text);
	} else if (i < m->run_texts) {
		text_free(&m->run_text[i].text);
		m->run_text[i] = m->run_text[--m->run_texts];
	}
}

uint8_t apply_run_text(struct model *m, const struct st_req *q, struct st_ack *ret)
{
	const struct run_text_row *w = &q->run_text;
	(void)ret;
	if (!find_run(m, w->run) || w->kind >= RUN_TEXT_KINDS || w->text.n > STORE_RUN_TEXT_BYTES_MAX)
		return ST_REFUSED;
	set_run_text(m, w->run, (enum run_text_kind)w->kind, w->text);
	return ST_OK;
}
