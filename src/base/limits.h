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
#define EXCEPT_DATES_MAX     1000 /* dates named by one EXCEPT */
#define TAGS_MAX             64
#define DOC_ITEMS_MAX        64     /* expectations, paths and targets of one schedule */
#define DOC_WARNINGS_MAX     100    /* told of one file */
#define GRANTS_MAX           1000   /* schedules that a schedule's runs may create */
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
#define JSON_KEYS_MAX        4096      /* of one map */
#define JSON_VALUES_MAX      (8 << 20) /* of one text: two bytes may be a value */
#define JSON_DEPTH_MAX       64
#define JSON_BYTES_MAX       (64u << 20)
#define YAML_BYTES_MAX       (64u << 20)

/* Agents */
#define AGENT_PROMPT_BYTES_MAX (1 << 20)
#define AGENT_RUNS_MAX         1000       /* of one at a time */
#define ORG_BYTES_MAX          (4u << 20) /* of a file that may be one */
#define ORG_PROPERTIES_MAX     256

/* Conditions and templates */
#define CEL_BYTES_MAX      4096       /* one expression */
#define CEL_DEPTH_MAX      64         /* brackets within brackets */
#define CEL_STEPS_MAX      1000000    /* an instruction, an item compared, 64 bytes looked at */
#define CEL_MEMORY_MAX     (4 << 20)  /* of what an evaluation builds */
#define NEAR_NAMES_MAX     64         /* looked at for one that may be meant */
#define TEMPLATE_EXPRS_MAX 4096       /* in one */
#define TEMPLATE_BYTES_MAX (1 << 20)  /* before … */
#define RENDER_BYTES_MAX   (16 << 20) /* … and after */

/* The engine */
#define STEP_DUE_MAX     256  /* due entries taken up in one step */
#define STEP_FIX_MAX     64   /* schedules looked at in place of each of them after the clock went back */
#define CLAIMS_MAX       4096 /* claims and ranges the store has not answered */
#define LAUNCHES_MAX     64   /* starts the runner has not answered */
#define QUEUE_ALL_MAX    100  /* runs waiting behind another with queue_all */
#define CATCH_UP_MAX     1000
#define FOLLOW_LINE_MAX  10000 /* leaders looked at above a schedule that is to follow one */
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
#define CLOCK_TOLD_SECONDS    60    /* a larger one is a problem, … */
#define CLOCK_CALM_SECONDS    3600  /* … until there was none for so long */
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
#define WATCH_QUIET_MS           100 /* after a change in a directory of documents, so that one look is for many … */
#define WATCH_QUIET_MAX          5 /* … but not for ever */
#define WATCH_AGAIN_MS                                                                                       \
	300 /* before a file that is being written, or an answer that failed, is tried again                 \
	     */
#define WATCH_FIRST_MS           10000 /* at a start, what is due waits so long for files that are being written */
#define STATE_BYTES_MAX          (256u << 10) /* what an agent knows, as JSON */
#define STATE_DEPTH_MAX          16           /* keys of a path in it */
#define STATE_TRIES_MAX          16           /* to change it, when others do at the same time */
#define STORE_WORDS_BYTES_MAX    (64u << 10)  /* said of a run: its result, why it is as it is */
#define STORE_NOTICE_BYTES_MAX   (64u << 10)  /* of each of a notice's texts */
#define STORE_TELL_MAX           512          /* notices of one request */
#define STORE_PROBLEM_BYTES_MAX  4096         /* of each of a problem's texts */
#define STORE_BUSY_MS            1000         /* waiting for somebody else's lock; then it is an outage */
#define STORE_BACKOFF_MS_MAX     1000         /* between two tries in an outage; the first waits 1 ms */
#define STORE_CHECKPOINT_SECONDS 1            /* after a pass over the log that failed */
#define STORE_CHECK_MS           10000        /* of looking for damage */
#define STORE_CACHE_KIB          (32 << 10)   /* the writer's page cache */

#define COPY_STEP_PAGES 1024 /* copied at a time for a backup */

/* Reading for people */
#define READ_LIST_MAX       1000        /* items of one answer */
#define READ_BYTES_MAX      (32u << 20) /* of documents in one answer; the first goes in whatever its size */
#define READ_CANDIDATES_MAX 8           /* named when the beginning of an id is that of several */
#define READ_COUNT_MAX      10000       /* runs looked at for counts */
#define READ_OUTCOMES       16
#define READ_MS_MAX         50   /* of work for one answer … */
#define READ_WAIT_MS_MAX    500  /* … and in all, be the machine or the disk as busy as they like */
#define READ_STEPS          1000 /* of SQLite's, between two looks at the clock */

