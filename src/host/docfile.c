#include "host/docfile.h"
#include "base/buf.h"
#include "base/json.h"
#include "host/yaml.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum err docfile_text(const char *path, struct arena *a, struct str *ret, struct why *why)
{
	/* Not to hang on a pipe that somebody has put there. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return why_set(why, errno == ENOENT || errno == ENOTDIR ? E_NOTFOUND : E_IO, WHY_NOWHERE,
			       "cannot read %.150s: %s", path, strerror(errno));
	_cleanup_(buf_free) struct buf all = { 0 };
	char chunk[8192];
	ssize_t n;
	while ((n = read(fd, chunk, sizeof chunk)) > 0 && all.n <= YAML_BYTES_MAX)
		buf_add(&all, (struct str){ chunk, (size_t)n });
	int error = errno;
	close(fd);
	if (n < 0)
		return why_set(why, E_IO, WHY_NOWHERE, "cannot read %.150s: %s", path, strerror(error));
	if (all.n > YAML_BYTES_MAX)
		return why_set(why, E_LIMIT, WHY_NOWHERE, "%.150s has more than %u bytes", path,
			       YAML_BYTES_MAX);
	char *text = all.failed ? NULL : arena_dup(a, buf_str(&all));
	if (!text)
		return E_NOMEM;
	*ret = (struct str){ text, all.n };
	return OK;
}

enum err docfile_parse(struct str name, struct str text, struct arena *a, struct val *ret, struct why *why)
{
	struct str end = STR(".json");
	if (name.n < end.n || !str_eq(str_from(name, name.n - end.n), end))
		return yaml_read(text, a, ret, why);
	struct val list = { .kind = VAL_LIST }, *one = val_item(&list, a);
	enum err e = one ? json_read(text, a, one, why) : E_NOMEM;
	if (e)
		return e;
	list.list.n = 1;
	*ret = list;
	return OK;
}
