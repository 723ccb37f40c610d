/* Signs messages. */
#include "out/sign.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

enum { KEY_MIN = 24, KEY_MAX = 64, MAC_BYTES = 32, MAC_TEXT = (MAC_BYTES + 2) / 3 * 4 + 1 };

static int base64_digit(char c)
{
	if (is_upper(c))
		return c - 'A';
	if (is_alpha(c))
		return c - 'a' + 26;
	if (is_digit(c))
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Accepts only whole groups of four characters. Counts the padding itself, because OpenSSL's decoder counts
 * it as bytes. */
static bool decode_base64(struct str s, uint8_t ret[KEY_MAX], size_t *n)
{
	size_t pad = 0;
	while (pad < 2 && pad < s.n && s.p[s.n - pad - 1] == '=')
		pad++;
	if (s.n % 4 || s.n / 4 * 3 - pad > KEY_MAX)
		return false;
	*n = 0;
	for (size_t i = 0; i < s.n; i += 4) {
		uint32_t group = 0;
		for (size_t k = i; k < i + 4; k++) {
			int d = k < s.n - pad ? base64_digit(s.p[k]) : 0;
			if (d < 0)
				return false;
			group = group << 6 | (uint32_t)d;
		}
		for (int shift = 16; shift >= 0 && *n < s.n / 4 * 3 - pad; shift -= 8)
			ret[(*n)++] = (uint8_t)(group >> shift);
	}
	return true;
}

static bool is_id(struct str id)
{
	for (size_t i = 0; i < id.n; i++)
		if (!is_alpha(id.p[i]) && !is_digit(id.p[i]) && id.p[i] != '_' && id.p[i] != '-')
			return false;
	return id.n > 0 && id.n <= OUT_ID_BYTES_MAX;
}

static enum err sign_once(struct str secret, struct str text, struct buf *out, struct why *why)
{
	const struct str prefix = STR("whsec_");
	uint8_t key[KEY_MAX], mac[MAC_BYTES], base64[MAC_TEXT];
	size_t n = 0;
	if (!str_starts(secret, prefix) || !decode_base64(str_from(secret, prefix.n), key, &n) || n < KEY_MIN)
		return why_set(why, E_INPUT, WHY_NOWHERE,
			       "the secret must be whsec_ followed by the base64 of %d to %d bytes", KEY_MIN,
			       KEY_MAX);
	const uint8_t *done = HMAC(EVP_sha256(), key, (int)n, (const uint8_t *)text.p, text.n, mac, NULL);
	OPENSSL_cleanse(key, sizeof key);
	if (!done)
		return E_NOMEM;
	EVP_EncodeBlock(base64, mac, sizeof mac);
	buf_addf(out, "%sv1,%s", out->n ? " " : "", base64);
	return OK;
}

enum err sign_webhook(struct str secrets, struct str id, int64_t timestamp, struct str body, struct buf *out,
		      struct why *why)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	if (!is_id(id))
		return why_set(why, E_INPUT, WHY_NOWHERE,
			       "the id of a signed message must have 1 to %d letters, digits, '_' and '-'",
			       OUT_ID_BYTES_MAX);
	buf_add(&text, id);
	buf_addf(&text, ".%lld.", (long long)timestamp);
	buf_add(&text, body);
	if (text.failed)
		return E_NOMEM;
	enum err e = OK;
	struct str secret = str_token(&secrets);
	do
		e = sign_once(secret, buf_str(&text), out, why);
	while (!e && (secret = str_token(&secrets)).n);
	return e;
}
