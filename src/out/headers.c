#include "out/headers.h"

/* They say how the message is put together, or where it goes. */
static const char *const ours[] = { "connection",        "content-length", "expect", "host",
				    "http2-settings",    "keep-alive",     "te",     "trailer",
				    "transfer-encoding", "upgrade" };
static const char *const signing[] = { "webhook-id", "webhook-timestamp", "webhook-signature" };
static const char *const harmless[] = { "accept", "accept-language", "content-type", "user-agent" };

static bool among(struct str name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_ieq(name, str_of(list[i])))
			return true;
	return false;
}

/* A token of RFC 9110. */
static bool is_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_alpha(s.p[i]) && !is_digit(s.p[i]) && (!s.p[i] || !strchr("!#$%&'*+-.^_`|~", s.p[i])))
			return false;
	return s.n > 0;
}

static bool is_value(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (((unsigned char)s.p[i] < 32 && s.p[i] != '\t') || s.p[i] == 127)
			return false;
	return true;
}

bool headers_have(const struct out_request *r, struct str name)
{
	for (unsigned i = 0; i < r->headers; i++)
		if (str_ieq(r->header[i].name, name))
			return true;
	return false;
}

enum err headers_check(const struct out_request *r, struct why *why)
{
	size_t bytes = 0;
	for (unsigned i = 0; i < r->headers; i++) {
		const struct out_header *h = &r->header[i];
		bytes += h->name.n + h->value.n;
		if (!is_name(h->name))
			return why_set(why, E_INPUT, WHY_NOWHERE, "a header cannot be called '%.*s'",
				       STR_SHORT(h->name));
		if (!is_value(h->value))
			return why_set(why, E_INPUT, WHY_NOWHERE,
				       "header %.*s has a control character in its value",
				       STR_SHORT(h->name));
		if (among(h->name, ours, ARRAY_LEN(ours)) ||
		    (r->secret.n && among(h->name, signing, ARRAY_LEN(signing))))
			return why_set(why, E_INPUT, WHY_NOWHERE, "header %.*s is set by rota",
				       STR_SHORT(h->name));
	}
	if (bytes > OUT_HEAD_BYTES_MAX)
		return why_set(why, E_LIMIT, WHY_NOWHERE, "the headers have more than %d bytes",
			       OUT_HEAD_BYTES_MAX);
	return OK;
}

bool header_is_harmless(struct str name)
{
	return among(name, harmless, ARRAY_LEN(harmless));
}
