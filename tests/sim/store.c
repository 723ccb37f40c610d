/* The simulated store: lanes, commit groups, delays and outages. The effects of requests are in
 * tests/store/model/. */
#include "check/check.h"
#include "coverage.h"
#include "opinion/opinion.h"
#include "room.h"

#include <stdlib.h>

enum { GROUP_MAX = 512 };

static void schedule_commit(struct world *w, int64_t delay)
{
	if (w->commit_armed)
		return;
	w->commit_armed = true;
	agenda_add(&w->agenda, w->t + delay, W_COMMIT, 0, 0);
}

static void enqueue(struct lane_queue *q, const struct st_req *r)
{
	if (q->head == q->n)
		q->head = q->n = 0;
	ADD_ROOM(q->req, q->room, q->n);
	q->req[q->n++] = *r;
}

void sim_store_submit(struct world *w, const struct st_req *q)
{
	struct st_req r = *q;
	if (w->bug && w->bug->submit && !w->bug->submit(w, &r))
		return;
	observe_submit(w->check, &r);
	if (w->fenced)
		return; /* a fenced engine gets no answer */
	opinion_asked(w->opinion, &r);
	world_hash(w, hash_pair(r.op + 100, hash_pair(r.sid, r.run.run)));
	assert(r.lane < LANES);
	enqueue(&w->lane[r.lane], &r);
	schedule_commit(w, world_between(w, w->timing.commit));
}

static size_t count_waiting(const struct world *w)
{
	size_t n = 0;
	for (unsigned i = 0; i < LANES; i++)
		n += w->lane[i].n - w->lane[i].head;
	return n;
}

/* Takes the next request of a random lane, because lanes may overtake each other. */
static struct st_req dequeue_any(struct world *w)
{
	unsigned lane = w->timing.commit.hi > w->timing.commit.lo ? (unsigned)world_random(w, LANES) : 0;
	while (w->lane[lane].head == w->lane[lane].n)
		lane = (lane + 1) % LANES;
	return w->lane[lane].req[w->lane[lane].head++];
}

static unsigned new_group(struct world *w, unsigned n)
{
	unsigned i = 0;
	while (i < w->groups && w->group[i].req)
		i++;
	if (i == w->groups) {
		ADD_ROOM(w->group, w->group_room, w->groups);
		w->groups++;
	}
	w->group[i] = (struct commit_group){ .req = must_realloc(NULL, n * sizeof(struct st_req)),
					     .ack = must_realloc(NULL, n * sizeof(struct st_ack)),
					     .n = n,
					     .epoch = w->epoch };
	return i;
}

static void free_group(struct commit_group *g)
{
	free(g->req);
	free(g->ack);
	*g = (struct commit_group){ 0 };
}

/* Deletes news now and then, as the notifier would. */
static void consume_news(struct world *w)
{
	enum { MANY = 64 };
	size_t n = model_news(w->rows);
	struct st_req q = { .op = ST_MESSAGES, .lane = LANE_FINISH };
	struct st_ack a;
	if (n < MANY)
		return;
	q.messages.news_upto = model_news_at(w->rows, n - 1)->number;
	model_apply(w->rows, &q, &a);
}

/* Deletes events now and then, as the retention thread would; the checker has seen them. */
static void prune_events(struct world *w)
{
	enum { MANY = 4096 };
	struct st_req q = { .op = ST_PRUNE, .lane = LANE_BULK, .at = WALL_NEVER };
	struct st_ack a;
	q.prune = (struct prune_request){ .what = PRUNE_EVENTS, .last = w->rows->last_event - MANY / 4 };
	if (model_events(w->rows) > MANY)
		model_apply(w->rows, &q, &a);
}

static void apply_request(struct world *w, const struct st_req *q, struct st_ack *a)
{
	w->rows->now = world_wall(w);
	observe_applying(w->check, q);
	model_apply(w->rows, q, a);
	if (w->bug && w->bug->applied)
		w->bug->applied(w, q, a);
	check_events(w->check, q, a);
	prune_events(w);
	world_hash(w, hash_pair(a->op + 200u, a->res));
	observe_applied(w->check, q, a);
	opinion_written(w->opinion, q, a);
	consume_news(w);
}

