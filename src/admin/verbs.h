#pragma once
/* Verbs that work on the data directory or on a run's files themselves, or are the daemon. */
#include "cli/main.h"

extern const struct cli_verb_row admin_verbs[]; /* ends with a NULL run */

/* backup.c */
cli_run verb_backup, verb_restore;
/* doctor.c */
cli_run verb_doctor;
/* report.c */
cli_run verb_report; /* and step and note */
/* serve.c */
cli_run verb_serve;
