/* Makes keys, and makes and checks tokens with them. */
#include "daemon/token.h"
#include "daemon/internal.h"
#include "sys/data_file.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* --- the key --- */

#define TOKEN_FILE "token.key"

static void free_text(char **text)
{
	free(*text);
}

static bool read_key(const char *path, struct token_key *ret)
{
	struct token_key key;
	char more;
	int fd = data_file_open(AT_FDCWD, path, O_RDONLY);
	if (fd < 0)
		return false;
	bool whole = read(fd, key.bytes, sizeof key.bytes) == sizeof key.bytes && read(fd, &more, 1) == 0;
	close(fd);
	if (whole)
		*ret = key;
	return whole;
}

enum err token_key_new(const char *data, struct token_key *ret, struct why *why)
{
	_cleanup_(free_text) char *path = datadir_path(data, TOKEN_FILE);
	struct token_key key;
	if (!path)
		return E_NOMEM;
	if (!read_key(path, &key) && getrandom(key.bytes, sizeof key.bytes, 0) != sizeof key.bytes)
		return why_set(why, E_IO, WHY_NOWHERE, "cannot get random bytes for the key of tokens: %s",
			       strerror(errno));
	*ret = key;
	return OK;
}

void token_key_remove_file(const char *data)
{
	_cleanup_(free_text) char *path = datadir_path(data, TOKEN_FILE);
	if (path)
		unlink(path);
}

/* --- tokens --- */

bool token_write(const struct token_key *key, uint64_t run, unsigned attempt, char ret[static TOKEN_SIZE])
{
	uint8_t mac[EVP_MAX_MD_SIZE] = { 0 };
	int n = snprintf(ret, TOKEN_SIZE, "r%llu.%u", (unsigned long long)run, attempt);
	bool hashed =
		HMAC(EVP_sha256(), key->bytes, sizeof key->bytes, (const uint8_t *)ret, (size_t)n, mac, NULL);
	ret[n++] = '.';
	for (unsigned i = 0; i < 32; i++, n += 2)
		snprintf(ret + n, (size_t)(TOKEN_SIZE - n), "%02x", mac[i]);
	return hashed;
}

bool token_read(const struct token_key *key, struct str text, uint64_t *run, unsigned *attempt)
{
	char expected[TOKEN_SIZE];
	uint64_t r, a;
	struct str rest = text.n && text.p[0] == 'r' ? str_from(text, 1) : (struct str){ 0 };
	size_t dot = 0, end;
	while (dot < rest.n && rest.p[dot] != '.')
		dot++;
	for (end = dot + 1; end < rest.n && rest.p[end] != '.';)
		end++;
	if (end >= rest.n || !str_number(str_sub(rest, 0, dot), INT64_MAX, &r) ||
	    !str_number(str_sub(rest, dot + 1, end), UINT16_MAX, &a))
		return false;
	if (!token_write(key, r, (unsigned)a, expected) || text.n != strlen(expected) ||
	    CRYPTO_memcmp(text.p, expected, text.n) != 0)
		return false;
	*run = r;
	*attempt = (unsigned)a;
	return true;
}
