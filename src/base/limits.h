#pragma once
/* Every bound of the program, by name. Reaching one is a clear error, never a hang or a crash. The unit is in
 * the name (BYTES, MS, SECONDS, …); a limit without a unit counts the things that its comment names. */

/* When expressions */
#define WHEN_BYTES_MAX 4096 /* one when expression with all its directives */
/* The Gregorian calendar repeats after 400 years: a rule without a match in that time never matches. */
#define CRON_YEARS_MAX       400
#define YEAR_MIN             1                       /* the first year that can be written */
#define YEAR_MAX             9999                    /* the last year that can be written */
#define DURATION_SECONDS_MAX (INT64_C(3660) * 86400) /* ten years: the longest duration in any setting */
#define ORG_REPEAT_MAX       10000                   /* the number in an org repeater: +2w has 2 */
#define EXCEPT_DATES_MAX     1000                    /* dates in one EXCEPT, or in one calendar */
#define NEXT_COUNT_MAX       100000                  /* occurrences printed for one expression */
#define BATCH_LINE_BYTES_MAX 65536                   /* one line of input to `rota next --batch` */
#define WARNINGS_MAX         16                      /* warnings about one expression */
#define PHRASE_WORDS_MAX     64                      /* words in one phrase */
#define PHRASE_TIMES_MAX     24                      /* times of day in one phrase */

/* Time zones */
#define TZIF_BYTES_MAX       (1 << 20) /* one zone file */
#define TZIF_TRANSITIONS_MAX 4096      /* clock changes in one zone file */
#define TZIF_TYPES_MAX       256       /* local time types in one zone file */
#define ZONES_MAX            2048      /* zones known to a daemon */
#define ZONE_NAME_MAX        64        /* bytes of a zone's name */
#define CLOCK_CHANGES_MAX    4096      /* clock changes examined for one explanation */
#define ZONE_TABLE_YEAR      2037      /* zone tables go up to this year; later years use the footer's rule */

/* Documents, JSON and YAML */
#define RETRY_MAX          100         /* attempts after the first one */
#define TAGS_MAX           64          /* tags of one schedule */
#define DOC_ITEMS_MAX      64          /* expectations, paths or notification targets of one schedule */
#define DOC_WARNINGS_MAX   100         /* warnings printed for one file */
#define GRANTS_MAX         1000        /* schedules that the runs of one schedule may create */
#define WHY_TEXT_MAX       256         /* bytes of one error message, with its terminator */
#define JSON_KEYS_MAX      4096        /* keys in one map, in JSON and in YAML */
#define JSON_VALUES_MAX    (8 << 20)   /* values in one text, in JSON and in YAML */
#define JSON_DEPTH_MAX     64          /* nesting depth of lists and maps, in JSON and in YAML */
#define JSON_BYTES_MAX     (64u << 20) /* one JSON text */
#define YAML_BYTES_MAX     (64u << 20) /* one YAML text */
#define YAML_TAG_LINES_MAX 16          /* lines of one YAML text that begin with %TAG */

/* Agents */
#define AGENT_PROMPT_BYTES_MAX (1 << 20)  /* one agent's prompt */
#define AGENT_RUNS_MAX         1000       /* runs of one agent at the same time */
#define AGENT_ORG_BYTES_MAX    (4u << 20) /* one org file that defines an agent */

