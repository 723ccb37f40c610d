/* The runner as the engine meets it: launches, run files that outlive the daemon, processes with their fates,
 * guards that answer late. */
#include "check/check.h"
#include "coverage.h"

#include <stdlib.h>

struct file *hands_file(const struct world *w, uint64_t run, uint16_t attempt)
{
	uint32_t i;
	return table_get(&w->file_of, mix2(run, attempt), &i) ? &w->file[i] : NULL;
}

static unsigned index_of(const struct world *w, const struct file *f)
{
	return (unsigned)(f - w->file);
}

static struct file *new_file(struct world *w, const struct rn_req *q, enum file_state state)
{
	if (w->files == w->file_room) {
		w->file_room = w->file_room ? w->file_room * 2 : 64;
		w->file = grow(w->file, w->file_room * sizeof *w->file);
	}
	struct file *f = &w->file[w->files];
	*f = (struct file){ .start = *q, .state = state };
	table_put(&w->file_of, mix2(q->run, q->attempt), w->files++);
	return f;
}

static void send(struct world *w, int64_t t, const struct rn_report *s, enum rn_op of)
{
	unsigned i = 0;
	while (i < w->says && w->say[i].epoch)
		i++;
	if (i == w->says) {
		if (w->says == w->say_room) {
			w->say_room = w->say_room ? w->say_room * 2 : 64;
			w->say = grow(w->say, w->say_room * sizeof *w->say);
		}
		w->says++;
	}
	w->say[i] = (struct said){ *s, w->epoch, (uint8_t)of };
	w->says_under_way++;
	agenda_add(&w->agenda, t, W_SAY, i, 0);
}

/* About one attempt things are said in the order they happened. */
static void say(struct world *w, struct file *f, enum rn_report_kind what, enum rn_op of)
{
	struct rn_report s = f->exit;
	if (what != RN_EXIT)
		s = (struct rn_report){ 0 };
	s.kind = (uint8_t)what;
	s.run = f->start.run;
	s.attempt = f->start.attempt;
	int64_t t = w->t + world_between(w, w->weather.say);
	if (t < f->last_say)
		t = f->last_say;
	f->last_say = t;
	send(w, t, &s, of);
}

/* What there is to say of it as it stands now. */
static void report(struct world *w, struct file *f, enum rn_op of)
{
	static const uint8_t what[] = { [FILE_ASKED] = RN_NOT_STARTED,
					[FILE_ALIVE] = RN_ALIVE,
					[FILE_ENDED] = RN_EXIT,
					[FILE_LOST] = RN_LOST,
					[FILE_BURNT] = RN_NOT_STARTED };
	say(w, f, what[f->state], of);
}

static void end_by(struct world *w, struct file *f, int64_t t)
{
	if (f->end <= t)
		return;
	f->end = t;
	agenda_add(&w->agenda, t, W_DEATH, index_of(w, f), 0);
}

static void start(struct world *w, const struct rn_req *q)
{
	struct file *f = hands_file(w, q->run, q->attempt);
	if (!f) {
		f = new_file(w, q, FILE_ASKED);
		agenda_add(&w->agenda, w->t + world_between(w, w->weather.launch), W_BIRTH, index_of(w, f),
			   0);
	} else if (f->state == FILE_ALIVE) {
		say(w, f, RN_STARTED, RN_START);
	} else if (f->state != FILE_ASKED) {
		report(w, f, RN_START);
	}
	f->watched = true;
}

static void kill_it(struct world *w, const struct rn_req *q)
{
	struct file *f = hands_file(w, q->run, q->attempt);
	if (!f)
		f = new_file(w, q, FILE_BURNT);
	f->watched = true;
	if (f->state == FILE_BURNT) { /* never born, and never will be: killed all the same */
		f->state = FILE_ENDED;
		f->exit = (struct rn_report){ .outcome = OUTCOME_KILLED,
					      .reason = q->reason,
					      .ended = world_wall(w),
					      .cost = -1,
					      .exit_code = -1 };
	}
	if (f->state == FILE_ASKED || f->state == FILE_ALIVE) {
		if (!f->kill_pending)
			f->kill_reason = q->reason;
		f->kill_pending = true;
		if (f->state == FILE_ALIVE && f->end > w->t + f->fate.dies_slowly) {
			f->killed = true;
			end_by(w, f, w->t + f->fate.dies_slowly);
		}
	} else {
		report(w, f, RN_KILL);
	}
}

static void probe(struct world *w, const struct rn_req *q)
{
	struct file *f = hands_file(w, q->run, q->attempt);
	if (!f) {
		send(w, w->t + world_between(w, w->weather.say),
		     &(struct rn_report){ .kind = RN_NOT_STARTED, .run = q->run, .attempt = q->attempt },
		     RN_PROBE);
		return;
	}
	f->watched = true;
	if (f->state == FILE_ASKED) {
		/* In a dead launcher's buffer: either the probe waits for it, or it sees nothing yet. */
		if (world_chance(w, 50))
			return;
		f->ghost = true;
	}
	report(w, f, RN_PROBE);
}

static void burn(struct world *w, const struct rn_req *q)
{
	struct file *f = hands_file(w, q->run, q->attempt);
	if (!f)
		f = new_file(w, q, FILE_BURNT);
	else if (f->state == FILE_ASKED)
		f->state = FILE_BURNT;
	f->watched = true;
	report(w, f, RN_PREVENT);
}

