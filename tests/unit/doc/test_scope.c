/* The names that conditions and templates of a run can use, and the same as JSON. */
#include "base/json.h"
#include "core/doc/run_scope.h"
#include "core/model.h"
#include "test.h"

struct scope_test {
	struct arena arena;
	struct zone *zone;
	struct schedule_doc doc;
	struct run_row run, before;
	struct run_scope scope;
	struct why why;
};

static struct val read(struct scope_test *s, const char *text)
{
	struct val v = { 0 };
	CHECK_INT(json_read(str_of(text), &s->arena, &v, &s->why), OK);
	return v;
}

static void open_test(struct scope_test *s)
{
	*s = (struct scope_test){ 0 };
	CHECK_INT(zone_fixed(-5 * 3600, &s->zone), OK);
	s->doc.id = STR("daily");
	s->doc.when.zone = s->zone;
	s->doc.when.zone_name = STR("America/New_York");
	s->run = (struct run_row){
		.run = 7,
		.nominal = wall_of(1794801600),
		.kind = KIND_CATCH_UP,
		.missed = 2 /* 2026-11-16T04:00Z */
	};
	s->before = (struct run_row){ .run = 6, .outcome = OUTCOME_FAILED };
	s->scope = (struct run_scope){ .doc = &s->doc, .run = &s->run, .attempt = 3 };
}

static void close_test(struct scope_test *s)
{
	zone_free(s->zone);
	arena_free(&s->arena);
}

TEST(scope_as_json)
{
	struct scope_test s;
	struct val v;
	struct buf text = { 0 };
	open_test(&s);
	CHECK_INT(run_scope_value(&s.scope, &(struct expr_env){ 0 }, &s.arena, &v, &s.why), OK);
	json_write(&text, &v);
	CHECK_STR(
		text.p,
		"{\"agent\":{\"user\":{}},\"date\":\"2026-11-15\",\"day_of_week\":\"Sunday\",\"memory\":[],"
		"\"previous\":{},\"run\":{\"attempt\":3,\"catch_up\":true,\"fence\":0,\"id\":7,\"missed\":2,"
		"\"missed_since\":null,\"nominal\":\"2026-11-15T23:00:00-05:00\"},\"schedule\":{"
		"\"description\":\"\",\"id\":"
		"\"daily\","
		"\"name\":\"daily\",\"tags\":[],\"timezone\":\"America/"
		"New_York\"},\"task\":null,\"time\":\"23:00\","
		"\"timestamp\":\"2026-11-15T23:00:00-05:00\",\"user\":{},\"variables\":{}}");
	buf_free(&text);
	close_test(&s);
}

static void expect(struct scope_test *s, int line, const char *template, const char *want)
{
	struct val v;
	struct buf text = { 0 };
	const struct template *t;
	struct scope_view view = { &v, s->run.nominal };
	struct expr_env env = {
		.find = run_scope_find, .self = &view, .names = &run_scope_names, .zone = s->zone
	};
	s->why = (struct why){ .at = WHY_NOWHERE };
	enum err e = run_scope_value(&s->scope, &env, &s->arena, &v, &s->why);
	if (!e)
		e = template_compile(str_of(template), &run_scope_names, &s->arena, &t, &s->why);
	if (!e)
		e = template_render(t, &env, &s->arena, &text, &s->why);
	CHECK_STR_AT(line, e ? s->why.text : buf_str(&text).p, want);
	buf_free(&text);
}

TEST(names_in_templates)
{
	struct scope_test s;
	open_test(&s);
	expect(&s, __LINE__, "{{ date }} {{ time }} {{ day_of_week }}", "2026-11-15 23:00 Sunday");
	expect(&s, __LINE__, "{{ timestamp }}", "2026-11-15T23:00:00-05:00");
	expect(&s, __LINE__, "{{ timestamp + duration('1h') }}", "2026-11-16T00:00:00-05:00");
	expect(&s, __LINE__, "{{ run.catch_up && run.missed == 2 }}", "true");
	expect(&s, __LINE__, "{{ run.missed_since }}", "null");
	s.scope.missed_since = wall_of(1794801600 - 7200);
	expect(&s, __LINE__, "{{ run.missed_since }}", "2026-11-15T21:00:00-05:00");
	expect(&s, __LINE__, "{{ has(previous.outcome) }}", "false");
	s.scope.previous = &s.before;
	s.scope.result = STR("said so");
	expect(&s, __LINE__, "{{ previous.outcome }}: {{ previous.result }}", "failed: said so");
	expect(&s, __LINE__, "{{ usr }}", "'usr' is not a name in scope (near: user)");
	s.scope.user = read(&s, "{\"name\":\"Ann\"}");
	s.scope.agent = read(&s, "{\"level\":3,\"user\":\"hidden\"}");
	expect(&s, __LINE__, "{{ user }} {{ agent.user.name }} {{ agent.level }}", "Ann Ann 3");
	close_test(&s);
}

TEST(variables_are_templates)
{
	struct scope_test s;
	open_test(&s);
	s.doc.variables = read(&s, "{\"a\":\"on {{ date }}\",\"b\":[{\"c\":\"{{ run.id }}\"}],\"n\":5}");
	expect(&s, __LINE__, "{{ variables.a }} {{ variables.b[0].c }} {{ variables.n + 1 }}",
	       "on 2026-11-15 7 6");
	s.doc.variables = read(&s, "{\"a\":\"{{ variables.n }}\",\"n\":5}");
	expect(&s, __LINE__, "x", "variable a: 'variables' is not a name in scope, at column 4");
	s.doc.variables = read(&s, "{\"a\":\"{{ user.name }}\"}");
	expect(&s, __LINE__, "x", "variable a: there is no field 'name', at column 9");
	close_test(&s);
}
