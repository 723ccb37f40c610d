/* Outgoing requests from C: kinds of addresses, signatures, and cancelling requests of threads. */
#include "out/address.h"
#include "out/out.h"
#include "out/sign.h"
#include "test.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <unistd.h>

TEST(kinds_of_addresses)
{
	static const struct {
		int line;
		const char *ip;
		enum address_kind want;
	} rows[] = {
		{ __LINE__, "8.8.8.8", ADDRESS_PUBLIC },
		{ __LINE__, "203.0.113.1", ADDRESS_PUBLIC },
		{ __LINE__, "0.0.0.0", ADDRESS_UNSPECIFIED },
		{ __LINE__, "0.255.255.255", ADDRESS_UNSPECIFIED },
		{ __LINE__, "1.0.0.0", ADDRESS_PUBLIC },
		{ __LINE__, "9.255.255.255", ADDRESS_PUBLIC },
		{ __LINE__, "10.0.0.0", ADDRESS_PRIVATE },
		{ __LINE__, "10.255.255.255", ADDRESS_PRIVATE },
		{ __LINE__, "11.0.0.0", ADDRESS_PUBLIC },
		{ __LINE__, "100.63.255.255", ADDRESS_PUBLIC },
		{ __LINE__, "100.64.0.0", ADDRESS_SHARED },
		{ __LINE__, "100.127.255.255", ADDRESS_SHARED },
		{ __LINE__, "100.128.0.0", ADDRESS_PUBLIC },
		{ __LINE__, "100.100.100.200", ADDRESS_METADATA },
		{ __LINE__, "126.255.255.255", ADDRESS_PUBLIC },
		{ __LINE__, "127.0.0.1", ADDRESS_LOOPBACK },
		{ __LINE__, "127.255.255.255", ADDRESS_LOOPBACK },
		{ __LINE__, "128.0.0.0", ADDRESS_PUBLIC },
		{ __LINE__, "168.63.129.16", ADDRESS_METADATA },
		{ __LINE__, "169.253.255.255", ADDRESS_PUBLIC },
		{ __LINE__, "169.254.0.0", ADDRESS_LINK_LOCAL },
		{ __LINE__, "169.254.169.254", ADDRESS_METADATA },
		{ __LINE__, "169.255.0.0", ADDRESS_PUBLIC },
		{ __LINE__, "172.15.255.255", ADDRESS_PUBLIC },
		{ __LINE__, "172.16.0.0", ADDRESS_PRIVATE },
		{ __LINE__, "172.31.255.255", ADDRESS_PRIVATE },
		{ __LINE__, "172.32.0.0", ADDRESS_PUBLIC },
		{ __LINE__, "192.0.0.1", ADDRESS_RESERVED },
		{ __LINE__, "192.0.0.192", ADDRESS_METADATA },
		{ __LINE__, "192.88.99.1", ADDRESS_RESERVED },
		{ __LINE__, "192.167.255.255", ADDRESS_PUBLIC },
		{ __LINE__, "192.168.0.0", ADDRESS_PRIVATE },
		{ __LINE__, "192.169.0.0", ADDRESS_PUBLIC },
		{ __LINE__, "198.17.255.255", ADDRESS_PUBLIC },
		{ __LINE__, "198.18.0.0", ADDRESS_RESERVED },
		{ __LINE__, "198.19.255.255", ADDRESS_RESERVED },
		{ __LINE__, "223.255.255.255", ADDRESS_PUBLIC },
		{ __LINE__, "224.0.0.0", ADDRESS_MULTICAST },
		{ __LINE__, "239.255.255.255", ADDRESS_MULTICAST },
		{ __LINE__, "240.0.0.0", ADDRESS_RESERVED },
		{ __LINE__, "255.255.255.255", ADDRESS_RESERVED },
		{ __LINE__, "::", ADDRESS_UNSPECIFIED },
		{ __LINE__, "::1", ADDRESS_LOOPBACK },
		{ __LINE__, "::2", ADDRESS_UNSPECIFIED },
		{ __LINE__, "::ffff:127.0.0.1", ADDRESS_LOOPBACK },
		{ __LINE__, "::ffff:169.254.169.254", ADDRESS_METADATA },
		{ __LINE__, "::ffff:8.8.8.8", ADDRESS_PUBLIC },
		{ __LINE__, "::10.0.0.1", ADDRESS_PRIVATE },
		{ __LINE__, "::ffff:0:10.0.0.1", ADDRESS_PRIVATE },
		{ __LINE__, "::fffe:0:0", ADDRESS_RESERVED },
		{ __LINE__, "64:ff9b::127.0.0.1", ADDRESS_LOOPBACK },
		{ __LINE__, "64:ff9b::169.254.169.254", ADDRESS_METADATA },
		{ __LINE__, "64:ff9b::8.8.8.8", ADDRESS_PUBLIC },
		{ __LINE__, "64:ff9b:1::8.8.8.8", ADDRESS_PRIVATE },
		{ __LINE__, "64:ff9b:2::1", ADDRESS_RESERVED },
		{ __LINE__, "2002:7f00:1::", ADDRESS_LOOPBACK },
		{ __LINE__, "2002:c0a8:101::1", ADDRESS_PRIVATE },
		{ __LINE__, "2002:808:808::1", ADDRESS_PUBLIC },
		{ __LINE__, "2001::1", ADDRESS_RESERVED }, /* Teredo */
		{ __LINE__, "2001:200::1", ADDRESS_PUBLIC },
		{ __LINE__, "2001:db8::1", ADDRESS_PUBLIC },
		{ __LINE__, "2606:4700::1111", ADDRESS_PUBLIC },
		{ __LINE__, "3fff:ffff::", ADDRESS_PUBLIC },
		{ __LINE__, "4000::", ADDRESS_RESERVED },
		{ __LINE__, "100::1", ADDRESS_RESERVED },
		{ __LINE__, "fc00::", ADDRESS_PRIVATE },
		{ __LINE__, "fdff:ffff::1", ADDRESS_PRIVATE },
		{ __LINE__, "fd00:ec2::254", ADDRESS_METADATA },
		{ __LINE__, "fe80::1", ADDRESS_LINK_LOCAL },
		{ __LINE__, "febf::1", ADDRESS_LINK_LOCAL },
		{ __LINE__, "fec0::1", ADDRESS_PRIVATE },
		{ __LINE__, "ff02::1", ADDRESS_MULTICAST },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct ip ip = { 0 };
		CHECK_AT(rows[i].line, ip_parse(str_of(rows[i].ip), &ip));
		enum address_kind kind = address_kind(&ip);
		CHECK_INT_AT(rows[i].line, kind, rows[i].want);
		CHECK_INT_AT(rows[i].line, address_allowed(&ip, false, STR("x"), NULL, 0),
			     kind == ADDRESS_PUBLIC);
	}
	for (unsigned i = 0; i < ADDRESS_KINDS; i++)
		CHECK(address_words[i]);
}

