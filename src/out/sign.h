#pragma once
/* Signatures of Standard Webhooks: HMAC-SHA256 over "ID.TIMESTAMP.BODY". Pure. */
#include "base/buf.h"
#include "base/err.h"

/* Appends the value of webhook-signature: "v1,BASE64" for each of `secrets`. The secrets are separated by
 * spaces (there are two while a secret is being replaced); each is whsec_ followed by the base64 of 24 to 64
 * bytes. The id may contain letters, digits, '_' and '-' only, so that no other message has the same signed
 * text. No error contains the secret. */
must_check enum err sign_webhook(struct str secrets, struct str id, int64_t timestamp, struct str body,
				 struct buf *out, struct why *why);