/* Org files and plans */
#define ORG_BYTES_MAX             (10u << 20) /* one org file */
#define ORG_HEADS_MAX             (1 << 20)   /* headlines in one file */
#define ORG_KEYWORDS_MAX          256         /* TODO keywords of one file */
#define ORG_PROPERTIES_MAX        256         /* properties in one drawer */
#define ORG_DEPTH_MAX             64          /* nesting depth of drawers and blocks */
#define ORG_SHIFTS_MAX            10000       /* the last steps of a repeater that are taken one by one */
#define DEPENDS_NAME_MAX          512         /* bytes of a title in DEPENDS with others after it */
#define WORKFLOWS_MAX             1024        /* workflows of one file; a check takes quadratic time */
#define WORKFLOW_WORDS_MAX        256         /* words of one argument of a component */
#define WORKFLOW_COMPONENTS_MAX   256         /* components of one workflow; a check takes cubic time */
#define WORKFLOW_JOBS_MAX         64          /* components that run at the same time */
#define WORKFLOW_OUTPUT_BYTES_MAX (64u << 20) /* output of one component */
#define WORKFLOW_LOG_BYTES        65536       /* the last bytes of its standard error that are kept */
#define WORKFLOW_SECONDS          900         /* default timeout of one component */
#define GIT_SECONDS_MAX           120         /* one call of git, fetch and push included */
#define GIT_OUTPUT_BYTES_MAX      (16u << 20) /* read from one call of git */
#define CLAIM_TRIES_MAX           100         /* tries to publish a claim while others publish theirs */
#define INDEX_TRIES_MAX           100         /* tries to change git's index while another git has it */
#define LOCK_TRIES_MAX            3000        /* tries to lock the claims of a repository, 10 ms apart */
#define AGENDA_PLANS_MAX          1000        /* files of one agenda */
#define STAMP_BYTES_MAX           256         /* one timestamp with a repeater */

/* Conditions and templates */
#define CEL_BYTES_MAX 4096 /* one CEL expression */
#define CEL_DEPTH_MAX 64   /* nesting depth of brackets */
#define CEL_STEPS_MAX                                                                                        \
	1000000 /* steps of one evaluation: an instruction, an item compared, or 64 bytes read */
#define CEL_MEMORY_MAX        (4 << 20) /* bytes that one evaluation may allocate */
#define NEAR_NAMES_MAX        64        /* names compared with an unknown one, to suggest the nearest */
#define INTERPRETER_WORDS_MAX 64        /* words of one command in a shell's line that are looked at */
#define TEMPLATE_EXPRS_MAX    4096      /* expressions in one template */
#define TEMPLATE_BYTES_MAX    (1 << 20) /* one template before it is rendered */
#define RENDER_BYTES_MAX                                                                                     \
	(4 << 20) /* bytes that rendering all templates of an attempt may write and allocate */

/* The engine */
#define STEP_DUE_MAX     256   /* due entries handled in one step */
#define STEP_FIX_MAX     64    /* schedules re-examined in one step after the clock went back */
#define CLAIMS_MAX       4096  /* claims and ranges that the store has not answered yet */
#define LAUNCHES_MAX     64    /* starts that the runner has not answered yet */
#define QUEUE_ALL_MAX    100   /* runs of one schedule that wait for an earlier one: overlap queue_all */
#define CATCH_UP_MAX     1000  /* the largest catch_up_limit: missed occurrences that are run late */
#define CATCH_UP_DEFAULT 100   /* catch_up_limit where a schedule sets none */
#define FOLLOW_CHAIN_MAX 10000 /* schedules in one chain of `after` */
#define RUNS_OPEN_MAX    1000  /* unfinished runs of one schedule; more are skipped, with reason overlap */
#define OWED_MAX         10000 /* missed occurrences counted for the next run */
#define STRETCH_MAX      4096  /* occurrences examined to settle them with one record */
#define GRACE_SECONDS    60    /* without WINDOW: an occurrence that is later than this is missed */
/* The longest wait between two attempts. A provider's rate limit may last a week; a longer wait means a wrong
 * clock. */
#define RETRY_SECONDS_MAX     (8 * 86400)
#define CONDITION_SECONDS     30            /* the pause between two evaluations of a false condition */
#define CLOCK_STEP_SECONDS    1             /* the smallest step of the wall clock; less is drift */
#define CLOCK_PROBLEM_SECONDS 60            /* a larger step opens a problem */
#define CLOCK_CALM_SECONDS    3600          /* the problem is closed after this time without a further step */
#define CLOCK_AHEAD_SECONDS   86400         /* the clock is not trusted after a step ahead by this much */
#define CLOCK_ABSENCE_SECONDS (366 * 86400) /* nor at a start, if the last record is this old */
#define STORE_SLOW_SECONDS    5             /* a store answer that took longer is the reason for lateness */
#define PRIORITY_MAX          10            /* priorities are from -PRIORITY_MAX to PRIORITY_MAX */

