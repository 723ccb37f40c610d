#pragma once
/* The daemon's environment, which programs inherit from it. */
#include <stdbool.h>
#include <string.h>

/* Whether the item "NAME=value" was set by the service manager for the daemon alone. */
static inline bool is_service_variable(const char *item)
{
	return !strncmp(item, "NOTIFY_SOCKET=", 14) || !strncmp(item, "WATCHDOG_", 9);
}
