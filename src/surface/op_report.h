#pragma once
/* What a run says of itself: report. It is for programs within a run, and needs no daemon. */
#include "surface/op.h"

must_check enum err op_report(struct op_call *call); /* also step and note, which are short for two of it */
