#pragma once
/* The zone files as they were read once. They are shared by reference counting: a call that waits for the
 * engine or works in turns keeps the files it began with, even if they change meanwhile. */
#include "host/zoneinfo.h"

struct zone_files {
	struct zoneinfo *zones;
	unsigned users;
};

struct zone_files *zone_files_new(void); /* has one reference; NULL: out of memory */
struct zone_files *zone_files_share(struct zone_files *z);
void zone_files_release(struct zone_files *z); /* NULL is fine */
