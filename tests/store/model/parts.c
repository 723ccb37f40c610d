/* ST_NUMBERS, ST_TAKE and ST_KEY: what several nodes share. */
#include "model/inner.h"

/* --- numbers --- */

static uint64_t last_recorded(const struct model *m, unsigned kind)
{
	uint64_t last = 0;
	if (kind == NUMBER_RUN)
		return m->last_run;
	if (kind == NUMBER_SCHED)
		return m->last_sid;
	for (unsigned i = 0; i < m->names; i++)
		if (m->name[i].kind == kind - NUMBER_NAME && m->name[i].number > last)
			last = m->name[i].number;
	return last;
}

uint8_t apply_numbers(struct model *m, const struct st_req *q, struct st_ack *ret)
{
	const struct numbers_request *want = &q->numbers;
	if (want->kind >= NUMBER_KINDS || !want->n || want->n > STORE_NUMBERS_MAX)
		return ST_REFUSED;
	uint64_t last = last_recorded(m, want->kind);
	if (m->taken[want->kind] > last)
		last = m->taken[want->kind];
	m->taken[want->kind] = last + want->n;
	ret->first = last + 1;
	return ST_OK;
}

void model_forget_numbers(struct model *m)
{
	memset(m->taken, 0, sizeof m->taken);
}

/* --- parts --- */

const struct part_row *model_part(const struct model *m, uint32_t part)
{
	for (unsigned i = 0; i < m->parts; i++)
		if (m->part[i].part == part)
			return &m->part[i];
	return NULL;
}

bool is_fenced(const struct model *m, const struct st_req *q, const struct model_sched *s)
{
	const struct part_row *p = model_part(m, q->part);
	return !p || p->epoch != q->epoch || (s && s->row.part != q->part);
}

uint8_t apply_take(struct model *m, const struct st_req *q, struct st_ack *ret)
{
	unsigned i = 0;
	if (q->part >= STORE_PARTS_MAX || !q->node)
		return ST_REFUSED;
	while (i < m->parts && m->part[i].part != q->part)
		i++;
	if (i < m->parts)
		ret->part = m->part[i];
	if (i < m->parts && m->part[i].epoch == q->epoch + 1 && m->part[i].node == q->node)
		return ST_OK; /* repeated */
	if (i < m->parts ? m->part[i].epoch != q->epoch : q->epoch != 0)
		return ST_FENCED;
	if (i == m->parts) {
		ADD_ROOM(m->part, m->part_room, m->parts);
		m->parts++;
	}
	ret->part = m->part[i] = (struct part_row){ q->part, q->node, q->epoch + 1 };
	return ST_OK;
}

/* --- the key of run tokens --- */

uint8_t apply_key(struct model *m, const struct st_req *q, struct st_ack *ret)
{
	(void)ret;
	if (m->has_key)
		return memcmp(m->key, q->key, sizeof m->key) == 0 ? ST_OK : ST_LOST;
	memcpy(m->key, q->key, sizeof m->key);
	m->has_key = true;
	return ST_OK;
}
