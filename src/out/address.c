/* The kinds of IP addresses, and which are allowed. */
#include "out/address.h"

const char *const address_words[ADDRESS_KINDS] = {
	[ADDRESS_PUBLIC] = "a public",
	[ADDRESS_OWN] = "this machine's own",
	[ADDRESS_PRIVATE] = "a private",
	[ADDRESS_SHARED] = "a carrier's internal",
	[ADDRESS_LOOPBACK] = "a loopback",
	[ADDRESS_LINK_LOCAL] = "a link-local",
	[ADDRESS_METADATA] = "a cloud's metadata",
	[ADDRESS_MULTICAST] = "a multicast",
	[ADDRESS_UNSPECIFIED] = "an unspecified",
	[ADDRESS_RESERVED] = "a reserved",
};

/* The first matching row counts. From IANA's registries of special-purpose addresses; ranges for
 * documentation count as public, since no host has such an address. `v4_at`: the offset of an IPv4 address
 * inside the address, whose kind counts; 0: none. */
static const struct {
	const char *net;
	enum address_kind kind;
	uint8_t v4_at;
} rows[] = {
	{ "169.254.169.254", ADDRESS_METADATA, 0 }, /* most clouds */
	{ "169.254.170.2", ADDRESS_METADATA, 0 },   /* containers of AWS */
	{ "169.254.170.23", ADDRESS_METADATA, 0 },
	{ "168.63.129.16", ADDRESS_METADATA, 0 },   /* Azure */
	{ "100.100.100.200", ADDRESS_METADATA, 0 }, /* Alibaba */
	{ "192.0.0.192", ADDRESS_METADATA, 0 },     /* Oracle */
	{ "fd00:ec2::254", ADDRESS_METADATA, 0 },   /* AWS */
	{ "fd00:ec2::23", ADDRESS_METADATA, 0 },
	{ "fd20:ce::254", ADDRESS_METADATA, 0 }, /* Google */
	{ "0.0.0.0/8", ADDRESS_UNSPECIFIED, 0 },
	{ "10.0.0.0/8", ADDRESS_PRIVATE, 0 },
	{ "100.64.0.0/10", ADDRESS_SHARED, 0 },
	{ "127.0.0.0/8", ADDRESS_LOOPBACK, 0 },
	{ "169.254.0.0/16", ADDRESS_LINK_LOCAL, 0 },
	{ "172.16.0.0/12", ADDRESS_PRIVATE, 0 },
	{ "192.0.0.0/24", ADDRESS_RESERVED, 0 },
	{ "192.88.99.0/24", ADDRESS_RESERVED, 0 },
	{ "192.168.0.0/16", ADDRESS_PRIVATE, 0 },
	{ "198.18.0.0/15", ADDRESS_RESERVED, 0 },
	{ "224.0.0.0/4", ADDRESS_MULTICAST, 0 },
	{ "240.0.0.0/4", ADDRESS_RESERVED, 0 },
	{ "0.0.0.0/0", ADDRESS_PUBLIC, 0 },
	{ "::", ADDRESS_UNSPECIFIED, 0 },
	{ "::1", ADDRESS_LOOPBACK, 0 },
	{ "::/96", ADDRESS_PUBLIC, 12 },           /* IPv4-compatible */
	{ "::ffff:0:0:0/96", ADDRESS_PUBLIC, 12 }, /* translated */
	{ "64:ff9b::/96", ADDRESS_PUBLIC, 12 },    /* NAT64 */
	{ "64:ff9b:1::/48", ADDRESS_PRIVATE, 0 },  /* NAT64 of a site's own */
	{ "2002::/16", ADDRESS_PUBLIC, 2 },        /* 6to4 */
	{ "2001::/23", ADDRESS_RESERVED, 0 },      /* Teredo, ORCHID, … */
	{ "fc00::/7", ADDRESS_PRIVATE, 0 },
	{ "fe80::/10", ADDRESS_LINK_LOCAL, 0 },
	{ "fec0::/10", ADDRESS_PRIVATE, 0 },
	{ "ff00::/8", ADDRESS_MULTICAST, 0 },
	{ "2000::/3", ADDRESS_PUBLIC, 0 },
	{ "::/0", ADDRESS_RESERVED, 0 },
};

/* The last row has every address. */
static unsigned find_row(const struct ip *ip)
{
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct net net;
		bool fine = net_parse(str_of(rows[i].net), &net);
		assert(fine);
		if (net_has(&net, ip))
			return i;
	}
	return ARRAY_LEN(rows) - 1;
}

struct ip address_contained(const struct ip *ip)
{
	unsigned at = rows[find_row(ip)].v4_at;
	struct ip v4 = { .byte = { [10] = 0xff, [11] = 0xff } };
	memcpy(v4.byte + 12, ip->byte + at, 4);
	return at ? v4 : *ip;
}

enum address_kind address_kind(const struct ip *ip)
{
	struct ip decides = address_contained(ip);
	return rows[find_row(&decides)].kind;
}

static bool same_host(struct str a, struct str b)
{
	if (a.n && a.p[a.n - 1] == '.')
		a.n--; /* the dot at the end of a fully qualified name */
	return str_ieq(a, b);
}

bool address_allowed(const struct ip *ip, bool own, struct str host, const struct peer *allow, unsigned n)
{
	enum address_kind kind = address_kind(ip);
	if (kind == ADDRESS_PUBLIC && !own)
		return true;
	if (kind == ADDRESS_MULTICAST || kind == ADDRESS_UNSPECIFIED)
		return false;
	for (unsigned i = 0; i < n; i++) {
		bool exact = allow[i].net.bits == 128;
		if (allow[i].named ? same_host(host, allow[i].text) && kind != ADDRESS_METADATA
				   : net_has(&allow[i].net, ip) && (exact || kind != ADDRESS_METADATA))
			return true;
	}
	return false;
}