/* The store */
#define STORE_GROUP_MAX          512         /* requests in one transaction */
#define STORE_UNDER_WAY_MAX      16384       /* requests submitted whose answers were not collected yet */
#define STORE_LANE_SHARE         16          /* a waiting lane gets one of every STORE_LANE_SHARE places */
#define STORE_TEXT_BYTES_MAX     (64u << 20) /* ids and documents of all requests under way */
#define STORE_DOCUMENT_BYTES_MAX (16 << 20)  /* one row: a document with its id */
#define STORE_RUN_TEXT_BYTES_MAX (64u << 10) /* one text about a run: its result, or its reason */
#define STORE_MESSAGE_BYTES_MAX  (64u << 10) /* each text of one message */
#define STORE_MESSAGES_MAX       512         /* messages in one request */
#define STORE_PROBLEM_BYTES_MAX  4096        /* each text of one problem */
#define STORE_NAME_BYTES_MAX     8192        /* one name: EXCEPT_DATES_MAX days fit */
#define STORE_EVENT_TEXT_MAX     4096        /* the text of one event */
#define STORE_BUSY_MS            1000 /* the longest wait for another process's lock; then an outage begins */
#define STORE_BACKOFF_MS_MAX     1000 /* the longest pause between tries in an outage; the first is 1 ms */
#define STORE_CHECKPOINT_SECONDS 1    /* the pause before a failed checkpoint is tried again */
#define STORE_CHECK_MS           10000      /* the longest search for damage when a database is opened */
#define STORE_CACHE_KIB          (32 << 10) /* the writer's page cache */
#define COPY_STEP_PAGES          1024       /* pages copied at a time for a backup */

/* The state that an agent keeps */
#define STATE_BYTES_MAX (256u << 10) /* the whole state, as JSON */
#define STATE_DEPTH_MAX 16           /* keys in one path */
#define STATE_TRIES_MAX 16           /* tries to change the state while others change it */

/* The directory of documents that the daemon watches */
#define WATCH_QUIET_MS  100   /* the wait after a change, so that changes made together are read together */
#define WATCH_QUIET_MAX 5     /* such waits in a row, if changes keep coming */
#define WATCH_RETRY_MS  300   /* the pause before a half-written file, or a failed apply, is tried again */
#define WATCH_FIRST_MS  10000 /* after a start: how long due schedules wait for half-written files */

/* Reading for people */
#define READ_LIST_MAX       1000        /* items in one answer */
#define READ_BYTES_MAX      (32u << 20) /* documents in one answer; the first is included whatever its size */
#define READ_EVENTS_SEARCH  10000       /* events searched for one answer */
#define READ_CANDIDATES_MAX 8           /* ids listed when the beginning of an id fits several */
#define READ_MS_MAX         50          /* processor time for one answer */
#define READ_WAIT_MS_MAX    500         /* elapsed time for one answer, waits for the disk included */
#define READ_STEPS          1000        /* steps of the store's machine between two checks of the clock */

/* Notes of agents */
#define STORE_MEMORIES_MAX     2000 /* notes of one agent; further ones are refused */
#define STORE_MEMORY_BYTES_MAX 4096 /* one note */
#define STORE_MEMORY_TAGS_MAX  1024 /* bytes of the tags of one note */
#define MEMORY_REMOVE_BATCH    64   /* notes of one run removed in one request */
#define RELEVANT_NOTES_MAX     12   /* relevant notes in the context of one run */
#define RELEVANT_NOTES_BYTES   8192 /* bytes of all relevant notes in the context of one run */
#define RELEVANT_NOTES_LEAST   20   /* the least score of a relevant note, in percent of the best score */
#define RELEVANT_NOTES_MS_MAX  200  /* time for ranking notes in each second, all runs together */
#define RELEVANT_NOTES_NEWEST  3    /* newest notes that a run gets if fewer are relevant */
#define READ_QUERY_WORDS       32   /* different words of a query; further ones are ignored */
#define READ_QUERY_BYTES       64   /* bytes of one word of a query; the rest of the word is ignored */

