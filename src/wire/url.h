#pragma once
/* The target of a request taken apart: "/api/v1/runs/a%2Fb?limit=5&tag=x". Pure. A path is split before it is
 * decoded, so that a name may hold a slash. */
#include "base/arena.h"
#include "base/err.h"

struct url_pair {
	struct str name, value;
};

struct url {
	struct str path; /* as it was sent */
	struct str *segment;
	unsigned segments; /* "/" has none; a slash at the end adds an empty one */
	struct url_pair *query;
	unsigned queries;
};

/* Everything lives in `a`. E_INPUT for a target that is not a path, an escape that is none, or a zero byte;
 * E_LIMIT for more segments or values than HTTP_SEGMENTS_MAX, HTTP_QUERY_MAX. */
must_check enum err url_parse(struct str target, struct arena *a, struct url *ret, struct why *why);
/* The value of that name, the first if there are several; p is NULL if there is none. */
struct str url_query(const struct url *u, struct str name);
