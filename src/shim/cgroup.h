#pragma once
/* The cgroup (v2) of a run, below a delegated one. All its members can be killed by one write. It is
 * optional: without a delegated cgroup, runs have none. */
#include "base/attr.h"

#include <sys/types.h>

/* Creates the cgroup, and moves a process into it. 0 or an errno. */
int cgroup_make(const char *path);
int cgroup_enter(const char *path, pid_t pid);
/* Whether the cgroup, or one below it, has a living member. False if it does not exist. */
bool cgroup_alive(const char *path);
/* Signals all members, including those of cgroups below it. Uses cgroup.kill for SIGKILL if the kernel has
 * it. */
void cgroup_signal(const char *path, int sig);
/* Removes it and the cgroups below it, which must be empty. */
void cgroup_remove(const char *path);
