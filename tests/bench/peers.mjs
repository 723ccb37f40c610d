// The JavaScript peers of the `when` benchmark: croner and cron-parser, warm, on the list and the instants of
// bench_when. Reads `bench_when questions` on standard input, prints microseconds per next run as JSON.
import { readFileSync } from "node:fs";

const modules = new URL("../oracle/node_modules/", import.meta.url);
const { Cron } = await import(new URL("croner/dist/croner.js", modules));
const { CronExpressionParser } = await import(new URL("cron-parser/dist/index.js", modules));

const { zone, exprs, instants } = JSON.parse(readFileSync(0, "utf8"));

/* Neither library reads wrapping ranges, so they are written out. */
const plain = (expr) => expr.replace("22-2", "22-23,0-2").replace("FRI-MON", "FRI,SAT,SUN,MON");

function croner(expr) {
    const cron = new Cron(plain(expr), { timezone: zone, paused: true });
    return (date) => cron.nextRun(date);
}

function cronParser(expr) {
    const cron = CronExpressionParser.parse(plain(expr), { tz: zone, currentDate: new Date() });
    return (date) => {
        cron.reset(date);
        return cron.next();
    };
}

/* cron-parser does not know 15W and LW. */
const withoutNearest = exprs.filter((expr) => !/[0-9L]W /.test(expr));

/* One pass over a part of the instants, microseconds per call. */
function pass(nexts, dates) {
    const start = process.hrtime.bigint();
    for (const date of dates) for (const next of nexts) next(date);
    return Number(process.hrtime.bigint() - start) / 1000 / (dates.length * nexts.length);
}

function measure(nexts, share, rounds) {
    const dates = instants.slice(0, share).map((t) => new Date(t * 1000));
    pass(nexts, dates); // warm
    const times = Array.from({ length: rounds }, () => pass(nexts, dates)).sort((a, b) => a - b);
    return { us: times[rounds >> 1], known: nexts.length };
}

console.log(
    JSON.stringify({
        exprs: exprs.length,
        croner: measure(exprs.map(croner), 256, 7),
        "cron-parser": measure(withoutNearest.map(cronParser), 32, 5),
    }),
);
