/* Addresses, networks and host names; addresses are compared with libc. */
#include "base/net.h"
#include "test.h"

#include <arpa/inet.h>

/* Parses the same text with libc. */
static bool libc_parse(const char *text, struct ip *ret)
{
	struct ip ip = { .byte = { [10] = 0xff, [11] = 0xff } };
	if (inet_pton(AF_INET, text, ip.byte + 12) != 1 && inet_pton(AF_INET6, text, ip.byte) != 1)
		return false;
	*ret = ip;
	return true;
}

static void same_as_libc(int line, const char *text)
{
	struct ip ours = { 0 }, libc = { 0 };
	test_case("%s", text);
	CHECK_INT_AT(line, ip_parse(str_of(text), &ours), libc_parse(text, &libc));
	CHECK_AT(line, memcmp(&ours, &libc, sizeof ours) == 0);
	test_case(NULL);
}

TEST(addresses_are_read_as_libc_does)
{
	static const char *const rows[] = {
		"1.2.3.4",
		"0.0.0.0",
		"255.255.255.255",
		"256.1.1.1",
		"1.2.3",
		"1.2.3.4.5",
		"1.2.3.",
		".1.2.3",
		"01.2.3.4",
		"1.2.3.0004",
		"1.2.3.4 ",
		"0x1.2.3.4",
		"",
		"::",
		"::1",
		"1::",
		"1::2",
		":1",
		"1:",
		":::",
		"1:::2",
		"1::2::3",
		"1:2:3:4:5:6:7:8",
		"1:2:3:4:5:6:7",
		"1:2:3:4:5:6:7:8:9",
		"1:2:3:4:5:6:7::",
		"::2:3:4:5:6:7:8",
		"1:2:3:4:5:6:7:8::",
		"::1:2:3:4:5:6:7:8",
		"1:2:3:4::5:6:7:8",
		"::ffff:1.2.3.4",
		"::1.2.3.4",
		"1:2:3:4:5:6:1.2.3.4",
		"1:2:3:4:5:6:7:1.2.3.4",
		"1:2:3:4:5:1.2.3.4",
		"::1.2.3.4:5",
		"1.2.3.4::",
		"::1.2.3",
		"64:ff9b::10.0.0.1",
		"12345::",
		"g::",
		"FE80::Ab",
		"fe80::1%lo",
		"::/0",
		"[::1]",
		"1:2:3:4:5:6:7:",
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		same_as_libc(__LINE__, rows[i]);
	uint64_t seed = 7;
	for (unsigned i = 0; i < 200000; i++) {
		static const char letters[] = "::::....0012f25";
		char text[24];
		unsigned n = (unsigned)(test_random(&seed) % sizeof text);
		for (unsigned k = 0; k < n; k++)
			text[k] = letters[test_random(&seed) % (sizeof letters - 1)];
		text[n] = 0;
		same_as_libc(__LINE__, text);
	}
}

TEST(networks)
{
	static const struct {
		int line;
		const char *net, *ip;
		bool has;
	} rows[] = {
		{ __LINE__, "10.0.0.0/8", "10.255.0.1", true },
		{ __LINE__, "10.0.0.0/8", "11.0.0.0", false },
		{ __LINE__, "10.9.9.9/8", "10.1.1.1", true },
		{ __LINE__, "172.16.0.0/12", "172.31.255.255", true },
		{ __LINE__, "172.16.0.0/12", "172.32.0.0", false },
		{ __LINE__, "172.16.0.0/12", "172.15.255.255", false },
		{ __LINE__, "1.2.3.4", "1.2.3.4", true },
		{ __LINE__, "1.2.3.4", "1.2.3.5", false },
		{ __LINE__, "1.2.3.4/32", "1.2.3.5", false },
		{ __LINE__, "1.2.3.4/31", "1.2.3.5", true },
		{ __LINE__, "10.0.0.0/8", "::ffff:10.1.1.1", true },
		{ __LINE__, "::ffff:10.0.0.0/104", "10.1.1.1", true },
		{ __LINE__, "0.0.0.0/0", "8.8.8.8", true },
		{ __LINE__, "0.0.0.0/0", "::1", false },
		{ __LINE__, "::/0", "2001::1", true },
		{ __LINE__, "::/0", "8.8.8.8", false },
		{ __LINE__, "fc00::/7", "fdff::", true },
		{ __LINE__, "fc00::/7", "fe00::", false },
		{ __LINE__, "::1", "::1", true },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct net net = { 0 };
		struct ip ip = { 0 };
		CHECK_AT(rows[i].line, net_parse(str_of(rows[i].net), &net));
		CHECK_AT(rows[i].line, ip_parse(str_of(rows[i].ip), &ip));
		CHECK_INT_AT(rows[i].line, net_has(&net, &ip), rows[i].has);
	}
	static const char *const wrong[] = { "10.0.0.0/33", "::/129",       "10.0.0.0/", "10.0.0.0/-1", "/8",
					     "10/8",        "10.0.0.0/8/8", "::/0x1",    "::/0000",     "" };
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct net net;
		test_case("%s", wrong[i]);
		CHECK(!net_parse(str_of(wrong[i]), &net));
	}
	test_case(NULL);
}

TEST(peers)
{
	static const struct {
		int line;
		const char *text;
		bool fine, named;
	} rows[] = {
		{ __LINE__, "10.0.0.0/8", true, false },
		{ __LINE__, "192.168.1.5", true, false },
		{ __LINE__, "fd00::/8", true, false },
		{ __LINE__, "hooks.example.org", true, true },
		{ __LINE__, "localhost", true, true },
		{ __LINE__, "xn--bcher-kva.example", true, true },
		{ __LINE__, "3com.com", true, true },
		{ __LINE__, "10.0.0", false, false },
		{ __LINE__, "10.0.0.256", false, false },
		{ __LINE__, "1", false, false },
		{ __LINE__, "a..b", false, false },
		{ __LINE__, ".a", false, false },
		{ __LINE__, "a.", false, false },
		{ __LINE__, "a b", false, false },
		{ __LINE__, "http://a/", false, false },
		{ __LINE__, "a:80", false, false },
		{ __LINE__, "*.a", false, false },
		{ __LINE__,
		  "b\xc3\xbc"
		  "cher.example",
		  false, false },
		{ __LINE__, "", false, false },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct peer p = { 0 };
		struct why why = { 0 };
		CHECK_INT_AT(rows[i].line, peer_parse(str_of(rows[i].text), &p, &why),
			     rows[i].fine ? OK : E_INPUT);
		CHECK_INT_AT(rows[i].line, p.named, rows[i].named);
		CHECK_INT_AT(rows[i].line, why.text[0] != 0, !rows[i].fine);
	}
}
