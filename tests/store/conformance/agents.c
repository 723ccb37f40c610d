/* ST_STATE, ST_MEMORY and ST_AGENT. */
#include "conformance.h"

/* --- ST_STATE --- */

static struct st_req req_state(const char *key, const char *text, uint32_t rev, int64_t at)
{
	return (struct st_req){ .op = ST_STATE,
				.lane = LANE_USER,
				.at = AT(at),
				.state = { str_of(key), text ? str_of(text) : (struct str){ 0 }, rev } };
}

ON_EACH(state_changes_by_compare_and_swap)
{
	struct st_ack ack = ask(f, req_state("desk", "{}", 1, 10));
	CHECK_INT(ack.res, ST_STALE); /* there is none yet */
	CHECK_INT(ack.count, 0);
	ack = ask(f, req_state("desk", "{}", 0, 11));
	CHECK_INT(ack.res, ST_OK);
	CHECK_INT(ack.count, 1);
	CHECK_INT(ask(f, req_state("desk", "{}", 0, 11)).res, ST_OK); /* repeated */
	CHECK_INT(ask(f, req_state("desk", "{}", 0, 12)).res, ST_STALE);
	CHECK_INT(ask(f, req_state("", "{\"name\":1}", 0, 13)).res, ST_OK); /* another key */
	ack = ask(f, req_state("desk", "{\"a\":1}", 1, 14));
	CHECK_INT(ack.res, ST_OK);
	CHECK_INT(ack.count, 2);
	ack = ask(f, req_state("desk", "{\"b\":1}", 1, 15));
	CHECK_INT(ack.res, ST_STALE);
	CHECK_INT(ack.count, 2);
	CHECK(!ack.has_row);
	CHECK_INT(ask(f, req_state("desk", NULL, 2, 16)).res, ST_REFUSED);
	EXPECT(f, "state", "1 13 '' '{\"name\":1}'|2 14 'desk' '{\"a\":1}'");
}

/* --- ST_MEMORY --- */

ON_EACH(notes_are_numbered_and_added_once)
{
	struct st_req one = req_memory(MEMORY_ADD, 7, "a", 10);
	one.memory.tags = STR("x y");
	struct st_ack ack = ask(f, one);
	CHECK_INT(ack.res, ST_OK);
	CHECK_INT(ack.note, 1);
	CHECK(!ack.has_row);
	CHECK_INT(ask(f, one).note, 1); /* repeated */
	/* Another text, time, run or agent makes another note. */
	CHECK_INT(ask(f, req_memory(MEMORY_ADD, 7, "b", 10)).note, 2);
	CHECK_INT(ask(f, req_memory(MEMORY_ADD, 7, "a", 11)).note, 3);
	CHECK_INT(ask(f, req_memory(MEMORY_ADD, 0, "a", 10)).note, 4);
	struct st_req other = req_memory(MEMORY_ADD, 7, "a", 10);
	other.memory.agent = STR("night");
	CHECK_INT(ask(f, other).note, 5);
	EXPECT(f, "memory",
	       "1 7 10 'desk' 'a' 'x y'|2 7 10 'desk' 'b' ''|3 7 11 'desk' 'a' ''|4 0 10 'desk' 'a' ''|5 7 "
	       "10 'night' 'a' ''");
}

ON_EACH(note_numbers_are_never_reused)
{
	ask(f, req_memory(MEMORY_ADD, 7, "a", 10));
	struct st_req gone = req_memory(MEMORY_REMOVE, 0, NULL, 11);
	gone.memory.number = 1;
	CHECK_INT(ask(f, gone).res, ST_OK);
	CHECK_INT(ask(f, gone).res, ST_OK); /* the note was removed before */
	fixture_reopen(f);
	CHECK_INT(ask(f, req_memory(MEMORY_ADD, 7, "b", 12)).note, 2);
	gone.memory.number = 2;
	gone.memory.agent = STR("night"); /* the note of another agent */
	CHECK_INT(ask(f, gone).res, ST_OK);
	EXPECT(f, "memory", "2 7 12 'desk' 'b' ''");
	gone.memory.agent = (struct str){ 0 };
	CHECK_INT(ask(f, gone).res, ST_OK);
	EXPECT(f, "memory", "");
}

