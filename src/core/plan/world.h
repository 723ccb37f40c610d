#pragma once
/* Workflows of a plan. A headline tagged :workflow: is one; headlines below it that are tagged :component:
 * and have a source block are its components, unless they belong to a workflow in between, which is a
 * sub-workflow. Pure. */
#include "base/buf.h"
#include "core/org/org.h"

/* Words of a header argument, in order. */
struct word_array {
	struct str *word;
	unsigned n;
};

struct component {
	struct str name;
	uint32_t line;
	bool has_source;
	struct str lang; /* empty: none */
	struct word_array deps, uses, in;
	struct str in_text; /* as it is written */
	struct str out, persist, dir, timeout;
	struct str src; /* with its common indentation removed, and without the commas of org */
};

struct world {
	struct str name;
	uint32_t head; /* index of its headline */
	struct component *component;
	unsigned components;
	struct world *sub;
	unsigned subs;
};

struct worlds {
	const struct org *org;
	struct world *world;
	unsigned n;
};

must_check enum err worlds_compile(const struct org *o, struct arena *a, struct worlds *ret, struct why *why);
/* Appends {"worlds":[{"name","schedule","imports","exports","components","edges","workflows"}]}. */
must_check enum err worlds_write(const struct worlds *w, struct arena *a, struct buf *out);

/* The component of this name; NULL: none. */
const struct component *world_component(const struct world *w, struct str name);
/* The component whose output this is; NULL: none. */
const struct component *world_producer(const struct world *w, struct str output);
/* Is the output used by a component of the workflow? Outputs that are not are its exports. */
bool world_consumes(const struct world *w, struct str output);
/* The component whose output is the export of this name; NULL: none. */
const struct component *world_export(const struct world *w, struct str name);
/* Does component `of` wait for `other`, by :deps or by an input? */
bool component_waits(const struct component *of, const struct component *other);
