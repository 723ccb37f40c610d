/* Writes the provenance of a turn. */
#include "daemon/prepare/provenance.h"

#include "base/json.h"
#include "core/doc/agent/turn.h"

static void write_provenance(const struct schedule_doc *d, const struct launch *l, struct str message,
			     bool whole, struct buf *out)
{
	buf_add(out, STR("{\"agent\":"));
	json_write_str(out, d->agent);
	buf_addf(out, ",\"definition\":\"%016llx\",\"runner\":\"%s\"",
		 (unsigned long long)d->turn.fingerprint, agent_runner_words[d->turn.agent->runner]);
	if (d->turn.agent->model.n) {
		buf_add(out, STR(",\"model\":"));
		json_write_str(out, d->turn.agent->model);
	}
	buf_add(out, STR(",\"program\":["));
	for (unsigned i = 0; l->argv[i] && (whole || i < 1); i++) {
		buf_add(out, i ? STR(",") : STR(""));
		json_write_str(out, str_of(l->argv[i]));
	}
	buf_add(out, STR("],\"message\":"));
	json_write_str(out, message);
	buf_addf(out, ",\"whole\":%s}", whole ? "true" : "false");
}

enum err provenance_write(const struct schedule_doc *d, const struct launch *l, struct arena *a,
			  struct str *ret)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	*ret = (struct str){ 0 };
	if (d->action.kind != DOC_AGENT_TURN)
		return OK;
	struct str message = turn_message(d, l->input);
	write_provenance(d, l, message, true, &text);
	/* JSON escapes some characters, so the length of the JSON is known only after it is written. The
	 * message is shortened until the JSON fits. */
	while (text.n > STORE_RUN_TEXT_BYTES_MAX && !text.failed) {
		message.n = message.n > STORE_RUN_TEXT_BYTES_MAX ? STORE_RUN_TEXT_BYTES_MAX : message.n / 2;
		text.n = 0;
		write_provenance(d, l, message, false, &text);
	}
	ret->p = text.failed ? NULL : arena_dup(a, buf_str(&text));
	ret->n = text.n;
	return ret->p ? OK : E_NOMEM;
}
