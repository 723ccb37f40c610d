/* The result of a workflow as JSON. */
#include "cli/workflow/internal.h"

#include "base/json.h"
#include "core/org/row.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const task_words[] = {
	[TASK_WAITING] = "waiting", [TASK_RUNNING] = "running", [TASK_DONE] = "done",
	[TASK_FAILED] = "failed",   [TASK_KILLED] = "killed",   [TASK_SKIPPED] = "skipped"
};

static void write_task(const struct component *c, const struct task *task, struct buf *out)
{
	struct str log = buf_str(&task->process.log);
	buf_add(out, STR("{\"name\":"));
	json_write_str(out, c->name);
	json_add_str(out, "outcome", str_of(task_words[task->outcome]));
	json_add_str(out, "reason", task->reason ? str_of(task->reason) : (struct str){ 0 });
	json_add_str(out, "detail", task->detail ? str_of(task->detail) : (struct str){ 0 });
	if (task->process.end == PROCESS_EXITED)
		buf_addf(out, ",\"exit_code\":%d", task->process.code);
	buf_addf(out, ",\"seconds\":%.3f,\"output_bytes\":%llu", (double)task->microseconds / 1e6,
		 (unsigned long long)task->process.written);
	if (log.n > WORKFLOW_LOG_BYTES)
		log = str_from(log, log.n - WORKFLOW_LOG_BYTES);
	json_add_str(out, "log", log);
	buf_addc(out, '}');
}

/* The beginning of an output. */
static void write_export(struct str name, const struct task *task, struct buf *out)
{
	char *text = malloc(WORKFLOW_LOG_BYTES);
	int fd = task->outcome == TASK_DONE ? open(task->output, O_RDONLY | O_CLOEXEC) : -1;
	ssize_t n = text && fd >= 0 ? read(fd, text, WORKFLOW_LOG_BYTES) : 0;
	buf_add(out, STR("{\"name\":"));
	json_write_str(out, name);
	json_add_str(out, "text",
		     task->outcome == TASK_DONE && text ? (struct str){ text, n > 0 ? (size_t)n : 0 }
							: (struct str){ 0 });
	buf_addf(out, ",\"bytes\":%llu,\"cut\":%s}", (unsigned long long)task->process.written,
		 task->outcome == TASK_DONE && task->process.written > WORKFLOW_LOG_BYTES ? "true" : "false");
	out->failed |= !text;
	if (fd >= 0)
		close(fd);
	free(text);
}

static void write_tasks(const struct run *run, struct buf *out, bool *failed)
{
	const struct world *w = run->world;
	bool names = run->runner->options->plan_only;
	buf_add(out, STR(",\"tasks\":["));
	for (unsigned i = 0; i < w->components; i++) {
		if (i)
			buf_addc(out, ',');
		if (names)
			json_write_str(out, w->component[i].name);
		else
			write_task(&w->component[i], &run->task[i], out);
		*failed |= !names && run->task[i].outcome != TASK_DONE;
	}
	buf_addc(out, ']');
}

static void write_exports(const struct run *run, struct buf *out)
{
	const struct world *w = run->world;
	bool first = true;
	buf_add(out, STR(",\"exports\":["));
	for (unsigned i = 0; i < w->components; i++) {
		struct str name = w->component[i].out;
		if (!name.n || world_consumes(w, name))
			continue;
		if (!first)
			buf_addc(out, ',');
		first = false;
		if (run->runner->options->plan_only)
			json_write_str(out, name);
		else
			write_export(name, &run->task[i], out);
	}
	buf_addc(out, ']');
}

void workflow_write(const struct org *o, const struct run *run, struct buf *out, bool *failed)
{
	buf_add(out, STR("{\"workflow\":"));
	json_write_str(out, run->world->name);
	buf_add(out, STR(",\"schedule\":"));
	org_write_schedule(o, &o->head[run->world->head], out);
	write_tasks(run, out, failed);
	buf_add(out, STR(",\"sub_workflows\":["));
	for (unsigned i = 0; i < run->world->subs; i++) {
		if (i)
			buf_addc(out, ',');
		workflow_write(o, &run->sub[i], out, failed);
	}
	buf_addc(out, ']');
	write_exports(run, out);
	buf_addc(out, '}');
}
