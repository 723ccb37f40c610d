/* The verbs of admin/, for cli_main. */
#include "admin/verbs.h"

const struct cli_verb_row admin_verbs[] = {
	{ OP_SERVE, verb_serve },
	{ OP_DOCTOR, verb_doctor },
	{ OP_BACKUP, verb_backup },
	{ OP_RESTORE, verb_restore },
	{ 0 },
};