ON_EACH(notes_of_a_run_are_removed)
{
	for (int64_t i = 0; i < 4; i++)
		ask(f, req_memory(MEMORY_ADD, 7, "poison", i));
	ask(f, req_memory(MEMORY_ADD, 8, "good", 1));
	ask(f, req_memory(MEMORY_ADD, 0, "a person's", 2));
	struct st_req other = req_memory(MEMORY_ADD, 7, "elsewhere", 3);
	other.memory.agent = STR("night");
	ask(f, other);
	struct st_req gone = req_memory(MEMORY_REMOVE_RUN, 7, NULL, 4);
	gone.memory.number = 2;
	CHECK_INT(ask(f, gone).res, ST_OK); /* removes the notes of this agent from number 2 on */
	EXPECT(f, "memory",
	       "1 7 0 'desk' 'poison' ''|5 8 1 'desk' 'good' ''|6 0 2 'desk' 'a person's' ''|7 7 "
	       "3 'night' 'elsewhere' ''");
	gone.memory.number = 0;
	gone.memory.agent = (struct str){ 0 };
	CHECK_INT(ask(f, gone).res, ST_OK); /* removes the notes of all agents */
	EXPECT(f, "memory", "5 8 1 'desk' 'good' ''|6 0 2 'desk' 'a person's' ''");
	gone.memory.run = 0;
	CHECK_INT(ask(f, gone).res, ST_REFUSED);
}

ON_EACH(notes_have_limits)
{
	static char text[STORE_MEMORY_BYTES_MAX + 1];
	struct st_req r = req_memory(MEMORY_ADD, 7, "a", 10);
	memset(text, 'x', sizeof text);
	r.memory.text = (struct str){ text, sizeof text };
	CHECK_INT(ask(f, r).res, ST_REFUSED);
	r.memory.text.n--;
	CHECK_INT(ask(f, r).res, ST_OK);
	r.memory.tags = (struct str){ text, STORE_MEMORY_TAGS_MAX + 1 };
	r.at = AT(11);
	CHECK_INT(ask(f, r).res, ST_REFUSED);
	CHECK_INT(ask(f, req_memory(MEMORY_ADD, 7, "", 12)).res, ST_REFUSED);
	CHECK_INT(ask(f, req_memory(MEMORY_ADD, 7, NULL, 12)).res, ST_REFUSED);
	CHECK_INT(ask(f, req_memory(MEMORY_ADD, 7, "a", INT64_MAX)).res, ST_REFUSED);
	CHECK_INT(ask(f, req_memory(MEMORY_ACTS, 7, "a", 12)).res, ST_REFUSED);
	r = req_memory(MEMORY_ADD, 7, "a", 12);
	r.memory.agent = STR("");
	CHECK_INT(ask(f, r).res, ST_REFUSED);
	for (int64_t i = 1; i < STORE_MEMORIES_MAX; i++) {
		struct st_req more = req_memory(MEMORY_ADD, 7, "a", 100 + i);
		fixture_ask(f, more);
	}
	CHECK_INT(ask(f, req_memory(MEMORY_ADD, 7, "a", 20)).res, ST_REFUSED);
	CHECK_INT(ask(f, req_memory(MEMORY_ADD, 7, "a", 101)).res, ST_OK); /* repeated */
	r = req_memory(MEMORY_ADD, 7, "a", 20);
	r.memory.agent = STR("night");
	CHECK_INT(ask(f, r).res, ST_OK);
}

/* --- ST_AGENT --- */

static struct st_req req_agent(enum agent_act act, const char *name, const char *text, uint32_t rev,
			       int64_t at)
{
	return (struct st_req){ .op = ST_AGENT,
				.lane = LANE_USER,
				.at = AT(at),
				.source = { STR("/ops/a.org"), (uint32_t)at },
				.agent = { str_of(name), text ? str_of(text) : (struct str){ 0 }, rev,
					   act } };
}

