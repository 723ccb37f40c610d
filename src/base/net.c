/* Parsing of IP addresses, networks and host names. */
#include "base/net.h"

enum { V4_AT = 12, V4_BITS = 96 };
static const uint8_t mapped[V4_AT] = { [10] = 0xff, [11] = 0xff };

static bool parse_v4(struct str s, uint8_t ret[4])
{
	for (unsigned i = 0; i < 4; i++) {
		struct str part;
		uint64_t n;
		if (str_cut(&s, '.', &part) != (i < 3) || !str_number(part, 255, &n))
			return false;
		if (part.n > 3 || (part.n > 1 && part.p[0] == '0'))
			return false; /* a leading zero means octal to some parsers */
		ret[i] = (uint8_t)n;
	}
	return true;
}

static bool parse_group(struct str s, uint8_t ret[2])
{
	unsigned n = 0;
	for (size_t i = 0; i < s.n; i++) {
		int digit = hex_digit(s.p[i]);
		if (digit < 0)
			return false;
		n = n << 4 | (unsigned)digit;
	}
	ret[0] = (uint8_t)(n >> 8);
	ret[1] = (uint8_t)n;
	return s.n >= 1 && s.n <= 4;
}

/* Inserts zeros for "::" before byte `gap` of the n bytes that were read. `gap` is -1 if there was no
 * "::". */
static bool fill_gap(uint8_t byte[16], int n, int gap)
{
	if (gap < 0 || n == 16)
		return gap < 0 && n == 16;
	memmove(byte + 16 - (n - gap), byte + gap, (size_t)(n - gap));
	memset(byte + gap, 0, (size_t)(16 - n));
	return true;
}

static bool parse_v6(struct str s, uint8_t ret[16])
{
	int n = 0, gap = -1;
	if (str_starts(s, STR("::"))) {
		gap = 0;
		s = str_from(s, 2);
	}
	while (s.n) {
		struct str part;
		bool more = str_cut(&s, ':', &part);
		if (!more && n <= V4_AT && parse_v4(part, ret + n))
			return fill_gap(ret, n + 4, gap);
		if (n > 14 || !parse_group(part, ret + n) || (more && !s.n))
			return false;
		n += 2;
		if (more && s.p[0] == ':') {
			if (gap >= 0)
				return false;
			gap = n;
			s = str_from(s, 1);
		}
	}
	return fill_gap(ret, n, gap);
}

bool ip_parse(struct str s, struct ip *ret)
{
	struct ip ip = { 0 };
	memcpy(ip.byte, mapped, V4_AT);
	if (!parse_v4(s, ip.byte + V4_AT) && !parse_v6(s, ip.byte))
		return false;
	*ret = ip;
	return true;
}

static bool is_v4(const struct ip *ip)
{
	return memcmp(ip->byte, mapped, V4_AT) == 0;
}

bool net_parse(struct str s, struct net *ret)
{
	struct str address;
	struct net net = { .bits = 128 };
	bool sized = str_cut(&s, '/', &address);
	if (!ip_parse(address, &net.ip))
		return false;
	if (sized) {
		bool v4 = !memchr(address.p, ':', address.n);
		uint64_t bits;
		if (s.n > 3 || !str_number(s, v4 ? 32 : 128, &bits))
			return false;
		net.bits = (uint8_t)(bits + (v4 ? V4_BITS : 0));
	}
	*ret = net;
	return true;
}

bool net_has(const struct net *net, const struct ip *ip)
{
	unsigned whole = net->bits / 8, rest = net->bits % 8;
	if (net->bits < V4_BITS && is_v4(ip))
		return false;
	if (memcmp(net->ip.byte, ip->byte, whole) != 0)
		return false;
	return !rest || (net->ip.byte[whole] ^ ip->byte[whole]) >> (8 - rest) == 0;
}

/* Whether s is a host name: letters, digits, '-' and '_' between dots. The last part must not be a number,
 * because that would be a mistyped address. */
static bool is_host(struct str s)
{
	struct str part = { 0 };
	bool letters = false;
	if (s.n > HOST_BYTES_MAX)
		return false;
	for (bool more = true; more;) {
		more = str_cut(&s, '.', &part);
		letters = false;
		for (size_t i = 0; i < part.n; i++) {
			letters |= !is_digit(part.p[i]);
			if (!is_alpha(part.p[i]) && !is_digit(part.p[i]) && part.p[i] != '-' &&
			    part.p[i] != '_')
				return false;
		}
		if (!part.n)
			return false;
	}
	return letters;
}

enum err peer_parse(struct str text, struct peer *ret, struct why *why)
{
	struct peer p = { .text = text };
	if (!net_parse(text, &p.net)) {
		p.named = is_host(text);
		if (!p.named)
			return why_set(why, E_INPUT, 0,
				       "'%.*s' is neither an address, a network nor a host name; write "
				       "192.168.1.5, 10.0.0.0/8, fd00::/8 or hooks.example.org",
				       STR_SHORT(text));
	}
	*ret = p;
	return OK;
}
