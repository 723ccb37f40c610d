/* Messages without a daemon: digests, the program of a delivery, and the decision after its end. */
#include "base/json.h"
#include "core/doc/config/config.h"
#include "core/model.h"
#include "daemon/notify/delivery.h"
#include "daemon/notify/message.h"
#include "test.h"

#define HOOK "{\"type\":\"webhook\",\"url\":\"https://example.org/secret-path\"}"
#define BODY "{\"id\":\"msg_1\",\"type\":\"run.failed\",\"text\":\"x failed\",\"schedule\":\"x\"}"

static struct message_row message(unsigned run, const char *target)
{
	return (struct message_row){ .kind = NEWS_FAILURE,
				     .run = run,
				     .target = str_of(target),
				     .origin = STR("o"),
				     .body = STR(BODY) };
}

static void add_failures(struct message_list *list, struct arena *a, unsigned n, const char *target)
{
	if (!list->item)
		*list = (struct message_list){
			.item = arena_alloc(a, STORE_MESSAGES_MAX * sizeof *list->item), .arena = a
		};
	for (unsigned i = 0; i < n; i++)
		list->item[list->n++] = message(i + 1, target);
}

TEST(few_messages_are_not_joined)
{
	struct arena a = { 0 };
	struct message_list list = { 0 };
	add_failures(&list, &a, DIGEST_ABOVE, HOOK);
	CHECK_INT(message_join_digests(&list), OK);
	CHECK_INT(list.n, DIGEST_ABOVE);
	for (unsigned i = 0; i < list.n; i++)
		CHECK(list.item[i].state == MESSAGE_WAITING && !list.item[i].joined);
	arena_free(&a);
}

TEST(many_messages_to_one_target_are_joined)
{
	struct arena a = { 0 };
	struct message_list list = { 0 };
	struct val body;
	unsigned digests = 0, parts = 0, alone = 0;
	add_failures(&list, &a, 50, HOOK);
	add_failures(&list, &a, 3, "{\"type\":\"desktop\"}");
	list.item[7].kind = NEWS_PING;
	list.item[9].state = MESSAGE_GIVEN_UP;
	CHECK_INT(message_join_digests(&list), OK);
	CHECK_INT(list.n, 54);
	for (unsigned i = 0; i < list.n; i++) {
		const struct message_row *n = &list.item[i];
		digests += n->kind == MESSAGE_DIGEST;
		parts += n->state == MESSAGE_JOINED;
		alone += n->kind != MESSAGE_DIGEST && n->state != MESSAGE_JOINED;
		if (n->kind == MESSAGE_DIGEST) {
			CHECK_INT(json_read(n->body, &a, &body, NULL), OK);
			CHECK_INT(val_get(&body, STR("count"))->integer, 48);
			CHECK_INT(val_get(&body, STR("messages"))->list.n, DIGEST_MESSAGES);
		}
		CHECK(!n->joined || i > 0);
	}
	CHECK(digests == 1 && parts == 48 && alone == 5);
	CHECK(list.item[0].kind == MESSAGE_DIGEST && list.item[1].joined);
	arena_free(&a);
}

/* A message that the store refuses would block all news behind it. */
TEST(a_digest_of_long_messages_fits_into_the_store)
{
	struct arena a = { 0 };
	struct message_list list = { 0 };
	struct buf body = { 0 };
	buf_addf(&body, "{\"text\":\"%06000d\"}", 1);
	add_failures(&list, &a, 40, HOOK);
	for (unsigned i = 0; i < list.n; i++)
		list.item[i].body = buf_str(&body);
	CHECK_INT(message_join_digests(&list), OK);
	CHECK(list.item[0].kind == MESSAGE_DIGEST && list.item[0].body.n <= STORE_MESSAGE_BYTES_MAX);
	buf_free(&body);
	arena_free(&a);
}

TEST(a_full_list_has_no_room_for_a_digest)
{
	struct arena a = { 0 };
	struct message_list list = { 0 };
	add_failures(&list, &a, STORE_MESSAGES_MAX, HOOK);
	CHECK_INT(message_join_digests(&list), OK);
	CHECK_INT(list.n, STORE_MESSAGES_MAX);
	arena_free(&a);
}

TEST(what_a_delivery_executes)
{
	struct arena a = { 0 };
	struct launch l;
	struct why why = { 0 };
	const struct config_out rules = { 0 };
	const struct out_service none = { NULL, &rules }, out = { "/x/rota-out", &rules };
	struct message_row n = message(1, HOOK);
	CHECK_INT(delivery_render(&n, &none, NULL, &a, &l, &why), E_INPUT);
	CHECK_INT(delivery_render(&n, &out, NULL, &a, &l, &why), OK);
	CHECK_STR(l.argv[0], "/x/rota-out");
	CHECK(!l.argv[1] && l.timeout > NOTIFY_SECONDS * USEC);
	CHECK(memmem(l.input.p, l.input.n, "secret-path", 11) && !memmem(l.input.p, l.input.n, "\"id\":", 5));
	n = message(1, "{\"type\":\"webhook\",\"url\":\"https://x.org\",\"secret\":\"/no/such/file\"}");
	CHECK_INT(delivery_render(&n, &out, NULL, &a, &l, &why), E_IO);
	n = message(1, "{\"type\":\"webhook\",\"url\":\"https://"
		       "x.org\",\"secret\":\"whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz\"}");
	CHECK_INT(delivery_render(&n, &out, NULL, &a, &l, &why), OK);
	CHECK(l.secrets == 1 && str_starts(l.secret[0], STR("whsec_")));
	CHECK(memmem(l.input.p, l.input.n, "\"id\":\"msg_1\"", 12));
	n = message(1, "{\"type\":\"command\",\"command\":\"cat; echo $ROTA_MESSAGE\"}");
	CHECK_INT(delivery_render(&n, &none, NULL, &a, &l, &why), OK);
	CHECK_STR(l.argv[0], "/bin/sh");
	CHECK_STR(l.argv[2], "cat; echo $ROTA_MESSAGE");
	CHECK(str_eq(l.input, STR(BODY)));
	bool found = false;
	for (unsigned i = 0; l.env[i]; i++)
		found |= !strcmp(l.env[i], "ROTA_MESSAGE=run.failed");
	CHECK(found);
	n = message(1, "{\"type\":\"desktop\"}");
	CHECK_INT(delivery_render(&n, &none, NULL, &a, &l, &why), OK);
	CHECK_STR(l.argv[3], "x");
	CHECK_STR(l.argv[4], "x failed");
	n = message(1, "{\"type\":\"event\"}");
	CHECK_INT(delivery_render(&n, &out, NULL, &a, &l, &why), E_INPUT);
	arena_free(&a);
}

