/* Headlines: keyword, priority, title, tags. */
#include "core/org/headline.h"
#include "core/org/line.h"
#include "core/org/unicode.h"

unsigned headline_level(struct str line)
{
	unsigned stars = 0;
	while (stars < line.n && line.p[stars] == '*')
		stars++;
	return stars && stars < line.n && line.p[stars] == ' ' ? stars : 0;
}

/* Org trims carriage returns as well as blanks. */
static struct str trim(struct str s)
{
	while (s.n && (is_blank(s.p[0]) || s.p[0] == '\r'))
		s = str_from(s, 1);
	while (s.n && (is_blank(s.p[s.n - 1]) || s.p[s.n - 1] == '\r'))
		s.n--;
	return s;
}

/* A keyword is followed by a space: a headline that consists of a keyword has it as its title. */
static size_t read_state(const struct org *o, struct str line, size_t at, struct org_head *h)
{
	struct str rest = str_from(line, at);
	for (unsigned i = 0; i < o->keywords; i++) {
		struct str name = o->keyword[i].name;
		if (!name.n || !str_starts(rest, name) || rest.n == name.n || rest.p[name.n] != ' ')
			continue;
		h->keyword = i;
		h->state = span_of(o, str_sub(rest, 0, name.n));
		return skip_blanks(line, at + name.n);
	}
	return at;
}

/* [#A], where A is any one character. */
static size_t read_priority(const struct org *o, struct str line, size_t at, struct org_head *h)
{
	unsigned n;
	if (!str_starts(str_from(line, at), STR("[#")) || line.n - at < 4)
		return at;
	char_at(line, at + 2, &n);
	if (at + 2 + n >= line.n || line.p[at + 2 + n] != ']')
		return at;
	h->priority = span_of(o, str_sub(line, at + 2, at + 2 + n));
	return skip_blanks(line, at + 3 + n);
}

static size_t read_comment(struct str line, size_t at, struct org_head *h)
{
	struct str word = STR("COMMENT");
	if (!str_starts(str_from(line, at), word))
		return at;
	size_t after = at + word.n;
	if (after < line.n && !is_blank(line.p[after]) && line.p[after] != '\r')
		return at;
	h->commented = true;
	return after;
}

static bool are_tags(struct str word)
{
	unsigned n;
	if (word.n < 3 || word.p[0] != ':' || word.p[word.n - 1] != ':')
		return false;
	for (size_t at = 1; at + 1 < word.n; at += n) {
		uint32_t c = char_at(word, at, &n);
		if (!char_is_alnum(c) && c != ':' && c != '_' && c != '@' && c != '#' && c != '%')
			return false;
	}
	return true;
}

/* Tags are the last word, after a blank that is at or after `from`. Returns the end of the title. */
static size_t read_tags(const struct org *o, struct str line, size_t from, struct org_head *h)
{
	size_t end = line.n;
	while (end > from && is_blank(line.p[end - 1]))
		end--;
	size_t word = end;
	while (word > from && !is_blank(line.p[word - 1]))
		word--;
	if (word == from || !are_tags(str_sub(line, word, end)))
		return line.n;
	h->tags = span_of(o, str_sub(line, word, end));
	return word;
}

void headline_read(const struct org *o, struct org_head *h)
{
	struct str line = line_until(o, h->at, h->body);
	size_t text = skip_blanks(line, h->level);
	size_t at = read_state(o, line, text, h);
	at = read_priority(o, line, at, h);
	at = read_comment(line, at, h);
	/* "* :tag:" has a tag and no title: the blank before the tag belongs to the stars. */
	if (at == text)
		at = h->level;
	h->title = span_of(o, trim(str_sub(line, at, read_tags(o, line, at, h))));
}

bool org_tag_next(struct str *tags, struct str *ret)
{
	struct str rest = *tags;
	if (rest.n < 2)
		return false;
	rest = str_from(rest, 1); /* the colon before the tag */
	str_cut(&rest, ':', ret);
	*tags = str_from(*tags, ret->n + 1);
	return true;
}

bool org_has_tag(const struct org *o, const struct org_head *h, struct str tag)
{
	struct str tags = org_text(o, h->tags);
	for (size_t at = 0; at + tag.n + 1 < tags.n; at++)
		if (tags.p[at] == ':' && tags.p[at + tag.n + 1] == ':' &&
		    memcmp(tags.p + at + 1, tag.p, tag.n) == 0)
			return true;
	return false;
}
