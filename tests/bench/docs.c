/* Benchmark of reading documents: 100,000 schedules as YAML and as JSON, from text to rules. The peer is
 * libyaml's loop over the same text, which discards its events. Prints figures as JSON lines. */
#include "base/buf.h"
#include "core/doc/doc.h"
#include "host/docfile.h"
#include "zoneinfo.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <yaml.h>

enum { SCHEDULES = 100000, ROUNDS = 5 };

static void write_yaml(struct buf *out)
{
	for (unsigned i = 0; i < SCHEDULES; i++)
		buf_addf(
			out,
			"%s- id: job-%u\n"
			"  name: Job number %u\n"
			"  tags: [nightly, team-%u]\n"
			"  expression: \"%u %u * * *\"\n"
			"  timezone: Europe/Berlin\n"
			"  window: 15m\n"
			"  action: { type: command, command: [/usr/bin/report, --team, \"%u\"], cwd: /srv }\n"
			"  retry: { max_attempts: 3, backoff: exponential, initial_delay: 60 }\n"
			"  timeout: 300\n",
			i ? "" : "schedules:\n", i, i, i % 50, i % 60, i % 24, i % 50);
}

static void write_json(struct buf *out)
{
	for (unsigned i = 0; i < SCHEDULES; i++)
		buf_addf(out,
			 "%s{\"id\":\"job-%u\",\"name\":\"Job number %u\",\"tags\":[\"nightly\",\"team-%u\"],"
			 "\"expression\":\"%u %u * * *\",\"timezone\":\"Europe/Berlin\",\"window\":\"15m\","
			 "\"action\":{\"type\":\"command\",\"command\":[\"/usr/bin/"
			 "report\",\"--team\",\"%u\"],"
			 "\"cwd\":\"/srv\"},\"retry\":{\"max_attempts\":3,\"backoff\":\"exponential\","
			 "\"initial_delay\":60},\"timeout\":300}",
			 i ? "," : "{\"schedules\":[", i, i, i % 50, i % 60, i % 24, i % 50);
	buf_add(out, STR("]}"));
}

/* Parses the text and discards every event. */
static void parse_bare(struct str text)
{
	yaml_parser_t parser;
	yaml_event_t event;
	bool end = false;
	if (!yaml_parser_initialize(&parser))
		exit(1);
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text.p, text.n);
	while (!end) {
		if (!yaml_parser_parse(&parser, &event))
			exit(1);
		end = event.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
}

struct times {
	double parse, whole; /* ms */
	size_t bytes;
};

/* CPU time of this process in ms. Real time is not used, because other processes may be busy. */
static double cpu_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static size_t bytes_in_use(void)
{
	struct mallinfo2 m = mallinfo2();
	return m.uordblks + m.hblkhd;
}

static struct times read_ours(const char *name, struct str text)
{
	struct doc_env env = { .when = { .now = wall_of(1794751200), /* 2026-11-15T14:00:00Z */
					 .zones = test_zones(),
					 .zone = test_zone("UTC"),
					 .zone_name = STR("UTC") } };
	struct arena a = { 0 };
	struct why why = { 0 };
	struct val v;
	struct doc_list list;
	struct times t;
	size_t before = bytes_in_use();
	double start = cpu_ms();
	if (docfile_parse(str_of(name), text, &a, &v, &why))
		exit(1);
	t.parse = cpu_ms() - start;
	if (doc_read(text, &v, &env, &a, &list, &why) || list.n != SCHEDULES)
		exit(1);
	t.whole = cpu_ms() - start;
	t.bytes = bytes_in_use() - before;
	arena_free(&a);
	return t;
}

static double least(double a, double b)
{
	return a && a < b ? a : b;
}

static void print_figure(const char *name, double mine, double peer, const char *unit)
{
	printf("{\"name\":\"%s\",\"ours\":%.1f,\"peer\":%.1f,\"ratio\":%.2f,\"unit\":\"%s\"}\n", name, mine,
	       peer, mine / peer, unit);
}

int main(void)
{
	struct buf yaml = { 0 }, json = { 0 };
	struct times y = { 0 }, j = { 0 };
	double peer = 0;
	write_yaml(&yaml);
	write_json(&json);
	if (yaml.failed || json.failed)
		return 1;
	for (unsigned i = 0; i < ROUNDS; i++) {
		double start = cpu_ms();
		parse_bare(buf_str(&yaml));
		peer = least(peer, cpu_ms() - start);
		struct times t = read_ours("x.yaml", buf_str(&yaml));
		y = (struct times){ least(y.parse, t.parse), least(y.whole, t.whole), t.bytes };
		t = read_ours("x.json", buf_str(&json));
		j = (struct times){ least(j.parse, t.parse), least(j.whole, t.whole), t.bytes };
	}
	print_figure("docs.yaml-values", y.parse, peer, "ms");
	print_figure("docs.yaml-100k", y.whole, peer, "ms");
	print_figure("docs.check-100k", y.whole - y.parse, peer, "ms");
	print_figure("docs.json-values", j.parse, peer, "ms");
	print_figure("docs.json-100k", j.whole, peer, "ms");
	print_figure("docs.memory-100k", (double)y.bytes / 1e6, (double)yaml.n / 1e6, "MB");
	buf_free(&yaml);
	buf_free(&json);
	return 0;
}