/* Notes of agents */
#define STORE_MEMORIES_MAX     2000 /* of one agent; further ones are refused */
#define STORE_MEMORY_BYTES_MAX 4096 /* of one note … */
#define STORE_MEMORY_TAGS_MAX  1024 /* … and of its tags */
#define MEMORY_REMOVE_BATCH    64   /* of a run's removed in one request: their words go one by one */
#define RECALL_NOTES           12   /* in the context of a run … */
#define RECALL_BYTES           8192 /* … and so long together */
#define RECALL_LEAST           20   /* percent of what the best one scores */
#define RECALL_MS_MAX          200  /* of ranking in a second, for all runs: others wait for them */
#define RECALL_NEWEST          3    /* where none, or fewer, have to do with it */
#define READ_QUERY_WORDS       32   /* looked for in notes; further ones are not */
#define READ_QUERY_BYTES       64   /* of a word; the rest of it is not looked for */

/* The daemon */
#define CALENDARS_MAX      4096      /* sets of excluded days */
#define NAMES_MAX          (1 << 20) /* agents, accounts and concurrency keys */
#define DESK_JOBS_MAX      256       /* attempts being rendered */
#define RUN_GRACE_SECONDS  5         /* from SIGTERM to SIGKILL when a run is stopped or its time is up */
#define DAEMON_MAIL_MAX    8192      /* commands and other mail under way */
#define ORDER_BUSY_MS      5000      /* a command to a schedule that is busy is tried for so long … */
#define RUN_BUSY_MS        200       /* … and a run by hand for so long: another may be alive */
#define ORDER_AGAIN_MS     10        /* between two tries */
#define HEALTH_MS          1000      /* between two looks at the clock, the store and the runner */
#define STARVED_MS         10000 /* without memory to go on it ends after so long: the next one begins small */
#define DAEMON_COMPILE_MAX 32    /* outdated schedules being compiled anew */
#define DAEMON_STOP_MS     5000  /* for the answers to orders under way when it is told to stop */
#define PROBLEMS_LATE_MAX  1024  /* problems to be said when the desk has room again */
#define DESK_TRIES_MAX     20    /* for a document that cannot be read now … */
#define DESK_PAUSE_MS      100   /* … so far apart */

/* What is kept, and for how long */
#define RETAIN_FIRST_SECONDS                                                                                 \
	600                /* after a start, until old things are looked for: the clock may yet be set */
#define RETAIN_BATCH    16 /* old things asked for at a time: what comes due meanwhile waits for them … */
#define RETAIN_PAUSE_MS 5  /* … and the pause before the next, and after as many files */
#define STRAYS_WAIT_MS  15000 /* for the end of runs that a restored store does not know */

/* The runner */
#define LAUNCH_BYTES_MAX (64u << 20) /* one rendered request */
#define LAUNCH_ARGS_MAX  4096
#define LAUNCH_ENV_MAX   4096
#define LAUNCH_FILES_MAX 4096  /* that must be there afterwards */
#define SECRETS_MAX      1024  /* texts masked in the output of a run: values, and their lines */
#define FETCHES_MAX      64    /* secrets of a run that its shim gets … */
#define FETCH_WORDS_MAX  1024  /* … by programs of so many words together … */
#define FETCH_NAME_MAX   128   /* … for variables with names so long */
#define FETCH_SAID_MAX   16384 /* kept of what these programs say to standard error */
#define SECRET_LINE_MIN  8     /* of a value that has several: shorter ones say nothing alone */
#define SECRET_BYTES_MIN 4     /* masking shorter ones would shred the log and hide nothing */
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
#define RUNNER_HUNG_MS      10000 /* a launcher that says nothing for so long is replaced */
#define RUNNER_WATCH_MS     500   /* a shim whose pid cannot be watched is looked at so often */
#define ATTEMPTS_MAX        65536 /* known to the runner at a time */
#define RUNNER_CHECKS_MAX   16    /* checks under way at a time; the others wait in line */

/* Reports of an attempt */
#define OUTBOX_BYTES_MAX 131072 /* of steps and notes; twice as many are read */
#define OUTBOX_TEXT_MAX  4096   /* of one */
#define ANSWER_BYTES_MAX 65536  /* of what one answered, for the next run: the last of it */

