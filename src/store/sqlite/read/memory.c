/* Notes: listed, and found by their words. */
#include "base/buf.h"
#include "base/utf8.h"
#include "store/sqlite/db.h"
#include "store/sqlite/read/reader.h"
#include "store/sqlite/read/statements.h"
#include "store/sqlite/rows.h"

/* --- what is looked for --- */

/* Everything that is not ASCII may be a letter; what is none, the tokenizer leaves out. */
static bool in_word(char c)
{
	return is_alpha(c) || is_digit(c) || (unsigned char)c >= 0x80;
}

/* Takes the next word off the front; empty: there is none. */
static struct str next_word(struct str *rest)
{
	size_t from = 0, end;
	while (from < rest->n && !in_word(rest->p[from]))
		from++;
	for (end = from; end < rest->n && in_word(rest->p[end]);)
		end++;
	struct str word = str_sub(*rest, from, end);
	*rest = str_from(*rest, end);
	return word;
}

static bool is_continued(char c)
{
	return ((unsigned char)c & 0xC0) == 0x80;
}

/* At most `most` bytes, and no character cut in two. */
static struct str cut(struct str s, size_t most)
{
	size_t n = s.n < most ? s.n : most;
	while (n > 0 && n < s.n && is_continued(s.p[n]))
		n--;
	return str_sub(s, 0, n);
}

/* Words that say nothing of what a text is about, in the languages that notes are mostly written in. Others
 * that stand everywhere count little by themselves; these would where there are few notes. */
static bool is_empty(struct str word)
{
	static const char *const words[] = {
		"the", "and", "for",   "are", "was",  "with",  "that", "this", "from", "have", "has",
		"not", "all", "any",   "you", "your", "if",    "of",   "to",   "in",   "on",   "at",
		"by",  "is",  "it",    "be",  "as",   "or",    "an",   "der",  "die",  "das",  "und",
		"den", "dem", "des",   "ein", "eine", "einen", "mit",  "von",  "zu",   "im",   "ist",
		"auf", "für", "nicht", "le",  "la",   "les",   "des",  "du",   "de",   "et",   "un",
		"une", "el",  "los",   "las", "en",   "y",     "que",  "est",  "pour", "por",  "con",
	};
	for (unsigned i = 0; i < ARRAY_LEN(words); i++)
		if (str_ieq(word, str_of(words[i])))
			return true;
	return false;
}

/* The beginning that its other forms share, where the stemmer, which knows English only, may leave them
 * apart: Rechnung and Rechnungen. Empty: it is too short for that. */
static struct str beginning(struct str word)
{
	enum { LEAST = 5, ENDING = 2 };
	size_t at = 0, letters = 0;
	for (size_t i = 0; i < word.n; i++)
		letters += !is_continued(word.p[i]);
	if (letters <= LEAST)
		return (struct str){ 0 };
	size_t keep = letters - ENDING > LEAST ? letters - ENDING : LEAST;
	for (size_t seen = 0; at < word.n; at++) {
		seen += !is_continued(word.p[at]);
		if (seen > keep)
			break;
	}
	return str_sub(word, 0, at);
}

static bool is_known(const struct str *known, unsigned n, struct str word)
{
	for (unsigned i = 0; i < n; i++)
		if (str_ieq(known[i], word))
			return true;
	return false;
}

/* In FTS5's language. A word has no quotes in it, so that within quotes it is only itself. `forms`: others
 * that begin like it, too, which means looking through all the words that do, whosever they are. False: there
 * is nothing to look for. */
static bool write_query(struct buf *out, struct str agent, struct str text, bool forms)
{
	struct str known[READ_QUERY_WORDS], word;
	unsigned n = 0;
	if (agent.n) {
		buf_add(out, STR("owner : \"x"));
		for (size_t i = 0; i < agent.n; i++)
			buf_addf(out, "%02x", (unsigned char)agent.p[i]);
		buf_add(out, STR("x\" AND "));
	}
	buf_add(out, STR("{text tags} : ("));
	while (n < READ_QUERY_WORDS && (word = next_word(&text)).n) {
		word = cut(word, READ_QUERY_BYTES);
		if (word.n < 2 || is_empty(word) || is_known(known, n, word))
			continue;
		buf_addf(out, "%s\"%.*s\"", n ? " OR " : "", STR_ARG(word));
		struct str part = forms ? beginning(word) : (struct str){ 0 };
		if (part.n)
			buf_addf(out, " OR \"%.*s\" *", STR_ARG(part));
		known[n++] = word;
	}
	buf_addc(out, ')');
	return n > 0;
}

