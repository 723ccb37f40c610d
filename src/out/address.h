#pragma once
/* Which IP addresses requests may be sent to. Pure. */
#include "base/net.h"

enum address_kind {
	ADDRESS_PUBLIC,
	ADDRESS_OWN, /* a public one of this machine; address_kind does not know them */
	ADDRESS_PRIVATE,
	ADDRESS_SHARED, /* 100.64.0.0/10, behind a carrier's NAT */
	ADDRESS_LOOPBACK,
	ADDRESS_LINK_LOCAL,
	ADDRESS_METADATA, /* the metadata service of a cloud, which gives out credentials */
	ADDRESS_MULTICAST,
	ADDRESS_UNSPECIFIED,
	ADDRESS_RESERVED,
	ADDRESS_KINDS
};
extern const char *const address_words[ADDRESS_KINDS]; /* "a private", "a loopback", … */

/* An IPv6 address that contains an IPv4 address (mapped, NAT64, 6to4) has the kind of that address. */
enum address_kind address_kind(const struct ip *ip);
/* The address that decides: the IPv4 address that `ip` contains, or `ip` itself. */
struct ip address_contained(const struct ip *ip);

/* Public addresses are allowed, except for those of this machine (`own`). Another address is allowed if
 * `allow` has a network that contains it, or the host name of the request. A metadata address is only allowed
 * by an entry for exactly that address; multicast and unspecified addresses are never allowed. */
bool address_allowed(const struct ip *ip, bool own, struct str host, const struct peer *allow, unsigned n);
