/* config: prints every setting and where its value comes from. */
#include "cli/verbs/verbs.h"

#include "base/json.h"
#include "cli/remote.h"

#include <string.h>

static const char *const origin_words[] = {
	[CONFIG_DEFAULT] = "default",
	[CONFIG_FILE] = "file",
	[CONFIG_ENVIRONMENT] = "environment",
	[CONFIG_FLAG] = "flag",
};

/* Writes where a setting is set: the line of the file, the variable or the flag. */
static void write_origin(const struct settings *s, unsigned i, struct buf *out)
{
	const struct setting *setting = &config_settings[i];
	switch (s->source[i].origin) {
	case CONFIG_DEFAULT:
		buf_add(out, STR("default"));
		break;
	case CONFIG_FILE:
		buf_addf(out, "%s:%u", s->path, place_of(s->text, s->source[i].at).line);
		break;
	case CONFIG_ENVIRONMENT:
		buf_add(out, str_of(setting->variable));
		break;
	case CONFIG_FLAG:
		buf_addf(out, "--%s", setting->key.name);
		break;
	}
}

/* The targets that `rota notify set` has stored; NULL: none, the configuration has notify, or there is no
 * daemon. */
static const struct val *stored_notify(struct cli_call *call, const struct settings *s)
{
	struct cli_call sub = *call;
	struct why why;
	struct str text;
	struct val *v = arena_alloc(call->arena, sizeof *v);
	sub.why = &why;
	if (!v || s->config.has_notify ||
	    remote_call(&sub, "GET", "/api/v1/notify", (struct str){ 0 }, &text, v))
		return NULL;
	const struct val *from = val_get(v, STR("from"));
	return from && from->kind == VAL_STR ? val_get(v, STR("notify")) : NULL;
}

static bool is_notify(const struct key *k)
{
	return !strcmp(k->name, "notify");
}

#define NOTIFY_ORIGIN "rota notify set"

static void write_json(const struct settings *s, const struct val *notify, struct buf *out)
{
	const char *comma = "";
	buf_add(out, STR("{\"file\":"));
	if (s->path)
		json_write_str(out, str_of(s->path));
	else
		buf_add(out, STR("null"));
	buf_add(out, STR(",\"settings\":{"));
	for (unsigned i = 0; config_settings[i].key.name; i++) {
		const struct key *k = &config_settings[i].key;
		_cleanup_(buf_free) struct buf where = { 0 };
		if (k->unsupported)
			continue;
		bool stored = notify && is_notify(k);
		write_origin(s, i, &where);
		buf_addf(out, "%s\"%s\":{\"value\":", comma, k->name);
		if (stored)
			json_write(out, notify);
		else
			keys_json(k, &s->config, out);
		buf_addf(out, ",\"origin\":\"%s\",\"from\":",
			 stored ? "store" : origin_words[s->source[i].origin]);
		json_write_str(out, stored ? STR(NOTIFY_ORIGIN) : buf_str(&where));
		buf_addc(out, '}');
		out->failed |= where.failed;
		comma = ",";
	}
	buf_add(out, STR("}}\n"));
}

static enum err print_settings(const struct settings *s, const struct val *notify, FILE *to)
{
	for (unsigned i = 0; config_settings[i].key.name; i++) {
		const struct key *k = &config_settings[i].key;
		_cleanup_(buf_free) struct buf value = { 0 }, where = { 0 };
		if (k->unsupported)
			continue;
		if (notify && is_notify(k)) {
			json_write(&value, notify);
			buf_add(&where, STR(NOTIFY_ORIGIN));
		} else {
			keys_show(k, &s->config, &value);
			write_origin(s, i, &where);
		}
		if (value.failed || where.failed)
			return E_NOMEM;
		print(to, "%-20s %-32s %s\n", k->name, buf_str(&value).p, buf_str(&where).p);
	}
	return OK;
}

enum err verb_config(struct cli_call *call)
{
	struct settings s;
	enum err e = cli_settings(call, &s);
	if (e)
		return e;
	if (!call->json)
		return print_settings(&s, stored_notify(call, &s), call->out);
	_cleanup_(buf_free) struct buf out = { 0 };
	write_json(&s, stored_notify(call, &s), &out);
	if (out.failed)
		return E_NOMEM;
	print_json(call->out, buf_str(&out));
	return OK;
}
