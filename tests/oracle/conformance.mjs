// Runs CEL's own conformance tests (cel-spec, from npm's @bufbuild/cel-spec) for the subset of CEL that rota supports.
//
//   node tests/oracle/conformance.mjs CEL_PROGRAM
//
// Every case of every file below runs, unless it uses a feature that rota does not support: then it is counted under that
// feature. The features of a case are found in its expression, its bindings and its result, never by its name. The tests of
// cel-go's parser run as well: rota must accept and refuse the same texts.
import { spawnSync } from "node:child_process";
import { tests } from "@bufbuild/cel-spec/testdata/conformance.js";
import { tests as parsing } from "@bufbuild/cel-spec/testdata/parsing.js";

/* All files except those about extensions or protobuf only. */
const FILES = [
    "basic",
    "comparisons",
    "conversions",
    "dynamic",
    "enums",
    "fields",
    "fp_math",
    "integer_math",
    "lists",
    "logic",
    "macros",
    "macros2",
    "namespace",
    "parse",
    "plumbing",
    "proto2",
    "proto3",
    "string",
    "timestamps",
    "type_deductions",
    "unknowns",
    "wrappers",
];

const PARSER = "parser of cel-go";

/* ---- the features of a case ---- */

const TIMES = /^type\.googleapis\.com\/google\.protobuf\.(Timestamp|Duration)$/;
const MACROS = new Set(["all", "exists", "exists_one", "existsOne", "map", "filter", "transformList", "transformMap"]);
const CONVERSIONS = new Set(["int", "uint", "double", "string", "bytes", "bool"]);
const TYPES = new Set([...CONVERSIONS, "list", "map", "null_type", "type"]);
const OURS = new Set(
    ("has size startsWith endsWith contains duration timestamp getFullYear getMonth getDate getDayOfMonth getDayOfWeek " +
        "getDayOfYear getHours getMinutes getSeconds getMilliseconds").split(" "),
);

/* Splits an expression into words and punctuation; a text in quotes is one word. */
const TOKEN =
    /\/\/[^\n]*|(?:[rRbB]{1,2})?(?:"""(?:\\.|[^\\])*?"""|'''(?:\\.|[^\\])*?'''|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|`[^`]*`|[A-Za-z_]\w*|\d\w*(?:\.\d\w*)?|\s+|./gsu;

function* featuresOf(test) {
    if (test.checkOnly) yield "types found out without evaluating";
    const tokens = test.expr.match(TOKEN).filter((t) => !/^(\s+|\/\/.*)$/s.test(t));
    const word = (t) => /^[A-Za-z_]\w*$/.test(t ?? "");
    for (const [i, t] of tokens.entries()) {
        const [before, after] = [tokens[i - 1], tokens[i + 1]];
        if (word(t) && after === "(" && !OURS.has(t) && t !== "dyn") yield callFeature(tokens, i);
        if (word(t) && after === "{" && t !== "in") yield "messages of protobuf";
        if (word(t) && before !== "." && after !== "(" && TYPES.has(t)) yield "types as values";
        if (t === "google" && before !== "." && tokens[i + 2] === "protobuf") yield "messages of protobuf";
    }
    for (const [name, b] of Object.entries(test.bindings ?? {})) {
        if (name.includes(".")) yield "names with dots in them";
        yield* valueFeatures(b.value);
    }
    if (test.container) yield* containerFeatures(test, tokens);
    yield* valueFeatures(test.value ?? test.typedResult?.result);
}

/* The feature of a call of a function that rota does not have. */
function callFeature(tokens, i) {
    const t = tokens[i];
    const method = tokens[i - 1] === ".";
    if (MACROS.has(t) && method) return "macros";
    if (CONVERSIONS.has(t) && !method) return "conversions between kinds";
    if (t === "matches") return "regular expressions";
    if (t === "type" && !method) return "types as values";
    if (/^[A-Z]/.test(t)) return "enums of protobuf";
    return undefined; // unknown in CEL, too: an error when it is evaluated
}

/* A container matters only if a name of the expression is looked up in it. */
function* containerFeatures(test, tokens) {
    const names = tokens.filter((t, i) => /^[A-Za-z_]\w*$/.test(t) && tokens[i - 1] !== ".");
    const bound = new Set(Object.keys(test.bindings ?? {}));
    if (names.some((n) => !bound.has(n) && !OURS.has(n) && !/^(true|false|null|in|dyn)$/.test(n)))
        yield "names in containers";
}

function* valueFeatures(v) {
    for (const [kind, inner] of Object.entries(v ?? {})) {
        if (kind === "objectValue" && !TIMES.test(inner["@type"])) yield "messages of protobuf";
        if (kind === "enumValue") yield "enums of protobuf";
        if (kind === "typeValue") yield "types as values";
        for (const item of inner?.values ?? []) yield* valueFeatures(item);
        for (const { key, value } of inner?.entries ?? []) {
            yield* valueFeatures(key);
            yield* valueFeatures(value);
        }
    }
}

/* ---- requests and answers ---- */

/* dyn() only silences CEL's type checker, which rota does not have: brackets have the same effect. */
const asked = (test) => ({
    expr: Buffer.from(test.expr.replace(/\bdyn\s*\(/g, "(")).toString("hex"), // rota's JSON does not allow U+0000
    bindings: Object.fromEntries(
        Object.entries(test.bindings ?? {}).map(([name, b]) => [name, sent(b.value)]),
    ),
});

function sent(v) {
    const [kind, inner] = Object.entries(v)[0];
    if (kind === "bytesValue") {
        const hex = Buffer.from(inner, "base64").toString("hex");
        return { bytesHex: hex.replace(/../g, "\\x$&") };
    }
    if (kind === "listValue") return { listValue: { values: (inner.values ?? []).map(sent) } };
    if (kind === "mapValue")
        return {
            mapValue: {
                entries: (inner.entries ?? []).map((e) => ({ key: sent(e.key), value: sent(e.value) })),
            },
        };
    return v;
}

/* Equal values give equal texts, whatever the order of maps. */
function canonical(v) {
    const [kind, inner] = Object.entries(v)[0];
    switch (kind) {
        case "listValue":
            return `list[${(inner.values ?? []).map(canonical).join()}]`;
        case "mapValue":
            return `map{${(inner.entries ?? [])
                .map((e) => `${canonical(e.key)}:${canonical(e.value)}`)
                .sort()
                .join()}}`;
        case "objectValue":
            return `${/\w+$/.exec(inner["@type"])[0].toLowerCase()}:${inner.value}`;
        case "doubleValue":
            return `double:${Object.is(Number(inner), -0) ? 0 : Number(inner)}`;
        default:
            return `${kind.replace("Value", "")}:${inner}`;
    }
}

/* Errors of cel-go's parser that do not concern the language. */
function parserFeature(error) {
    if (/(recursion|lookahead) (depth|limit)|limit exceeded/.test(error)) return "limits of cel-go's parser";
    if (/unsupported syntax: '`'/.test(error)) return "options of cel-go's parser";
    return undefined;
}

