#pragma once
/* Which addresses may be spoken to. Pure. */
#include "base/net.h"

enum address_kind {
	ADDRESS_PUBLIC,
	ADDRESS_PRIVATE,
	ADDRESS_SHARED, /* behind a provider's NAT */
	ADDRESS_LOOPBACK,
	ADDRESS_LINK_LOCAL,
	ADDRESS_METADATA, /* where clouds tell a machine its secrets */
	ADDRESS_MULTICAST,
	ADDRESS_UNSPECIFIED,
	ADDRESS_RESERVED,
	ADDRESS_KINDS
};
extern const char *const address_words[ADDRESS_KINDS]; /* "a private", "a loopback", … */

/* An IPv6 address that stands for an IPv4 one is of that one's kind. */
enum address_kind address_kind(const struct ip *ip);

/* Public ones may; others if a network of `allow` has them, or the name by which they were asked for is in
 * it. A metadata address must be allowed by itself, as one address; multicast and unspecified ones never may.
 */
bool address_allowed(const struct ip *ip, struct str host, const struct peer *allow, unsigned n);
