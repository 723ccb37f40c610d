/* Zone files that are shared by reference counting. */
#include "api/zone_files.h"

#include <stdlib.h>

struct zone_files *zone_files_new(void)
{
	struct zone_files *z = calloc(1, sizeof *z);
	if (z && zoneinfo_open(&z->zones)) {
		free(z);
		z = NULL;
	}
	if (z)
		z->users = 1;
	return z;
}

struct zone_files *zone_files_share(struct zone_files *z)
{
	z->users++;
	return z;
}

void zone_files_release(struct zone_files *z)
{
	if (!z || --z->users)
		return;
	zoneinfo_close(z->zones);
	free(z);
}
