// Compares `rota next --batch` with croner (npm), which shares no code with rota.
//
//   node tests/oracle/croner.mjs ROTA_BINARY [SEED]
//
// croner gets the same request, with the options that come nearest to the specification. Where the two are meant to
// differ, a named rule that quotes a sentence of the specification corrects croner's answer, and rota must equal the
// corrected answer to the second. A difference that no rule predicts fails, and so does a rule that is never needed.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Cron } from "croner";

const CASES = 3000;
const COUNT = 8; // runs requested for each expression
const HOUR = 3600; // instants are whole seconds UTC in this file
const DAY = 24 * HOUR;

/* ---- the rules by which croner's answers are corrected ---- */

const rules = {
    wrap: "wrapping ranges (`22-2`, `FRI-MON`)",
    sunday: "Day of week 0–7, 0 and 7 Sunday.",
    lastBack: "`L`, `L-3`, `LW`, …",
    lastWeekdayListed: "… lists. … `L`, `L-3`, `LW`, `15W`, …",
    both: "if either field begins with `*` or `?` both must match",
    question: "`?` (day fields only, = `*`)",
    junk: "Refused at the door: step 0, out of range, `1x`, …",
    fields: "Refused at the door: … wrong field count, …",
    never: "Refused at the door: … never-firing expressions (`0 0 30 2 *`).",
    first: 'answers "first occurrence strictly after T"',
    fold: "Otherwise each nominal local time fires exactly once: a repeated time on its first pass;",
    gap: "a time inside a gap at the first valid instant after it,",
    coalesce: "several such coalescing into one.",
    samoa: 'Real transitions from the zone\'s data, never "3600 seconds": … Samoa skipped a day in 2011.',
};
const remarks = {
    wrap: "croner refuses them; it gets a list of the values",
    sunday: "croner reads SUN-SUN and 0-SUN as 0-7; it gets 0",
    lastBack: "croner refuses L-n; it gets the day, month by month",
    lastWeekdayListed: "croner knows LW only alone; it gets a second request, and the answers are merged",
    both: "croner looks for a lone * or ?; it gets domAndDow where rota's rule differs",
    question: "croner accepts it in every field",
    junk: "croner reads 5* as 5",
    fields: "croner accepts a seventh field, the year",
    never: "croner answers with no run",
    first: "croner goes from 30 or 31 February to 1 or 2 March and skips the time between; it gets a second request from 1 March",
    fold: "croner repeats times of day that have a list, range or step",
    gap: "croner skips it if the time of day has a list, range or step",
    coalesce: "the same, with several nominal times in the gap",
    samoa: "croner shifts within the same day only",
};
const hits = Object.fromEntries(Object.keys(rules).map((k) => [k, 0]));

/* ---- the zones of node's ICU ---- */

const ZONES = [
    "America/New_York",
    "Europe/Berlin",
    "Australia/Lord_Howe",
    "America/Havana",
    "Pacific/Apia",
    "Africa/Casablanca",
    "Europe/Dublin",
    "Asia/Kolkata",
    "Pacific/Chatham",
    "America/St_Johns",
    "America/Sao_Paulo",
    "UTC",
];

const formats = new Map();

function offsetAt(zone, t) {
    if (!formats.has(zone))
        formats.set(
            zone,
            new Intl.DateTimeFormat("en-US", {
                timeZone: zone,
                hourCycle: "h23",
                year: "numeric",
                month: "numeric",
                day: "numeric",
                hour: "numeric",
                minute: "numeric",
                second: "numeric",
            }),
        );
    const p = {};
    for (const { type, value } of formats.get(zone).formatToParts(t * 1000)) p[type] = Number(value);
    return Date.UTC(p.year, p.month - 1, p.day, p.hour, p.minute, p.second) / 1000 - t;
}

/* Every clock change up to 2090, {at, before, after}. In these zones changes are more than a week apart. */
function changesOf(zone) {
    const found = [];
    const end = Date.UTC(2090, 0, 1) / 1000;
    let lo = Date.UTC(2005, 0, 1) / 1000;
    let before = offsetAt(zone, lo);
    for (; lo < end; lo += 7 * DAY) {
        const after = offsetAt(zone, lo + 7 * DAY);
        if (after === before) continue;
        let a = lo;
        let b = lo + 7 * DAY;
        while (b - a > 1) {
            const mid = Math.floor((a + b) / 2);
            if (offsetAt(zone, mid) === before) a = mid;
            else b = mid;
        }
        found.push({ at: b, before, after });
        before = after;
    }
    return found;
}

