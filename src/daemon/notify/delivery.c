#include "daemon/notify/delivery.h"

#include "base/json.h"
#include "core/doc/config/notify.h"
#include "core/model.h"
#include "daemon/notify/message.h"
#include "runfile/tail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_request(const struct message_row *n)
{
	return str_starts(n->target, STR("{\"type\":\"webhook\""));
}

/* --- what is executed --- */

/* The secret itself, or what its file has. */
static enum err find_secret(struct str said, struct arena *a, struct str *ret, struct why *why)
{
	char text[4096];
	*ret = said;
	if (!str_starts(said, STR("/")))
		return OK;
	const char *path = arena_dup(a, said);
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
	if (fd >= 0)
		close(fd);
	if (n < 0)
		return why_set(why, E_IO, WHY_NOWHERE, "the secret in %.*s cannot be read: %s",
			       STR_SHORT(said), strerror(errno));
	struct str word = str_trim((struct str){ text, (size_t)n });
	ret->p = arena_dup(a, word);
	ret->n = word.n;
	explicit_bzero(text, sizeof text);
	return ret->p ? OK : E_NOMEM;
}

static const struct val *message_of(const struct message_row *n, struct arena *a)
{
	struct val *v = arena_alloc(a, sizeof *v);
	return v && json_read(n->body, a, v, NULL) == OK && v->kind == VAL_MAP ? v : NULL;
}

static struct str part(const struct val *message, const char *key)
{
	const struct val *v = message ? val_get(message, str_of(key)) : NULL;
	return v && v->kind == VAL_STR ? v->str : (struct str){ 0 };
}

