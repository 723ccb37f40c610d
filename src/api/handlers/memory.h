#pragma once
/* Notes of agents: written by their runs and by people, found by their words, removed. */
#include "op/op.h"

must_check enum err op_memory(struct op_call *call);
must_check enum err handle_memory_add(struct op_call *call, struct api *api);
must_check enum err handle_memory_list(struct op_call *call, struct api *api);
must_check enum err handle_memory_search(struct op_call *call, struct api *api);
must_check enum err handle_memory_remove(struct op_call *call, struct api *api);
must_check enum err handle_memory_remove_run(struct op_call *call, struct api *api);
void show_memory(struct op_call *call, const struct val *answer);
void show_memories(struct op_call *call, const struct val *answer);
void show_forgotten(struct op_call *call, const struct val *answer);