static void ask(struct world *w, const struct rn_req *q)
{
	struct rn_report s = {
		.kind = RN_ANSWER, .ask = q->ask, .run = q->run, .attempt = q->attempt, .number = q->number
	};
	s.yes = w->cast->guard(w, q, &s.reason);
	send(w, w->t + world_between(w, w->weather.ask), &s, RN_ASK);
}

void hands_request(struct world *w, const struct rn_req *q)
{
	struct rn_req r = *q;
	if (w->plant && w->plant->runner && !w->plant->runner(w, &r))
		return;
	see_request(w->check, &r);
	world_note(w, mix2(r.op + 300u, mix2(r.run, r.attempt)));
	switch ((enum rn_op)r.op) {
	case RN_START:
		start(w, &r);
		break;
	case RN_KILL:
		kill_it(w, &r);
		break;
	case RN_PROBE:
		probe(w, &r);
		break;
	case RN_PREVENT:
		burn(w, &r);
		break;
	case RN_ASK:
		ask(w, &r);
		break;
	}
}

void hands_birth(struct world *w, unsigned i)
{
	if (w->file[i].state != FILE_ASKED)
		return;
	struct fate fate = w->cast->fate(w, &w->file[i].start);
	struct file *f = &w->file[i];
	if (fate.late && !f->fate.late) {
		f->fate = fate;
		agenda_add(&w->agenda, w->t + MINUTES(20), W_BIRTH, i, 0);
		return;
	}
	f->fate = fate;
	if (fate.late) {
		f->state = FILE_ENDED;
		f->exit = (struct rn_report){
			.reason = REASON_WINDOW_CLOSED, .ended = world_wall(w), .cost = -1, .exit_code = -1
		};
		if (f->watched)
			say(w, f, RN_EXIT, RN_START);
		return;
	}
	f->state = FILE_ALIVE;
	f->boot_id = w->boot_id;
	f->born = w->t;
	f->end = INT64_MAX;
	world_note(w, mix2(400, mix2(f->start.run, f->start.attempt)));
	see_born(w->check, f);
	if (f->watched)
		say(w, f, RN_STARTED, RN_START);
	f->killed = f->kill_pending && fate.dies_slowly < fate.lasts;
	end_by(w, f, w->t + (f->killed ? fate.dies_slowly : fate.lasts));
}

void hands_death(struct world *w, unsigned i)
{
	struct file *f = &w->file[i];
	if (f->state != FILE_ALIVE)
		return;
	if (f->end > w->t) { /* the machine was suspended in between */
		agenda_add(&w->agenda, f->end, W_DEATH, i, 0);
		return;
	}
	bool lost = f->fate.silent && !f->killed;
	f->state = lost ? FILE_LOST : FILE_ENDED;
	f->exit = (struct rn_report){ .outcome = f->killed ? OUTCOME_KILLED : f->fate.outcome,
				      .reason = f->killed ? f->kill_reason : f->fate.reason,
				      .reset = f->killed ? (struct wall){ 0 } : f->fate.reset,
				      .ended = world_wall(w),
				      .cost = -1,
				      .exit_code = (int32_t)(f->start.run % 256) };
	world_note(w, mix2(500, mix2(f->start.run, f->exit.reason)));
	see_dead(w->check, f);
	if (!f->watched)
		return;
	say(w, f, lost ? RN_LOST : RN_EXIT, RN_START);
	if (w->weather.say.hi > w->weather.say.lo && world_chance(w, 5))
		say(w, f, lost ? RN_LOST : RN_EXIT, RN_START); /* two who waited for it */
}

void hands_says(struct world *w, unsigned i)
{
	struct said s = w->say[i];
	w->say[i].epoch = 0;
	w->says_under_way--;
	if (s.epoch != w->epoch || !w->engine || world_call(w))
		return;
	see_says(w->check, &s.says);
	world_note(w, mix2(s.says.kind + 600u, mix2(s.says.run, s.says.yes)));
	if (!w->plant || !w->plant->says || w->plant->says(w, &s.says))
		world_engine(w, &(struct event){ .kind = EV_RUNNER, .report = &s.says });
	if (s.epoch == w->epoch)
		world_call(w);
}

void hands_crash(struct world *w, bool machine)
{
	for (unsigned i = 0; i < w->files; i++) {
		struct file *f = &w->file[i];
		f->watched = false;
		if (f->state == FILE_ASKED && (machine || !world_chance(w, w->weather.ghosts))) {
			/* Never born; it can still be started, under a file of its own. */
			f->state = FILE_BURNT;
			table_del(&w->file_of, mix2(f->start.run, f->start.attempt));
		}
		if (machine && f->state == FILE_ALIVE) {
			f->state = FILE_LOST;
			f->exit.ended = world_wall(w);
			see_dead(w->check, f);
		}
		/* What was written last may not have reached the disk. */
		if (machine && f->state == FILE_ENDED && w->t - f->end < SECONDS(5) && world_chance(w, 50))
			f->state = FILE_LOST;
	}
}

/* Processes stand still while the machine sleeps. */
void hands_suspended(struct world *w, int64_t lasts)
{
	for (unsigned i = 0; i < w->files; i++)
		if (w->file[i].state == FILE_ALIVE && w->file[i].end < INT64_MAX - lasts)
			w->file[i].end += lasts;
}

void hands_free(struct world *w)
{
	free(w->file);
	free(w->say);
	table_free(&w->file_of);
}
