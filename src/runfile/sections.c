/* Writes the sections of a run file as text. */
#include "runfile/sections.h"

#include <errno.h>

typedef unsigned long long ull;

int runfile_start_section(char block[static RUNFILE_BYTES], const struct start_facts *f)
{
	memset(block, 0, RUNFILE_BYTES);
	int n = snprintf(block, RUNFILE_SECTION,
			 "rota-run %d\nrun %llu\nattempt %u\nboot %s\npid %d\nstart %llu\nsession %d\n"
			 "agent %d\nagent_start %llu\nborn %lld\nmark %s\nsecrets %u\n%s%s%s",
			 RUNFILE_VERSION, (ull)f->run, f->attempt, f->boot, f->shim, (ull)f->shim_start,
			 f->agent, f->agent, (ull)f->agent_start, (long long)f->started, f->mark, f->secrets,
			 f->cgroup ? "cgroup " : "", f->cgroup ? f->cgroup : "", f->cgroup ? "\n" : "");
	if (n > RUNFILE_SECTION - 32)
		return ENAMETOOLONG;
	runfile_seal(block);
	return 0;
}

void runfile_exit_section(char section[static RUNFILE_SECTION], const struct exit_facts *f)
{
	char note[sizeof f->note];
	size_t i = 0;
	for (; i < sizeof note - 1 && f->note[i]; i++)
		note[i] = (unsigned char)f->note[i] < ' ' ? ' ' : f->note[i]; /* the note is one line */
	note[i] = 0;
	memset(section, 0, RUNFILE_SECTION);
	snprintf(section, RUNFILE_SECTION,
		 "exit %d\ncause %s\nreason %d\nstatus %d\nsignal %d\nended %lld\nlasted %lld\noutput %llu\n"
		 "left_out %llu\nlog %s\nno_work %d\nnote %s\n",
		 RUNFILE_VERSION, run_cause_word(f->cause), f->reason, f->status, f->signal,
		 (long long)f->ended, (long long)f->lasted, (ull)f->output, (ull)f->left_out,
		 run_log_word(f->log), f->no_work, note);
	runfile_seal(section);
}
