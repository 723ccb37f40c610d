/* doctor: checks the installation in this process, requests the checks that only the daemon can do, and
 * prints the results with advice. */
#include "admin/verbs.h"

#include "admin/programs.h"
#include "api/checks.h"
#include "base/json.h"
#include "cli/remote.h"
#include "cli/table.h"
#include "store/open.h"

#include <limits.h>
#include <string.h>

static void check_zones(struct cli_call *call, struct buf *out)
{
	const struct zone_source *s = zoneinfo_source(call->zones);
	struct str local = zoneinfo_local(call->zones);
	unsigned n = 0;
	while (s->name(s->self, n).n)
		n++;
	if (n < 10)
		check_add(out, CHECK_FAIL, "zones",
			  "install tzdata, or set TZDIR to the directory of zone files",
			  "only %u time zones found", n);
	else if (!s->find(s->self, local))
		check_add(out, CHECK_WARN, "zones",
			  "set the time zone of the machine, or timezone in rota.yaml",
			  "the time zone %.*s of this machine is not known", STR_ARG(local));
	else
		check_add(out, CHECK_OK, "zones", NULL, "%u time zones; this machine uses %.*s", n,
			  STR_ARG(local));
}

/* The checks that need no daemon. Sets *data to the data directory. It is not checked here, because a running
 * daemon checks it. */
static enum err check_locally(struct cli_call *call, struct buf *out, const char **data)
{
	struct settings s;
	enum err e = cli_settings(call, &s);
	if (e)
		return e;
	check_add(out, CHECK_OK, "configuration", NULL, "%s", s.path ? s.path : "no file; defaults are used");
	const char *launcher = find_launcher(call->arena);
	*data = arena_dup(call->arena, s.config.data);
	if (!*data)
		return E_NOMEM;
	check_zones(call, out);
	if (!launcher)
		check_add(out, CHECK_FAIL, "program",
			  "install rota-launcher beside rota, or set ROTA_LAUNCHER to its path",
			  "rota-launcher is not installed");
	else
		check_add(out, CHECK_OK, "program", NULL, "%s", launcher);
	return OK;
}

/* For the case that no daemon runs: the reason may be that the store is damaged. */
static void check_store(struct buf *out, const char *data)
{
	struct why why;
	char name[PATH_MAX];
	store_name(data, name, sizeof name);
	enum err e = store_check(data, &why);
	if (e == E_NOTFOUND)
		check_add(out, CHECK_OK, "store", NULL, "%s does not exist yet", name);
	else if (e)
		check_add(out, CHECK_FAIL, "store", check_advice(why.text), "%s", why.text);
	else
		check_add(out, CHECK_OK, "store", NULL, "%s is not damaged", name);
}

static void print_checks(struct cli_call *call, const struct val *list)
{
	for (unsigned i = 0; i < list->list.n; i++) {
		const struct val *c = &list->list.item[i];
		const char *advice = val_text(call->arena, c, "advice");
		print(call->out, "%-5s %-14s ", val_text(call->arena, c, "state"),
		      val_text(call->arena, c, "check"));
		print_text(call->out, str_of(val_text(call->arena, c, "text")));
		if (advice) {
			print(call->out, "; ");
			print_text(call->out, str_of(advice));
		}
		print(call->out, "\n");
	}
}

enum err verb_doctor(struct cli_call *call)
{
	_cleanup_(buf_free) struct buf list = { 0 }, whole = { 0 };
	struct str text;
	struct val v;
	unsigned bad = 0;
	const char *data, *socket = "";
	enum err e = check_locally(call, &list, &data);
	if (!e)
		e = remote_socket(call, &socket);
	if (e)
		return e;
	e = remote_ask(call, (struct str){ 0 }, &text, &v);
	if (e) {
		check_add(&list, CHECK_FAIL, "daemon", NULL, "%s",
			  call->why->text); /* the text says what to do */
		check_directory(&list, "data", data);
		check_disk(&list, data);
		check_store(&list, data);
	} else {
		const struct val *inside = val_get(&v, STR("checks"));
		check_add(&list, CHECK_OK, "daemon", NULL, "answers at %s", socket);
		for (unsigned i = 0; inside && i < inside->list.n; i++) {
			buf_addc(&list, ',');
			json_write(&list, &inside->list.item[i]);
		}
	}
	buf_addf(&whole, "[%s]", buf_str(&list).p);
	e = whole.failed || list.failed ? E_NOMEM : json_read(buf_str(&whole), call->arena, &v, call->why);
	if (e)
		return e;
	for (unsigned i = 0; i < v.list.n; i++)
		bad += !strcmp(val_text(call->arena, &v.list.item[i], "state"),
			       check_state_words[CHECK_FAIL]);
	if (call->json) {
		print(call->out, "{\"ok\":%s,\"checks\":", bad ? "false" : "true");
		print_json(call->out, buf_str(&whole));
		print(call->out, "}\n");
	} else {
		print_checks(call, &v);
	}
	return bad ? why_set(call->why, E_CONFLICT, WHY_NOWHERE, "%u of %u checks failed", bad, v.list.n)
		   : OK;
}
