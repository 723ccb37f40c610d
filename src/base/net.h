#pragma once
/* Addresses of machines as text. Pure: nothing is looked up. */
#include "base/err.h"

/* IPv4 is ::ffff:a.b.c.d here, whichever way it was written: on the wire they are the same. */
struct ip {
	uint8_t byte[16];
};

struct net {
	struct ip ip;
	uint8_t bits; /* of the 128 that count */
};

/* Four decimal numbers without leading zeros, or IPv6 without a zone; false otherwise. */
bool ip_parse(struct str s, struct ip *ret);
bool ip_is_v4(const struct ip *ip);
/* 10.0.0.0/8, fd00::/8, or one address alone. */
bool net_parse(struct str s, struct net *ret);
/* ::/0 has no IPv4 in it. */
bool net_has(const struct net *net, const struct ip *ip);

/* Somebody who may be spoken to: an address, a network, or a host by its name. */
struct peer {
	struct str text;
	struct net net; /* where it is not named */
	bool named;
};
must_check enum err peer_parse(struct str text, struct peer *ret, struct why *why);
