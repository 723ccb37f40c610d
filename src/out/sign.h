#pragma once
/* Signatures of the Standard Webhooks: HMAC-SHA256 over "ID.TIMESTAMP.BODY". Pure. */
#include "base/buf.h"
#include "base/err.h"

/* Appends the value of webhook-signature: "v1,BASE64" for each of `secrets`, which are whsec_ and base64 of
 * 24 to 64 bytes, with spaces between them: while a secret is being replaced there are two. An error does not
 * repeat the secret. The id has letters, digits, '_' and '-' only, so that no other message reads the same.
 */
must_check enum err sign_webhook(struct str secrets, struct str id, int64_t timestamp, struct str body,
				 struct buf *out, struct why *why);
