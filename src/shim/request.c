/* Parses the request of the daemon. */
#include "shim/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static const struct {
	bool many;
	unsigned max;
} fields[LAUNCH_FIELDS] = {
	[FIELD_ARG] = { true, LAUNCH_ARGS_MAX },        [FIELD_ENV] = { true, LAUNCH_ENV_MAX },
	[FIELD_SECRET] = { true, SECRETS_MAX },         [FIELD_FILE] = { true, LAUNCH_FILES_MAX },
	[FIELD_SCRIPT] = { true, LAUNCH_ARGS_MAX - 1 }, /* one more for the NULL after the previous script */
	[FIELD_WORD] = { true, LAUNCH_ARGS_MAX },       [FIELD_FETCH] = { true, FETCHES_MAX },
};

/* Adds the source of the last secret: its file, or a word of its program. The array is all NULL at first, so
 * each list of words ends with NULL. */
static int add_source(struct launch_request *r, unsigned field, const char *bytes)
{
	struct fetch *f = &r->fetch[r->fetches - 1];
	if (field == FIELD_FETCH_FILE) {
		f->file = bytes;
		return 0;
	}
	if (!f->argv) {
		r->fetch_words += r->fetch_words > 0;
		f->argv = r->fetch_word + r->fetch_words;
	}
	if (r->fetch_words >= FETCH_WORDS_MAX - 1)
		return E2BIG;
	r->fetch_word[r->fetch_words++] = (char *)(uintptr_t)bytes;
	return 0;
}

static int add_item(struct launch_request *r, const struct launch_item *it)
{
	const char *bytes = (const char *)(it + 1);
	unsigned *n[LAUNCH_FIELDS] = {
		[FIELD_ARG] = &r->argc,      [FIELD_ENV] = &r->envc,     [FIELD_SECRET] = &r->secrets,
		[FIELD_FILE] = &r->files,    [FIELD_SCRIPT] = &r->words, [FIELD_WORD] = &r->words,
		[FIELD_FETCH] = &r->fetches,
	};
	char **list[LAUNCH_FIELDS] = {
		[FIELD_ARG] = r->argv,    [FIELD_ENV] = r->envp,  [FIELD_FILE] = r->file,
		[FIELD_SCRIPT] = r->word, [FIELD_WORD] = r->word,
	};
	if (it->field == FIELD_FETCH_FILE || it->field == FIELD_FETCH_WORD)
		return r->fetches ? add_source(r, it->field, bytes) : EPROTO;
	if (!fields[it->field].many) {
		r->one[it->field] = (struct blob){ bytes, it->bytes };
		return 0;
	}
	if (*n[it->field] >= fields[it->field].max)
		return E2BIG;
	if (it->field == FIELD_SCRIPT && r->words)
		r->word[r->words++] = NULL;
	if (it->field == FIELD_SECRET)
		r->secret[r->secrets++] = (struct blob){ bytes, it->bytes };
	else if (it->field == FIELD_FETCH)
		r->fetch[r->fetches++] = (struct fetch){ .name = bytes };
	else /* execvp takes pointers to char, but does not write */
		list[it->field][(*n[it->field])++] = (char *)(uintptr_t)bytes;
	return 0;
}

int request_read(int memfd, struct launch_request *r)
{
	struct stat st;
	if (fstat(memfd, &st) != 0)
		return errno;
	if (st.st_size < (off_t)sizeof *r->head || st.st_size > LAUNCH_BYTES_MAX)
		return EPROTO;
	const char *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, memfd, 0);
	if (p == MAP_FAILED)
		return errno;
	const char *end = p + st.st_size;
	r->size = (size_t)st.st_size;
	r->head = (const struct launch_head *)p;
	if (r->head->magic != LAUNCH_MAGIC || r->head->version != LAUNCH_VERSION)
		return EPROTO;
	p += sizeof *r->head;
	for (uint32_t i = 0; i < r->head->items; i++) {
		const struct launch_item *it = (const struct launch_item *)p;
		if ((size_t)(end - p) < sizeof *it || it->field >= LAUNCH_FIELDS ||
		    (size_t)(end - p) < launch_item_size(it->bytes) || ((const char *)(it + 1))[it->bytes])
			return EPROTO;
		int e = add_item(r, it);
		if (e)
			return e;
		p += launch_item_size(it->bytes);
	}
	for (unsigned i = 0; i < r->secrets; i++)
		if (!mask_forms_add(&r->masks, r->secret[i].p, r->secret[i].n))
			return ENOMEM;
	return r->one[FIELD_RUNS].n ? 0 : EPROTO;
}

void request_release(struct launch_request *r)
{
	struct launch_head *kept = malloc(sizeof *kept);
	if (!kept)
		return; /* out of memory: the mapping stays, which does no harm */
	const struct launch_head *mapped = r->head;
	*kept = *mapped;
	r->head = kept;
	r->secrets = 0;
	munmap((void *)(uintptr_t)mapped, r->size);
	memset(r->one, 0, sizeof r->one);
	r->argv[0] = r->envp[0] = NULL;
	r->size = 0;
}
