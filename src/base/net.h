#pragma once
/* IP addresses, networks and host names as text. Pure: no name is resolved. */
#include "base/err.h"

/* IPv4 addresses are stored as ::ffff:a.b.c.d, however they were written: both forms reach the same host. */
struct ip {
	uint8_t byte[16];
};

struct net {
	struct ip ip;
	uint8_t bits; /* length of the prefix, of 128 bits */
};

/* Parses four decimal numbers without leading zeros, or IPv6 without a zone. False: s is neither. */
bool ip_parse(struct str s, struct ip *ret);
/* Parses 10.0.0.0/8, fd00::/8, or a single address. False: s is none of them. */
bool net_parse(struct str s, struct net *ret);
/* Is `ip` in the network? An IPv4 address is not in a network of IPv6, such as ::/0. */
bool net_has(const struct net *net, const struct ip *ip);

/* A peer that requests may go to: an address, a network, or a host name. */
struct peer {
	struct str text;
	bool named;     /* `text` is a host name, and `net` is not set */
	struct net net; /* set if `named` is false */
};
must_check enum err peer_parse(struct str text, struct peer *ret, struct why *why);
