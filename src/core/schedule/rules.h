#pragma once
/* The compiled form of a schedule's document: its times and its policy, a value without pointers. The engine
 * decides about occurrences by these rules alone. */
#include "core/model.h"
#include "core/when/rule.h"
#include "port/store.h"

enum action {
	ACTION_RUN,   /* a command */
	ACTION_EVENT, /* publishes an event; takes no slot, and is done when it is claimed */
	ACTION_TURN,  /* an agent's turn: a run that calls a model */
};
/* How the schedule's agent was chosen. */
enum agent_choice {
	AGENT_CHOICE_NONE, /* it has no agent */
	AGENT_CHOICE_NAMED,
	AGENT_CHOICE_DEFAULT
};
/* Which ends of its leader's runs make a follower due. */
enum after_outcome { AFTER_DONE /* or no_work */, AFTER_FAILED /* or killed */, AFTER_ANY };

/* Kinds of news. policy.news has bits up to NEWS_PING; a row of news has bits of any kind. */
enum news_kind {
	NEWS_SUCCESS,
	NEWS_FAILURE,
	NEWS_MISSED,
	NEWS_RECOVERED,
	NEWS_PING,    /* every end, for a monitoring service that is pinged */
	NEWS_STARTED, /* an attempt was started; with NEWS_PING */
	NEWS_OPENED,  /* a problem was opened */
	NEWS_CLOSED,  /* a problem was closed */
	NEWS_KINDS
};

struct policy {
	uint8_t missed, overlap, backoff;
	uint8_t action : 2;
	uint8_t after : 2;        /* enum after_outcome, for a follower */
	uint8_t default_zone : 1; /* the document names no zone: `zone` is that of the configuration */
	uint8_t preconditions;    /* bits, 1 << enum rn_ask */
	uint8_t news;             /* bits, 1 << enum news_kind: the news that are wanted */
	uint8_t agent_choice;
	int8_t priority; /* -PRIORITY_MAX to PRIORITY_MAX; the largest first */
	uint16_t retries, catch_up_limit;
	uint16_t max_failures;            /* failures in a row that pause the schedule; 0: never */
	uint16_t zone, calendar;          /* indices of the engine's tables; calendar 0: none */
	uint16_t agent_slots;             /* runs of its agent at once; 0: one */
	uint32_t window;                  /* seconds after the due time in which it may start; 0: no window */
	uint32_t retry_delay, retry_most; /* seconds */
	uint32_t agent, key, account;     /* numbers in one space; 0: none */
};

/* The agent's active hours, in minutes of the day in a zone of their own. from == to: always; from > to: over
 * midnight. Times outside are skipped. */
struct hours {
	uint16_t from, to, zone;
};

/* The bytes of sched_row.rules. They are outdated if the version, the zone data, the zone of the
 * configuration (for rules with policy.default_zone) or the agent's definition has changed since they were
 * compiled, or if a number in them belongs to no name. */
struct rules {
	uint16_t version; /* RULES_VERSION */
	struct hours active;
	uint64_t zone_print, agent_print; /* fingerprints; agent_print 0: the agent had no definition */
	struct rule when;
	struct policy policy;
	uint32_t max_runs; /* max_runs of the document; sched_row.left counts down from it */
};
#define RULES_VERSION 5
static_assert(sizeof(struct rules) <= STORE_RULES, "rules fit the store's row");

/* The entries of the engine's tables to which the numbers in the rules refer. */
struct rules_context {
	const struct zone *zone;     /* of the schedule */
	const struct zone *hours;    /* of the agent's active hours */
	const struct days *excluded; /* days on which the schedule does not run */
};

/* Whether every value is one that the compiler of documents can have written. The bytes come from a file that
 * another program may have changed. */
bool rules_are_valid(const struct rules *r);
/* The rules of a row; if they are not valid, rules that are outdated and give no time. */
void rules_read(const struct sched_row *row, struct rules *ret);

/* Why a nominal time never runs; REASON_NONE: it may run. */
enum reason rules_bar(const struct rules *r, const struct rules_context *context, struct wall nominal);
/* False if rules_bar returns REASON_NONE for every time. */
bool rules_can_bar(const struct rules *r, const struct rules_context *context);