void sim_store_commit(struct world *w, unsigned again)
{
	unsigned at;
	if (again) {
		at = again - 1;
		if (w->group[at].epoch != w->epoch) {
			free_group(&w->group[at]);
			return;
		}
		if (w->t < w->outage_until) {
			agenda_add(&w->agenda, w->outage_until + 1000, W_COMMIT, again, 0);
			return;
		}
		w->repeating = false;
		schedule_commit(w, world_between(w, w->timing.commit));
	} else {
		w->commit_armed = false;
		if (w->repeating)
			return;
		if (w->t < w->outage_until) {
			schedule_commit(w, w->outage_until - w->t + 1000);
			return;
		}
		size_t n = count_waiting(w);
		if (n == 0)
			return;
		if (n > GROUP_MAX)
			n = GROUP_MAX;
		at = new_group(w, (unsigned)n);
		for (unsigned i = 0; i < n; i++)
			w->group[at].req[i] = dequeue_any(w);
	}
	struct commit_group *g = &w->group[at];
	for (unsigned i = 0; i < g->n; i++)
		apply_request(w, &g->req[i], &g->ack[i]);
	g->applied++;
	if (g->applied < 3 && world_chance(w, w->timing.repeat_percent)) {
		/* The store does not know whether the group was written, and writes it again. */
		w->repeating = true;
		for (unsigned i = 0; i < g->n; i++)
			coverage_count_request(w->coverage, w, &g->req[i], FAULT_REPEATED);
		agenda_add(&w->agenda, w->t + 2 * world_between(w, w->timing.commit), W_COMMIT, at + 1, 0);
		return;
	}
	int64_t t = w->t + world_between(w, w->timing.answer);
	if (t < w->last_answer)
		t = w->last_answer;
	w->last_answer = t;
	agenda_add(&w->agenda, t, W_ANSWER, at, 0);
	if (count_waiting(w))
		schedule_commit(w, world_between(w, w->timing.commit));
}

void sim_store_answer(struct world *w, unsigned at)
{
	uint32_t epoch = w->epoch;
	struct commit_group g = w->group[at]; /* the array may move below */
	w->group[at] = (struct commit_group){ 0 };
	for (unsigned i = 0; i < g.n && g.epoch == w->epoch; i++) {
		if (world_call(w))
			break;
		struct st_ack a = g.ack[i];
		if (a.res == ST_FENCED)
			world_fenced(w);
		observe_ack(w->check, &g.req[i], &a);
		opinion_told(w->opinion, &g.req[i], &a);
		if (!w->bug || !w->bug->ack || w->bug->ack(w, &a))
			world_step(w, &(struct event){ .kind = EV_ACK, .ack = &a });
		if (epoch != w->epoch || world_call(w))
			break;
	}
	free_group(&g);
}

/* The daemon crashes. Of the requests under way, the first few of each schedule in each lane were written,
 * and the others were not. None of them will be answered. */
void sim_store_crash(struct world *w)
{
	static const unsigned odds[] = { 0, 50, 90, 100 };
	unsigned percent = odds[world_random(w, ARRAY_LEN(odds))];
	for (unsigned lane = 0; lane < LANES; lane++) {
		struct lane_queue *q = &w->lane[lane];
		struct map cut = { 0 };
		for (size_t i = q->head; i < q->n; i++) {
			uint32_t ignored;
			struct st_ack a;
			if (number_map_get(&cut, q->req[i].sid, &ignored))
				continue;
			if (world_chance(w, percent)) {
				apply_request(w, &q->req[i], &a);
				coverage_count_request(w->coverage, w, &q->req[i], FAULT_CRASH_AFTER);
			} else {
				number_map_put(&cut, q->req[i].sid, 0);
				coverage_count_request(w->coverage, w, &q->req[i], FAULT_CRASH_BEFORE);
			}
		}
		map_free(&cut);
		q->head = q->n = 0;
	}
	w->repeating = false;
}

void sim_store_each(const struct world *w, void (*fn)(void *ctx, const struct st_req *q, bool applied),
		    void *ctx)
{
	for (unsigned i = 0; i < w->groups; i++)
		for (unsigned k = 0; w->group[i].epoch == w->epoch && k < w->group[i].n; k++)
			fn(ctx, &w->group[i].req[k], true);
	for (unsigned lane = 0; lane < LANES; lane++)
		for (size_t i = w->lane[lane].head; i < w->lane[lane].n; i++)
			fn(ctx, &w->lane[lane].req[i], false);
}

bool sim_store_idle(const struct world *w)
{
	for (unsigned i = 0; i < w->groups; i++)
		if (w->group[i].req && w->group[i].epoch == w->epoch)
			return false;
	return count_waiting(w) == 0;
}

void sim_store_free(struct world *w)
{
	for (unsigned i = 0; i < w->groups; i++)
		free_group(&w->group[i]);
	free(w->group);
	for (unsigned i = 0; i < LANES; i++)
		free(w->lane[i].req);
}
