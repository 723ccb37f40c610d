/* Renders the program and the input of a delivery, and interprets its exit code and output. */
#include "daemon/notify/delivery.h"

#include "base/json.h"
#include "core/doc/config/notify.h"
#include "core/model.h"
#include "daemon/environment.h"
#include "daemon/notify/message.h"
#include "runfile/tail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_request(const struct message_row *m)
{
	return str_starts(m->target, STR("{\"type\":\"webhook\""));
}

/* --- the program and its input --- */

/* A secret is given as itself, or as the absolute path of a file that holds it. */
static enum err find_secret(struct str given, struct arena *a, struct str *ret, struct why *why)
{
	char text[4096];
	*ret = given;
	if (!str_starts(given, STR("/")))
		return OK;
	const char *path = arena_dup(a, given);
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
	if (fd >= 0)
		close(fd);
	if (n < 0)
		return why_set(why, E_IO, WHY_NOWHERE, "cannot read the secret in %.*s: %s", STR_SHORT(given),
			       strerror(errno));
	struct str word = str_trim((struct str){ text, (size_t)n });
	ret->p = arena_dup(a, word);
	ret->n = word.n;
	explicit_bzero(text, sizeof text);
	return ret->p ? OK : E_NOMEM;
}

static const struct val *body_of(const struct message_row *m, struct arena *a)
{
	struct val *v = arena_alloc(a, sizeof *v);
	return v && json_read(m->body, a, v, NULL) == OK && v->kind == VAL_MAP ? v : NULL;
}

static struct str text_in(const struct val *body, const char *key)
{
	const struct val *v = body ? val_get(body, str_of(key)) : NULL;
	return v && v->kind == VAL_STR ? v->str : (struct str){ 0 };
}

/* rota-out reads the request, with its secret, from standard input. */
static enum err render_out(const struct delivery_request *q, const struct out_service *out, struct arena *a,
			   struct launch *l, struct why *why)
{
	struct str secret = q->secret, *mask = arena_alloc(a, sizeof *mask);
	const char **argv = arena_alloc(a, 2 * sizeof *argv);
	if (!out->program)
		return why_set(why, E_INPUT, WHY_NOWHERE, OUT_MISSING_TEXT);
	if (!mask || !argv)
		return E_NOMEM;
	enum err e = find_secret(q->secret, a, &secret, why);
	if (!e)
		e = out_request_message(&(struct out_request_message){ .url = q->url,
								       .type = q->type,
								       .id = q->id,
								       .secret = secret,
								       .body = q->body,
								       .seconds = NOTIFY_SECONDS },
					out->rules, a, &l->input);
	argv[0] = out->program;
	argv[1] = NULL;
	*mask = secret;
	l->argv = argv;
	l->secret = mask;
	l->secrets = secret.n >= SECRET_BYTES_MIN && secret.n <= SECRET_BYTES_MAX;
	return e;
}

static enum err render_request(const struct message_row *m, const struct doc_target *t,
			       const struct out_service *out, struct arena *a, struct launch *l,
			       struct why *why)
{
	bool ping = m->kind == NEWS_PING;
	return render_out(
		&(struct delivery_request){ .url = t->url,
					    .secret = t->secret,
					    .type = ping ? "text/plain; charset=utf-8" : "application/json",
					    .id = text_in(body_of(m, a), "id"),
					    .body = m->body },
		out, a, l, why);
}

static enum err render_command(const struct message_row *m, const struct doc_command *c, struct arena *a,
			       struct launch *l)
{
	unsigned argc = c->shell.n ? 3 : c->argc;
	const char **argv = arena_alloc(a, (argc + 1) * sizeof *argv);
	bool good = argv != NULL;
	for (unsigned i = 0; good && i < argc; i++) {
		argv[i] = !c->shell.n ? arena_dup(a, c->argv[i])
			  : i == 0    ? "/bin/sh"
			  : i == 1    ? "-c"
				      : arena_dup(a, c->shell);
		good = argv[i] != NULL;
	}
	if (!good)
		return E_NOMEM;
	argv[argc] = NULL;
	l->argv = argv;
	l->input = m->body;
	return OK;
}

static enum err render_desktop(const struct message_row *m, struct arena *a, struct launch *l)
{
	const struct val *body = body_of(m, a);
	const char **argv = arena_alloc(a, 6 * sizeof *argv);
	struct str title = text_in(body, "schedule");
	const char *words[] = { "notify-send",
				"--app-name=rota",
				"--",
				arena_dup(a, title.n ? title : STR("rota")),
				arena_dup(a, text_in(body, "text")),
				NULL };
	if (!argv || !words[3] || !words[4])
		return E_NOMEM;
	memcpy(argv, words, sizeof words);
	l->argv = argv;
	return OK;
}

