#pragma once
/* The zone files of the system. A file is read when its zone is first used, and kept until the source is
 * closed; UTC exists even without files. The directory is $TZDIR, else /usr/share/zoneinfo. The variable TZ
 * is never read. */
#include "core/when/zone/zones.h"

struct zoneinfo;

must_check enum err zoneinfo_open(struct zoneinfo **ret);
void zoneinfo_close(struct zoneinfo *z);
DEFINE_CLEANUP(struct zoneinfo *, zoneinfo_close)

const struct zone_source *zoneinfo_source(const struct zoneinfo *z);
/* The name of this machine's zone: the target of /etc/localtime, else the content of /etc/timezone, else UTC.
 */
struct str zoneinfo_local(struct zoneinfo *z);
/* False: neither file names a zone, and zoneinfo_local is UTC for that reason. */
bool zoneinfo_local_known(struct zoneinfo *z);
