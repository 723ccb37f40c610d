/* Checks the headers of a request. */
#include "out/headers.h"

/* Headers that determine the framing of the message, or its destination. */
static const char *const set_by_rota[] = { "connection",        "content-length", "expect", "host",
					   "http2-settings",    "keep-alive",     "te",     "trailer",
					   "transfer-encoding", "upgrade" };
static const char *const signing[] = { "webhook-id", "webhook-timestamp", "webhook-signature" };
static const char *const harmless[] = { "accept", "accept-language", "content-type", "user-agent" };

static bool is_in_list(struct str name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_ieq(name, str_of(list[i])))
			return true;
	return false;
}

/* Whether s is a token of RFC 9110. */
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
			return why_set(why, E_INPUT, WHY_NOWHERE, "'%.*s' is not a valid header name",
				       STR_SHORT(h->name));
		if (!is_value(h->value))
			return why_set(why, E_INPUT, WHY_NOWHERE,
				       "the value of header %.*s contains a control character",
				       STR_SHORT(h->name));
		if (is_in_list(h->name, set_by_rota, ARRAY_LEN(set_by_rota)) ||
		    (r->secret.n && is_in_list(h->name, signing, ARRAY_LEN(signing))))
			return why_set(why, E_INPUT, WHY_NOWHERE,
				       "header %.*s is set by rota and cannot be given", STR_SHORT(h->name));
	}
	if (bytes > OUT_HEAD_BYTES_MAX)
		return why_set(why, E_LIMIT, WHY_NOWHERE, "the headers have more than %d bytes",
			       OUT_HEAD_BYTES_MAX);
	return OK;
}

bool header_is_harmless(struct str name)
{
	return is_in_list(name, harmless, ARRAY_LEN(harmless));
}