const changes = Object.fromEntries(ZONES.map((z) => [z, changesOf(z)]));

/* The instants at which only one of node and the system (by zdump) changes its clock. Node has its own zone data, which
 * may be years older than the system's (Morocco's Ramadan dates, for example). Near these instants croner is not used. */
function disputedOf(zone) {
    const text = execFileSync("zdump", ["-v", "-c", "2005,2095", zone], { encoding: "utf8" });
    const lines = [...text.matchAll(/ (\w+ \w+ +\d+ [\d:]+ \d+) UTC? = .* gmtoff=(-?\d+)/g)];
    const system = new Set();
    for (let i = 1; i < lines.length; i++)
        if (lines[i][2] !== lines[i - 1][2]) system.add(`${Date.parse(lines[i][1] + " UTC") / 1000}`);
    const ours = new Set(changes[zone].map((c) => `${c.at}`));
    return [...system, ...ours].filter((t) => system.has(t) !== ours.has(t)).map(Number);
}
const disputed = Object.fromEntries(ZONES.map((z) => [z, disputedOf(z)]));
const isDisputed = (c, times) => {
    const [from, to] = [c.after - 60 * DAY, Math.max(c.after, ...times) + 60 * DAY];
    return disputed[c.tz].some((t) => t > from && t < to);
};

const inSecondPass = (zone, t) =>
    changes[zone].some((c) => c.after < c.before && t >= c.at && t < c.at + c.before - c.after);

/* ---- random expressions and instants; the same in every run ---- */

let state = Number(process.argv[3] ?? 20261116);

function random() {
    state = (state + 0x6d2b79f5) | 0;
    let x = Math.imul(state ^ (state >>> 15), 1 | state);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) / 4294967296;
}
const upto = (n) => Math.floor(random() * n);
const between = (lo, hi) => lo + upto(hi - lo + 1);
const pick = (list) => list[upto(list.length)];
/* pickBy([[weight, make], …]) */
function pickBy(choices) {
    let left = random() * choices.reduce((sum, [w]) => sum + w, 0);
    for (const [w, make] of choices) if ((left -= w) < 0) return make();
    return choices[0][1]();
}

const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const FIELDS = {
    second: { lo: 0, hi: 59, size: 60 },
    minute: { lo: 0, hi: 59, size: 60 },
    hour: { lo: 0, hi: 23, size: 24 },
    mday: { lo: 1, hi: 31, size: 31 },
    month: { lo: 1, hi: 12, size: 12, names: MONTHS },
    wday: { lo: 0, hi: 7, size: 7, names: WDAYS },
};
const anyCase = (s) => pick([s, s.toLowerCase(), s[0] + s.slice(1).toLowerCase()]);

function writeValue(f, v) {
    const name = f.names?.[v - f.lo];
    return name && random() < 0.5 ? anyCase(name) : random() < 0.05 ? String(v).padStart(2, "0") : String(v);
}

const value = (f) => writeValue(f, between(f.lo, f.hi));

function rising(f) {
    const [a, b] = [between(f.lo, f.hi), between(f.lo, f.hi)].sort((x, y) => x - y);
    return `${writeValue(f, a)}-${writeValue(f, b)}`;
}

function wrapping(f) {
    const a = between(f.lo + 2, f.hi);
    return `${writeValue(f, a)}-${writeValue(f, between(f.lo, a - 2))}`;
}

const stepOf = (f) => between(1, Math.max(2, Math.floor(f.size / 2)));

const plainItem = (f) =>
    pickBy([
        [8, () => value(f)],
        [4, () => rising(f)],
        [0.4, () => wrapping(f)],
        [2, () => `${rising(f)}/${stepOf(f)}`],
        [0.2, () => `${wrapping(f)}/${stepOf(f)}`],
        [1.5, () => `${writeValue(f, between(f.lo, f.lo + f.size - 1))}/${stepOf(f)}`],
        [2, () => `*/${stepOf(f)}`],
    ]);

const listOf = (item) => Array.from({ length: between(2, 3) }, item).join(",");

const plainField = (f, stars) =>
    pickBy([
        [stars, () => "*"],
        [10, () => plainItem(f)],
        [3, () => listOf(() => plainItem(f))],
    ]);

