#pragma once
/* Every bound of the program, named. Hitting one is a clear error, never a hang or a crash (G8). */

#define EXPR_BYTES_MAX 4096 /* an expression with all its directives */
#define CRON_YEARS_MAX                                                                                       \
	400 /* the Gregorian calendar repeats after 400 years: what has not fired by then never does */
#define YEAR_MIN             1
#define YEAR_MAX             9999
#define DURATION_SECONDS_MAX (INT64_C(3660) * 86400) /* ten years */
#define ORG_REPEAT_MAX       10000                   /* the number in a repeater such as +2w */
#define RETRY_MAX            100
#define EXCEPT_DATES_MAX     1000   /* dates named by one EXCEPT */
#define NEXT_COUNT_MAX       100000 /* occurrences printed for one expression */
#define BATCH_LINE_BYTES_MAX 65536
#define WARNINGS_MAX         16
#define PHRASE_WORDS_MAX     64
#define PHRASE_TIMES_MAX     24
#define TZIF_BYTES_MAX       (1 << 20)
#define TZIF_TRANSITIONS_MAX 4096
#define TZIF_TYPES_MAX       256
#define ZONES_MAX            2048 /* zone names known to a machine */
#define ZONE_NAME_MAX        64
#define CLOCK_CHANGES_MAX    4096 /* looked at for one explanation */
#define ZONE_TABLE_YEAR      2037 /* a zone's table is filled up to this year; later years use its footer rule */
#define WHY_TEXT_MAX         256
#define JSON_KEYS_MAX        4096 /* of one map: doubles are looked for one by one */
#define JSON_DEPTH_MAX       64
#define JSON_BYTES_MAX       (64u << 20)

/* The engine */
#define STEP_DUE_MAX     256  /* due entries taken up in one step */
#define STEP_FIX_MAX     64   /* schedules looked at in place of each of them after the clock went back */
#define CLAIMS_MAX       4096 /* claims and ranges the store has not answered */
#define LAUNCHES_MAX     64   /* starts the runner has not answered */
#define QUEUE_ALL_MAX    100  /* runs waiting behind another with queue_all */
#define CATCH_UP_MAX     1000
#define CATCH_UP_DEFAULT 100
#define RUNS_OPEN_MAX                                                                                        \
	1000 /* of one schedule: what comes due beyond is skipped/overlap, whatever its policy */
#define OWED_MAX      100000 /* missed ones counted for the next run's context */
#define STRETCH_MAX   4096   /* occurrences looked at to be settled together */
#define GRACE_SECONDS 60     /* lateness that needs no policy where there is no WINDOW */
#define RETRY_SECONDS_MAX                                                                                    \
	(8 * 86400)                 /* a provider's limit may last a week; what is longer is a wrong clock */
#define CONDITION_SECONDS     30    /* a false condition is asked again at least so often within its WINDOW */
#define CLOCK_STEP_SECONDS    1     /* a smaller one is drift */
#define CLOCK_AHEAD_SECONDS   86400 /* a step ahead by this is not believed until a person does … */
#define CLOCK_ABSENCE_SECONDS (366 * 86400) /* … nor that so long has passed since the last record */
#define STORE_SLOW_SECONDS    5             /* an answer that took longer explains lateness */
#define PRIORITY_MAX          10

/* The store */
#define STORE_GROUP_MAX          512         /* requests in one transaction */
#define STORE_UNDER_WAY_MAX      16384       /* submitted and not yet collected */
#define STORE_LANE_SHARE         16          /* of so many places in a group each lane that waits keeps one */
#define STORE_TEXT_BYTES_MAX     (64u << 20) /* of ids and documents under way */
#define STORE_DOCUMENT_BYTES_MAX (16 << 20)  /* a larger one, with its id, is refused */
#define STORE_BUSY_MS            1000        /* waiting for somebody else's lock; then it is an outage */
#define STORE_BACKOFF_MS_MAX     1000        /* between two tries in an outage; the first waits 1 ms */
#define STORE_CHECKPOINT_SECONDS 1           /* after a pass over the log that failed */
#define STORE_CACHE_KIB          (32 << 10)  /* the writer's page cache */

/* The runner */
#define LAUNCH_BYTES_MAX (64u << 20) /* one rendered request */
#define LAUNCH_ARGS_MAX  4096
#define LAUNCH_ENV_MAX   4096
#define SECRETS_MAX      256
#define SECRET_BYTES_MIN 4 /* masking shorter ones would shred the log and hide nothing */
#define SECRET_BYTES_MAX 16384
#define PROCS_MAX        (1u << 22) /* processes on a machine: the kernel's own bound */
#define CGROUP_DEPTH_MAX 16
#define DRAIN_BYTES_MAX                                                                                      \
	(1u << 20)                /* taken from a pipe after the tree is dead: the largest a pipe can hold   \
				   */
#define OOM_SCORE_ADJ       500   /* an agent goes before its shim and its daemon do */
#define LEFTOVER_GRACE_MS   1000  /* for what a run left behind when it ended by itself */
#define KILL_ROUND_MS       20    /* between two rounds of killing; doubles … */
#define KILL_ROUND_MS_MAX   1000  /* … up to this */
#define RUNNER_RETRY_MS     100   /* before a refused birth is tried again; doubles … */
#define RUNNER_RETRY_MS_MAX 30000 /* … up to this */
#define RUNNER_ANSWER_MS    2000  /* a start of which nothing was heard is looked after so often */
#define RUNNER_WATCH_MS     500   /* a shim whose pid cannot be watched is looked at so often */
#define ATTEMPTS_MAX        65536 /* known to the runner at a time */