/* The daemon */
#define CALENDARS_MAX        4096      /* different sets of excluded days */
#define NAMES_MAX            (1 << 20) /* agents, accounts and concurrency keys together */
#define INTERN_WAIT_MS       2000      /* longest wait for numbers of new names from the store */
#define PUMP_SUBSCRIBERS_MAX 8         /* parts of the daemon that are called for every durable fact */
#define GRANT_REMOVALS_MAX   1024      /* removed schedules that still count towards the grants of runs */
#define PREPARE_THREADS      4         /* threads that prepare attempts */
#define PREPARE_TASKS_MAX    320       /* tasks that wait for the prepare worker */
#define PREPARE_RETRY_MS     100 /* the pause before a task that failed for lack of resources is retried */
#define AGENT_LOAD_TRIES_MAX                                                                                 \
	20 /* tries to read a page of agents at the start: READ_MS_MAX may end a read early */
#define RUN_GRACE_SECONDS   5     /* the time from SIGTERM to SIGKILL when a run is stopped or times out */
#define DAEMON_MAIL_MAX     8192  /* commands and calls that wait for the engine's thread */
#define COMMAND_BUSY_MS     5000  /* a command is retried this long while its schedule is busy */
#define RUN_BUSY_MS         200   /* the same for a manual run: another run may last for hours */
#define COMMAND_RETRY_MS    10    /* the pause between two such tries */
#define HEALTH_MS           1000  /* the pause between two checks of the clock, the store and the runner */
#define NO_MEMORY_MS        10000 /* out of memory for this long: the daemon ends, to start afresh */
#define DAEMON_COMPILE_MAX  32    /* schedules that are compiled again at the same time */
#define DAEMON_STOP_MS      5000  /* the longest wait for answers to commands when the daemon stops */
#define DAEMON_END_MS       20000 /* the time from SIGTERM to the end of the process, whatever hangs */
#define DAEMON_END_SOON_MS  2000  /* the same from a second signal to the end */
#define PROBLEMS_QUEUED_MAX 1024  /* opened problems that wait for room in the prepare worker's queue */

/* Retention and restore */
#define RETENTION_FIRST_SECONDS                                                                              \
	600                   /* the pause before the first pruning after a start: the clock may yet be set */
#define RETENTION_BATCH    16 /* rows removed in one request, or files in a row; due runs wait meanwhile */
#define RETENTION_EVENTS   256   /* rows of the log of events removed in one request */
#define RETENTION_PAUSE_MS 5     /* the pause between two such batches */
#define STRAYS_WAIT_MS     15000 /* the longest wait for runs that a restored store does not know */

