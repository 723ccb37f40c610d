#pragma once
/* Parses the target of a request: "/api/v1/runs/a%2Fb?limit=5&tag=x". A path is split before it is decoded,
 * so a segment may contain an encoded slash. Pure. */
#include "base/arena.h"
#include "base/err.h"

struct url_pair {
	struct str name, value;
};

struct url {
	struct str path; /* encoded, as received */
	struct str *segment;
	unsigned segments; /* "/" has none; a slash at the end adds an empty one */
	struct url_pair *query;
	unsigned queries;
};

/* Allocates in `a`. E_INPUT: the target is not a path, or has an invalid escape or a zero byte; E_LIMIT: more
 * segments than HTTP_SEGMENTS_MAX or more values than HTTP_QUERY_MAX. */
must_check enum err url_parse(struct str target, struct arena *a, struct url *ret, struct why *why);
