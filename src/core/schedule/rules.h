#pragma once
/* What a schedule's document boils down to: its when and its policy, a value without pointers. All that is
 * decided about an occurrence is decided by it. */
#include "core/model.h"
#include "core/when/rule.h"
#include "port/store.h"

enum action {
	ACTION_RUN,
	ACTION_EVENT, /* publishes, takes no slot, is done when claimed */
	ACTION_TURN,  /* of an agent: a run, and a model call */
};
/* Whether it has an agent, and by whose word. */
enum agent_choice { AGENT_CHOICE_NONE, AGENT_CHOICE_NAMED, AGENT_CHOICE_DEFAULT };
enum after_outcome { AFTER_DONE /* or no_work */, AFTER_FAILED /* or killed */, AFTER_ANY };

/* What is told: bits of policy.tells up to NEWS_PING, and all of them of news. */
enum news_kind {
	NEWS_SUCCESS,
	NEWS_FAILURE,
	NEWS_MISSED,
	NEWS_RECOVERED,
	NEWS_PING,    /* any end */
	NEWS_STARTED, /* of an attempt, for who is pinged */
	NEWS_OPENED,  /* a problem … */
	NEWS_CLOSED,
	NEWS_KINDS
};

struct policy {
	uint8_t missed, overlap, backoff;
	uint8_t action : 2, after : 2; /* enum after_outcome, if the row follows another */
	uint8_t preconditions;         /* bit per enum rn_ask */
	uint8_t news;                  /* bits, 1 << enum news_kind */
	uint8_t agent_choice;          /* enum agent_choice: how `agent` was */
	int8_t priority;
	uint16_t retries, catch_up_limit, max_failures; /* max_failures 0: off */
	uint16_t zone, calendar;                        /* numbers in the engine's tables; calendar 0: none */
	uint16_t agent_slots;                           /* 0: one */
	uint32_t window;                                /* seconds; 0: none */
	uint32_t retry_delay, retry_most;               /* seconds */
	uint32_t agent, key, account;                   /* 0: none; one number space for all three */
};

/* The agent's hours: minutes of the day in a zone of their own; from equal to: always, from after to: over
 * midnight. What lies outside is skipped. */
struct hours {
	uint16_t from, to, zone;
};

/* The bytes of sched_row.rules. The version and the prints of what they were compiled with, the zone and the
 * agent's definition, say whether they still hold. */
struct rules {
	uint16_t version;
	struct hours active;
	uint64_t zone_print, agent_print; /* agent_print 0: there was none */
	struct rule when;
	struct policy policy;
	uint32_t max_runs; /* as the engine was told: what is left of them is in the row */
};
#define RULES_VERSION 3
static_assert(sizeof(struct rules) <= STORE_RULES, "rules fit the store's row");

/* What of the machine goes with them: shared by many, and numbered in them. */
struct rules_context {
	const struct zone *zone;     /* the schedule's */
	const struct zone *hours;    /* of its agent's hours */
	const struct days *excluded; /* days on which it does not run */
};

/* Why a time does not run, whatever befalls the engine; REASON_NONE: it may. */
enum reason rules_bar(const struct rules *r, const struct rules_context *with, struct wall nominal);
/* Is there anything by which a time could be barred? */
bool rules_can_bar(const struct rules *r, const struct rules_context *with);
