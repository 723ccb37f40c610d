#pragma once
/* Whether an address belongs to this machine, whatever its range: services that listen on all addresses can
 * be reached at the public ones, too. */
#include "base/net.h"

/* Sends nothing: asks the kernel which address it would send from. True if that cannot be found out. */
bool own_address(const struct ip *ip);
