/* Requests to the network. Addresses are parsed as libc parses them; if no exceptions are configured, exactly
 * the public ones are allowed. A request is read, or refused with a message. Accepted headers have no line
 * breaks. */
#include "fuzz.h"
#include "out/address.h"
#include "out/headers.h"
#include "out/request.h"
#include "out/sign.h"

#include <arpa/inet.h>
#include <stdlib.h>

static void check_address(struct str in)
{
	char text[64];
	struct ip ours, libc = { .byte = { [10] = 0xff, [11] = 0xff } };
	struct peer peer;
	if (in.n >= sizeof text || memchr(in.p, 0, in.n))
		return;
	memcpy(text, in.p, in.n);
	text[in.n] = 0;
	bool known =
		inet_pton(AF_INET, text, libc.byte + 12) == 1 || inet_pton(AF_INET6, text, libc.byte) == 1;
	assert(ip_parse(in, &ours) == known);
	if (known) {
		assert(memcmp(&ours, &libc, sizeof ours) == 0);
		enum address_kind kind = address_kind(&ours);
		assert(address_allowed(&ours, false, STR("x"), NULL, 0) == (kind == ADDRESS_PUBLIC));
	}
	if (peer_parse(in, &peer, NULL) == OK && !peer.named)
		assert(net_has(&peer.net, &peer.net.ip) || peer.net.bits < 96);
}

static void check_request(struct str in)
{
	struct arena a = { 0 };
	struct out_request r;
	struct why why = { 0 };
	enum err e = out_request_read(in, &a, &r, &why);
	assert(!e || why.text[0]);
	if (!e) {
		struct buf signature = { 0 };
		assert(r.url.n && r.headers <= OUT_HEADERS_MAX && r.allowed <= OUT_ALLOW_MAX);
		if (headers_check(&r, &why) == OK)
			for (unsigned i = 0; i < r.headers; i++)
				assert(!memchr(r.header[i].value.p, '\n', r.header[i].value.n) &&
				       !memchr(r.header[i].name.p, ':', r.header[i].name.n));
		if (r.secret.n && sign_webhook(r.secret, r.id, r.timestamp, r.body, &signature, &why) == OK)
			assert(str_starts(buf_str(&signature), STR("v1,")));
		buf_free(&signature);
	}
	arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str in = { (const char *)data, size };
	struct buf signature = { 0 };
	check_address(in);
	check_request(in);
	if (sign_webhook(in, STR("m"), 1, in, &signature, NULL) == OK)
		assert(str_starts(in, STR("whsec_")) || is_space(in.p[0]));
	buf_free(&signature);
	return 0;
}
