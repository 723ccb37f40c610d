/* Masks arguments, bodies and reports. */
#include "api/masking.h"

#include "exec/masks.h"
#include "runfile/outbox.h"
#include "runfile/read.h"

static enum err mask_arguments(struct api_call *call, struct masks *m)
{
	enum err e = OK;
	for (unsigned i = 0; i < OP_PARAMS_MAX && call->args.op->param[i].name && !e; i++) {
		struct arg *arg = &call->args.arg[i];
		if (arg->given && arg->text.n)
			e = masks_apply(m, call->arena, &arg->text);
		for (unsigned k = 0; arg->given && arg->word && k < arg->count && !e; k++)
			e = masks_apply(m, call->arena, &arg->word[k]);
	}
	return e;
}

enum err masking_apply(struct api_call *call, struct api *a)
{
	struct masks m;
	if (!call->caller_run)
		return OK;
	enum err e = masks_open(daemon_runs_dir(api_daemon(a)), call->caller_run->run,
				call->caller_run->attempt, &m);
	if (e == E_GONE)
		return why_set(call->why, E_DENIED, WHY_NOWHERE, "the shim of run r%llu has ended",
			       (unsigned long long)call->caller_run->run);
	if (e == E_BUSY)
		return why_set(call->why, e, WHY_NOWHERE,
			       "the secrets of the run could not be masked; try again");
	if (e)
		return e;
	e = mask_arguments(call, &m);
	if (!e)
		e = masks_apply_val(&m, call->arena, &call->body);
	masks_close(&m);
	return e;
}

/* Whether the shim of an attempt with secrets has died: its reports cannot be masked any more. They are
 * removed when the processes of the attempt have been killed. */
static bool shim_died(const char *runs, const struct run_row *run)
{
	struct runfile f = { 0 };
	enum run_life life;
	struct why why;
	return runfile_read(runs, run->run, run->attempt, &life, &f, &why) != OK ||
	       (life == LIFE_DEAD && f.secrets);
}

void masking_reports(struct api_call *call, struct api *a, const struct run_row *run, struct report *list,
		     unsigned n)
{
	struct masks m;
	const char *runs = daemon_runs_dir(api_daemon(a));
	enum err e = n ? masks_open(runs, run->run, run->attempt, &m) : E_GONE;
	if (e == E_GONE && (!n || !shim_died(runs, run)))
		return; /* its shim has masked them */
	for (unsigned i = 0; i < n; i++) {
		if (!e)
			e = masks_apply(&m, call->arena, &list[i].text);
		if (e) /* not masked: do not show it */
			list[i].text = STR("");
	}
	if (!e)
		masks_close(&m);
}
