#pragma once
/* A run's own cgroup (v2), below a delegated one. Killing it is one write, whatever its members do; nothing
 * here is needed where there is none. */
#include "base/attr.h"

#include <sys/types.h>

/* Makes the directory `path`. 0 or an errno. */
int cgroup_make(const char *path);
int cgroup_enter(const char *path, pid_t pid);
/* Something in it, or in those below it, is alive. False if it is gone. */
bool cgroup_alive(const char *path);
/* To all members, those of cgroups below it included. SIGKILL goes by cgroup.kill where the kernel has it. */
void cgroup_signal(const char *path, int sig);
/* Removes it with those below it; it is empty. */
void cgroup_remove(const char *path);