TEST(what_the_end_of_a_delivery_means)
{
	static const struct {
		int line;
		const char *target;
		unsigned kind, attempts;
		int code, reason;
		enum delivery_verdict want;
	} rows[] = {
		{ __LINE__, HOOK, NEWS_FAILURE, 0, OUT_EXIT_DONE, 0, DELIVERY_DONE },
		{ __LINE__, HOOK, NEWS_FAILURE, 0, OUT_EXIT_LATER, 0, DELIVERY_RETRY },
		{ __LINE__, HOOK, NEWS_FAILURE, 31, OUT_EXIT_LATER, 0, DELIVERY_EXHAUSTED },
		{ __LINE__, HOOK, NEWS_FAILURE, 0, OUT_EXIT_GONE, 0, DELIVERY_GONE },
		{ __LINE__, HOOK, NEWS_FAILURE, 0, OUT_EXIT_NO, 0, DELIVERY_REFUSED },
		{ __LINE__, HOOK, NEWS_FAILURE, 0, OUT_EXIT_INPUT, 0, DELIVERY_REFUSED },
		{ __LINE__, HOOK, NEWS_FAILURE, 0, OUT_EXIT_LOCAL, 0, DELIVERY_RETRY },
		{ __LINE__, HOOK, NEWS_FAILURE, 0, OUT_EXIT_FAULT + OUT_REFUSED, 0, DELIVERY_REFUSED },
		{ __LINE__, HOOK, NEWS_FAILURE, 0, OUT_EXIT_FAULT + OUT_CONNECT, 0, DELIVERY_RETRY },
		{ __LINE__, HOOK, NEWS_FAILURE, 0, 128 + 9, 0, DELIVERY_RETRY },
		{ __LINE__, HOOK, NEWS_FAILURE, 0, -1, REASON_TIMEOUT, DELIVERY_RETRY },
		{ __LINE__, HOOK, NEWS_PING, 1, OUT_EXIT_LATER, 0, DELIVERY_RETRY },
		{ __LINE__, HOOK, NEWS_PING, 2, OUT_EXIT_LATER, 0, DELIVERY_EXHAUSTED },
		{ __LINE__, HOOK, MESSAGE_TEST, 0, OUT_EXIT_LATER, 0, DELIVERY_EXHAUSTED },
		{ __LINE__, "{\"type\":\"command\",\"command\":\"x\"}", NEWS_FAILURE, 0, 0, 0,
		  DELIVERY_DONE },
		{ __LINE__, "{\"type\":\"command\",\"command\":\"x\"}", NEWS_FAILURE, 0, 4, 0,
		  DELIVERY_RETRY },
		{ __LINE__, "{\"type\":\"command\",\"command\":\"x\"}", NEWS_FAILURE, 4, 4, 0,
		  DELIVERY_EXHAUSTED },
		{ __LINE__, "{\"type\":\"command\",\"command\":\"x\"}", NEWS_FAILURE, 0, 127, 0,
		  DELIVERY_REFUSED },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct message_row n = message(1, rows[i].target);
		struct rn_report says = { .kind = RN_EXIT,
					  .exit_code = rows[i].code,
					  .reason = (uint16_t)rows[i].reason };
		struct delivery_end end;
		n.kind = (uint8_t)rows[i].kind;
		n.attempts = rows[i].attempts;
		delivery_judge(&n, &says, "/nowhere", 0, &end);
		CHECK_INT_AT(rows[i].line, end.decision.verdict, rows[i].want);
		buf_free(&end.text);
	}
}

TEST(receivers_are_named_without_secrets)
{
	static const struct {
		const char *target, *want;
	} rows[] = {
		{ HOOK, "webhook at https://example.org" },
		{ "{\"type\":\"webhook\",\"url\":\"https://example.org?token=1\"}",
		  "webhook at https://example.org" },
		{ "{\"type\":\"command\",\"command\":\"mail -s hunter2 me\"}", "command mail" },
		{ "{\"type\":\"command\",\"command\":[\"/bin/mail\",\"hunter2\"]}", "command /bin/mail" },
		{ "{\"type\":\"desktop\"}", "desktop" },
		{ "{\"type\":\"event\",\"name\":\"e\"}", "event" },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct message_row n = message(1, rows[i].target);
		struct buf name = { 0 };
		message_receiver_name(&n, &name);
		CHECK_STR(buf_str(&name).p, rows[i].want);
		buf_free(&name);
	}
}