/* HTTP. What a server may be given otherwise is in http_limits; these are its defaults. */
#define HTTP_BODY_BYTES_MAX   (64u << 20)  /* some 300,000 schedules */
#define HTTP_BODIES_BYTES_MAX (128u << 20) /* of all requests under way */
#define HTTP_HEADER_BYTES_MAX 8192         /* request line and headers */
#define HTTP_STREAM_BYTES_MAX (1u << 20)   /* waiting for one reader; a slower one is dropped */
#define HTTP_CONNECTIONS_MAX  1000
#define HTTP_FDS_RESERVED     256   /* descriptors left to the rest of the daemon */
#define HTTP_FIRST_MS         10000 /* from connecting to the first request line */
#define HTTP_IDLE_MS          60000 /* from an answer to the next request line */
#define HTTP_READ_MS          30000 /* from the request line to the last byte of the body */
#define HTTP_ANSWER_MS        60000 /* for the handler to answer */
#define HTTP_SEND_MS          30000 /* for the client to take it */
#define HTTP_STALL_MS         30000 /* for a stream's client to take anything at all */
#define HTTP_HEARTBEAT_MS     15000 /* between two heartbeats on an idle stream of events */
#define HTTP_STOP_MS          5000  /* for requests under way when it is told to stop */
/* Not to be chosen. */
#define HTTP_TASKS_MAX       4096 /* tasks added by other threads and not yet run */
#define HTTP_LAST_MS         500  /* to get the last answers out, after HTTP_STOP_MS */
#define HTTP_ACCEPT_PAUSE_MS 200  /* before a machine out of descriptors is asked again */
#define HTTP_TURN_MAX        64   /* connections accepted, and events looked at, in one turn of its loop */
#define HTTP_CONNECTIONS_MIN 4    /* with room for fewer it is not worth starting */
#define HTTP_SEGMENTS_MAX    32   /* of a path */
#define HTTP_QUERY_MAX       64   /* values in a query */
#define SOCKET_TRIES_MAX     100  /* for the directory's lock, 10 ms apart */

#define NOTE_BYTES_MAX  1024 /* what a person writes beside a pause or a problem */
#define DERIVED_IDS_MAX 1000 /* schedules whose id was made up of the same words */

/* Who asks */
#define LINEAGE_MAX           256   /* processes above one */
#define LINEAGE_TRIES_MAX     8     /* while they change */
#define LINEAGE_ENV_BYTES     65536 /* of an environment, that are looked at for a run's number */
#define GRANT_TIMES_LOOKED_AT 1000  /* of what a run makes, for how far they are apart */

/* The client */
#define CLIENT_BYTES_MAX      (64u << 20) /* of an answer */
#define CLIENT_HEAD_BYTES_MAX 65536       /* of its status line and headers */
#define CLIENT_MS             30000
#define CLIENT_BUSY_MS        20   /* before a daemon whose queue is full is asked again */
#define CLIENT_AGAIN_MS       200  /* between two looks for a daemon that went away … */
#define CLIENT_AGAIN_MAX      150  /* … while its run is waited for, or its events are followed */
#define REPORT_TELL_MS        1000 /* that a run waits for the daemon to hear what is in its file already */
#define SSE_EVENT_BYTES_MAX   (16u << 20)

/* Who is told */
#define NEWS_AT_ONCE         128 /* rows of news that become notices together */
#define MESSAGES_ALONE       16  /* more of them to one target are joined in one message … */
#define MESSAGES_TOLD        20  /* … that has so many of them in full */
#define POST_AT_ONCE         16  /* being delivered … */
#define POST_AT_ONCE_OF_LINE 2   /* … and to one receiver */
#define POST_LINES_MAX       64  /* receivers that are left in peace for a while */
#define POST_HOLD_SECONDS    10  /* … at most so long */
#define POST_PAUSE_MS        200 /* where the store or the launcher has no room, or news come one after another */
#define NOTIFY_SECONDS       30    /* for an attempt */
#define ERRAND_LOG_BYTES     4096  /* of what it printed: its beginning, and its end */
#define MESSAGE_DETAIL_BYTES 1024  /* of why, in a message */
#define DIGEST_BYTES         24576 /* of the messages within one: with one more and all texts, a notice's */
#define PING_OUTPUT_BYTES    4096  /* of what a run printed, sent along */
#define REQUEST_ANSWER_BYTES 1024  /* of the answer to a message */

/* The way out */
#define OUT_CONNECT_MS        10000
#define OUT_TOTAL_MS          30000
#define OUT_TOTAL_MS_MAX      86400000
#define OUT_REDIRECTS_MAX     5
#define OUT_HEAD_BYTES_MAX    65536      /* of a request's headers; of all the headers of its answers */
#define OUT_BODY_BYTES        (1u << 20) /* of an answer, if nobody says otherwise */
#define OUT_BODY_BYTES_MAX    (64u << 20)
#define OUT_REQUEST_BYTES_MAX (32u << 20) /* of what rota-out reads */
#define OUT_URL_BYTES_MAX     8192
#define OUT_HEADERS_MAX       256
#define OUT_ALLOW_MAX         256
#define OUT_ID_BYTES_MAX      128
#define HOST_BYTES_MAX        253
#define DELIVER_SECONDS_MAX   86400 /* between two attempts, whatever the receiver asks for */

/* Very many at a time: what keeps them from making others wait */
#define STORE_BULK_MAX  64     /* of the bulk lane in one transaction: who comes next waits for its end */
#define APPLY_BULK      32     /* so many schedules of one apply are very many */
#define THREAD_SLICE_NS 100000 /* of the threads on a trigger's way: the least the kernel gives */