/* Hours near clock changes. */
function hourField(near) {
    const small = () =>
        pickBy([
            [3, () => String(between(0, 3))],
            [1, () => `${between(0, 1)}-${between(2, 4)}`],
            [0.5, () => `${between(21, 23)}-${between(0, 3)}`],
            [1, () => `${between(0, 2)},${between(2, 3)}`],
            [1, () => "*/2"],
            [0.5, () => "0-23"],
            [0.5, () => "0/1"],
        ]);
    return near && random() < 0.6 ? small() : plainField(FIELDS.hour, 5);
}

const specialDay = () =>
    pickBy([
        [2, () => pick(["L", "l"])],
        [2, () => `L-${between(1, 12)}`],
        [2, () => pick(["LW", "lw"])],
        [3, () => `${between(1, 31)}${pick(["W", "w"])}`],
    ]);
const specialWeekday = () =>
    pickBy([
        [2, () => `${value(FIELDS.wday)}${pick(["L", "l"])}`],
        [3, () => `${value(FIELDS.wday)}#${between(1, 5)}`],
    ]);

const dayField = () =>
    pickBy([
        [12, () => "*"],
        [3, () => "?"],
        [7, () => plainField(FIELDS.mday, 0)],
        [3, () => `${pick([28, 29, 30, 31])},${between(1, 3)}`],
        [4, specialDay],
        [2, () => listOf(() => (random() < 0.5 ? specialDay() : plainItem(FIELDS.mday)))],
    ]);
const weekdayField = () =>
    pickBy([
        [14, () => "*"],
        [3, () => "?"],
        [8, () => plainField(FIELDS.wday, 0)],
        [1, () => pick(["0-7", "1-7", "7-7", "SUN-SUN", "sun-Sat", "MON-SUN", "fri-SUN", "7", "0"])],
        [3, specialWeekday],
        [1, () => listOf(() => (random() < 0.5 ? specialWeekday() : plainItem(FIELDS.wday)))],
    ]);

function randomExpression(near) {
    const anyDay = near && random() < 0.5;
    const days = () => [dayField(), random() < 0.7 ? "*" : plainField(FIELDS.month, 0), weekdayField()];
    const five = [plainField(FIELDS.minute, 3), hourField(near), ...(anyDay ? ["*", "*", "*"] : days())];
    return random() < 0.3 ? [plainField(FIELDS.second, 3), ...five] : five;
}

/* Expressions that one of the two, or both, must refuse. */
function brokenExpression() {
    const five = randomExpression(false).slice(-5);
    const put = (i, text) => five.map((old, k) => (k === i ? text : old));
    return pickBy([
        [1, () => put(0, "60")],
        [1, () => put(1, "24")],
        [1, () => put(2, pick(["0", "32", "0-4", "L-31"]))],
        [1, () => put(3, pick(["0", "13", "FOO"]))],
        [1, () => put(4, pick(["8", "1#6", "1#0", "MOO"]))],
        [
            1,
            () =>
                put(
                    upto(2),
                    pick(["*/0", "1x", "-5", "5-", "1--2", ",5", "5,", "*/61", "L", "1W", "", "1#2"]),
                ),
        ],
        [1, () => five.slice(1)],
        [1, () => put(upto(2), "5*")],
        [1, () => put(pick([0, 1, 3]), "?")],
        [1, () => ["0", ...five, "2030"]],
        [2, () => [...five.slice(0, 2), pick(["30", "31", "30-31"]), pick(["2", "FEB"]), "*"]],
        [1, () => [...five.slice(0, 2), "31", pick(["2,4,6,9,11", "APR-APR", "SEP"]), "?"]],
    ]);
}

function randomInstant(zone, near) {
    const year = (y) => Math.floor(Date.UTC(y, 0, 1) / 1000);
    if (!near) return between(year(2007), year(random() < 0.2 ? 2080 : 2038));
    const c = pick(changes[zone]);
    return pickBy([
        [4, () => c.at - between(0, 36 * HOUR)],
        [2, () => c.at - 1],
        [1, () => c.at],
        [2, () => c.at + between(0, 2 * HOUR)], // among the repeated times
        [1, () => c.at - between(0, 2 * HOUR)],
        [2, () => c.at - between(0, 7 * DAY)],
    ]);
}

function randomCase() {
    const zone = pick(ZONES);
    const near = changes[zone].length > 0 && random() < 0.65;
    const fields = random() < 0.05 ? brokenExpression() : randomExpression(near);
    return { expr: fields.join(" "), tz: zone, after: randomInstant(zone, near), count: COUNT };
}

