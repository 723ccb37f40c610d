/* Parses URLs by libcurl, so that there is only one parser, and checks what is allowed in them. */
#include "out/url.h"

#include <stdio.h>

static bool same_part(CURLU *a, CURLU *b, CURLUPart part)
{
	char *x = NULL, *y = NULL;
	bool same = !curl_url_get(a, part, &x, CURLU_DEFAULT_PORT) &&
		    !curl_url_get(b, part, &y, CURLU_DEFAULT_PORT) && str_ieq(str_of(x), str_of(y));
	curl_free(x);
	curl_free(y);
	return same;
}

bool out_url_same_origin(CURLU *a, CURLU *b)
{
	return same_part(a, b, CURLUPART_SCHEME) && same_part(a, b, CURLUPART_HOST) &&
	       same_part(a, b, CURLUPART_PORT);
}

bool out_url_has_scheme(CURLU *url, const char *scheme)
{
	char *text = NULL;
	bool has = !curl_url_get(url, CURLUPART_SCHEME, &text, 0) && str_eq(str_of(text), str_of(scheme));
	curl_free(text);
	return has;
}

/* Hosts must be ASCII, because libcurl would convert others depending on the locale of the process. */
static bool has_ascii_host(CURLU *url)
{
	char *host = NULL;
	bool plain = !curl_url_get(url, CURLUPART_HOST, &host, 0);
	for (const char *p = host; plain && *p; p++)
		plain = (unsigned char)*p > 32 && (unsigned char)*p < 127;
	curl_free(host);
	return plain;
}

enum err out_url_read(const char *text, CURLU *base, CURLU **ret, char wrong[OUT_URL_WRONG])
{
	CURLU *url = base ? curl_url_dup(base) : curl_url();
	unsigned flags = CURLU_DISALLOW_USER | CURLU_NON_SUPPORT_SCHEME;
	if (!url)
		return E_NOMEM;
	if (base)
		flags |= CURLU_URLENCODE | CURLU_ALLOW_SPACE; /* browsers accept such URLs in redirects */
	CURLUcode code = curl_url_set(url, CURLUPART_URL, text, flags);
	bool web = !code && (out_url_has_scheme(url, "http") || out_url_has_scheme(url, "https"));
	if (web && has_ascii_host(url)) {
		*ret = url;
		return OK;
	}
	if (code == CURLUE_USER_NOT_ALLOWED)
		snprintf(wrong, OUT_URL_WRONG, "contains a user or a password; send them in a header");
	else if (web)
		snprintf(wrong, OUT_URL_WRONG, "has a host that is not ASCII; write it in its xn-- form");
	else if (code == CURLUE_BAD_SCHEME || !code)
		snprintf(wrong, OUT_URL_WRONG, "must begin with http:// or https://");
	else
		snprintf(wrong, OUT_URL_WRONG, "is not valid (%s)", curl_url_strerror(code));
	curl_url_cleanup(url);
	return code == CURLUE_OUT_OF_MEMORY ? E_NOMEM : E_INPUT;
}
