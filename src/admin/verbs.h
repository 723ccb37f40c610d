#pragma once
/* Verbs that use the store or the daemon directly, without a request to a daemon. */
#include "cli/main.h"

extern const struct cli_verb_row admin_verbs[]; /* ends with a NULL run */

/* backup.c */
cli_run verb_backup, verb_restore;
/* doctor.c */
cli_run verb_doctor;
/* serve.c */
cli_run verb_serve;
