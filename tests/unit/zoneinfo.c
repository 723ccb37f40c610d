/* The zones of tests, by name. */
#include "zoneinfo.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const names[] = {
	"Africa/Casablanca",
	"America/Havana",
	"America/Indiana/Knox",
	"America/Knox_IN",
	"America/Los_Angeles",
	"America/New_York",
	"America/Sao_Paulo",
	"America/St_Johns",
	"Asia/Kolkata",
	"Asia/Tokyo",
	"Australia/Lord_Howe",
	"Australia/Sydney",
	"Etc/UTC",
	"Europe/Berlin",
	"Europe/Dublin",
	"Europe/London",
	"Pacific/Apia",
	"Pacific/Chatham",
	"UTC",
};
static struct zone *loaded[ARRAY_LEN(names)];

struct str test_tzif(const char *path)
{
	static char bytes[TZIF_BYTES_MAX];
	FILE *f = fopen(path, "rb");
	size_t n = f ? fread(bytes, 1, sizeof bytes, f) : 0;
	if (f)
		fclose(f);
	return (struct str){ bytes, n };
}

static const struct zone *find_zone(void *self, struct str name)
{
	(void)self;
	for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
		if (!str_eq(name, str_of(names[i])))
			continue;
		if (!loaded[i]) {
			char path[256];
			struct why why = { 0 };
			snprintf(path, sizeof path, "/usr/share/zoneinfo/%s", names[i]);
			if (zone_parse(test_tzif(path), &loaded[i], &why)) {
				fprintf(stderr, "%s: %s\n", path, why.text);
				exit(99);
			}
		}
		return loaded[i];
	}
	return NULL;
}

static struct str name_at(void *self, unsigned i)
{
	(void)self;
	return i < ARRAY_LEN(names) ? str_of(names[i]) : (struct str){ 0 };
}

__attribute__((destructor)) static void unload(void)
{
	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		zone_free(loaded[i]);
}

const struct zone_source *test_zones(void)
{
	static const struct zone_source source = { find_zone, name_at, NULL };
	return &source;
}

const struct zone *test_zone(const char *name)
{
	const struct zone *z = find_zone(NULL, str_of(name));
	if (!z) {
		fprintf(stderr, "no zone %s\n", name);
		exit(99);
	}
	return z;
}
