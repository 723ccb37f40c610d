#pragma once
/* A schedule's document and a run's record to what the launcher executes. Everything lives in the arena. */
#include "core/doc/doc.h"
#include "host/launch.h"
#include "port/store.h"

must_check enum err render_launch(const struct schedule_doc *doc, const struct run_row *run, uint16_t attempt,
				  const char *socket, struct arena *a, struct launch *ret, struct why *why);
