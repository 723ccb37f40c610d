/* Helpers that every verb can use: settings, times, arguments for another row. */
#include "cli/call.h"

#include "cli/table.h"

struct cli_call cli_call_as(const struct cli_call *call, enum op_id id)
{
	struct cli_call other = *call;
	other.args = op_args_for(id, &call->args);
	return other;
}

static const char *flag_value(void *self, const char *name)
{
	const struct cli_call *call = self;
	const struct arg *arg = op_arg_if(&call->args, name);
	/* The text ends with a zero byte, because it comes from argv. */
	return arg && arg->given ? arg->text.p : NULL;
}

static enum err load_settings(struct cli_call *call, bool expressions_only, struct settings *ret)
{
	enum err e = settings_load(flag_value, call, zoneinfo_source(call->zones), expressions_only,
				   call->arena, ret, call->why);
	if (e) {
		call->source = ret->text;
		call->source_name = ret->path;
	}
	return e;
}

enum err cli_option_error(struct cli_call *call, const char *option, enum err e)
{
	struct why why = *call->why;
	return e ? why_set(call->why, e, WHY_NOWHERE, "--%s: %s", option, why.text) : OK;
}

enum err cli_settings(struct cli_call *call, struct settings *ret)
{
	return load_settings(call, false, ret);
}

enum err cli_expression_settings(struct cli_call *call, struct settings *ret)
{
	return load_settings(call, true, ret);
}

struct default_zone cli_default_zone(struct cli_call *call, const struct config *c)
{
	if (c->has_timezone)
		return (struct default_zone){ c->timezone, "the setting `timezone`" };
	return (struct default_zone){ zoneinfo_local(call->zones),
				      zoneinfo_local_known(call->zones)
					      ? "the zone of this machine"
					      : "because the zone of this machine is not known" };
}

const char *cli_time(struct cli_call *call, const char *iso)
{
	return time_text(call->arena, iso, zoneinfo_source(call->zones), zoneinfo_local(call->zones));
}
