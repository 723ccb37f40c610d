/* Run files: parses their bytes into struct runfile, derives the outcome of an attempt, reads the file of an
 * attempt, and creates one that prevents an attempt. */
#include "runfile/read.h"
#include "core/model.h"
#include "core/when/civil.h"
#include "runfile/create.h"
#include "runfile/sections.h"
#include "sys/clock.h"
#include "sys/data_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* --- parsing --- */

typedef const char *word_fn(unsigned n);

struct section_key {
	const char *word;
	enum { NUMBER, SIGNED, TEXT, WORD } type;
	size_t at, room;
	word_fn *words;
	int64_t least, most; /* of a number that others compute with; both 0: any number */
};

#define FIELD(type, name) type, offsetof(struct runfile, name), sizeof(((struct runfile *)0)->name)

/* A run can write its own run file: numbers that no shim writes count as none. */
#define ANY_TIME   NULL, 0, SECONDS_MAX *USEC
#define ANY_SIGNAL NULL, 0, 127 /* 7 bits of a wait status */
#define ANY_STATUS NULL, INT32_MIN, INT32_MAX

static const struct section_key start_keys[] = {
	{ "rota-run", FIELD(NUMBER, version), NULL },
	{ "run", FIELD(NUMBER, run), NULL },
	{ "attempt", FIELD(NUMBER, attempt), NULL },
	{ "boot", FIELD(TEXT, boot), NULL },
	{ "pid", FIELD(SIGNED, pid), NULL },
	{ "start", FIELD(NUMBER, start), NULL },
	{ "session", FIELD(SIGNED, session), NULL },
	{ "agent", FIELD(SIGNED, agent), NULL },
	{ "agent_start", FIELD(NUMBER, agent_start), NULL },
	{ "born", FIELD(SIGNED, started), ANY_TIME },
	{ "mark", FIELD(TEXT, mark), NULL },
	{ "secrets", FIELD(NUMBER, secrets), NULL },
	{ "cgroup", FIELD(TEXT, cgroup), NULL },
	{ 0 },
};

static const struct section_key exit_keys[] = {
	{ "exit", FIELD(NUMBER, exit_version), NULL },
	{ "cause", FIELD(WORD, cause), run_cause_word },
	{ "reason", FIELD(SIGNED, reason), NULL },
	{ "status", FIELD(SIGNED, status), ANY_STATUS },
	{ "signal", FIELD(SIGNED, signal), ANY_SIGNAL },
	{ "ended", FIELD(SIGNED, ended), ANY_TIME },
	{ "lasted", FIELD(SIGNED, lasted), ANY_TIME },
	{ "output", FIELD(NUMBER, output), NULL },
	{ "left_out", FIELD(NUMBER, left_out), NULL },
	{ "log", FIELD(WORD, log), run_log_word },
	{ "no_work", FIELD(NUMBER, no_work), NULL },
	{ "note", FIELD(TEXT, note), NULL },
	{ 0 },
};

static void read_word(struct str s, word_fn *words, void *to)
{
	const char *w;
	for (uint64_t i = 0; (w = words((unsigned)i)); i++)
		if (str_eq(s, str_of(w)))
			memcpy(to, &i, sizeof i);
}

static void read_value(const struct section_key *k, struct str s, void *to)
{
	uint64_t n;
	bool minus = k->type == SIGNED && s.n && s.p[0] == '-';
	switch (k->type) {
	case NUMBER:
	case SIGNED:
		if (!str_number(str_from(s, minus), k->type == SIGNED ? INT64_MAX : UINT64_MAX, &n))
			return;
		n = minus ? -n : n;
		if ((k->least || k->most) && ((int64_t)n < k->least || (int64_t)n > k->most))
			return;
		memcpy(to, &n, sizeof n);
		return;
	case TEXT:
		if (s.n < k->room)
			memcpy(to, s.p, s.n); /* the rest is 0 already */
		return;
	case WORD:
		read_word(s, k->words, to);
		return;
	}
}