static enum err render_request(const struct message_row *n, const struct doc_target *t,
			       const struct way_out *out, struct arena *a, struct launch *l, struct why *why)
{
	bool ping = n->kind == NEWS_PING;
	struct str secret = t->secret, *mask = arena_alloc(a, sizeof *mask);
	const char **argv = arena_alloc(a, 2 * sizeof *argv);
	if (!out->program)
		return why_set(why, E_INPUT, WHY_NOWHERE,
			       "rota-out, which sends requests, is not installed beside rota; ROTA_OUT can "
			       "name it");
	if (!mask || !argv)
		return E_NOMEM;
	enum err e = find_secret(t->secret, a, &secret, why);
	if (!e)
		e = out_request_message(
			&(struct out_request_message){ .url = t->url,
						       .type = ping ? "text/plain; charset=utf-8"
								    : "application/json",
						       .id = part(message_of(n, a), "id"),
						       .secret = secret,
						       .body = n->body,
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

static enum err render_command(const struct message_row *n, const struct doc_command *c, struct arena *a,
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
	l->input = n->body;
	return OK;
}

static enum err render_desktop(const struct message_row *n, struct arena *a, struct launch *l)
{
	const struct val *m = message_of(n, a);
	const char **argv = arena_alloc(a, 6 * sizeof *argv);
	struct str title = part(m, "schedule");
	const char *words[] = { "notify-send",
				"--app-name=rota",
				"--",
				arena_dup(a, title.n ? title : STR("rota")),
				arena_dup(a, part(m, "text")),
				NULL };
	if (!argv || !words[3] || !words[4])
		return E_NOMEM;
	memcpy(argv, words, sizeof words);
	l->argv = argv;
	return OK;
}

/* The daemon's own, but for what is the service manager's word to it, and what happened. */
static const char **environment(const struct message_row *n, struct arena *a)
{
	static const struct {
		const char *name, *key;
	} more[] = { { "ROTA_NOTICE", "type" },      { "ROTA_NOTICE_ID", "id" },
		     { "ROTA_NOTICE_TEXT", "text" }, { "ROTA_SCHEDULE_ID", "schedule" },
		     { "ROTA_RUN_ID", "run" },       { "ROTA_OUTCOME", "outcome" },
		     { "ROTA_REASON", "reason" } };
	const struct val *m = message_of(n, a);
	unsigned all = 0, count = 0;
	while (environ[all])
		all++;
	const char **env = arena_alloc(a, (all + ARRAY_LEN(more) + 1) * sizeof *env);
	for (unsigned i = 0; env && i < all; i++)
		if (strncmp(environ[i], "NOTIFY_SOCKET=", 14) != 0 &&
		    strncmp(environ[i], "WATCHDOG_", 9) != 0)
			env[count++] = environ[i];
	for (unsigned i = 0; env && i < ARRAY_LEN(more); i++) {
		struct str value = part(m, more[i].key);
		if (!strcmp(more[i].key, "run") && value.n)
			value = str_from(value, 1); /* the number, as runs have it */
		env[count] = value.n ? arena_printf(a, "%s=%.*s", more[i].name, STR_ARG(value)) : NULL;
		if (value.n && !env[count++])
			return NULL;
	}
	if (env)
		env[count] = NULL;
	return env;
}

enum err delivery_render(const struct message_row *n, const struct way_out *out, struct arena *a,
			 struct launch *ret, struct why *why)
{
	struct launch l = { .timeout = (NOTIFY_SECONDS + RUN_GRACE_SECONDS) * USEC,
			    .grace = RUN_GRACE_SECONDS * USEC,
			    .log_head = ERRAND_LOG_BYTES,
			    .log_tail = ERRAND_LOG_BYTES,
			    .env = environment(n, a) };
	struct doc_target t;
	enum err e = l.env ? message_target(n, a, &t, why) : E_NOMEM;
	if (e)
		return e;
	switch ((enum doc_target_kind)t.kind) {
	case DOC_TO_WEBHOOK:
		e = render_request(n, &t, out, a, &l, why);
		break;
	case DOC_TO_COMMAND:
		e = render_command(n, &t.command, a, &l);
		break;
	case DOC_TO_DESKTOP:
		e = render_desktop(n, a, &l);
		break;
	case DOC_TO_EVENT:
		return why_set(why, E_INPUT, WHY_NOWHERE, "an event is nothing to send");
	}
	if (!e)
		*ret = l;
	return e;
}

/* --- how it ended --- */

static const struct delivery_retry_policy *policy_of(const struct message_row *n)
{
	/* What nobody waits for any more after a while; a program of this machine's own; one look. */
	static const struct delivery_retry_policy ping = { 3, 2, 30 }, program = { 5, 10, 600 },
						  once = { 1, 1, 1 };
	return n->kind == MESSAGE_TEST ? &once
	       : n->kind == NEWS_PING  ? &ping
	       : is_request(n)         ? &delivery_retry_usual
				       : &program;
}

/* What exit codes stand for: of rota-out's each has its meaning, and those of others are good, or bad, or say
 * that there is no such program. */
static struct delivery_attempt end_of(bool request, int code, int64_t retry_after)
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

/* What rota-out says comes after all of the answer, which may end within a line. */
static struct str own_line(struct str text)
{
	static const char own[] = "rota-out: ";
	for (const char *at; (at = memmem(text.p, text.n, own, sizeof own - 1));)
		text = str_from(text, (size_t)(at - text.p) + sizeof own - 1);
	return text;
}

/* The last line that says something. */
static struct str last_line(struct str text)
{
	text = str_trim(text);
	size_t from = text.n;
	while (from > 0 && text.p[from - 1] != '\n')
		from--;
	return str_trim(str_from(text, from));
}

static int64_t asked_to_wait(struct str line)
{
	static const char words[] = "; retry after ";
	const char *at = memmem(line.p, line.n, words, sizeof words - 1);
	uint64_t n = 0;
	for (const char *p = at ? at + sizeof words - 1 : NULL;
	     p && p < line.p + line.n && is_digit(*p) && n < DELIVERY_SECONDS_MAX; p++)
		n = 10 * n + (unsigned)(*p - '0');
	return (int64_t)n;
}

/* Why it was not executed; empty: it was. No wait puts a program there. */
static struct str why_unborn(const char *dir, const struct message_row *n, struct runfile *f)
{
	enum run_life life;
	struct why why;
	if (runfile_read(dir, n->number, n->attempts + 1, &life, f, &why) || life != LIFE_ENDED ||
	    f->cause != CAUSE_NOT_EXECUTED)
		return (struct str){ 0 };
	return str_of(f->note);
}

void delivery_judge(const struct message_row *n, const struct rn_report *says, const char *dir,
		    uint32_t chance, struct delivery_end *ret)
{
	_cleanup_(buf_free) struct buf log = { 0 };
	bool request = is_request(n), ended = says->kind == RN_EXIT && says->exit_code >= 0;
	bool late = says->kind == RN_EXIT && says->reason == REASON_TIMEOUT;
	unsigned attempt = n->attempts + 1;
	runfile_log_tail(dir, n->number, attempt, ERRAND_LOG_BYTES, &log);
	struct str line = last_line(request ? own_line(buf_str(&log)) : buf_str(&log));
	struct runfile file = { 0 };
	struct str unborn = !ended ? why_unborn(dir, n, &file) : (struct str){ 0 };
	struct delivery_attempt end = unborn.n ? (struct delivery_attempt){ OUT_ANSWERED, 400, 0 }
				      : late || !ended
					      ? (struct delivery_attempt){ OUT_TIMEOUT, 0, 0 }
					      : end_of(request, says->exit_code, asked_to_wait(line));
	ret->next = delivery_retry_decide(policy_of(n), attempt, end, chance);
	ret->said = (struct buf){ 0 };
	if (unborn.n)
		buf_add(&ret->said, unborn);
	else if (late)
		buf_addf(&ret->said, "it took longer than %d s", NOTIFY_SECONDS);
	else if (!ended)
		buf_addf(&ret->said, "it was lost: nobody knows whether it came");
	else if (!request && (says->exit_code || line.n))
		buf_addf(&ret->said, "exit code %d%s", says->exit_code, line.n ? ": " : "");
	if (ended && !late)
		buf_addf(&ret->said, "%.*s", STR_LINE(line));
}

struct delivery_decision delivery_again(const struct message_row *n, uint32_t chance)
{
	return delivery_retry_decide(policy_of(n), n->attempts + 1,
				     (struct delivery_attempt){ OUT_TIMEOUT, 0, 0 }, chance);
}
