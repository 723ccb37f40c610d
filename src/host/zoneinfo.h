#pragma once
/* The system's zone files. Read when first asked for, kept until closed; UTC is there even without any file.
 * The directory is $TZDIR, else /usr/share/zoneinfo. The process's TZ variable is never looked at. */
#include "core/when/zone/zones.h"

struct zoneinfo;

must_check enum err zoneinfo_open(struct zoneinfo **ret);
void zoneinfo_close(struct zoneinfo *z);
DEFINE_CLEANUP(struct zoneinfo *, zoneinfo_close)

const struct zone_source *zoneinfo_source(const struct zoneinfo *z);
/* The name of this machine's own zone: where /etc/localtime points, else /etc/timezone, else UTC. */
struct str zoneinfo_local(struct zoneinfo *z);
/* False where UTC is only what is left when nothing could be found out. */
bool zoneinfo_local_known(struct zoneinfo *z);
