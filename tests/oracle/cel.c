/* Evaluates expressions for conformance.mjs. Each line of input is {"expr": HEX, "bindings": {NAME: VALUE}};
 * each line of output is {"value": VALUE} or {"error": TEXT, "syntax": BOOL}. VALUE has the form of cel-spec,
 * such as
 * {"int64Value": "1"}, since JSON does not have all kinds of CEL. */
#include "base/buf.h"
#include "base/json.h"
#include "core/expr/expr.h"
#include "host/zoneinfo.h"

#include <stdio.h>
#include <stdlib.h>

static struct expr_value value_of(const struct val *v, struct arena *a);

static struct expr_value evaluated(const char *text, struct arena *a)
{
	const struct expr *e;
	struct expr_env env = { 0 };
	struct expr_value v;
	if (expr_compile(str_of(text), NULL, a, &e, NULL) || expr_eval(e, &env, a, &v, NULL)) {
		fprintf(stderr, "cannot evaluate %s\n", text);
		exit(1);
	}
	return v;
}

static struct expr_value list_of(const struct val *v, struct arena *a)
{
	const struct val *all = val_get(v, STR("values"));
	unsigned n = all ? all->list.n : 0;
	struct expr_value *item = arena_alloc(a, (n + 1) * sizeof *item);
	for (unsigned i = 0; i < n; i++)
		item[i] = value_of(&all->list.item[i], a);
	return (struct expr_value){ .kind = EXPR_LIST, .n = n, .item = item };
}

static struct expr_value map_of(const struct val *v, struct arena *a)
{
	const struct val *all = val_get(v, STR("entries"));
	unsigned n = all ? all->list.n : 0;
	struct expr_pair *pair = arena_alloc(a, (n + 1) * sizeof *pair);
	for (unsigned i = 0; i < n; i++)
		pair[i] = (struct expr_pair){ value_of(val_get(&all->list.item[i], STR("key")), a),
					      value_of(val_get(&all->list.item[i], STR("value")), a) };
	return (struct expr_value){ .kind = EXPR_MAP, .n = n, .pair = pair };
}

static struct expr_value object_of(const struct val *v, struct arena *a)
{
	struct str type = val_get(v, STR("@type"))->str, text = val_get(v, STR("value"))->str;
	bool duration = memmem(type.p, type.n, "Duration", 8);
	return evaluated(arena_printf(a, "%s('%.*s')", duration ? "duration" : "timestamp", STR_ARG(text)),
			 a);
}

static struct expr_value value_of(const struct val *v, struct arena *a)
{
	struct str kind = v->map.pair[0].key;
	const struct val *in = &v->map.pair[0].value;
	struct expr_value plain = expr_of(in);
	if (str_eq(kind, STR("int64Value")))
		return (struct expr_value){ .kind = EXPR_INT, .integer = strtoll(in->str.p, NULL, 10) };
	if (str_eq(kind, STR("uint64Value")))
		return (struct expr_value){ .kind = EXPR_UINT, .whole = strtoull(in->str.p, NULL, 10) };
	if (str_eq(kind, STR("doubleValue"))) {
		double d = in->kind == VAL_STR   ? strtod(in->str.p, NULL)
			   : in->kind == VAL_INT ? (double)in->integer
						 : in->real;
		return (struct expr_value){ .kind = EXPR_DOUBLE, .real = d };
	}
	if (str_eq(kind, STR("bytesHex"))) /* conformance.mjs decodes the base64 */
		return evaluated(arena_printf(a, "b'%.*s'", STR_ARG(in->str)), a);
	if (str_eq(kind, STR("listValue")))
		return list_of(in, a);
	if (str_eq(kind, STR("mapValue")))
		return map_of(in, a);
	if (str_eq(kind, STR("objectValue")))
		return object_of(in, a);
	return plain; /* boolValue, stringValue, nullValue */
}

