/* Writes errors of err_table as JSON, and reads them back. */
#include "wire/problem_document.h"
#include "base/json.h"

int problem_document_write(enum err e, int status, const struct why *w, struct str source, struct buf *out)
{
	assert(e != OK && e < ERR_COUNT);
	_cleanup_(buf_free) struct buf text = { 0 };
	err_describe(e, w, source, &text);
	out->failed |= text.failed;
	if (!status)
		status = err_table[e].http_status;
	buf_addf(out,
		 "{\"type\":\"about:blank\",\"title\":\"%s\",\"status\":%d,\"detail\":", err_table[e].title,
		 status);
	json_write_str(out, buf_str(&text));
	buf_addf(out, ",\"code\":\"%s\"", err_table[e].name);
	if (w && w->text[0] && w->at != WHY_NOWHERE) {
		struct place p = place_of(source, w->at);
		buf_addf(out, ",\"line\":%u,\"column\":%u", p.line, p.column);
	}
	buf_add(out, STR("}\n"));
	return status;
}

/* Statuses that err_table does not have. */
static const struct {
	int status;
	enum err err;
} other_statuses[] = {
	{ 401, E_DENIED }, { 405, E_INPUT }, { 408, E_TIMEOUT }, { 412, E_CONFLICT }, { 413, E_LIMIT },
	{ 414, E_LIMIT },  { 415, E_INPUT }, { 428, E_INPUT },   { 429, E_BUSY },     { 431, E_LIMIT },
};

static enum err error_of_status(int status)
{
	for (unsigned e = 1; e < ERR_COUNT; e++)
		if (err_table[e].http_status == status)
			return (enum err)e;
	for (unsigned i = 0; i < ARRAY_LEN(other_statuses); i++)
		if (other_statuses[i].status == status)
			return other_statuses[i].err;
	return status < 500 ? E_INPUT : E_IO;
}

enum err problem_document_read(int status, struct str body, struct buf *text)
{
	if (status < 400)
		return OK;
	enum err e = error_of_status(status);
	struct arena a = { 0 };
	struct val doc;
	const struct val *detail = NULL, *code = NULL;
	if (json_read(body, &a, &doc, NULL) == OK) {
		detail = val_get(&doc, STR("detail"));
		code = val_get(&doc, STR("code"));
	}
	/* An unknown code comes from a newer daemon: then the error follows from the status. */
	if (code && code->kind == VAL_STR) {
		enum err named = err_named(code->str);
		if (named != OK && str_eq(code->str, str_of(err_table[named].name)))
			e = named;
	}
	if (detail && detail->kind == VAL_STR && detail->str.n)
		buf_add(text, detail->str);
	else
		buf_addf(text, "%s (HTTP status %d)", err_table[e].title, status);
	arena_free(&a);
	return e;
}