/* The program of a message gets the main parts of the message, and its number, by which exec/lineage.h
 * recognizes it. */
static const char **environment(const struct message_row *m, const struct config_pass_env *pass,
				struct arena *a)
{
	static const struct {
		const char *name, *key;
	} parts[] = { { "ROTA_MESSAGE", "type" },      { "ROTA_MESSAGE_ID", "id" },
		      { "ROTA_MESSAGE_TEXT", "text" }, { "ROTA_SCHEDULE_ID", "schedule" },
		      { "ROTA_RUN_ID", "run" },        { "ROTA_OUTCOME", "outcome" },
		      { "ROTA_REASON", "reason" } };
	/* Programs that show messages on the desktop need these. */
	static const char *const desktop[] = { "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY",
					       "XAUTHORITY" };
	const struct val *body = body_of(m, a);
	struct environment e;
	char number[24];
	environment_begin(&e, a, pass, ARRAY_LEN(parts) + ARRAY_LEN(desktop) + 2);
	for (unsigned i = 0; i < ARRAY_LEN(desktop); i++)
		if (getenv(desktop[i]))
			environment_set(&e, desktop[i], str_of(getenv(desktop[i])));
	for (unsigned i = 0; i < ARRAY_LEN(parts); i++) {
		struct str value = text_in(body, parts[i].key);
		if (!strcmp(parts[i].key, "run") && value.n)
			value = str_from(value, 1); /* "r7" becomes "7", as in the environment of a run */
		if (value.n)
			environment_set(&e, parts[i].name, value);
	}
	snprintf(number, sizeof number, "%llu", (unsigned long long)m->number);
	environment_set(&e, RUN_DELIVERY_NAME, str_of(number));
	snprintf(number, sizeof number, "%u", m->attempts + 1);
	environment_set(&e, "ROTA_ATTEMPT", str_of(number));
	return environment_end(&e);
}

static struct launch bounds_of(const char **env)
{
	return (struct launch){ .timeout = (NOTIFY_SECONDS + RUN_GRACE_SECONDS) * USEC,
				.grace = RUN_GRACE_SECONDS * USEC,
				.log_head = DELIVERY_LOG_BYTES,
				.log_tail = DELIVERY_LOG_BYTES,
				.env = env };
}

enum err delivery_render_request(const struct delivery_request *q, uint64_t number,
				 const struct out_service *out, const struct config_pass_env *pass,
				 struct arena *a, struct launch *ret, struct why *why)
{
	struct launch l = bounds_of(environment(&(struct message_row){ .number = number }, pass, a));
	enum err e = l.env ? render_out(q, out, a, &l, why) : E_NOMEM;
	if (!e)
		*ret = l;
	return e;
}

enum err delivery_render(const struct message_row *m, const struct out_service *out,
			 const struct config_pass_env *pass, struct arena *a, struct launch *ret,
			 struct why *why)
{
	struct launch l = bounds_of(environment(m, pass, a));
	struct doc_target t;
	enum err e = l.env ? message_target(m, a, &t, why) : E_NOMEM;
	if (e)
		return e;
	switch ((enum doc_target_kind)t.kind) {
	case DOC_TO_WEBHOOK:
		e = render_request(m, &t, out, a, &l, why);
		break;
	case DOC_TO_COMMAND:
		e = render_command(m, &t.command, a, &l);
		break;
	case DOC_TO_DESKTOP:
		e = render_desktop(m, a, &l);
		break;
	case DOC_TO_EVENT:
		return why_set(why, E_INPUT, WHY_NOWHERE, "a target of type event has no receiver");
	}
	if (!e)
		*ret = l;
	return e;
}

/* --- the end of a delivery --- */

static const struct delivery_retry_policy *policy_of(const struct message_row *m)
{
	/* A late ping is useless; a local program works soon or not at all; a test gets one attempt. */
	static const struct delivery_retry_policy ping = { 3, 2, 30 }, program = { 5, 10, 600 },
						  once = { 1, 1, 1 };
	return m->kind == MESSAGE_TEST ? &once
	       : m->kind == NEWS_PING  ? &ping
	       : is_request(m)         ? &delivery_retry_usual
				       : &program;
}

/* The attempt as delivery_retry_decide expects it. The exit codes of rota-out are in port/out.h; other
 * programs succeed, fail, or are not installed. */
