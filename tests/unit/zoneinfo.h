#pragma once
/* A zone_source for tests: TZif files of the system, read once and kept until the program ends. */
#include "core/when/zone/zones.h"

const struct zone_source *test_zones(void);
/* Exits if there is no such zone. */
const struct zone *test_zone(const char *name);
/* The bytes of a zone's TZif file (static until the next call), for tests of the reader. */
struct str test_tzif(const char *path);