/* False: the section is empty or damaged. */
static bool read_section(const char *section, const struct section_key *keys, struct runfile *f)
{
	struct str rest = { section, runfile_sealed_bytes(section) }, line;
	if (!rest.n)
		return false;
	while (str_line(&rest, &line)) {
		const char *space = memchr(line.p, ' ', line.n);
		size_t n = space ? (size_t)(space - line.p) : line.n;
		struct str value = str_from(line, space ? n + 1 : n);
		for (const struct section_key *k = keys; k->word; k++)
			if (str_eq(str_sub(line, 0, n), str_of(k->word)))
				read_value(k, value, (char *)f + k->at);
	}
	return true;
}

enum err runfile_parse(struct str block, struct runfile *ret, struct why *why)
{
	char whole[RUNFILE_BYTES] = "";
	struct runfile f = { 0 };
	memcpy(whole, block.p, block.n < sizeof whole ? block.n : sizeof whole);
	bool readable = read_section(whole + RUNFILE_START, start_keys, &f);
	uint64_t version = f.version;
	if (readable && (version == 0 || version > RUNFILE_VERSION))
		readable = false;
	if (!readable)
		f = (struct runfile){ 0 };
	else if (!read_section(whole + RUNFILE_EXIT, exit_keys, &f))
		f.exit_version = 0;
	*ret = f;
	if (readable)
		return OK;
	if (version)
		return why_set(why, E_INPUT, WHY_NOWHERE,
			       "the run file has version %llu, which is newer than this rota",
			       (unsigned long long)version);
	return why_set(why, E_INPUT, WHY_NOWHERE, "the start section of the run file is damaged");
}

/* --- the outcome of a cause --- */

static const struct {
	uint8_t outcome;
	uint16_t reason;
} outcomes[RUN_CAUSES] = {
	[CAUSE_NONE] = { OUTCOME_FAILED, REASON_LOST },
	[CAUSE_EXIT] = { OUTCOME_FAILED, REASON_EXIT },
	[CAUSE_TIMEOUT] = { OUTCOME_KILLED, REASON_TIMEOUT },
	[CAUSE_STALLED] = { OUTCOME_KILLED, REASON_STALLED },
	[CAUSE_FENCED] = { OUTCOME_KILLED, REASON_FENCED },
	[CAUSE_STOPPED] = { OUTCOME_KILLED, REASON_CANCELLED },
	[CAUSE_NOT_EXECUTED] = { OUTCOME_FAILED, REASON_EXIT },
	[CAUSE_LOST] = { OUTCOME_FAILED, REASON_LOST },
	[CAUSE_PREVENTED] = { OUTCOME_KILLED, REASON_CANCELLED },
	[CAUSE_LATE] = { OUTCOME_NONE, REASON_WINDOW_CLOSED },
	[CAUSE_EXPECTATION] = { OUTCOME_FAILED, REASON_EXPECTATION },
	[CAUSE_SECRET] = { OUTCOME_FAILED, REASON_DEFINITION },
};

/* The exit code as a shell reports it. -1 for CAUSE_NOT_EXECUTED, whose `status` is an errno; also for status
 * 0 without a signal and with another cause than CAUSE_EXIT, since the program may not have been executed at
 * all. */
static int32_t exit_code_of(const struct runfile *f)
{
	if (f->cause == CAUSE_NOT_EXECUTED || (f->cause != CAUSE_EXIT && !f->status && !f->signal))
		return -1;
	return (int32_t)(f->signal ? 128 + f->signal : f->status);
}

void runfile_outcome(const struct runfile *f, struct rn_report *ret)
{
	unsigned cause = f->cause < RUN_CAUSES ? (unsigned)f->cause : CAUSE_NONE;
	*ret = (struct rn_report){ .kind = RN_EXIT,
				   .run = f->run,
				   .attempt = (uint16_t)f->attempt,
				   .outcome = outcomes[cause].outcome,
				   .reason = outcomes[cause].reason,
				   .ended = { f->ended },
				   .cost = -1,
				   .exit_code = exit_code_of(f) };
	if (cause == CAUSE_STOPPED && f->reason > 0 && f->reason < REASON_COUNT)
		ret->reason = (uint16_t)f->reason;
	if (cause == CAUSE_EXIT && f->status == 0 && f->signal == 0) {
		ret->outcome = f->no_work ? OUTCOME_NO_WORK : OUTCOME_DONE;
		ret->reason = REASON_NONE;
	}
}

