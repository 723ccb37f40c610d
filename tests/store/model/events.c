/* The log of events, and ST_REPORT. The model keeps one row for each event. */
#include "model/inner.h"

void log_event(struct model *m, enum event_type type, struct event_row about)
{
	ADD_ROOM(m->event, m->event_room, m->events);
	about.number = ++m->last_event;
	about.type = (uint8_t)type;
	about.at = m->now;
	about.text = text_dup(about.text);
	m->event[m->events++] = (struct model_event){ about, m->request_first_event };
}

/* What events about a run have in common. */
static struct event_row about_run(const struct run_row *run)
{
	return (struct event_row){ .sid = run->sid,
				   .rev = run->rev,
				   .run = run->run,
				   .attempt = run->attempt,
				   .reason = run->reason,
				   .outcome = run->outcome,
				   .first = run->nominal };
}

void log_run(struct model *m, enum event_type type, const struct run_row *run)
{
	log_event(m, type, about_run(run));
}

static void log_finished(struct model *m, const struct st_req *q, struct event_row about)
{
	if (q->publishes)
		log_event(m, EVENT_CUSTOM, about);
	log_event(m, EVENT_RUN_FINISHED, about);
	log_event(m, EVENT_SCHEDULE_COMPLETED, about);
}

void log_occurrence(struct model *m, const struct st_req *q)
{
	struct event_row about = about_run(&q->run);
	about.last = q->run.due;
	if (is_idle(q->run.state)) {
		log_event(m, q->run.state == RUN_MISSED ? EVENT_SCHEDULE_MISSED : EVENT_SCHEDULE_SKIPPED,
			  about);
		return;
	}
	log_event(m, EVENT_RUN_CLAIMED, about);
	if (q->run.state == RUN_CLAIMED || q->run.state == RUN_FINISHED)
		log_event(m, EVENT_SCHEDULE_TRIGGERED, about);
	if (q->run.state == RUN_FINISHED)
		log_finished(m, q, about);
}

void log_end(struct model *m, const struct st_req *q, const struct run_row *run)
{
	if (run->state == RUN_FINISHED)
		log_finished(m, q, about_run(run));
	else
		log_run(m, EVENT_RUN_FAILED, run);
}

uint8_t apply_report(struct model *m, const struct st_req *q, struct st_ack *ret)
{
	struct model_run *x = find_run(m, q->run.run);
	const struct report_request *report = &q->report;
	(void)ret;
	if (!x || report->type < EVENT_RUN_STEP || report->type > EVENT_RUN_GAVE_UP || !report->text.p ||
	    report->text.n > STORE_EVENT_TEXT_MAX)
		return ST_REFUSED;
	if (same_wall(x->reported, q->at))
		return ST_OK; /* repeated */
	x->reported = q->at;
	log_event(m, (enum event_type)report->type,
		  (struct event_row){ .sid = x->row.sid,
				      .rev = x->row.rev,
				      .run = x->row.run,
				      .attempt = q->run.attempt,
				      .first = x->row.nominal,
				      .text = report->text });
	return ST_OK;
}

void prune_events(struct model *m, const struct st_req *q)
{
	unsigned n = 0;
	while (n < m->events && m->event[n].request_first <= q->prune.last &&
	       m->event[n].row.at.us <= q->at.us)
		text_free(&m->event[n++].row.text);
	if (n)
		memmove(m->event, m->event + n, (m->events - n) * sizeof *m->event);
	m->events -= n;
}
