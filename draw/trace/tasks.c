/* SPDX-License-Identifier: Apache-2.0 */
#include "draw/trace/tasks.h"

#include "draw/trace/private.h"

/* What of a queue's slices is drawn already. */
typedef struct drawn_queue {
  uint64_t end; /* ns */
  uint64_t n;
} drawn_queue;

static uint64_t first_begin(const fs_trace_task_list *list) {
  uint64_t first = list->n == 0 ? 0 : list->task[0].begin;
  for (uint32_t i = 1; i < list->n; i++) {
    first = fs_min(first, list->task[i].begin);
  }
  return first;
}

static void put_task(fs_tracer *r, const fs_trace_task *t, uint64_t zero, drawn_queue *drawn) {
  uint64_t begin = fs_max(t->begin - zero, drawn->end);
  drawn->end = fs_max(t->end - zero, begin + 1);
  drawn->n++;
  fs_trace_begin(r, "X");
  fs_trace_number(r, "tid", r->tid0 + t->queue);
  fs_trace_time(r, "ts", begin);
  fs_trace_time(r, "dur", drawn->end - begin);
  fs_text_puts(&r->text, ",\"name\":");
  fs_text_puts(&r->word, t->name);
  fs_trace_word(r);
  fs_text_puts(&r->text, t->group ? ",\"cat\":\"gang\",\"args\":{\"epoch\":"
                                  : ",\"cat\":\"op\",\"args\":{\"epoch\":");
  fs_text_u64(&r->text, drawn->n);
  if (t->group) {
    fs_trace_number(r, "member", t->member);
  }
  fs_text_puts(&r->text, "}}");
}

static fs_status put_list(fs_tracer *r, fs_arena *arena, const fs_trace_task_list *list) {
  drawn_queue *drawn;
  FS_TRY(fs_new_zero(arena, &drawn, list->n_queues));
  r->pid = 1;
  r->tid0 = 2;
  uint64_t zero = first_begin(list);
  fs_text_puts(&r->text, "{\"traceEvents\":[\n");
  fs_trace_process(r, list->program, "dynamic");
  for (uint32_t q = 0; q < list->n_queues; q++) {
    fs_trace_thread(r, q, list->queue[q]);
  }
  for (uint32_t i = 0; i < list->n; i++) {
    assert(list->task[i].queue < list->n_queues);
    put_task(r, &list->task[i], zero, &drawn[list->task[i].queue]);
  }
  fs_text_puts(&r->text, "\n]}\n");
  return FSCHED_OK;
}

fs_status fs_trace_tasks(fsched_context *ctx, const fs_trace_task_list *list, char **text,
                         size_t *length) {
  assert(list->n_queues > 0 || list->n == 0);
  fs_tracer r = {.s = NULL};
  FS_SCRATCH(arena, ctx);
  fs_text_init(&r.text, ctx);
  fs_text_init(&r.word, ctx);
  fs_status status = put_list(&r, &arena, list);
  if (status == FSCHED_OK) {
    status = fs_text_take(&r.text, text, length);
  } else {
    fs_text_drop(&r.text);
  }
  fs_text_drop(&r.word);
  return status;
}
