#pragma once
/* Documents in files: the text of one, and the values in it. */
#include "base/val.h"

/* The whole file, terminated, in `a`. E_NOTFOUND: there is none; E_IO with the reason otherwise. */
must_check enum err docfile_text(const char *path, struct arena *a, struct str *ret, struct why *why);
/* A list of documents: one if the name ends in .json, one with an agent if it ends in .org, else as many as
 * the YAML has. */
must_check enum err docfile_parse(struct str name, struct str text, struct arena *a, struct val *ret,
				  struct why *why);
bool docfile_is_org(struct str name);
