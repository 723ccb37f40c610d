#pragma once
/* What would happen to a run that is due now: for `rota why` of a future time. */
#include "api/documents.h"

struct forecast {
	bool has_condition, holds; /* whether the schedule has a condition, and whether it holds now */
	struct str condition;      /* its text */
	struct str error;          /* why it has no value; empty: it has one */
	struct str missing; /* why the run would fail: a secret that cannot be fetched; empty: nothing */
};

/* The condition is evaluated as it would be before a run at `nominal`, with the present state of agent and
 * user. A document that cannot be read any more has no forecast: its runs report it. */
must_check enum err forecast_run(struct api_call *call, struct api *api, const struct read_sched *s,
				 struct wall nominal, struct forecast *ret);
