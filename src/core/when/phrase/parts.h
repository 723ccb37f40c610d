#pragma once
/* Internals of the phrase parser: the kinds of words, the parts of a phrase, and the parser's state. words.c
 * has the vocabulary and the error messages, clauses.c reads the words into parts, phrase.c turns the parts
 * into one of the other forms. Only these three include this header. */
#include "core/when/civil.h"
#include "core/when/iso.h"
#include "core/when/phrase/phrase.h"

enum word_kind {
	W_END, /* after the last word */
	W_UNKNOWN,
	W_EVERY,
	W_OTHER, /* every other week */
	W_ADVERB,
	W_AT,
	W_ON,
	W_IN,
	W_UNTIL,
	W_OF,
	W_THE,
	W_AND,
	W_TO,
	W_TODAY, /* today, tomorrow */
	W_NEXT,
	W_HALFDAY, /* am, pm */
	W_OCLOCK,
	W_NOON,
	W_A,
	W_HALF,
	W_NUMBER,
	W_ORDINAL,
	W_SECOND, /* the unit, or the ordinal after "first" */
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
	int64_t seconds; /* 0 for months and years, which have no fixed length */
	int64_t most;    /* the largest number of them in a phrase */
};
extern const struct phrase_unit phrase_units[UNITS];

#define YEARS_MOST   10 /* DURATION_SECONDS_MAX in years of the calendar */
#define ORDINAL_LAST 32 /* the ordinal "last"; larger than any day of a month */
#define ALL_WDAYS    0x7F
#define WORKDAYS     0x3E
#define WEEKEND      0x41
#define PLURAL       0x80 /* a flag beside the days: the word is a plural, which means every week */

struct phrase_word {
	struct str s;
	size_t at;
	enum word_kind kind;
	enum unit unit; /* of a W_AMOUNT */
	int64_t value;  /* as in the vocabulary, or the number */
	bool comma;     /* there is a comma before it */
};

/* The parts that a phrase may have, each once. Those before PART_TIMES decide which form it becomes. */
enum phrase_part {
	PART_EVERY,
	PART_WDAYS,
	PART_MONTHLY, /* the 15th, the last friday */
	PART_DATE,
	PART_RELATIVE, /* today, tomorrow, next friday, in 20 minutes */
	PART_TIMES,
	PART_PLACE,
	PART_UNTIL,
	PARTS
};

enum relative_kind { RELATIVE_DAY, RELATIVE_NEXT, RELATIVE_IN };

struct phrase_parts {
	struct {
		uint8_t from, to; /* words [from, to); `to` is 0 if the phrase does not have the part */
	} words[PARTS];
	/* PART_EVERY */
	enum unit unit; /* U_NONE for "every monday" */
	int64_t count;
	/* PART_WDAYS */
	uint8_t wdays; /* with PLURAL */
	/* PART_MONTHLY: days of the month, or ordinals of one weekday */
	uint32_t mdays;
	bool mday_last, first_workday, last_workday;
	uint64_t nth; /* bit n for the n-th, bit ORDINAL_LAST for the last */
	unsigned nth_wday;
	bool of_month; /* "of the month" was written */
	/* PART_DATE, PART_UNTIL; the year is 0 if it was not written */
	struct date date, until;
	/* PART_RELATIVE */
	enum relative_kind relative;
	int64_t relative_day;  /* RELATIVE_DAY: days from today; RELATIVE_NEXT: a weekday's bit */
	int64_t amount[UNITS]; /* RELATIVE_IN */
	/* PART_TIMES */
	uint64_t hours, minutes;
	uint16_t times[PHRASE_TIMES_MAX]; /* minutes of the day, all different */
	unsigned time_count;
};

struct phrase_parser {
	struct str text;
	const struct phrase_env *env;
	struct why *why;
	unsigned n, i;                              /* the number of words, and the next one to read */
	struct phrase_word w[PHRASE_WORDS_MAX + 1]; /* the last is W_END */
	struct phrase_parts parts;
	struct phrase out;
	bool full; /* the form did not fit into `out` */
};

#define LOOKS_LIKE                                                                                           \
	"a phrase looks like \"every tuesday at 9am\", \"in 20 minutes\" or \"first monday of the month at " \
	"9\""

/* --- words.c --- */

/* Splits the text into words and classifies each of them. */
must_check enum err phrase_split(struct phrase_parser *p);
/* Looks a word up in the vocabulary; false if it is not there. */
bool phrase_look_up(struct str s, struct phrase_word *w);
/* The days from a to b, across Saturday if necessary, with PLURAL; 0 if either is not a single day. */
int64_t phrase_wday_range(const struct phrase_word *a, const struct phrase_word *b);
/* What to write instead of a word that people may try; NULL if nothing is known about it. */
const char *phrase_hint(struct str word);

bool phrase_has(const struct phrase_parser *p, enum phrase_part part);
/* Notes that this part consists of the words from `from` up to the next word to read. Refuses a part that was
 * read before. */
must_check enum err phrase_set_part(struct phrase_parser *p, enum phrase_part part, unsigned from);

/* Messages quote the words of the author: in the formats $0 is the word in question, and $ with a letter is
 * the words of a part (part_letters in words.c). */
enum err phrase_refuse(const struct phrase_parser *p, unsigned word, const char *fmt, ...) printf_like(3, 4);
enum err phrase_refuse_part(const struct phrase_parser *p, enum phrase_part part, const char *message);
/* Refuses a word where `what` was expected, such as `examples`. */
enum err phrase_expected(const struct phrase_parser *p, unsigned word, const char *what,
			 const char *examples);
enum err phrase_refuse_unknown(const struct phrase_parser *p, unsigned word);
enum err phrase_refuse_clash(const struct phrase_parser *p, enum phrase_part a, enum phrase_part b);

/* --- clauses.c --- */

/* Reads all words into p->parts. */
must_check enum err phrase_read_clauses(struct phrase_parser *p);
