#pragma once
/* A zone_source for tests: the system's TZif files, read once and kept until the program ends. */
#include "core/when/zone/zones.h"

const struct zone_source *test_zones(void);
/* Exits if there is no such zone. */
const struct zone *test_zone(const char *name);
/* The bytes of a TZif file, valid until the next call; for tests of the parser. */
struct str test_tzif(const char *path);