/* Cases that are too rare to be found by chance. */
function rareCases() {
    const samoa = changes["Pacific/Apia"].find((c) => c.after - c.before === DAY);
    const times = [
        "0 12 * * *",
        "30 2 * * *",
        "*/20 12 * * *",
        "0 0 30 * *",
        "0 0 * * FRI",
        "0 * 30 12 *",
        "59 23 L * *",
    ];
    const skipped = times.flatMap((expr) =>
        [1, 5, 30, 50].map((h) => ({ expr, tz: "Pacific/Apia", after: samoa.at - h * HOUR, count: COUNT })),
    );
    const february = ["0 0 1,30 * *", "30 2 31,2 * *", "*/7 3 1,30-31 2-4 ?", "15 9 30 * FRI"].flatMap(
        (expr) =>
            [2026, 2028, 2031].map((y) => ({
                expr,
                tz: "Europe/Berlin",
                after: Date.UTC(y, 1, 3) / 1000,
                count: COUNT,
            })),
    );
    return [...skipped, ...february];
}

/* ---- requests to croner ---- */

/* Fields by name; the seconds that five fields leave out are 0. */
function fieldsOf(expr) {
    const parts = expr.split(/\s+/).filter(Boolean);
    if (parts.length === 5) parts.unshift("0");
    if (parts.length !== 6) return null;
    const [second, minute, hour, mday, month, wday] = parts;
    return { second, minute, hour, mday, month, wday };
}

function readValue(f, text) {
    const i = f.names?.indexOf(text.toUpperCase()) ?? -1;
    return i >= 0 ? i + f.lo : Number(text);
}

/* The values of an item without L, W and #; null if it is not one. */
function valuesOf(f, item) {
    const m = /^(?:([*?])|(\w+)(?:-(\w+))?)(?:\/(\d+))?$/.exec(item);
    if (!m) return null;
    const last = f.lo + f.size - 1;
    const a = m[1] ? f.lo : readValue(f, m[2]);
    let b = m[3] ? readValue(f, m[3]) : m[1] || m[4] ? last : a;
    const step = Number(m[4] ?? 1);
    if (!(a >= f.lo && a <= f.hi && b >= f.lo && b <= f.hi && step > 0)) return null;
    if (b < a) b += f.size;
    const values = [];
    for (let v = a; v <= b; v += step) values.push(v > last ? v - f.size : v);
    return values;
}

/* The field in croner's notation. */
function rewritten(name, text, used) {
    const f = FIELDS[name];
    return text
        .split(",")
        .map((item) => {
            const range = /^(\w+)-(\w+)(\/\d+)?$/.exec(item);
            if (!range || /^L$/i.test(range[1])) return item;
            if (/^(sun|0+)$/i.test(range[1]) && /^sun$/i.test(range[2])) {
                used.add("sunday");
                return "0";
            }
            // croner reads SUN at the end of a range as 7, which is right after a Monday
            const b = name === "wday" && /^sun$/i.test(range[2]) ? 7 : readValue(f, range[2]);
            if (readValue(f, range[1]) <= b) return item;
            const values = valuesOf(f, item);
            if (!values) return item;
            used.add("wrap");
            return values.join(",");
        })
        .join(",");
}

/* One or more requests whose answers together are those of the expression: LW in a list gets its own request, L-n one per month. */
function questionsOf(fields, used) {
    const items = fields.mday.split(",");
    const back = items.filter((i) => /^L-\d+$/i.test(i));
    const lw = items.length > 1 && items.some((i) => /^LW$/i.test(i));
    const rest = items.filter((i) => !back.includes(i) && !(lw && /^LW$/i.test(i)));
    if (back.length) used.add("lastBack");
    if (lw) used.add("lastWeekdayListed");
    const questions = [];
    if (rest.length) questions.push({ ...fields, mday: rest.join(",") });
    if (lw) questions.push({ ...fields, mday: "LW" });
    if (back.length) questions.push({ ...fields, mday: "", back: back.map((i) => Number(i.slice(2))) });
    return questions;
}

const textOf = (q) => [q.second, q.minute, q.hour, q.mday, q.month, q.wday].join(" ");

/* croner reads `5/10` as specified only with sloppyRanges. */
const cronOf = (text, options) => new Cron(text, { sloppyRanges: true, paused: true, ...options });

function nextOf(cron, after) {
    const run = cron.nextRun(new Date(after * 1000));
    return run ? run.getTime() / 1000 : null;
}

