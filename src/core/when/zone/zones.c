/* Zones by name or by city, and suggestions. */
#include "core/when/zone/zones.h"

#include <stdio.h>

/* The part after the last slash. */
static struct str city_of(struct str name)
{
	for (size_t i = name.n; i > 0; i--)
		if (name.p[i - 1] == '/')
			return str_from(name, i);
	return name;
}

/* Equal, ignoring case, and with '_' for a space? */
static bool same_words(struct str a, struct str b)
{
	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++) {
		char x = a.p[i] == '_' ? ' ' : to_lower(a.p[i]), y = b.p[i] == '_' ? ' ' : to_lower(b.p[i]);
		if (x != y)
			return false;
	}
	return true;
}

/* The edit distance of two names; more than `limit` if it is large for names of their length. */
static unsigned near_distance(struct str a, struct str b, unsigned limit)
{
	size_t shorter = a.n < b.n ? a.n : b.n, longer = a.n < b.n ? b.n : a.n;
	if (longer - shorter > limit)
		return limit + 1;
	unsigned d = str_distance(a, b, limit);
	return 2 * d < shorter ? d : limit + 1;
}

/* Etc/GMT+1 is west of Greenwich, but people who write "GMT+1" mean east. */
static bool is_gmt_offset(struct str name)
{
	return name.n > 4 && str_ieq(str_sub(name, 0, 3), STR("GMT")) &&
	       (name.p[3] == '+' || name.p[3] == '-');
}

/* Refuses a name, and suggests the three nearest known names, by the whole name or by the city. */
static enum err refuse_unknown(const struct zone_source *s, struct str name, struct why *why)
{
	enum { MOST = 3, FAR = 4 };
	if (is_gmt_offset(name))
		return why_set(
			why, E_INPUT, 0,
			"'%.*s' has two readings: Etc/GMT+1 is west of Greenwich, Etc/GMT-1 east; write the "
			"whole name, or a city",
			STR_SHORT(name));
	struct str near[MOST] = { 0 };
	unsigned distance[MOST], n = 0;
	for (unsigned i = 0; i < ZONES_MAX; i++) {
		struct str known = s->name(s->self, i);
		if (!known.n)
			break;
		unsigned limit = name.n < 8 ? 2 : FAR - 1;
		struct str given_city = city_of(name), known_city = city_of(known);
		unsigned whole = near_distance(name, known, limit),
			 city = near_distance(given_city, known_city, limit);
		/* A match by the whole name is nearer than one by the city. */
		unsigned d = whole <= limit ? 2 * whole : 2 * city + 1;
		if (whole > limit && city > limit)
			continue;
		unsigned at = n < MOST ? n++ : MOST;
		for (; at > 0 && distance[at - 1] > d; at--) {
			if (at < MOST) {
				near[at] = near[at - 1];
				distance[at] = distance[at - 1];
			}
		}
		if (at < MOST) {
			near[at] = known;
			distance[at] = d;
		}
	}
	char list[3 * ZONE_NAME_MAX + 32] = "; `rota zones` lists the known ones";
	if (n) {
		int k = snprintf(list, sizeof list, " (near: ");
		for (unsigned i = 0; i < n; i++)
			k += snprintf(list + k, sizeof list - (size_t)k, "%s%.*s", i ? ", " : "",
				      (int)(near[i].n > ZONE_NAME_MAX ? ZONE_NAME_MAX : near[i].n),
				      near[i].p);
		snprintf(list + k, sizeof list - (size_t)k, ")");
	}
	return why_set(why, E_INPUT, 0, "zone '%.*s' is not known%s", STR_SHORT(name), list);
}

enum err zones_find(const struct zone_source *s, struct str name, const struct zone **ret, struct why *why)
{
	if (name.n == 0)
		return why_set(why, E_INPUT, 0, "a zone is missing, such as Europe/Berlin");
	const struct zone *z = name.n <= ZONE_NAME_MAX ? s->find(s->self, name) : NULL;
	if (!z)
		return refuse_unknown(s, name, why);
	*ret = z;
	return OK;
}

enum err zones_place(const struct zone_source *s, struct str place, const struct zone **ret, struct str *name,
		     struct why *why)
{
	const struct zone *found = NULL;
	struct str first = { 0 };
	if (is_gmt_offset(place))
		return refuse_unknown(s, place, why);
	for (unsigned i = 0; i < ZONES_MAX; i++) {
		struct str known = s->name(s->self, i);
		if (!known.n)
			break;
		if (known.n < place.n || !same_words(place, str_from(known, known.n - place.n)))
			continue;
		bool whole = known.n == place.n;
		if (!whole && known.p[known.n - place.n - 1] != '/')
			continue;
		const struct zone *z = s->find(s->self, known);
		if (!z)
			continue;
		if (whole) {
			*ret = z;
			*name = known;
			return OK;
		}
		if (found && zone_fingerprint(found) != zone_fingerprint(z))
			return why_set(why, E_INPUT, 0, "'%.*s' could be %.*s or %.*s; write the whole name",
				       STR_SHORT(place), STR_ARG(first), STR_ARG(known));
		if (!found || known.n < first.n) {
			found = z;
			first = known;
		}
	}
	if (!found)
		return refuse_unknown(s, place, why);
	*ret = found;
	*name = first;
	return OK;
}
