#pragma once
/* Agents: their definitions, checked in files and told of as the daemon has them. */
#include "op/op.h"

must_check enum err op_agent(struct op_call *call);

must_check enum err handle_agents(struct op_call *call, struct api *api);
void show_agents(struct op_call *call, const struct val *answer);
must_check enum err handle_agent(struct op_call *call, struct api *api);
void show_agent(struct op_call *call, const struct val *answer);
must_check enum err handle_agent_rm(struct op_call *call, struct api *api);
