/* The JSON map of a message, with an id that no other message has. */
#include "daemon/notify/json_body.h"

#include "base/json.h"
#include "core/when/iso.h"
#include "daemon/notify/message.h"
#include "sys/clock.h"

#include <sys/random.h>

void body_add_text(struct buf *out, const char *name, struct str text)
{
	if (text.n)
		json_add_str(out, name, text);
}

void body_add_time(struct buf *out, const char *name, struct wall t)
{
	char text[ISO_SIZE];
	if (t.us && t.us != INT64_MAX)
		body_add_text(out, name, str_of(iso_format_utc(wall_seconds(t), text)));
}

/* The id is random, because receivers drop a message whose id they have seen, and a restored store uses
 * numbers of messages again. */
void body_open(struct buf *out, unsigned kind, struct str text)
{
	uint64_t n[2] = { (uint64_t)clock_wall().us, (uint64_t)clock_boot().us };
	if (getrandom(n, sizeof n, 0) != sizeof n)
		n[1] ^= n[0] << 20; /* if there are no random numbers, the clocks make the id */
	buf_addf(out, "{\"id\":\"msg_%016llx%016llx\"", (unsigned long long)n[0], (unsigned long long)n[1]);
	body_add_text(out, "type", str_of(message_kind_word(kind)));
	body_add_time(out, "time", clock_wall());
	body_add_text(out, "text", text);
}

struct str body_close(struct buf *out, struct arena *a)
{
	buf_addc(out, '}');
	char *copy = out->failed ? NULL : arena_dup(a, buf_str(out));
	return (struct str){ copy, copy ? out->n : 0 };
}
