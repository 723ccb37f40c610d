#pragma once
/* Inside the phrase parser: words, the parts a phrase may have, and the parser that passes from one step to
 * the next. phrase_words.c knows the vocabulary and how to refuse, phrase_clauses.c reads words into parts,
 * phrase.c writes down what the parts mean together. Nobody else includes this. */
#include "core/when/civil.h"
#include "core/when/iso.h"
#include "core/when/phrase/phrase.h"

enum kind {
	W_END, /* after the last word */
	W_UNKNOWN,
	W_EVERY,
	W_OTHER, /* as in every other week */
	W_ADVERB,
	W_AT,
	W_ON,
	W_IN,
	W_UNTIL,
	W_OF,
	W_THE,
	W_AND,
	W_TO,
	W_TODAY, /* or tomorrow */
	W_NEXT,
	W_HALFDAY, /* am, pm */
	W_OCLOCK,
	W_NOON,
	W_A,
	W_HALF,
	W_NUMBER,
	W_ORDINAL,
	W_SECOND, /* the unit, or what follows the first */
	W_UNIT,
	W_WDAYS,
	W_MONTH,
	W_ZONE,
	W_CLOCK,  /* 9am, 08:30 */
	W_AMOUNT, /* 10m, 1h30m */
	W_ISO,    /* 2027-06-30 */
};

enum unit { U_NONE, U_SECOND, U_MINUTE, U_HOUR, U_DAY, U_WEEK, U_MONTH, U_YEAR, UNITS };

struct phrase_unit {
	const char *name;
	char letter;
	int64_t seconds; /* 0 where only the calendar knows */
	int64_t most;
};
extern const struct phrase_unit phrase_units[UNITS];

#define YEARS_MOST 10 /* what DURATION_SECONDS_MAX is, on the calendar */
#define LAST       32 /* an ordinal behind all days of a month */
#define ALL_WDAYS  0x7F
#define WORKDAYS   0x3E
#define WEEKEND    0x41
#define PLURAL     0x80 /* beside the days: said so that it repeats */

struct word {
	struct str s;
	size_t at;
	enum kind kind;
	enum unit unit; /* of an amount */
	int64_t value;
	bool comma; /* one stood before it */
};

/* What a phrase may say, each once. Those before PART_TIMES decide together which form comes of it. */
enum part {
	PART_EVERY,
	PART_WDAYS,
	PART_MONTHLY, /* the 15th, the last friday */
	PART_DATE,
	PART_SOON, /* today, tomorrow, next friday, in 20 minutes */
	PART_TIMES,
	PART_PLACE,
	PART_UNTIL,
	PARTS
};

struct ymd {
	int32_t year; /* 0 if not given */
	unsigned month, day;
};

enum soon { SOON_DAY, SOON_NEXT, SOON_IN };

struct said {
	struct {
		uint8_t from, to; /* words; `to` is 0 where it was not said */
	} part[PARTS];
	enum unit unit; /* of every; U_NONE for "every monday" */
	int64_t count;
	uint8_t wdays; /* with PLURAL */
	uint32_t mdays;
	bool mday_last, first_workday, last_workday;
	uint64_t nth; /* ordinals of a weekday, LAST among them … */
	unsigned nth_wday;
	bool of_month; /* … and whether it said of what */
	struct ymd date, until;
	enum soon soon;
	int64_t soon_day;      /* days from today, or a weekday */
	int64_t amount[UNITS]; /* of "in" */
	uint64_t hours, minutes;
	uint16_t times[PHRASE_TIMES_MAX]; /* minutes of the day, no two alike */
	unsigned time_count;
};

struct phrase_parser {
	struct str text;
	const struct phrase_env *env;
	struct why *why;
	unsigned n, i;                       /* words, and the next one to read */
	struct word w[PHRASE_WORDS_MAX + 1]; /* the last is W_END */
	struct said said;
	struct phrase out;
	bool full; /* the form did not fit */
};

#define LOOKS_LIKE                                                                                           \
	"a phrase looks like \"every tuesday at 9am\", \"in 20 minutes\" or \"first monday of the month at " \
	"9\""

/* --- phrase_words.c --- */

/* Cuts the text into words and looks each of them up. */
must_check enum err phrase_split(struct phrase_parser *p);
/* What a word means by itself, if it is in the vocabulary. */
bool phrase_look_up(struct str s, struct word *w);
/* The days from one to another, past Saturday if need be; 0 if either is not a single day. */
int64_t phrase_wday_range(const struct word *a, const struct word *b);
/* What to write instead of a word that people will try; NULL if there is nothing to say. */
const char *phrase_hint(struct str word);

bool phrase_has(const struct phrase_parser *p, enum part part);
/* Notes that words `from` up to the next one to read said this part. */
must_check enum err phrase_claim(struct phrase_parser *p, enum part part, unsigned from);

/* A phrase is refused with what its author wrote: in messages $0 is the word in question, and a letter stands
 * for the words of a part (part_letters). */
enum err phrase_refuse(const struct phrase_parser *p, unsigned word, const char *fmt, ...) printf_like(3, 4);
enum err phrase_refuse_part(const struct phrase_parser *p, enum part part, const char *message);
/* The word is not `what` that belongs there; `examples` are. */
enum err phrase_wanted(const struct phrase_parser *p, unsigned word, const char *what, const char *examples);
enum err phrase_not_understood(const struct phrase_parser *p, unsigned word);
enum err phrase_clash(const struct phrase_parser *p, enum part a, enum part b);

/* --- phrase_clauses.c --- */

/* Reads all words into p->said. */
must_check enum err phrase_read_clauses(struct phrase_parser *p);