/* The runner, the launcher and its shims */
#define LAUNCH_BYTES_MAX    (64u << 20) /* one request to the launcher */
#define LAUNCH_ARGS_MAX     4096        /* arguments of one program */
#define LAUNCH_ENV_MAX      4096        /* environment variables of one program */
#define LAUNCH_FILES_MAX    4096        /* files that must exist after one run */
#define SECRETS_MAX         1024        /* secrets of one run */
#define MASK_FORMS_MAX      131072      /* forms in which the secrets of one run are masked */
#define MASK_BYTES_MAX      (32u << 20) /* bytes of these forms */
#define FETCHES_MAX         64          /* secrets that the shim of one run reads */
#define FETCH_WORDS_MAX     1024        /* words of all programs that print these secrets */
#define FETCH_NAME_MAX      128         /* bytes of the name of a secret's variable */
#define FETCH_STDERR_MAX    16384       /* bytes kept of the standard error of these programs */
#define SECRET_LINE_MIN     8           /* bytes: a shorter line of a secret is not masked by itself */
#define SECRET_BYTES_MIN    4           /* shorter values are not masked: they would match everywhere */
#define SECRET_BYTES_MAX    16384       /* one secret's value */
#define PROCS_MAX           (1u << 22)  /* processes on one machine: the kernel's own bound */
#define CGROUP_DEPTH_MAX    16          /* nesting depth of control groups below that of a run */
#define DRAIN_BYTES_MAX     (1u << 20)  /* read from one pipe after the end of a run: no pipe holds more */
#define OOM_SCORE_ADJ       500         /* for agents: the kernel kills them before shims and the daemon */
#define LEFTOVER_GRACE_MS   1000  /* the time from SIGTERM to SIGKILL for processes left by a finished run */
#define KILL_ROUND_MS       20    /* the first pause between two rounds of killing; it doubles */
#define KILL_ROUND_MS_MAX   1000  /* the longest such pause */
#define RUNNER_RETRY_MS     100   /* the first pause before a refused start is retried; it doubles */
#define RUNNER_RETRY_MS_MAX 30000 /* the longest such pause */
#define RUNNER_ANSWER_MS    2000  /* the pause between two checks on a start that was not answered */
#define RUNNER_HUNG_MS      10000 /* a launcher that answers nothing for this long is replaced */
#define RUNNER_WATCH_MS     500   /* the pause between two checks on a shim that has no pidfd */
#define RUNNER_LAUNCHER_MS  1000  /* the least time between two starts of a launcher */
#define ATTEMPTS_MAX        65536 /* attempts that the runner knows at a time */
#define RUN_NUMBERS_MAX     (UINT64_C(1) << 48) /* numbers of runs are below this */
/* The last number that is believed: of the files of a run, which a run can create (the name of its shim must
 * still fit); of a backup; of a database. Each leaves room for the next. */
#define RUN_FILES_MAX     (UINT64_C(1) << 36)
#define RUN_BACKUP_MAX    (RUN_NUMBERS_MAX / 4)
#define RUN_DATABASE_MAX  (RUN_NUMBERS_MAX / 2)
#define RUNNER_CHECKS_MAX 16 /* checks that run at the same time; others wait */
#define RUNNER_HOOKS_MAX  64 /* hooks that run at the same time; others wait, but no check and no run */

/* Reports of an attempt */
#define OUTBOX_BYTES_MAX   131072 /* steps and notes written by one attempt; readers read the last 2 × this */
#define OUTBOX_TEXT_MAX    4096   /* bytes of one report */
#define REPORT_EVENT_BYTES 500    /* bytes of a report in the event about it */
#define ANSWER_BYTES_MAX   65536  /* the last bytes of a run's standard output, kept as its answer */

/* Hooks */
#define HOOK_LOG_BYTES          65536 /* bytes kept of the beginning, and of the end, of a hook's output */
#define HOOK_ANSWER_BYTES       65536 /* a longer standard output is not read as JSON */
#define HOOK_WORDS_BYTES        1024  /* the reason that a hook gives; the rest is left out */
#define CREATE_HOOK_SECONDS_MAX 20    /* timeout of a create hook: the run that waits for it has CLIENT_MS */

/* HTTP server: the defaults of struct http_limits */
#define HTTP_BODY_BYTES_MAX    (64u << 20)  /* one request's body: about 300,000 schedules */
#define HTTP_BODIES_BYTES_MAX  (128u << 20) /* bodies of all requests under way */
#define HTTP_HEADER_BYTES_MAX  8192         /* one request's line and headers */
#define HTTP_STREAM_BYTES_MAX  (1u << 20)   /* unsent bytes of one stream; a slower reader is disconnected */
#define HTTP_CONNECTIONS_MAX   1000         /* open connections */
#define HTTP_GUEST_CONNECTIONS 32 /* open connections of one run; all runs together get three quarters */
#define HTTP_USER_RESERVED     8  /* connections that one user cannot take: they are left to others */
#define HTTP_REQUEST_BYTES_MAX (17u << 20) /* the body of a request, except for apply: one document */
#define HTTP_RUN_BYTES_MAX     (2u << 20)  /* the body of a run's request: a state with escapes */
#define EVENT_FOLLOWERS_MAX    600         /* clients that follow events at the same time */
#define EVENT_BATCH            256         /* events that are read and written at a time for all followers */
#define EVENT_PAGE_BYTES       (64u << 10) /* the same for one follower that is behind the others */
#define EVENT_SLOW_BYTES                                                                                     \
	(16u << 10)                /* unsent bytes with which a follower is no longer sent new events;       \
				      it is sent pages of the log instead, when it has read them */