static void write_value(const struct expr_value *v, struct arena *a, struct buf *out)
{
	static const char *const kinds[] = {
		[EXPR_NULL] = "nullValue",      [EXPR_BOOL] = "boolValue",     [EXPR_INT] = "int64Value",
		[EXPR_UINT] = "uint64Value",    [EXPR_DOUBLE] = "doubleValue", [EXPR_STRING] = "stringValue",
		[EXPR_BYTES] = "bytesValue",    [EXPR_LIST] = "listValue",     [EXPR_MAP] = "mapValue",
		[EXPR_TIMESTAMP] = "timestamp", [EXPR_DURATION] = "duration",
	};
	bool whole = v->kind == EXPR_INT || v->kind == EXPR_UINT;
	buf_addf(out, "{\"%s\":", kinds[v->kind]);
	if (v->kind != EXPR_LIST && v->kind != EXPR_MAP) {
		buf_add(out, whole ? STR("\"") : STR(""));
		enum err e = expr_write(v, NULL, a, out, NULL);
		assert(e == OK);
		buf_add(out, whole ? STR("\"}") : STR("}"));
		return;
	}
	buf_add(out, v->kind == EXPR_LIST ? STR("{\"values\":[") : STR("{\"entries\":["));
	for (unsigned i = 0; i < v->n; i++) {
		buf_add(out, i ? STR(",") : STR(""));
		if (v->kind == EXPR_LIST) {
			struct expr_value item = expr_item(v, i);
			write_value(&item, a, out);
			continue;
		}
		struct expr_pair p = expr_pair(v, i);
		buf_add(out, STR("{\"key\":"));
		write_value(&p.key, a, out);
		buf_add(out, STR(",\"value\":"));
		write_value(&p.value, a, out);
		buf_addc(out, '}');
	}
	buf_add(out, STR("]}}"));
}

struct scope {
	const struct val *bindings;
	struct arena *arena;
};

static bool find_binding(void *self, struct str name, struct expr_value *ret)
{
	struct scope *s = self;
	const struct val *v = s->bindings ? val_get(s->bindings, name) : NULL;
	if (v)
		*ret = value_of(v, s->arena);
	return v;
}

static struct str from_hex(struct str hex, struct arena *a)
{
	char *text = arena_alloc(a, hex.n / 2 + 1);
	for (size_t i = 0; i + 1 < hex.n; i += 2)
		text[i / 2] = (char)strtol((char[]){ hex.p[i], hex.p[i + 1], 0 }, NULL, 16);
	return (struct str){ text, hex.n / 2 };
}

static void answer_line(struct str line, const struct zone_source *zones, struct arena *a, struct buf *out)
{
	struct val v;
	struct why why = { 0 };
	const struct expr *expr;
	struct expr_value value;
	enum err e = json_read(line, a, &v, &why);
	struct scope scope = { e ? NULL : val_get(&v, STR("bindings")), a };
	struct expr_env env = { .find = find_binding, .self = &scope, .zones = zones };
	bool syntax = false;
	if (!e) {
		e = expr_compile(from_hex(val_get(&v, STR("expr"))->str, a), NULL, a, &expr, &why);
		syntax = e != OK;
	}
	if (!e)
		e = expr_eval(expr, &env, a, &value, &why);
	if (e) {
		buf_add(out, STR("{\"error\":"));
		json_write_str(out, str_of(why.text));
		buf_addf(out, ",\"syntax\":%s}", syntax ? "true" : "false");
		return;
	}
	buf_add(out, STR("{\"value\":"));
	write_value(&value, a, out);
	buf_addc(out, '}');
}

int main(void)
{
	char *line = NULL;
	size_t room = 0;
	_cleanup_(zoneinfo_closep) struct zoneinfo *zones = NULL;
	if (zoneinfo_open(&zones))
		return 1;
	for (ssize_t n; (n = getline(&line, &room, stdin)) > 0;) {
		struct arena a = { 0 };
		struct buf out = { 0 };
		answer_line((struct str){ line, (size_t)n }, zoneinfo_source(zones), &a, &out);
		puts(buf_str(&out).p);
		buf_free(&out);
		arena_free(&a);
	}
	free(line);
	return 0;
}
