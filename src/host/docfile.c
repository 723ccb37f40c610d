/* Reads document files, and parses them by their format. */
#include "host/docfile.h"
#include "base/buf.h"
#include "base/json.h"
#include "core/org/agent.h"
#include "host/yaml.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static bool ends_with(struct str s, struct str end)
{
	return s.n >= end.n && str_eq(str_from(s, s.n - end.n), end);
}

enum err docfile_text(const char *path, struct arena *a, struct str *ret, struct why *why)
{
	/* O_NONBLOCK: opening a named pipe must not block. */
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
		return why_set(why, E_LIMIT, WHY_NOWHERE,
			       "%.150s has more than %u bytes, the limit for documents", path,
			       YAML_BYTES_MAX);
	char *text = all.failed ? NULL : arena_dup(a, buf_str(&all));
	if (!text)
		return E_NOMEM;
	*ret = (struct str){ text, all.n };
	return OK;
}

bool docfile_is_org(struct str name)
{
	return ends_with(name, STR(".org"));
}

/* Reads the text of an org file as the document {agent: …}. */
static enum err read_org(struct str text, struct arena *a, struct val *ret, struct why *why)
{
	struct val map = { .kind = VAL_MAP };
	struct val_pair *pair = val_map_room(&map, a);
	enum err e = pair ? org_agent(text, a, &pair->value, why) : E_NOMEM;
	if (e)
		return e;
	pair->key = STR("agent");
	map.map.n = 1;
	*ret = map;
	return OK;
}

enum err docfile_parse(struct str name, struct str text, struct arena *a, struct val *ret, struct why *why)
{
	bool org = docfile_is_org(name);
	if (!org && !ends_with(name, STR(".json")))
		return yaml_read(text, a, ret, why);
	struct val list = { .kind = VAL_LIST }, *document = val_list_room(&list, a);
	enum err e = !document ? E_NOMEM
		     : org     ? read_org(text, a, document, why)
			       : json_read(text, a, document, why);
	if (e)
		return e;
	list.list.n = 1;
	*ret = list;
	return OK;
}