#define EVENT_DATA_BYTES_MAX 65536 /* the data of the action `event`, as JSON */
#define EVENT_CHOICE_BYTES   512   /* the list of event types that a follower names */
#define HTTP_FDS_RESERVED    256   /* file descriptors left to the rest of the daemon */
#define HTTP_FIRST_MS        10000 /* the time from the connection to the first request line */
#define HTTP_IDLE_MS         60000 /* the time from an answer to the next request line */
#define HTTP_READ_MS         30000 /* the time from the request line to the last byte of the body */
#define HTTP_ANSWER_MS       60000 /* the time from the complete request to the handler's answer */
#define HTTP_SEND_MS         30000 /* the time for the client to read the answer */
#define HTTP_STALL_MS        30000 /* the time for the client of a stream to read anything */
#define HTTP_HEARTBEAT_MS    15000 /* the pause between two keep-alive comments on a quiet stream */
#define HTTP_STOP_MS         5000  /* the time for requests under way when the server stops */
#define HTTP_WATCH_MS        10    /* the pause between two looks at a handler that has not answered */
/* Fixed limits of the HTTP server */
#define HTTP_TASKS_MAX 4096 /* functions posted to the server's thread that have not run yet */
#define HTTP_LAST_MS   500  /* the time for sending the last answers, after HTTP_STOP_MS */
#define HTTP_ACCEPT_PAUSE_MS                                                                                 \
	200 /* the pause before the next accept() when there are no file descriptors left */
#define HTTP_TURN_MAX        64  /* connections accepted, and events handled, in one turn of the loop */
#define HTTP_CONNECTIONS_MIN 4   /* connections the server needs room for, or it does not start */
#define HTTP_SEGMENTS_MAX    32  /* segments of one path */
#define HTTP_QUERY_MAX       64  /* values in one query */
#define SOCKET_TRIES_MAX     100 /* tries to lock the socket's directory, 10 ms apart */
/* A longer body of a refused request is not read: the connection is closed after the answer. */
#define HTTP_DISCARD_BYTES_MAX (64u << 10)

/* The operations thread: handlers of requests */
#define OPERATIONS_MAX      4096          /* calls that wait for the thread */
#define OPERATIONS_RESERVED 1024          /* places of these for requests under way only */
#define OPERATIONS_LOOK_MS  HTTP_WATCH_MS /* the pause between two looks at the thread */
#define OPERATIONS_LOOKS    3             /* the thread hangs if so many looks in a row find the same wait */

/* Commands of people */
#define NOTE_BYTES_MAX  1024 /* a person's note on a pause or a problem */
#define DERIVED_IDS_MAX 1000 /* schedules whose ids are derived from the same words */

/* Which run a caller belongs to, and what runs may create */
#define LINEAGE_MAX       256   /* ancestors of one process */
#define LINEAGE_TRIES_MAX 8     /* tries to walk the ancestors while they change */
#define LINEAGE_ENV_BYTES 65536 /* bytes of an environment that are searched for a run's number */
#define GRANT_TIMES_MAX   1000  /* occurrences whose distances are checked in a schedule made by a run */

/* The client */
#define CLIENT_BYTES_MAX      (64u << 20) /* one answer */
#define CLIENT_HEAD_BYTES_MAX 65536       /* an answer's status line and headers */
#define CLIENT_MS             30000 /* the longest duration of one call; for a stream, until it begins */
#define CLIENT_BUSY_MS        20    /* the pause before the next try while the daemon's queue is full */
#define CLIENT_RETRY_MS       200   /* the pause between two tries to reach a daemon that went away */
#define CLIENT_RETRIES_MAX    150   /* the most such tries, in `run --wait` and `events --follow` */
#define REPORT_WAIT_MS        1000 /* the longest wait for the daemon, if the outbox has the report already */
#define SSE_EVENT_BYTES_MAX   (16u << 20) /* one event of a stream */