/* --- on disk --- */

void runfile_path(struct buf *out, const char *runs, uint64_t run, unsigned attempt, const char *kind)
{
	char bucket[RUNFILE_NAME_MAX], name[RUNFILE_NAME_MAX];
	runfile_bucket(bucket, run);
	runfile_name(name, run, attempt, kind);
	buf_addf(out, "%s/%s/%s", runs, bucket, name);
}

int runfile_open(const char *runs, uint64_t run, unsigned attempt, const char *kind, int flags)
{
	char bucket[RUNFILE_NAME_MAX], name[RUNFILE_NAME_MAX], both[2 * RUNFILE_NAME_MAX];
	runfile_bucket(bucket, run);
	runfile_name(name, run, attempt, kind);
	snprintf(both, sizeof both, "%s/%s", bucket, name);
	return data_file_open_below(runs, both, flags);
}

enum err runfile_read(const char *runs, uint64_t run, unsigned attempt, enum run_life *life,
		      struct runfile *ret, struct why *why)
{
	char block[RUNFILE_BYTES];
	struct why damage;
	int fd = runfile_open(runs, run, attempt, "run", O_RDONLY);
	if (fd == -ENOENT) {
		*life = LIFE_ABSENT;
		return OK;
	}
	if (fd < 0)
		return why_set(why, fd == -ELOOP || fd == -DATA_FILE_FOREIGN ? E_INPUT : E_IO, WHY_NOWHERE,
			       "cannot read the run file of run %llu: %s", (unsigned long long)run,
			       data_file_error(-fd));
	/* The lock is tested before the block is read: once the lock is free, the block does not change any
	 * more. An exit section counts even while the lock is held, because it is written when no process of
	 * the attempt is alive. */
	bool locked = runfile_is_locked(fd);
	ssize_t n = pread(fd, block, sizeof block, 0);
	int e = errno;
	close(fd);
	if (n < 0)
		return why_set(why, E_IO, WHY_NOWHERE, "cannot read the run file of run %llu: %s",
			       (unsigned long long)run, strerror(e));
	bool known = runfile_parse((struct str){ block, (size_t)n }, ret, &damage) == OK;
	*life = known && ret->exit_version ? LIFE_ENDED : locked ? LIFE_ALIVE : LIFE_DEAD;
	return OK;
}

enum err runfile_prevent(const char *runs, uint64_t run, unsigned attempt, enum run_cause cause,
			 unsigned reason, bool flush, bool *taken, struct why *why)
{
	char block[RUNFILE_BYTES], name[RUNFILE_NAME_MAX];
	int64_t now = clock_wall().us;
	struct start_facts b = { .run = run, .attempt = attempt, .boot = "-", .mark = "-", .started = now };
	struct exit_facts x = { .cause = cause, .reason = (int)reason, .ended = now };
	int e = runfile_start_section(block, &b);
	assert(!e); /* there is no cgroup path that could be too long */
	runfile_exit_section(block + RUNFILE_EXIT, &x);
	int dir = runfile_open_directory(runs, run, flush);
	runfile_name(name, run, attempt, "run");
	int fd = dir < 0 ? dir : runfile_create(dir, name, block, flush);
	if (dir >= 0)
		close(dir);
	if (fd < 0 && fd != -EEXIST)
		return why_set(why, E_IO, WHY_NOWHERE, "cannot write the run file of run %llu: %s",
			       (unsigned long long)run, strerror(-fd));
	*taken = fd < 0;
	if (fd >= 0)
		close(fd);
	return OK;
}
