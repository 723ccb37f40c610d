#pragma once
/* A notice to what the launcher executes, and what the end of that means. Requests are rota-out's, by its
 * standard input, where secrets are safe; the others are told there what happened. */
#include "core/schedule/delivery_retry.h"
#include "daemon/out_request.h"
#include "exec/launch.h"
#include "port/store.h"

/* E_INPUT: it can never be sent, and why. E_IO: not now. Lives in the arena. */
must_check enum err delivery_render(const struct message_row *n, const struct way_out *out, struct arena *a,
				    struct launch *ret, struct why *why);

struct delivery_end {
	struct delivery_decision next;
	struct buf said; /* in words, for people */
};
/* Of attempt n->attempts + 1, whose files are in `dir`. */
void delivery_judge(const struct message_row *n, const struct rn_report *says, const char *dir,
		    uint32_t chance, struct delivery_end *ret);
/* The same of one that could not be begun: again later, or never. */
struct delivery_decision delivery_again(const struct message_row *n, uint32_t chance);
