/* Headings and property drawers of org text. */
#include "core/org/org.h"

/* --- lines --- */

/* The beginning of the line after the one at `at`. */
static size_t next_line(struct str text, size_t at)
{
	const char *nl = at < text.n ? memchr(text.p + at, '\n', text.n - at) : NULL;
	return nl ? (size_t)(nl + 1 - text.p) : text.n;
}

/* The line at `at` without blanks around it. */
static struct str line_at(struct str text, size_t at)
{
	return str_trim(str_sub(text, at, next_line(text, at)));
}

/* --- headings --- */

/* Can c be part of tags? */
static bool is_tag(char c)
{
	return is_alpha(c) || is_digit(c) || memchr("_@#%:", c, 5) || (unsigned char)c >= 0x80;
}

/* "Desk" for "Desk :work:night:". */
static struct str without_tags(struct str title)
{
	size_t at = title.n;
	if (!title.n || title.p[title.n - 1] != ':')
		return title;
	while (at > 0 && is_tag(title.p[at - 1]))
		at--;
	bool tags = title.p[at] == ':' && title.n - at > 2 && (at == 0 || is_blank(title.p[at - 1]));
	return tags ? str_trim(str_sub(title, 0, at)) : title;
}

bool org_heading_next(struct str text, size_t from, struct org_heading *ret)
{
	for (size_t at = from; at < text.n; at = next_line(text, at)) {
		size_t stars = at;
		while (stars < text.n && text.p[stars] == '*')
			stars++;
		if (stars == at || stars == text.n || !is_blank(text.p[stars]))
			continue;
		size_t end = next_line(text, at);
		*ret = (struct org_heading){ .level = (unsigned)(stars - at),
					     .title = without_tags(str_trim(str_sub(text, stars, end))),
					     .at = at,
					     .text = end };
		return true;
	}
	return false;
}

/* --- drawers --- */

static bool is_planning(struct str line)
{
	static const char *const words[] = { "SCHEDULED:", "DEADLINE:", "CLOSED:" };
	for (unsigned i = 0; i < ARRAY_LEN(words); i++)
		if (str_starts(line, str_of(words[i])))
			return true;
	return false;
}

/* The line with :PROPERTIES:; `to` if there is none. */
static size_t find_drawer(struct str text, size_t from, size_t to)
{
	for (size_t at = from; at < to; at = next_line(text, at)) {
		struct str line = line_at(text, at);
		if (str_ieq(line, STR(":PROPERTIES:")))
			return at;
		if (line.n && !is_planning(line))
			break;
	}
	return to;
}

/* Splits ":NAME: value". */
static bool split_property(struct str line, struct str *name, struct str *value)
{
	size_t end = 1;
	if (line.n < 3 || line.p[0] != ':')
		return false;
	while (end < line.n && line.p[end] != ':' && !is_blank(line.p[end]))
		end++;
	if (end == 1 || end == line.n || line.p[end] != ':' ||
	    (end + 1 < line.n && !is_blank(line.p[end + 1])))
		return false;
	*name = str_sub(line, 1, end);
	*value = str_trim(str_from(line, end + 1));
	return true;
}

static enum err add_property(struct str text, struct str name, struct str value, struct arena *a,
			     struct val *map, struct why *why)
{
	size_t at = (size_t)(name.p - 1 - text.p);
	if (map->map.n == ORG_PROPERTIES_MAX)
		return why_set(why, E_LIMIT, at, "a drawer has at most %d properties", ORG_PROPERTIES_MAX);
	for (unsigned i = 0; i < map->map.n; i++)
		if (str_ieq(map->map.pair[i].key, name)) {
			struct place p = place_of(text, map->map.pair[i].at);
			return why_set(
				why, E_INPUT, at,
				"property '%.*s' is given twice; the first one is at line %u, column %u",
				STR_SHORT(name), p.line, p.column);
		}
	struct val_pair *pair = val_map_room(map, a);
	if (!pair)
		return E_NOMEM;
	*pair = (struct val_pair){
		name,
		(uint32_t)at,
		{ .kind = VAL_STR, .at = (uint32_t)(value.n ? (size_t)(value.p - text.p) : at), .str = value }
	};
	map->map.n++;
	return OK;
}

enum err org_drawer(struct str text, size_t from, size_t to, struct arena *a, struct val *ret, size_t *end,
		    struct why *why)
{
	size_t drawer = find_drawer(text, from, to);
	struct val map = { .kind = VAL_MAP, .at = (uint32_t)from };
	if (drawer == to) {
		*ret = map;
		*end = from;
		return OK;
	}
	for (size_t at = next_line(text, drawer); at < to; at = next_line(text, at)) {
		struct str line = line_at(text, at), name, value;
		if (str_ieq(line, STR(":END:"))) {
			*ret = map;
			*end = next_line(text, at);
			return OK;
		}
		if (!line.n)
			continue;
		if (!split_property(line, &name, &value))
			return why_set(
				why, E_INPUT, at,
				"'%.*s' is not a property; a drawer has lines such as :MODEL: name, up to "
				":END:",
				STR_SHORT(line));
		enum err e = add_property(text, name, value, a, &map, why);
		if (e)
			return e;
	}
	return why_set(why, E_INPUT, drawer, "this drawer has no :END:");
}

bool org_has(struct str text, size_t from, size_t to, const char *wanted)
{
	size_t drawer = find_drawer(text, from, to);
	for (size_t at = next_line(text, drawer); drawer < to && at < to; at = next_line(text, at)) {
		struct str line = line_at(text, at), name, value;
		if (str_ieq(line, STR(":END:")))
			break;
		if (split_property(line, &name, &value) && str_ieq(name, str_of(wanted)))
			return true;
	}
	return false;
}
