/* Runs a fuzz target over its corpus, without a fuzzer: usage: replay_NAME CORPUS_DIR */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static bool replay(const char *path)
{
	static uint8_t bytes[1 << 21];
	FILE *f = fopen(path, "rb");
	if (!f)
		return false;
	size_t n = fread(bytes, 1, sizeof bytes, f);
	fclose(f);
	/* A copy of exactly the input's size, so that a sanitizer detects reads beyond the end. */
	uint8_t *exact = malloc(n ? n : 1);
	if (!exact)
		return false;
	memcpy(exact, bytes, n);
	LLVMFuzzerTestOneInput(exact, n);
	free(exact);
	return true;
}

int main(int argc, char **argv)
{
	unsigned passed = 0, failed = 0;
	DIR *dir = argc == 2 ? opendir(argv[1]) : NULL;
	if (!dir) {
		fprintf(stderr, "usage: %s CORPUS_DIR\n", argv[0]);
		return 2;
	}
	for (struct dirent *entry; (entry = readdir(dir));) {
		char path[4096];
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
		*(replay(path) ? &passed : &failed) += 1;
	}
	closedir(dir);
	printf("%u passed, %u failed\n", passed, failed);
	return failed || !passed;
}