const cases = [];
const excluded = {};
function collect(suite, path) {
    for (const { original: test, ast, error } of suite.tests ?? []) {
        const parses = path.startsWith(PARSER) ? { parses: ast !== undefined } : {};
        const features = [...featuresOf(test), parses.parses === false && parserFeature(error)];
        const [feature] = features.filter(Boolean);
        if (feature) excluded[feature] = (excluded[feature] ?? 0) + 1;
        else cases.push({ where: `${path}/${test.name ?? ""}`, test, ...parses });
    }
    for (const inner of suite.suites ?? []) collect(inner, path ? `${path}/${inner.name}` : inner.name);
}
for (const name of FILES) {
    const suite = tests.suites.find((s) => s.name === name);
    if (!suite) throw new Error(`cel-spec has no ${name} any more`);
    collect(suite, name);
}
collect(parsing, PARSER);

const done = spawnSync(process.argv[2], {
    input: cases.map(({ test }) => JSON.stringify(asked(test)) + "\n").join(""),
    encoding: "utf8",
    maxBuffer: 1 << 26,
});
const answers = done.stdout.split("\n").filter(Boolean).map((line) => JSON.parse(line));
let passed = 0;
let failed = done.status || answers.length !== cases.length ? 1 : 0;
if (failed) console.log(`the program ended with ${done.status ?? done.signal}: ${done.stderr}`);
const counts = {};
cases.forEach(({ where, test, parses }, i) => {
    const want = test.value ?? test.typedResult?.result;
    const answer = answers[i] ?? {};
    let wanted = test.evalError ? "an error" : want ? canonical(want) : "bool:true";
    let got = answer.error ? "an error" : answer.value ? canonical(answer.value) : "nothing";
    if (parses !== undefined) {
        wanted = parses ? "read" : "refused";
        got = answer.syntax ? "refused" : "read";
    }
    const file = where.split("/")[0];
    counts[file] = (counts[file] ?? 0) + 1;
    if (got === wanted) {
        passed++;
        return;
    }
    failed++;
    console.log(`${where}: ${test.expr}\n    ${got}${answer.error ? ` (${answer.error})` : ""}, not ${wanted}`);
});
console.log("run:");
for (const [file, n] of Object.entries(counts)) console.log(`${String(n).padStart(6)}  ${file}`);
console.log("left out, because the case uses:");
for (const [feature, n] of Object.entries(excluded).sort((a, b) => b[1] - a[1]))
    console.log(`${String(n).padStart(6)}  ${feature}`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
