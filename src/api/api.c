/* Opens and closes the HTTP API, and holds the state that its handlers share. */
#include "api/api.h"

#include "api/events.h"
#include "api/handlers/handlers.h"
#include "api/operations.h"
#include "api/routes.h"
#include "api/zone_files.h"
#include "sys/clock.h"

#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

struct api {
	struct api_options options;
	struct http *http;
	struct operations *operations;
	struct reader *reader;
	struct zone_files *zone_files; /* the latest */
	struct calendars calendars;
	struct events *events;
	int spare_fd; /* -1: none */
	unsigned granted_pending;
	struct granted_removals granted_removals;
	struct {
		uid_t uid;
		char name[256];
	} user[2]; /* the users that may use the socket */
};

/* --- state that handlers share --- */

struct reader *api_reader(struct api *a)
{
	return a->reader;
}

struct daemon *api_daemon(struct api *a)
{
	return a->options.daemon;
}

const struct config *api_config(struct api *a)
{
	return a->options.config;
}

struct operations *api_operations(struct api *a)
{
	return a->operations;
}

struct events *api_events(struct api *a)
{
	return a->events;
}

struct zone_files *api_zone_files(struct api *a)
{
	return a->zone_files;
}

struct granted_removals *api_granted_removals(struct api *a)
{
	return &a->granted_removals;
}

unsigned *api_granted_pending(struct api *a)
{
	return &a->granted_pending;
}

bool api_close_spare_fd(struct api *a)
{
	bool open = a->spare_fd >= 0;
	if (open)
		close(a->spare_fd);
	a->spare_fd = -1;
	return open;
}

void api_open_spare_fd(struct api *a)
{
	if (a->spare_fd < 0)
		a->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

struct doc_env api_doc_env(const struct api_call *call, struct api *a)
{
	const struct config *c = a->options.config;
	struct doc_env env = { .when = { .now = clock_wall(),
					 .zones = zoneinfo_source(call->zones),
					 .calendars = &a->calendars } };
	config_defaults(c, &env);
	return env;
}

/* Reads the names of the two users that may use the socket, once, at the start, because a name service may be
 * slow. */
static void read_user_names(struct api *a)
{
	const uid_t uid[] = { geteuid(), 0 };
	static_assert(ARRAY_LEN(uid) == ARRAY_LEN(a->user), "a name for each");
	for (unsigned i = 0; i < ARRAY_LEN(uid); i++) {
		const struct passwd *p = getpwuid(uid[i]);
		a->user[i].uid = uid[i];
		if (p && p->pw_name[0])
			snprintf(a->user[i].name, sizeof a->user[i].name, "%s", p->pw_name);
		else
			snprintf(a->user[i].name, sizeof a->user[i].name, "uid %u", (unsigned)uid[i]);
	}
}

struct str api_caller_name(struct api_call *call, struct api *a)
{
	const struct http_request *r = call->request;
	for (unsigned i = 0; i < ARRAY_LEN(a->user); i++)
		if (a->user[i].uid == r->peer.uid)
			return str_of(a->user[i].name);
	const char *name = arena_printf(call->arena, "uid %u", (unsigned)r->peer.uid);
	return name ? str_of(name) : (struct str){ 0 };
}

/* --- news from the daemon --- */

/* Runs on the daemon's thread. */
static void events_were_logged(void *ctx, uint64_t number, struct wall done)
{
	struct api *a = ctx;
	events_logged(a->events, number, done);
}

static void reread_zone_files(void *arg)
{
	struct api *a = arg;
	struct zone_files *fresh = zone_files_new();
	if (!fresh)
		return; /* out of memory: the old zone files stay in use */
	zone_files_release(a->zone_files);
	a->zone_files = fresh;
}

void api_zones_changed(struct api *a)
{
	if (operations_add(a->operations, reread_zone_files, a))
		return; /* the queue is full: documents are read with the old zones until the next change */
}

/* --- opening and closing --- */

enum err api_open(const struct api_options *o, struct api **ret, struct why *why)
{
	struct api *a = calloc(1, sizeof *a);
	for (unsigned i = 0; i < OPS; i++)
		assert(!ops[i].route == !api_handlers[i]);
	if (!a)
		return E_NOMEM;
	a->options = *o;
	a->spare_fd = -1;
	api_open_spare_fd(a);
	a->calendars = config_calendars((struct config *)o->config);
	read_user_names(a);
	enum err e = operations_open(&a->operations);
	if (!e)
		e = daemon_reader(o->daemon, &a->reader, why);
	if (!e && !(a->zone_files = zone_files_new()))
		e = E_NOMEM;
	if (!e)
		e = events_new(a->reader, a->operations, &a->events);
	if (!e)
		e = http_open(&(struct http_options){ .path = o->socket,
						      .limits = http_limits_default,
						      .handle = routes_handle,
						      .owner = routes_owner,
						      .admit = routes_admit,
						      .watch = routes_watch,
						      .ctx = a },
			      &a->http, why);
	if (e) {
		api_close(a);
		return e;
	}
	daemon_subscribe_log(o->daemon, events_were_logged, a);
	*ret = a;
	return OK;
}

/* Runs on the operations thread, after the handlers of all requests that were accepted. */
static void stop_daemon(void *arg)
{
	struct api *a = arg;
	daemon_stop(a->options.daemon);
}

/* Runs on the HTTP thread: after this it accepts no request. Without the operations thread, the daemon does
 * not wait for the handlers. */
static void stop_http_then_daemon(void *arg)
{
	struct api *a = arg;
	http_stop(a->http);
	if (operations_hang(a->operations) || operations_add(a->operations, stop_daemon, a))
		stop_daemon(a);
}

void api_stop(struct api *a)
{
	if (http_add_task(a->http, stop_http_then_daemon, a))
		stop_http_then_daemon(a);
}

void api_close(struct api *a)
{
	if (!a)
		return;
	if (a->http)
		http_stop(a->http);
	/* The operations thread first: it uses requests, which the server frees. */
	operations_close(a->operations);
	http_close(a->http);
	events_free(a->events);
	reader_close(a->reader);
	zone_files_release(a->zone_files);
	api_close_spare_fd(a);
	free(a);
}
