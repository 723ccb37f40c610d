/* Asks the kernel for the source address of a datagram: to an address of this machine it is that address. */
#include "out/own_address.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

enum { PORT = 9 }; /* any: nothing is sent */

static socklen_t address_of(const struct ip *ip, union address *ret)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	*ret = (union address){ 0 };
	if (memcmp(ip->byte, mapped, sizeof mapped) == 0) {
		ret->v4.sin_family = AF_INET;
		ret->v4.sin_port = htons(PORT);
		memcpy(&ret->v4.sin_addr, ip->byte + 12, 4);
		return sizeof ret->v4;
	}
	ret->v6.sin6_family = AF_INET6;
	ret->v6.sin6_port = htons(PORT);
	memcpy(&ret->v6.sin6_addr, ip->byte, 16);
	return sizeof ret->v6;
}

bool own_address(const struct ip *ip)
{
	union address to, from = { 0 };
	socklen_t n = address_of(ip, &to), got = sizeof from;
	int fd = socket(to.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return to.any.sa_family == AF_INET; /* without IPv6, this machine has no IPv6 address */
	bool routed = connect(fd, &to.any, n) == 0;
	bool known = routed && getsockname(fd, &from.any, &got) == 0;
	close(fd);
	if (!routed)
		return false; /* there is no route to the address */
	return !known || (to.any.sa_family == AF_INET ? from.v4.sin_addr.s_addr == to.v4.sin_addr.s_addr
						      : memcmp(&from.v6.sin6_addr, &to.v6.sin6_addr,
							       sizeof to.v6.sin6_addr) == 0);
}
