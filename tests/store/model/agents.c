/* ST_STATE, ST_MEMORY and ST_AGENT. */
#include "model/inner.h"

uint8_t apply_state(struct model *m, const struct st_req *q, struct st_ack *ret)
{
	const struct state_row *want = &q->state;
	unsigned i = 0;
	if (!want->key.p || !want->text.p || want->rev == UINT32_MAX || !text_fits(want->key))
		return ST_REFUSED;
	while (i < m->states && !str_eq(m->state[i].row.key, want->key))
		i++;
	uint32_t rev = i < m->states ? m->state[i].row.rev : 0;
	ret->count = rev;
	if (rev == want->rev + 1 && same_wall(m->state[i].at, q->at))
		return ST_OK; /* repeated */
	if (rev != want->rev)
		return ST_STALE;
	ret->count = rev + 1;
	if (i == m->states) {
		ADD_ROOM(m->state, m->state_room, m->states);
		m->state[m->states++] = (struct model_state){ .row.key = text_dup(want->key) };
	}
	text_set(&m->state[i].row.text, want->text);
	m->state[i].row.rev = rev + 1;
	m->state[i].at = q->at;
	return ST_OK;
}

/* --- notes --- */

static uint8_t add_note(struct model *m, const struct st_req *q, struct st_ack *ret)
{
	const struct memory_change *want = &q->memory;
	unsigned notes = 0;
	if (!want->agent.n || !text_fits(want->agent) || !want->text.n ||
	    want->text.n > STORE_MEMORY_BYTES_MAX || want->tags.n > STORE_MEMORY_TAGS_MAX ||
	    same_wall(q->at, WALL_NEVER))
		return ST_REFUSED;
	for (unsigned i = 0; i < m->memories; i++) {
		const struct memory_row *row = &m->memory[i];
		bool same_agent = str_eq(row->agent, want->agent);
		notes += same_agent;
		if (same_agent && same_wall(row->at, q->at) && row->run == want->run &&
		    str_eq(row->text, want->text)) {
			ret->note = row->number;
			return ST_OK; /* repeated */
		}
	}
	if (notes >= STORE_MEMORIES_MAX)
		return ST_REFUSED;
	ADD_ROOM(m->memory, m->memory_room, m->memories);
	m->memory[m->memories++] =
		(struct memory_row){ .number = ++m->last_memory,
				     .run = want->run,
				     .at = q->at,
				     .agent = text_dup(want->agent),
				     .text = text_dup(want->text),
				     .tags = text_dup(want->tags.p ? want->tags : STR("")) };
	ret->note = m->last_memory;
	return ST_OK;
}

/* Removes one note by its number, or all notes of a run from a number on. */
static void remove_notes(struct model *m, const struct memory_change *which)
{
	unsigned kept = 0;
	for (unsigned i = 0; i < m->memories; i++) {
		struct memory_row *row = &m->memory[i];
		bool chosen = which->act == MEMORY_REMOVE_RUN
				      ? row->run == which->run && row->number >= which->number
				      : row->number == which->number;
		if (chosen && (!which->agent.p || str_eq(row->agent, which->agent)))
			free_memory(row);
		else
			m->memory[kept++] = *row;
	}
	m->memories = kept;
}

uint8_t apply_memory(struct model *m, const struct st_req *q, struct st_ack *ret)
{
	switch ((enum memory_act)q->memory.act) {
	case MEMORY_ADD:
		return add_note(m, q, ret);
	case MEMORY_REMOVE:
		remove_notes(m, &q->memory);
		return ST_OK;
	case MEMORY_REMOVE_RUN:
		if (!q->memory.run)
			return ST_REFUSED;
		remove_notes(m, &q->memory);
		return ST_OK;
	case MEMORY_ACTS:
		break;
	}
	return ST_REFUSED;
}

/* --- definitions --- */

uint8_t apply_agent(struct model *m, const struct st_req *q, struct st_ack *ret)
{
	const struct agent_row *want = &q->agent;
	unsigned i = 0;
	if (!want->name.n || !text_fits(want->name) || want->rev == UINT32_MAX || want->act >= AGENT_ACTS ||
	    (want->act == AGENT_PUT && !want->text.p))
		return ST_REFUSED;
	while (i < m->agents && !str_eq(m->agent[i].row.name, want->name))
		i++;
	uint32_t rev = i < m->agents ? m->agent[i].row.rev : 0;
	ret->count = rev;
	if (want->act != AGENT_MOVE && rev == want->rev + 1 && same_wall(m->agent[i].at, q->at))
		return ST_OK; /* repeated */
	if (rev != want->rev)
		return ST_STALE;
	if (want->act != AGENT_PUT && (i == m->agents || !m->agent[i].row.text.p))
		return ST_REFUSED;
	if (i == m->agents) {
		ADD_ROOM(m->agent, m->agent_room, m->agents);
		m->agent[m->agents++] = (struct model_agent){ .row.name = text_dup(want->name) };
	}
	struct model_agent *a = &m->agent[i];
	bool drop = want->act == AGENT_DROP;
	text_replace(&a->source.from, drop ? (struct str){ 0 } : q->source.from);
	a->source.line = drop ? 0 : q->source.line;
	if (want->act == AGENT_MOVE)
		return ST_OK;
	text_replace(&a->row.text, drop ? (struct str){ 0 } : want->text);
	ret->count = a->row.rev = rev + 1;
	a->at = q->at;
	return ST_OK;
}
