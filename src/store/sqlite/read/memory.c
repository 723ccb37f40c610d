/* Reads the notes of agents: lists, and full-text search. */
#include "base/buf.h"
#include "store/sqlite/read/query.h"

/* --- the words of a query --- */

/* Every byte outside ASCII may be part of a letter; if it is not, the tokenizer drops it. */
static bool is_word_byte(char c)
{
	return is_alpha(c) || is_digit(c) || (unsigned char)c >= 0x80;
}

/* Removes the next word from the front of `rest`. Empty: there is none. */
static struct str next_word(struct str *rest)
{
	size_t from = 0, end;
	while (from < rest->n && !is_word_byte(rest->p[from]))
		from++;
	for (end = from; end < rest->n && is_word_byte(rest->p[end]);)
		end++;
	struct str word = str_sub(*rest, from, end);
	*rest = str_from(*rest, end);
	return word;
}

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xC0) == 0x80;
}

/* The first characters of a text, at most `most` bytes. */
static struct str first_bytes(struct str s, size_t most)
{
	size_t n = s.n < most ? s.n : most;
	while (n > 0 && n < s.n && is_continuation(s.p[n]))
		n--;
	return str_sub(s, 0, n);
}

/* Stop words of the languages in which most notes are written. BM25 gives little weight to a frequent word,
 * but not if there are few notes. */
static bool is_stop_word(struct str word)
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

/* The beginning that a word shares with its other forms, such as Rechnung and Rechnungen. The stemmer does
 * not find those, because it knows only English. Empty: the word is too short. */
static struct str common_prefix(struct str word)
{
	enum { LEAST = 5, ENDING = 2 };
	size_t at = 0, letters = 0;
	for (size_t i = 0; i < word.n; i++)
		letters += !is_continuation(word.p[i]);
	if (letters <= LEAST)
		return (struct str){ 0 };
	size_t keep = letters - ENDING > LEAST ? letters - ENDING : LEAST;
	for (size_t seen = 0; at < word.n; at++) {
		seen += !is_continuation(word.p[at]);
		if (seen > keep)
			break;
	}
	return str_sub(word, 0, at);
}

static bool is_in_list(const struct str *list, unsigned n, struct str word)
{
	for (unsigned i = 0; i < n; i++)
		if (str_ieq(list[i], word))
			return true;
	return false;
}

/* Writes an FTS5 query. Each word is put in quotes, so that none is an operator; a word contains no quote
 * itself. `prefixes`: also finds words with the same beginning, which scans those words in the notes of all
 * agents. False: there is no word to search. */
static bool write_query(struct buf *out, struct str agent, struct str text, bool prefixes)
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
		word = first_bytes(word, READ_QUERY_BYTES);
		if (word.n < 2 || is_stop_word(word) || is_in_list(known, n, word))
			continue;
		buf_addf(out, "%s\"%.*s\"", n ? " OR " : "", STR_ARG(word));
		struct str prefix = prefixes ? common_prefix(word) : (struct str){ 0 };
		if (prefix.n)
			buf_addf(out, " OR \"%.*s\" *", STR_ARG(prefix));
		known[n++] = word;
	}
	buf_addc(out, ')');
	return n > 0;
}

/* --- answers --- */

static int read_memory_row(sqlite3_stmt *s, struct arena *a, void *item)
{
	struct read_memory *m = item;
	if (!memory_row_read(s, 0, &m->row))
		return ROW_INVALID;
	m->schedule = text_read(s, MEMORY_PARAMS);
	return query_copied(query_copy_text(a, &m->row.agent) && query_copy_text(a, &m->row.text) &&
			    query_copy_text(a, &m->row.tags) && query_copy_text(a, &m->schedule));
}

static const struct row_kind memory_kind = { sizeof(struct read_memory), read_memory_row, 0 };

enum err sqlite_read_memory(struct reader *reader, uint64_t number, struct arena *a, struct read_memory *ret,
			    struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	sqlite3_stmt *s = r->stmt[READ_MEMORY];
	struct read_memory found;
	int rc = reader_begin(r);
	if (rc == SQLITE_OK) {
		DB_BIND(s, (int64_t)number);
		rc = query_one(s, SQLITE_OK, &memory_kind, a, &found);
	}
	enum err e = reader_end(r, rc, why);
	if (e == OK && rc != SQLITE_ROW)
		return why_set(why, E_NOTFOUND, WHY_NOWHERE, "there is no note %llu",
			       (unsigned long long)number);
	if (e == OK)
		*ret = found;
	return e;
}

int query_memories(struct sqlite_reader *r, struct str agent, uint64_t run, uint64_t before, unsigned limit,
		   struct arena *a, struct read_memories *ret)
{
	struct row_list list = { 0 };
	sqlite3_stmt *s = r->stmt[run ? READ_MEMORIES_RUN : agent.n ? READ_MEMORIES_OF : READ_MEMORIES];
	DB_BIND(s, cursor_before(before), list_limit(limit) + 1);
	int rc = agent.n ? db_bind_text(s, 3, agent) : SQLITE_OK;
	if (rc == SQLITE_OK && run)
		rc = sqlite3_bind_int64(s, 4, (int64_t)run);
	rc = query_list(s, rc, list_limit(limit), &memory_kind, a, &list);
	*ret = (struct read_memories){ list.n, list.more, list.item };
	return rc;
}

enum err sqlite_read_memories(struct reader *reader, struct str agent, uint64_t run, uint64_t before,
			      unsigned limit, struct arena *a, struct read_memories *ret, struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	struct read_memories found = { 0 };
	int rc = reader_begin(r);
	if (rc == SQLITE_OK)
		rc = query_memories(r, agent, run, before, limit, a, &found);
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*ret = found;
	return e;
}

/* `least` is used only by READ_MEMORIES_ABOUT, the ranked search. */
static enum err search_notes(struct sqlite_reader *r, enum read_statement which, struct str agent,
			     struct str text, unsigned least, unsigned limit, struct arena *a,
			     struct read_memories *ret, struct why *why)
{
	_cleanup_(buf_free) struct buf query = { 0 };
	struct row_list list = { 0 };
	sqlite3_stmt *s = r->stmt[which];
	bool ranked = which == READ_MEMORIES_ABOUT;
	if (!write_query(&query, agent, text, ranked)) {
		*ret = (struct read_memories){ 0 };
		return OK;
	}
	if (query.failed)
		return why_set(why, E_NOMEM, WHY_NOWHERE, "out of memory");
	int rc = reader_begin(r);
	if (rc == SQLITE_OK) {
		DB_BIND(s, list_limit(limit) + 1);
		rc = ranked ? sqlite3_bind_int64(s, 3, least) : SQLITE_OK;
		if (rc == SQLITE_OK)
			rc = db_bind_text(s, 2, buf_str(&query));
		rc = query_list(s, rc, list_limit(limit), &memory_kind, a, &list);
	}
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*ret = (struct read_memories){ list.n, list.more, list.item };
	return e;
}

enum err sqlite_read_memories_about(struct reader *reader, struct str agent, struct str text, unsigned least,
				    unsigned limit, struct arena *a, struct read_memories *ret,
				    struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	return search_notes(r, READ_MEMORIES_ABOUT, agent, text, least, limit, a, ret, why);
}

enum err sqlite_read_memories_with(struct reader *reader, struct str agent, struct str text, unsigned limit,
				   struct arena *a, struct read_memories *ret, struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	return search_notes(r, READ_MEMORIES_WITH, agent, text, 0, limit, a, ret, why);
}
