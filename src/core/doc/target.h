#pragma once
/* Targets: the receivers of notifications, in schedules and in the configuration. Pure. */
#include "core/doc/doc.h"
#include "core/doc/keys.h"

/* Reads the list of targets that is the value of the key `name`. */
must_check enum err target_read_list(struct key_reader *r, const char *name, const struct val *list,
				     struct doc_target **ret, unsigned *n);
/* Writes a target as JSON, with its secret. */
void target_write(const struct doc_target *t, struct buf *out);
/* Writes nothing if the list is empty. */
void target_write_list(const struct doc_target *to, unsigned n, struct buf *out);
/* Writes a name without path, arguments and secret: "webhook at https://example.org", "command mail",
 * "desktop", "event". */
void target_write_name(const struct doc_target *t, struct buf *out);
/* The part of an address up to its host, without user and password. */
struct str target_host(struct str url);
/* A setter of a struct str: the secret that signs requests, or the absolute path of its file. */
key_set target_set_secret;