ON_EACH(agents_change_by_compare_and_swap)
{
	struct st_ack ack = ask(f, req_agent(AGENT_PUT, "desk", "{}", 1, 10));
	CHECK_INT(ack.res, ST_STALE); /* there is none yet */
	CHECK_INT(ack.count, 0);
	CHECK_INT(ask(f, req_agent(AGENT_DROP, "desk", NULL, 0, 10)).res, ST_REFUSED);
	CHECK_INT(ask(f, req_agent(AGENT_MOVE, "desk", NULL, 0, 10)).res, ST_REFUSED);
	ack = ask(f, req_agent(AGENT_PUT, "desk", "{}", 0, 11));
	CHECK_INT(ack.res, ST_OK);
	CHECK_INT(ack.count, 1);
	CHECK(!ack.has_row);
	CHECK_INT(ask(f, req_agent(AGENT_PUT, "desk", "{}", 0, 11)).res, ST_OK); /* repeated */
	CHECK_INT(ask(f, req_agent(AGENT_PUT, "desk", "{}", 0, 12)).res, ST_STALE);
	CHECK_INT(ask(f, req_agent(AGENT_PUT, "night", "{}", 0, 13)).res, ST_OK); /* another agent */
	CHECK_INT(ask(f, req_agent(AGENT_PUT, "desk", NULL, 1, 14)).res, ST_REFUSED);
	CHECK_INT(ask(f, req_agent(AGENT_PUT, "", "{}", 0, 14)).res, ST_REFUSED);
	CHECK_INT(ask(f, req_agent(AGENT_ACTS, "desk", "{}", 1, 14)).res, ST_REFUSED);
	EXPECT(f, "agent", "1 11 11 'desk' '{}' '/ops/a.org'|1 13 13 'night' '{}' '/ops/a.org'");
}

ON_EACH(an_agent_is_moved_and_removed)
{
	ask(f, req_agent(AGENT_PUT, "desk", "{}", 0, 11));
	struct st_ack ack = ask(f, req_agent(AGENT_MOVE, "desk", NULL, 1, 20));
	CHECK_INT(ack.res, ST_OK);
	CHECK_INT(ack.count, 1);
	CHECK_INT(ask(f, req_agent(AGENT_MOVE, "desk", NULL, 0, 21)).res, ST_STALE);
	EXPECT(f, "agent", "1 11 20 'desk' '{}' '/ops/a.org'");
	CHECK_INT(ask(f, req_agent(AGENT_DROP, "desk", NULL, 0, 30)).res, ST_STALE);
	ack = ask(f, req_agent(AGENT_DROP, "desk", NULL, 1, 31));
	CHECK_INT(ack.res, ST_OK);
	CHECK_INT(ack.count, 2);
	CHECK_INT(ask(f, req_agent(AGENT_DROP, "desk", NULL, 1, 31)).res, ST_OK); /* repeated */
	CHECK_INT(ask(f, req_agent(AGENT_DROP, "desk", NULL, 2, 32)).res, ST_REFUSED);
	CHECK_INT(ask(f, req_agent(AGENT_MOVE, "desk", NULL, 2, 32)).res, ST_REFUSED);
	EXPECT(f, "agent", "2 31 0 'desk' NULL NULL");
	/* A new agent of the same name continues the revisions of the old one. */
	CHECK_INT(ask(f, req_agent(AGENT_PUT, "desk", "{}", 0, 40)).res, ST_STALE);
	ack = ask(f, req_agent(AGENT_PUT, "desk", "{\"a\":1}", 2, 41));
	CHECK_INT(ack.res, ST_OK);
	CHECK_INT(ack.count, 3);
}

ON_EACH(notes_stay_when_their_run_is_pruned)
{
	ask(f, req_put(5, 0, 10));
	ask(f, req_occ(5, 1, 7, 100));
	ask(f, req_finish(5, 7, 1, RUN_FINISHED, 120));
	ask(f, req_occ(5, 1, 8, 200));
	ask(f, req_finish(5, 8, 1, RUN_FINISHED, 220));
	ask(f, req_memory(MEMORY_ADD, 7, "a", 110));
	struct st_req old = req_prune(PRUNE_RUNS, 0, 1000);
	old.prune.first = old.prune.last = 7;
	CHECK_INT(ask(f, old).res, ST_OK);
	EXPECT(f, "memory", "1 7 110 'desk' 'a' ''");
	EXPECT_RUNS(f, "8");
}
