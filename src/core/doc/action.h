#pragma once
/* The key `action` of a schedule: what the schedule does. Pure. */
#include "core/doc/doc.h"
#include "core/doc/keys.h"

must_check enum err action_read(struct key_reader *r, const struct val *v, struct doc_action *ret);
void action_write(const struct doc_action *action, struct buf *out);
