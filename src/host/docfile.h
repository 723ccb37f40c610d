#pragma once
/* Document files: their text, and the documents in them. */
#include "base/val.h"

/* Reads the whole file, terminated, into `a`. E_NOTFOUND: it does not exist; E_IO: it cannot be read. */
must_check enum err docfile_text(const char *path, struct arena *a, struct str *ret, struct why *why);
/* Parses the text by the end of the file's name: .json is one document, .org is one document with an agent,
 * everything else is YAML. `ret` becomes the list of documents. */
must_check enum err docfile_parse(struct str name, struct str text, struct arena *a, struct val *ret,
				  struct why *why);
bool docfile_is_org(struct str name);