/* --- answers --- */

static bool keep(struct arena *a, struct str *s)
{
	if (s->p)
		s->p = arena_dup(a, *s);
	return s->p || !s->n;
}

/* Of a statement that has been bound, for one more than `limit`. */
static int take(sqlite3_stmt *s, int bound, unsigned limit, struct arena *a, struct read_memories *list)
{
	int rc = bound;
	list->item = arena_alloc(a, limit * sizeof *list->item);
	if (rc == SQLITE_OK && !list->item)
		rc = SQLITE_NOMEM;
	while (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		list->more = list->n == limit;
		if (list->more)
			break;
		struct read_memory *m = &list->item[list->n++];
		memory_row_read(s, 0, &m->row);
		m->schedule = text_read(s, MEMORY_PARAMS);
		rc = keep(a, &m->row.agent) && keep(a, &m->row.text) && keep(a, &m->row.tags) &&
				     keep(a, &m->schedule)
			     ? SQLITE_OK
			     : SQLITE_NOMEM;
	}
	sqlite3_reset(s);
	sqlite3_clear_bindings(s);
	return rc;
}

static unsigned bounded(unsigned limit)
{
	return limit && limit < READ_LIST_MAX ? limit : READ_LIST_MAX;
}

enum err read_memory(struct reader *r, uint64_t number, struct arena *a, struct read_memory *ret,
		     struct why *why)
{
	struct read_memories one = { 0 };
	sqlite3_stmt *s = r->stmt[READ_MEMORY];
	int rc = reader_begin(r);
	if (rc == SQLITE_OK) {
		DB_BIND(s, (int64_t)number);
		rc = take(s, SQLITE_OK, 1, a, &one);
	}
	enum err e = reader_end(r, rc, why);
	if (e == OK && !one.n)
		return why_set(why, E_NOTFOUND, WHY_NOWHERE, "there is no note %llu",
			       (unsigned long long)number);
	if (e == OK)
		*ret = one.item[0];
	return e;
}

enum err read_memories(struct reader *r, struct str agent, uint64_t run, uint64_t before, unsigned limit,
		       struct arena *a, struct read_memories *ret, struct why *why)
{
	struct read_memories list = { 0 };
	sqlite3_stmt *s = r->stmt[run ? READ_MEMORIES_RUN : agent.n ? READ_MEMORIES_OF : READ_MEMORIES];
	int rc = reader_begin(r);
	if (rc == SQLITE_OK) {
		DB_BIND(s, before && before <= INT64_MAX ? (int64_t)before : INT64_MAX, bounded(limit) + 1);
		rc = agent.n ? db_bind_text(s, 3, agent) : SQLITE_OK;
		if (rc == SQLITE_OK && run)
			rc = sqlite3_bind_int64(s, 4, (int64_t)run);
		rc = take(s, rc, bounded(limit), a, &list);
	}
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*ret = list;
	return e;
}

/* `least` is bound where it is asked for. */
static enum err look_for(struct reader *r, enum read_sql which, struct str agent, struct str text,
			 unsigned least, unsigned limit, struct arena *a, struct read_memories *ret,
			 struct why *why)
{
	_cleanup_(buf_free) struct buf query = { 0 };
	struct read_memories list = { 0 };
	sqlite3_stmt *s = r->stmt[which];
	bool ranked = which == READ_MEMORIES_ABOUT;
	if (!write_query(&query, agent, text, ranked)) {
		*ret = list;
		return OK;
	}
	if (query.failed)
		return why_set(why, E_NOMEM, WHY_NOWHERE, "out of memory");
	int rc = reader_begin(r);
	if (rc == SQLITE_OK) {
		DB_BIND(s, bounded(limit) + 1);
		rc = ranked ? sqlite3_bind_int64(s, 3, least) : SQLITE_OK;
		if (rc == SQLITE_OK)
			rc = db_bind_text(s, 2, buf_str(&query));
		rc = take(s, rc, bounded(limit), a, &list);
	}
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*ret = list;
	return e;
}

enum err read_memories_about(struct reader *r, struct str agent, struct str text, unsigned least,
			     unsigned limit, struct arena *a, struct read_memories *ret, struct why *why)
{
	return look_for(r, READ_MEMORIES_ABOUT, agent, text, least, limit, a, ret, why);
}

enum err read_memories_with(struct reader *r, struct str agent, struct str text, unsigned limit,
			    struct arena *a, struct read_memories *ret, struct why *why)
{
	return look_for(r, READ_MEMORIES_WITH, agent, text, 0, limit, a, ret, why);
}
