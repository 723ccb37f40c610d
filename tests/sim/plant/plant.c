/* sim_planted: looks for each planted bug with the second opinion alone: random histories, no scenarios, and
 * the findings of the checker do not count. */
#include "history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct planted_bug {
	const char *file, *name, *problem; /* problem: why it could not be planted; "" if it was */
};
#include "planted_table.h"

unsigned sim_planted; /* number of the bug that is switched on; 0: none */

enum { FOUND = 10, NOT_FOUND };

/* Profiles in which most bugs show soon come first. */
static const int profiles[] = { 5, 8, 6, 11, 4, 1, 3, 2, 0, 10 };

static bool opinion_finds(unsigned bug, uint64_t seed, int profile, char *first, size_t room)
{
	sim_planted = bug;
	struct history_result r = history_run(&(struct history_options){
		.seed = seed, .profile = profile, .quiet = true, .want = "opinion: " });
	snprintf(first, room, "%s", r.first);
	return r.found;
}

/* In a process of its own, since a bug may make the engine abort or loop. */
static int search(unsigned bug, unsigned seeds)
{
	char text[512], ignored[512];
	for (unsigned i = 0; i < seeds; i++) {
		int profile = profiles[i % ARRAY_LEN(profiles)];
		if (!opinion_finds(bug, 1000 + i, profile, text, sizeof text))
			continue;
		if (opinion_finds(0, 1000 + i, profile, ignored, sizeof ignored)) {
			printf("FALSE ALARM in history %u: %s\n", i + 1, ignored);
			continue;
		}
		printf("found %2u, %s: %s\n         history %u: %s\n", bug, bugs[bug - 1].file,
		       bugs[bug - 1].name, i + 1, text);
		return FOUND;
	}
	return NOT_FOUND;
}

static bool find_bug(unsigned bug, unsigned seeds)
{
	int status = 0;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		alarm(300);
		int result = search(bug, seeds);
		fflush(stdout);
		_exit(result);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return false;
	if (WIFEXITED(status) && WEXITSTATUS(status) == FOUND)
		return true;
	bool ended = WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND;
	printf("%s %2u, %s: %s\n", ended ? "NOT FOUND" : "CRASHED", bug, bugs[bug - 1].file,
	       bugs[bug - 1].name);
	return false;
}

static const char usage[] = "usage: sim_planted [--bug K] [--every K] [--seeds N]\n"
			    "Looks for bugs that are planted into the engine: all, one, or every Kth, in up "
			    "to N histories each.\n";

int main(int argc, char **argv)
{
	unsigned found = 0, tried = 0, unplanted = 0, only = 0, every = 1, seeds = 300;
	for (int i = 1; i < argc; i += 2) {
		unsigned *value = !strcmp(argv[i], "--bug")     ? &only
				  : !strcmp(argv[i], "--every") ? &every
				  : !strcmp(argv[i], "--seeds") ? &seeds
								: NULL;
		if (!value || i + 1 >= argc) {
			fputs(usage, stderr);
			return 2;
		}
		*value = (unsigned)strtoul(argv[i + 1], NULL, 10);
	}
	for (unsigned bug = 1; bug <= ARRAY_LEN(bugs); bug++) {
		if ((only && bug != only) || (bug - 1) % (every ? every : 1))
			continue;
		tried++;
		if (bugs[bug - 1].problem[0]) {
			unplanted++;
			printf("NOT PLANTED %2u, %s: %s: %s\n", bug, bugs[bug - 1].file, bugs[bug - 1].name,
			       bugs[bug - 1].problem);
			continue;
		}
		found += find_bug(bug, seeds);
	}
	printf("%u of %u planted bugs are found by the second opinion alone\n", found, tried);
	/* Five of six must be found, and each must be planted. */
	return unplanted || found * 6 < tried * 5;
}