/* 1 March, 00:00 local, of the years from a to b. */
function* marches(zone, a, b) {
    const last = new Date(b * 1000 + DAY * 1000).getUTCFullYear();
    for (let y = new Date(a * 1000 - DAY * 1000).getUTCFullYear(); y <= last; y++) {
        const local = Date.UTC(y, 2, 1) / 1000;
        const t = local - offsetAt(zone, local - offsetAt(zone, local));
        if (t > a && t <= b) yield t;
    }
}

/* croner's runs, including those that it skips after February. */
function* runsOf(cron, zone, after, used) {
    for (let t = after; ;) {
        let run = nextOf(cron, t);
        if (run === null) return;
        for (const march of marches(zone, t, run)) {
            const again = nextOf(cron, march - 1);
            if (again === null || again >= run) continue;
            used.add("first");
            run = again;
            break;
        }
        yield run;
        t = run;
    }
}

/* L-n: one request for each month, with the year as croner's seventh field. */
function* runsBack(q, options, after) {
    const from = new Date((after - 2 * DAY) * 1000);
    const months = new Set(q.month.split(",").flatMap((i) => valuesOf(FIELDS.month, i) ?? []));
    for (let i = 0; i < 12 * 100; i++) {
        const first = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + i, 1));
        const [y, m] = [first.getUTCFullYear(), first.getUTCMonth() + 1];
        if (!months.has(m)) continue;
        const length = new Date(Date.UTC(y, m, 0)).getUTCDate();
        const text = textOf({ ...q, mday: q.back.map((n) => length - n).join(","), month: String(m) });
        const cron = cronOf(`${text} ${y}`, options);
        for (let t = after; (t = nextOf(cron, t)) !== null;) yield t;
    }
}

/* Merges ascending streams, without duplicates. */
function* merged(streams) {
    const heads = streams.map((s) => s.next());
    for (;;) {
        const open = heads.filter((h) => !h.done);
        if (!open.length) return;
        const least = Math.min(...open.map((h) => h.value));
        yield least;
        for (let i = 0; i < heads.length; i++) if (heads[i].value === least) heads[i] = streams[i].next();
    }
}

function askAll(questions, options, after, used) {
    const zone = options.timezone;
    return merged(
        questions.map((q) =>
            q.back ? runsBack(q, options, after) : runsOf(cronOf(textOf(q), options), zone, after, used),
        ),
    );
}

/* ---- rota's rules for daylight saving time, applied to croner's runs ---- */

function nominalTimesIn(questions, options, from, to) {
    let n = 0;
    for (const t of askAll(questions, { ...options, timezone: "UTC" }, from - 1, new Set())) {
        if (t >= to || n === 2) break;
        n++;
    }
    return n;
}

function* bent(stream, questions, options, after, used) {
    const zone = options.timezone;
    const gaps = changes[zone].filter((c) => c.after > c.before && c.at > after);
    let last = after;
    for (const t of stream) {
        for (; gaps.length && gaps[0].at <= t; gaps.shift()) {
            const { at, before, after: now } = gaps[0];
            const n = nominalTimesIn(questions, options, at + before, at + now);
            if (!n || at === t || at === last) continue;
            used.add(now - before === DAY ? "samoa" : n > 1 ? "coalesce" : "gap");
            yield at;
        }
        if (inSecondPass(zone, t)) {
            used.add("fold");
            continue;
        }
        yield t;
        last = t;
    }
}

const beginsWithStar = (field) => /^[*?]/.test(field);
const bare = (field) => field === "*" || field === "?";

/* Whether both day fields must match although croner's own rule says otherwise. */
const bothAgainstCroner = ({ mday, wday }) =>
    (beginsWithStar(mday) || beginsWithStar(wday)) && !bare(mday) && !bare(wday);

const take = (stream, n) => {
    const list = [];
    for (const t of stream) if (list.push(t) === n) break;
    return list;
};

const AN_ERROR = /, at column \d+$/;

