#pragma once
/* URLs of requests and redirects: http or https, an ASCII host, and neither user nor password. */
#include "base/err.h"
#include "base/str.h"

#include <curl/curl.h>

enum { OUT_URL_WRONG = 96 };

/* `base`: the URL that `text` may be relative to, or NULL. E_INPUT: `wrong` says what is wrong, to follow
 * "the url" or "a url that"; it does not contain the URL, which may be a secret. Free with
 * curl_url_cleanup. */
must_check enum err out_url_read(const char *text, CURLU *base, CURLU **ret, char wrong[OUT_URL_WRONG]);
bool out_url_has_scheme(CURLU *url, const char *scheme);
/* The same scheme, host and port. */
bool out_url_same_origin(CURLU *a, CURLU *b);
