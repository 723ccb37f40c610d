#pragma once
/* Problems: what needs a person. Listed, looked at, acknowledged. */
#include "op/op.h"
#include "store/sqlite/read/reader.h"

must_check enum err handle_problems(struct op_call *call, struct api *api);
must_check enum err handle_problem(struct op_call *call, struct api *api);
must_check enum err handle_ack(struct op_call *call, struct api *api);

void tell_problem(struct buf *out, const struct problem_row *p);
/* A list of them, as status and ls tell it. */
void print_problems(struct op_call *call, const struct val *list);
void show_problems(struct op_call *call, const struct val *answer);
void show_problem(struct op_call *call, const struct val *answer);
void show_acked(struct op_call *call, const struct val *answer);