TEST(allowed_addresses)
{
	static const struct {
		int line;
		const char *ip, *host, *allow;
		bool may;
	} rows[] = {
		{ __LINE__, "10.0.0.1", "a.test", "10.0.0.0/8", true },
		{ __LINE__, "10.0.0.1", "a.test", "192.168.0.0/16", false },
		{ __LINE__, "10.0.0.1", "a.test", "a.test", true },
		{ __LINE__, "10.0.0.1", "A.Test.", "a.test", true },
		{ __LINE__, "10.0.0.1", "b.a.test", "a.test", false },
		{ __LINE__, "10.0.0.1", "", "a.test", false },
		{ __LINE__, "127.0.0.1", "localhost", "localhost", true },
		{ __LINE__, "169.254.169.254", "a.test", "a.test", false },
		{ __LINE__, "169.254.169.254", "a.test", "169.254.0.0/16", false },
		{ __LINE__, "169.254.169.254", "a.test", "0.0.0.0/0", false },
		{ __LINE__, "169.254.169.254", "a.test", "169.254.169.254", true },
		{ __LINE__, "fd00:ec2::254", "a.test", "fd00::/8", false },
		{ __LINE__, "fd00:ec2::254", "a.test", "fd00:ec2::254", true },
		{ __LINE__, "fd00:ec2::255", "a.test", "fd00::/8", true },
		{ __LINE__, "0.0.0.0", "a.test", "0.0.0.0", false },
		{ __LINE__, "224.0.0.1", "a.test", "a.test", false },
		{ __LINE__, "64:ff9b::10.0.0.1", "a.test", "10.0.0.0/8", false },
		{ __LINE__, "64:ff9b::10.0.0.1", "a.test", "64:ff9b::/96", true },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct ip ip = { 0 };
		struct peer allow[2] = { 0 };
		CHECK_INT_AT(rows[i].line, peer_parse(STR("192.0.2.1"), &allow[0], NULL), OK);
		CHECK_INT_AT(rows[i].line, peer_parse(str_of(rows[i].allow), &allow[1], NULL), OK);
		CHECK_AT(rows[i].line, ip_parse(str_of(rows[i].ip), &ip));
		CHECK_INT_AT(rows[i].line, address_allowed(&ip, false, str_of(rows[i].host), allow, 2),
			     rows[i].may);
	}
}

