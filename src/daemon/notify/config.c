/* Reads the targets of notifications from the configuration, or from the store, where `rota notify set` puts
 * them. */
#include "daemon/notify/internal.h"

#include "base/hash.h"
#include "base/json.h"
#include "port/read.h"

enum err notifier_config(struct reader *reader, const struct config_notify *config, struct arena *a,
			 struct config_notify *ret, const char **origin, struct why *why)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	struct state_row row = { 0 };
	struct val v;
	if (config) {
		notify_write(config, &text);
		*ret = *config;
		*origin =
			arena_printf(a, "file.%016llx", (unsigned long long)fnv1a(FNV_START, buf_str(&text)));
		return *origin && !text.failed ? OK : E_NOMEM;
	}
	*ret = (struct config_notify){ 0 };
	enum err e = read_state(reader, STR(NOTIFIER_STATE_KEY), a, &row, why);
	struct key_reader r = { row.text, a, why, NULL };
	if (!e && row.text.n)
		e = json_read(row.text, a, &v, why);
	if (!e && row.text.n)
		e = notify_read(&r, &v, ret);
	*origin = arena_printf(a, "set.%u", row.rev);
	return e ? e : *origin ? OK : E_NOMEM;
}

void config_reload(struct notifier *n)
{
	struct arena a = { 0 };
	struct config_notify config;
	const char *origin;
	struct why why;
	if (notifier_config(n->reader, n->options.config, &a, &config, &origin, &why)) {
		arena_free(&a);
		atomic_store(&n->config_changed, true);
		n->retry = true;
		return;
	}
	arena_free(&n->config_arena);
	n->config_arena = a;
	n->config = config;
	n->origin = origin;
}
