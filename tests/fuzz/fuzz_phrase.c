/* English phrases: the parser of the form that a phrase becomes must accept that form. */
#include "core/when/phrase/phrase.h"
#include "core/when/when.h"
#include "fuzz.h"
#include "zoneinfo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct phrase_env env = { wall_of(1794751200), test_zones(), test_zone("Europe/Berlin") };
	struct phrase phrase;
	struct why why = { 0 };
	if (size > WHEN_BYTES_MAX)
		return 0;
	if (phrase_parse(text, &env, &phrase, &why)) {
		assert(why.text[0] && why.at <= size);
		return 0;
	}
	struct arena a = { 0 };
	struct when w;
	struct when_env read = { .now = env.now,
				 .zones = env.zones,
				 .zone = phrase.zone ? phrase.zone : env.zone,
				 .zone_name = STR("Europe/Berlin") };
	enum err e = when_parse(str_of(phrase.form), &read, &a, &w, &why);
	/* Only a date that no year has ("every 30 february") may still be refused. */
	assert(e == OK || strstr(why.text, "never fires"));
	assert(e != OK || !w.relative);
	assert(strlen(phrase.until) == 0 || strlen(phrase.until) == 10);
	arena_free(&a);
	return 0;
}