TEST(signature)
{
	struct buf out = { 0 };
	struct why why = { 0 };
	CHECK_INT(sign_webhook(STR("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
			       STR("msg_p5jXN8AQM9LWM0D4loKWxJek"), 1614265330, STR("{\"test\": 2432232314}"),
			       &out, &why),
		  OK);
	CHECK(str_eq(buf_str(&out), STR("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")));
	buf_free(&out);
}

/* --- requests --- */

/* Listens, and never answers. */
static int listen_silently(char url[64])
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof at;
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(s, (void *)&at, n) || listen(s, 64) || getsockname(s, (void *)&at, &n))
		abort();
	snprintf(url, 64, "http://127.0.0.1:%u/", ntohs(at.sin_port));
	return s;
}

static atomic_bool cancel;

/* Returns NULL unless the request was cancelled. */
static void *send_request(void *url)
{
	struct peer allow = { 0 };
	struct out_answer answer;
	if (peer_parse(STR("127.0.0.1"), &allow, NULL) != OK)
		return NULL;
	struct out_request r = {
		.url = str_of(url), .allow = &allow, .allowed = 1, .total_ms = 600000, .cancel = &cancel
	};
	if (out_send(&r, &answer, NULL) != OK)
		return NULL;
	bool well = answer.fault == OUT_CANCELLED && !answer.status && answer.text[0];
	out_answer_free(&answer);
	return well ? url : NULL;
}

/* A daemon that stops cancels its requests: it does not wait for a receiver. */
TEST(cancelled_requests)
{
	pthread_t thread[8];
	char url[64];
	int s = listen_silently(url);
	atomic_store(&cancel, false);
	for (unsigned i = 0; i < ARRAY_LEN(thread); i++)
		if (pthread_create(&thread[i], NULL, send_request, url))
			abort();
	int c = accept(s, NULL, NULL); /* at least one thread has connected */
	CHECK(c >= 0);
	atomic_store(&cancel, true);
	for (unsigned i = 0; i < ARRAY_LEN(thread); i++) {
		void *well = NULL;
		pthread_join(thread[i], &well);
		CHECK(well);
	}
	close(c);
	close(s);
}

TEST(wrong_requests_do_not_change_the_answer)
{
	struct out_answer answer = { .status = 7 };
	struct why why = { 0 };
	CHECK_INT(out_send(&(struct out_request){ .url = STR("ftp://x/") }, &answer, &why), E_INPUT);
	CHECK_INT(answer.status, 7);
	CHECK(why.text[0]);
	CHECK_INT(out_send(&(struct out_request){ .url = STR("http://x/"), .total_ms = -1 }, &answer, &why),
		  E_INPUT);
	CHECK_INT(out_send(&(struct out_request){ .url = STR("http://x/\0y") }, &answer, &why), E_INPUT);
	CHECK_INT(
		out_send(&(struct out_request){ .url = STR("http://x/"), .limit = SIZE_MAX }, &answer, &why),
		E_LIMIT);
}
