#pragma once
/* Reads the arguments of report, step and note, for the handler and for the verb. */
#include "op/op.h"
#include "runfile/outbox.h"

/* E_INPUT: the kind is unknown, or the text is empty. */
must_check enum err report_read(const struct op_args *args, enum report_kind *kind, struct str *text,
				struct why *why);