static struct delivery_attempt attempt_of(bool request, int code, int64_t retry_after)
{
	enum { NOT_EXECUTABLE = 126, NOT_FOUND = 127 };
	if (code == 0)
		return (struct delivery_attempt){ OUT_ANSWERED, 200, 0 };
	if (!request)
		return (struct delivery_attempt){ OUT_ANSWERED,
						  code == NOT_EXECUTABLE || code == NOT_FOUND ? 400 : 503,
						  0 };
	if (code >= OUT_EXIT_FAULT && code < OUT_EXIT_FAULT + OUT_FAULTS)
		return (struct delivery_attempt){ (enum out_fault)(code - OUT_EXIT_FAULT), 0, retry_after };
	return (struct delivery_attempt){ OUT_ANSWERED,
					  code == OUT_EXIT_GONE                           ? 410
					  : code == OUT_EXIT_NO || code == OUT_EXIT_INPUT ? 400
											  : 503,
					  retry_after };
}

/* The line that rota-out itself printed. The response body is before it, and may end in the middle of a line;
 * the last bytes of the body may come after it, because the shim keeps them until it knows that no secret
 * begins there. */
static struct str rota_out_line(struct str text)
{
	static const char name[] = "rota-out: ";
	bool found = false;
	for (const char *at; (at = memmem(text.p, text.n, name, sizeof name - 1)); found = true)
		text = str_from(text, (size_t)(at - text.p) + sizeof name - 1);
	const char *end = found ? memchr(text.p, '\n', text.n) : NULL;
	return end ? str_sub(text, 0, (size_t)(end - text.p)) : text;
}

/* The last line that is not empty. */
static struct str last_line(struct str text)
{
	text = str_trim(text);
	size_t from = text.n;
	while (from > 0 && text.p[from - 1] != '\n')
		from--;
	return str_trim(str_from(text, from));
}

static int64_t retry_after_in(struct str line)
{
	static const char words[] = "; retry after ";
	const char *at = memmem(line.p, line.n, words, sizeof words - 1);
	uint64_t n = 0;
	for (const char *p = at ? at + sizeof words - 1 : NULL;
	     p && p < line.p + line.n && is_digit(*p) && n < DELIVERY_SECONDS_MAX; p++)
		n = 10 * n + (unsigned)(*p - '0');
	return (int64_t)n;
}

/* Why the program could not be executed; empty if it was executed. */
static struct str why_not_executed(const char *dir, uint64_t number, unsigned attempt, struct runfile *f)
{
	enum run_life life;
	struct why why;
	if (runfile_read(dir, number, attempt, &life, f, &why) || life != LIFE_ENDED ||
	    f->cause != CAUSE_NOT_EXECUTED)
		return (struct str){ 0 };
	return str_of(f->note);
}

struct delivery_attempt delivery_read_end(const char *dir, uint64_t number, unsigned attempt, bool request,
					  const struct rn_report *report, struct buf *text)
{
	_cleanup_(buf_free) struct buf log = { 0 };
	bool ended = report->kind == RN_EXIT && report->exit_code >= 0;
	bool late = report->kind == RN_EXIT && report->reason == REASON_TIMEOUT;
	runfile_log_tail(dir, number, attempt, DELIVERY_LOG_BYTES, &log);
	struct str line = last_line(request ? rota_out_line(buf_str(&log)) : buf_str(&log));
	struct runfile file = { 0 };
	struct str not_executed = !ended ? why_not_executed(dir, number, attempt, &file) : (struct str){ 0 };
	if (not_executed.n)
		buf_add(text, not_executed);
	else if (late)
		buf_addf(text, "no result after %d s", NOTIFY_SECONDS);
	else if (!ended)
		buf_addf(text, "the process was lost: it is not known whether the message arrived");
	else if (!request && (report->exit_code || line.n))
		buf_addf(text, "exit code %d%s", report->exit_code, line.n ? ": " : "");
	if (ended && !late)
		buf_addf(text, "%.*s", STR_LINE(line));
	return not_executed.n   ? (struct delivery_attempt){ OUT_ANSWERED, 400, 0 }
	       : late || !ended ? (struct delivery_attempt){ OUT_TIMEOUT, 0, 0 }
				: attempt_of(request, report->exit_code, retry_after_in(line));
}

void delivery_judge(const struct message_row *m, const struct rn_report *report, const char *dir,
		    uint32_t chance, struct delivery_end *ret)
{
	unsigned attempt = m->attempts + 1;
	ret->text = (struct buf){ 0 };
	struct delivery_attempt end =
		delivery_read_end(dir, m->number, attempt, is_request(m), report, &ret->text);
	ret->decision = delivery_retry_decide(policy_of(m), attempt, end, chance);
}

struct delivery_decision delivery_not_started(const struct message_row *m, uint32_t chance)
{
	return delivery_retry_decide(policy_of(m), m->attempts + 1,
				     (struct delivery_attempt){ OUT_TIMEOUT, 0, 0 }, chance);
}