/* Notifications */
#define NEWS_AT_ONCE                128 /* rows of news that become messages in one transaction */
#define DIGEST_ABOVE                16  /* messages to one target; more are joined in one digest */
#define DIGEST_MESSAGES             20  /* messages that one digest contains in full */
#define DIGEST_BYTES                24576 /* the messages within one digest, which must fit STORE_MESSAGE_BYTES_MAX */
#define DELIVERIES_MAX              16  /* deliveries at the same time */
#define DELIVERIES_PER_RECEIVER_MAX 2   /* deliveries to one receiver at the same time */
#define PAUSED_RECEIVERS_MAX        64  /* receivers remembered as paused after a failed delivery */
#define RECEIVER_PAUSE_SECONDS      10  /* the longest pause of a receiver */
#define NOTIFY_RETRY_MS             200 /* the pause before the next try, if store or launcher is full */
#define NOTIFY_SECONDS              30  /* the longest duration of one attempt to deliver a message */
#define DELIVERY_LOG_BYTES          4096 /* bytes kept of the beginning, and of the end, of a delivery's output */
#define MESSAGE_DETAIL_BYTES        1024 /* the reason within a message */
#define PING_OUTPUT_BYTES           4096 /* the last output of a run, sent with a ping */
#define REQUEST_ANSWER_BYTES        1024 /* bytes kept of the answer to a message */
#define DELIVERY_SECONDS_MAX                                                                                 \
	86400 /* the longest pause between two attempts, even if the receiver asks for more */

/* Webhooks of events */
#define EVENT_TARGETS_MAX            16           /* targets in the configuration */
#define EVENT_BATCH_EVENTS           500          /* events in one request */
#define EVENT_BATCH_BYTES            (256u << 10) /* bytes of these events; the first is sent whatever its size */
#define EVENT_BATCH_PAUSE_MS         200          /* the pause between two requests to a target */
#define EVENT_POSITION_LAG           4096 /* events that a target does not want, before its position is recorded */
#define EVENT_TARGET_PAUSE_SECONDS   3600 /* the longest pause between two requests to a target that fails */
#define EVENT_TARGET_PROBLEM_SECONDS 3600 /* failing for this long is a problem */
#define EVENT_TARGET_GONE_SECONDS    (14 * 86400) /* after this long a target gets nothing more */

/* Requests to the network */
#define OUT_CONNECT_MS        10000       /* default for connecting */
#define OUT_TOTAL_MS          30000       /* default for one request with all its redirects */
#define OUT_TOTAL_MS_MAX      86400000    /* the largest value of these two timeouts */
#define OUT_REDIRECTS_MAX     5           /* redirects of one request */
#define OUT_HEAD_BYTES_MAX    65536       /* the headers of a request; the headers of all its answers */
#define OUT_BODY_BYTES        (1u << 20)  /* default for the body of an answer */
#define OUT_BODY_BYTES_MAX    (64u << 20) /* the largest value of this limit */
#define OUT_REQUEST_BYTES_MAX (32u << 20) /* the JSON text that rota-out reads */
#define OUT_URL_BYTES_MAX     8192        /* one URL */
#define OUT_HEADERS_MAX       256         /* headers set for one request */
#define OUT_ALLOW_MAX         256         /* entries in a list of allowed addresses */
#define OUT_ID_BYTES_MAX      128         /* the id of a signed message */
#define HOST_BYTES_MAX        253         /* the name of a host */

/* Fairness: bulk work must not delay other requests */
#define STORE_BULK_MAX  64     /* bulk requests in one transaction: the next request waits for its end */
#define APPLY_BULK      32     /* an apply of more schedules than this uses the bulk lane */
#define THREAD_SLICE_NS 100000 /* time slice of the threads that start due runs: the kernel's minimum */
