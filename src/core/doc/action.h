#pragma once
/* What a schedule does: `action:` of a document. Pure. */
#include "core/doc/doc.h"
#include "core/doc/keys.h"

must_check enum err action_read(struct key_reader *r, const struct val *v, struct doc_action *ret);
void action_write(const struct doc_action *action, struct buf *out);
