/* Writes events as JSON. */
#include "api/event_json.h"

#include "api/json_out.h"
#include "core/model.h"
#include "daemon/notify/message.h"
#include "runfile/outbox.h"

#include <stdlib.h>

const char *event_type(const struct pump_fact *f)
{
	static const char *const reports[REPORTS] = {
		[REPORT_FAIL] = "run.gave_up", [REPORT_STEP] = "run.step", [REPORT_NOTE] = "run.note"
	};
	if (f->res != ST_OK)
		return NULL;
	if (f->op >= ST_OPS)
		return reports[f->op - ST_OPS];
	switch ((enum st_op)f->op) {
	case ST_PUT:
		return "schedule.changed";
	case ST_DROP:
		return "schedule.removed";
	case ST_OCC:
	case ST_VERDICT:
		return f->run.state == RUN_FINISHED  ? "run.finished"
		       : f->run.state == RUN_SKIPPED ? "occurrence.skipped"
		       : f->run.state == RUN_MISSED  ? "occurrence.missed"
		       : f->op == ST_OCC             ? "run.claimed"
						     : NULL;
	case ST_RANGE:
		return f->range.state == RUN_MISSED ? "occurrence.missed" : "occurrence.skipped";
	case ST_STARTED:
		return "run.started";
	case ST_FINISH:
		return f->run.state == RUN_RETRYING ? "run.failed" : "run.finished";
	case ST_MESSAGES:
		return f->message.kind == NEWS_PING ? NULL : "message";
	case ST_DELIVERY:
		return f->message.state == MESSAGE_WAITING     ? NULL
		       : f->message.state != MESSAGE_DELIVERED ? "message.given_up"
		       : f->message.kind == NEWS_PING          ? NULL
							       : "message.delivered";
	case ST_HOLD:
		return f->hold.reason ? "hold.set" : "hold.freed";
	case ST_PROBLEM:
		return f->problem.act == PROBLEM_ACK     ? "problem.acknowledged"
		       : f->problem.act == PROBLEM_CLOSE ? "problem.closed"
		       : f->problem.fresh                ? "problem.opened"
							 : NULL;
	case ST_WITHDRAW:
	case ST_NAME:
	case ST_SOURCE:
	case ST_STATE:
	case ST_MEMORY:
	case ST_AGENT:
	case ST_RUN_TEXT:
	case ST_PRUNE:
	case ST_NUMBERS:
	case ST_TAKE:
	case ST_KEY:
	case ST_OPS:
		break;
	}
	return NULL;
}

/* --- ids --- */

enum { EVENT_IDS = 16384 };

struct event_ids {
	struct reader *reader;
	struct {
		uint64_t sid;
		char *id;
	} slot[EVENT_IDS];
};

struct event_ids *event_ids_new(struct reader *reader)
{
	struct event_ids *ids = calloc(1, sizeof *ids);
	if (ids)
		ids->reader = reader;
	return ids;
}

void event_ids_free(struct event_ids *ids)
{
	for (unsigned i = 0; ids && i < EVENT_IDS; i++)
		free(ids->slot[i].id);
	free(ids);
}

/* The id of a schedule, which never changes; NULL: it cannot be read. */
static const char *find_id(struct event_ids *ids, uint64_t sid)
{
	_cleanup_(arena_free) struct arena arena = { 0 };
	struct str id;
	struct why why;
	if (ids->slot[sid % EVENT_IDS].sid == sid)
		return ids->slot[sid % EVENT_IDS].id;
	char *copy = NULL;
	if (read_id(ids->reader, sid, &arena, &id, &why) == OK && id.n)
		copy = strndup(id.p, id.n);
	if (copy) {
		free(ids->slot[sid % EVENT_IDS].id);
		ids->slot[sid % EVENT_IDS].sid = sid;
		ids->slot[sid % EVENT_IDS].id = copy;
	}
	return copy;
}

/* --- JSON --- */

/* Adds the receiver and the text of a message. A target of kind `event` may have a name. */
static void add_message(struct event_ids *ids, const struct pump_fact *f, struct buf *out)
{
	_cleanup_(arena_free) struct arena a = { 0 };
	_cleanup_(buf_free) struct buf to = { 0 };
	struct message_row n;
	struct doc_target target;
	struct val body;
	struct why why;
	buf_addf(out, ",\"message\":%llu,\"about\":\"%s\"", (unsigned long long)f->message.number,
		 message_kind_word(f->message.kind));
	if (read_message(ids->reader, f->message.number, &a, &n, &why))
		return;
	message_receiver_name(&n, &to);
	json_add_str(out, "to", buf_str(&to));
	if (message_target(&n, &a, &target, NULL) == OK && target.name.n)
		json_add_str(out, "name", target.name);
	const struct val *text = n.kind != NEWS_PING && json_read(n.body, &a, &body, NULL) == OK
					 ? val_get(&body, STR("text"))
					 : NULL;
	if (text && text->kind == VAL_STR)
		json_add_str(out, "text", text->str);
	if (f->op == ST_DELIVERY)
		json_add_str(out, "said", n.result);
}

void event_write(struct event_ids *ids, uint64_t number, const struct live_event *event, struct buf *out)
{
	const struct pump_fact *f = &event->fact;
	const char *id = f->sid ? find_id(ids, f->sid) : NULL;
	buf_addf(out, "{\"id\":%llu,\"type\":\"%s\"", (unsigned long long)number, event_type(f));
	json_add_time(out, "time", f->at);
	if (id) {
		buf_add(out, STR(",\"schedule\":"));
		json_write_str(out, str_of(id));
	}
	if (f->run.run)
		buf_addf(out, ",\"run\":\"r%llu\"", (unsigned long long)f->run.run);
	if (f->run.run && !f->message.number) {
		buf_addf(out, ",\"attempt\":%u", f->run.attempt);
		json_add_time(out, "nominal", f->run.nominal);
	}
	if (f->op == ST_OCC && f->run.due.us) /* adds the lateness: the time from due to recorded */
		buf_addf(out, ",\"lateness_ms\":%.3f", (double)(f->at.us - f->run.due.us) / 1000);
	if (f->message.number)
		add_message(ids, f, out);
	if (f->problem.number)
		buf_addf(out, ",\"problem\":%llu", (unsigned long long)f->problem.number);
	if (f->op == ST_RANGE) {
		json_add_time(out, "first", f->range.first);
		json_add_time(out, "last", f->range.last);
	}
	unsigned reason = f->op == ST_RANGE  ? f->range.reason
			  : f->op == ST_HOLD ? f->hold.reason
					     : f->run.reason;
	if (f->run.outcome)
		buf_addf(out, ",\"outcome\":\"%s\"", outcome_words[f->run.outcome]);
	if (reason)
		buf_addf(out, ",\"reason\":\"%s\"", reason_words[reason]);
	if (f->op >= ST_OPS) {
		buf_add(out, STR(",\"text\":"));
		json_write_str(out, str_of(event->text));
	}
	buf_addc(out, '}');
}
