/* The system's zone files by name. */
#include "host/zoneinfo.h"
#include "test.h"

TEST(names_are_listed_and_found)
{
	struct zoneinfo *z = NULL;
	CHECK_INT(zoneinfo_open(&z), OK);
	const struct zone_source *s = zoneinfo_source(z);
	unsigned n = 0;
	struct str last = { 0 }, name;
	for (; (name = s->name(s->self, n)).n; n++) {
		CHECK(n == 0 || strcmp(last.p, name.p) < 0);
		last = name;
		if (!s->find(s->self, name))
			CHECK_STR(name.p, "a zone that can be read");
	}
	CHECK(n > 300 && n < ZONES_MAX);
	CHECK(s->find(s->self, STR("Europe/Berlin")) == s->find(s->self, STR("Europe/Berlin")));
	struct str local = zoneinfo_local(z);
	CHECK(local.n && s->find(s->self, local));
	zoneinfo_close(z);
	zoneinfo_close(NULL);
}

TEST(odd_names_are_not_found)
{
	static const char *const odd[] = {
		"",
		"/",
		"..",
		"../etc/passwd",
		"/etc/passwd",
		"Europe/",
		"Europe//Berlin",
		"Europe/../Europe/Berlin",
		"posixrules",
		"Europe",
		"tzdata.zi",
		"europe/berlin",
		"Europe/Berlin\n",
		"Aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	};
	struct zoneinfo *z = NULL;
	CHECK_INT(zoneinfo_open(&z), OK);
	const struct zone_source *s = zoneinfo_source(z);
	for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
		test_case("%s", odd[i]);
		CHECK(!s->find(s->self, str_of(odd[i])));
	}
	zoneinfo_close(z);
}

TEST(utc_needs_no_file)
{
	setenv("TZDIR", "/nonexistent", 1);
	struct zoneinfo *z = NULL;
	CHECK_INT(zoneinfo_open(&z), OK);
	const struct zone_source *s = zoneinfo_source(z);
	CHECK(s->find(s->self, STR("UTC")));
	CHECK(!s->find(s->self, STR("Europe/Berlin")));
	CHECK(str_eq(zoneinfo_local(z), STR("UTC")));
	CHECK(str_eq(s->name(s->self, 0), STR("UTC")) && s->name(s->self, 1).n == 0);
	zoneinfo_close(z);
	unsetenv("TZDIR");
}