/* The expected answer: {next} or {error}, and the rules that corrected croner's answer. */
function expected({ expr, tz, after, count }) {
    const used = new Set();
    const options = { timezone: tz };
    const refuse = (rule, error = AN_ERROR) => ({ error, used: new Set([rule]) });
    try {
        const fields = fieldsOf(expr);
        if (!fields) {
            cronOf(expr, options); // throws unless it has seven fields
            return refuse("fields", /^7 fields, .*, at column \d+$/);
        }
        const { second, minute, hour, month } = fields;
        const others = [second, minute, hour, month];
        for (const name of Object.keys(fields)) fields[name] = rewritten(name, fields[name], used);
        const questions = questionsOf(fields, used);
        for (const q of questions) cronOf(textOf(q.back ? { ...q, mday: "1" } : q), options); // throws if croner refuses it
        if (others.some((f) => f.includes("?"))) return refuse("question");
        if (others.some((f) => /\d\*/.test(f))) return refuse("junk");

        if (bothAgainstCroner(fields)) {
            const plain = take(askAll(questions, options, after, new Set()), count);
            options.domAndDow = true;
            const strict = take(askAll(questions, options, after, new Set()), count);
            if (plain.join() !== strict.join()) used.add("both");
        }
        const hours = new Set(fields.hour.split(",").flatMap((i) => valuesOf(FIELDS.hour, i)));
        const stream = askAll(questions, options, after, used);
        const next = take(hours.size === 24 ? stream : bent(stream, questions, options, after, used), count);
        return next.length ? { next, used } : refuse("never", /never fires.*, at column \d+$/);
    } catch (e) {
        if (!e.message.startsWith("CronPattern:")) throw e;
        return { error: AN_ERROR, used: new Set() }; // both refuse
    }
}

/* ---- requests to rota ---- */

const iso = (t) => new Date(t * 1000).toISOString().replace(".000", "");

function askRota(binary, cases) {
    const dir = mkdtempSync(join(tmpdir(), "rota-croner-"));
    try {
        const file = join(dir, "batch.jsonl");
        writeFileSync(file, cases.map((c) => JSON.stringify({ ...c, after: iso(c.after) }) + "\n").join(""));
        const out = execFileSync(binary, ["next", "--batch", file], { maxBuffer: 1 << 28, encoding: "utf8" });
        return out
            .trimEnd()
            .split("\n")
            .map((line) => JSON.parse(line));
    } finally {
        rmSync(dir, { recursive: true });
    }
}

function agrees(want, got) {
    if (want.error) return typeof got.error === "string" && want.error.test(got.error);
    return Array.isArray(got.next) && want.next.map(iso).join() === got.next.join();
}

function complain(c, want, got) {
    const show = (x) =>
        x.error ? `error ${x.error}` : x.next.map((t) => (typeof t === "number" ? iso(t) : t)).join(" ");
    console.log(`FAIL ${JSON.stringify(c.expr)} ${c.tz} after ${iso(c.after)}`);
    console.log(`  rota    ${show(got)}`);
    console.log(`  wanted  ${show(want)}  (${[...want.used].join(", ") || "croner's answer"})`);
}

function main() {
    const binary = process.argv[2];
    if (!binary) {
        console.error("usage: croner.mjs ROTA_BINARY [SEED]");
        process.exit(2);
    }
    const cases = [...rareCases(), ...Array.from({ length: CASES }, randomCase)];
    const answers = askRota(binary, cases);
    let passed = 0;
    let failed = answers.length === cases.length ? 0 : 1;
    let plain = 0;
    let left = 0;
    cases.forEach((c, i) => {
        const want = expected(c);
        const got = answers[i] ?? { error: "(no answer)" };
        if (want.next && isDisputed(c, [...want.next, ...(got.next ?? []).map((t) => Date.parse(t) / 1000)])) {
            left++;
        } else if (agrees(want, got)) {
            passed++;
            if (!want.used.size) plain++;
            for (const rule of want.used) hits[rule]++;
        } else if (failed++ < 20) complain(c, want, got);
    });

    /* A few such cases are normal. If there were many, little would be tested. */
    if (left > cases.length / 10) {
        failed++;
        console.log(`FAIL ${left} of ${cases.length} cases lie where node's zone data (${process.versions.tz}) is not the system's`);
    }
    console.log(`croner: ${cases.length} expressions, ${left} left out (zone data), ${plain} answered alike, ${passed - plain} explained`);
    for (const [rule, n] of Object.entries(hits)) {
        console.log(
            `${String(n).padStart(6)}  ${rule.padEnd(18)} ${rules[rule]}\n${" ".repeat(27)}(${remarks[rule]})`,
        );
        if (n) passed++;
        else {
            failed++;
            console.log(`FAIL rule ${rule} was never needed`);
        }
    }
    if (failed) console.log(`zone data: node has ${process.versions.tz}; the system's may differ`);
    console.log(`${passed} passed, ${failed} failed`);
    process.exit(failed ? 1 : 0);
}

main();
