/* Finds, reads and lists the zone files of the system. */
#include "host/zoneinfo.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SLOTS = 2 * ZONES_MAX }; /* size of the hash table, a power of two */

struct slot {
	const char *name; /* NULL: the slot is free */
	struct zone *zone;
};

struct zoneinfo {
	struct zone_source source;
	const char *dir;
	struct arena arena;      /* of the names */
	struct slot slot[SLOTS]; /* the zones that were used, by the hash of their names */
	unsigned used;
	struct str *names; /* of all zones, sorted; NULL: not listed yet */
	unsigned n;
	char local[ZONE_NAME_MAX + 1];
	bool local_known;
};

/* Zone names begin with a capital letter; posix/, right/, posixrules and localtime do not. */
static bool is_zone_name(struct str s)
{
	if (s.n == 0 || s.n > ZONE_NAME_MAX || !is_upper(s.p[0]))
		return false;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		bool slash = c == '/' && i + 1 < s.n && s.p[i + 1] != '/';
		if (!is_alpha(c) && !is_digit(c) && !memchr("_+-", c, 3) && !slash)
			return false;
	}
	return true;
}

static bool read_file(const char *path, struct buf *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	char chunk[8192];
	ssize_t n;
	while ((n = read(fd, chunk, sizeof chunk)) > 0 && out->n <= TZIF_BYTES_MAX)
		buf_add(out, (struct str){ chunk, (size_t)n });
	close(fd);
	return n == 0 && !out->failed;
}

static struct zone *load_zone(const char *dir, struct str name)
{
	char path[PATH_MAX];
	_cleanup_(buf_free) struct buf bytes = { 0 };
	struct zone *z = NULL;
	snprintf(path, sizeof path, "%s/%.*s", dir, STR_ARG(name));
	if (read_file(path, &bytes) && zone_parse(buf_str(&bytes), &z, NULL) == OK)
		return z;
	if (str_eq(name, STR("UTC")) && zone_fixed(0, &z) == OK)
		return z;
	return NULL;
}

static const struct zone *find_zone(void *self, struct str name)
{
	struct zoneinfo *z = self;
	if (!is_zone_name(name))
		return NULL;
	size_t i = fnv1a(FNV_START, name) % SLOTS;
	for (; z->slot[i].name; i = (i + 1) % SLOTS)
		if (str_eq(str_of(z->slot[i].name), name))
			return z->slot[i].zone;
	struct zone *zone = load_zone(z->dir, name);
	/* Unknown names are not kept: there is no limit to their number. */
	if (!zone || z->used >= ZONES_MAX) {
		zone_free(zone);
		return NULL;
	}
	char *copy = arena_dup(&z->arena, name);
	if (!copy) {
		zone_free(zone);
		return NULL;
	}
	z->slot[i] = (struct slot){ copy, zone };
	z->used++;
	return zone;
}

static bool is_tzif(const char *path)
{
	char magic[4] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool yes = fd >= 0 && read(fd, magic, 4) == 4 && memcmp(magic, "TZif", 4) == 0;
	if (fd >= 0)
		close(fd);
	return yes;
}

static void add_name(struct zoneinfo *z, struct str name)
{
	char *copy = arena_dup(&z->arena, name);
	if (copy)
		z->names[z->n++] = (struct str){ copy, name.n };
}

/* Adds the zones below dir/prefix; zone names have at most three parts. */
static void list_names(struct zoneinfo *z, const char *prefix, unsigned depth)
{
	char path[PATH_MAX], name[ZONE_NAME_MAX + 1];
	snprintf(path, sizeof path, "%s/%s", z->dir, prefix);
	DIR *d = opendir(path);
	struct dirent *entry;
	while (d && (entry = readdir(d)) && z->n < ZONES_MAX) {
		int n = snprintf(name, sizeof name, "%s%s%s", prefix, *prefix ? "/" : "", entry->d_name);
		struct stat st;
		if (n >= (int)sizeof name || !is_zone_name(str_of(name)) ||
		    snprintf(path, sizeof path, "%s/%s", z->dir, name) >= (int)sizeof path ||
		    stat(path, &st) != 0)
			continue;
		if (S_ISDIR(st.st_mode) && depth < 2)
			list_names(z, name, depth + 1);
		else if (S_ISREG(st.st_mode) && is_tzif(path))
			add_name(z, str_of(name));
	}
	if (d)
		closedir(d);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct str *)a)->p, ((const struct str *)b)->p);
}

static struct str name_at(void *self, unsigned i)
{
	struct zoneinfo *z = self;
	if (!z->names) {
		z->names = calloc(ZONES_MAX + 1, sizeof *z->names);
		if (!z->names)
			return (struct str){ 0 };
		list_names(z, "", 0);
		if (z->n == 0)
			z->names[z->n++] = STR("UTC");
		qsort(z->names, z->n, sizeof *z->names, by_name);
	}
	return i < z->n ? z->names[i] : (struct str){ 0 };
}

enum err zoneinfo_open(struct zoneinfo **ret)
{
	struct zoneinfo *z = calloc(1, sizeof *z);
	if (!z)
		return E_NOMEM;
	z->source = (struct zone_source){ find_zone, name_at, z };
	const char *dir = getenv("TZDIR");
	z->dir = dir && *dir ? dir : "/usr/share/zoneinfo";
	*ret = z;
	return OK;
}

void zoneinfo_close(struct zoneinfo *z)
{
	if (!z)
		return;
	for (unsigned i = 0; i < SLOTS; i++)
		zone_free(z->slot[i].zone);
	arena_free(&z->arena);
	free(z->names);
	free(z);
}

const struct zone_source *zoneinfo_source(const struct zoneinfo *z)
{
	return &z->source;
}

/* Sets the local zone if there is a zone with this name. */
static bool set_local(struct zoneinfo *z, struct str name)
{
	if (!find_zone(z, name))
		return false;
	snprintf(z->local, sizeof z->local, "%.*s", STR_ARG(name));
	return true;
}

static bool local_from_link(struct zoneinfo *z)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/etc/localtime", path, sizeof path - 1);
	if (n <= 0)
		return false;
	path[n] = 0;
	const char *mark = strstr(path, "zoneinfo/");
	return mark && set_local(z, str_of(mark + strlen("zoneinfo/")));
}

static bool local_from_file(struct zoneinfo *z)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	return read_file("/etc/timezone", &text) && set_local(z, str_trim(buf_str(&text)));
}

struct str zoneinfo_local(struct zoneinfo *z)
{
	if (!z->local[0]) {
		z->local_known = local_from_link(z) || local_from_file(z);
		if (!z->local_known)
			snprintf(z->local, sizeof z->local, "UTC");
	}
	return str_of(z->local);
}

bool zoneinfo_local_known(struct zoneinfo *z)
{
	zoneinfo_local(z);
	return z->local_known;
}
