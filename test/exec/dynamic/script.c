/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/dynamic/script.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/dynamic/rings.h"
#include "kit/shared_facts.h"

enum {
  LINES = 80,
  LINE = 512,
  WORDS = 24,
  NAMES = SCRIPT_TASKS,
  ARGS = SCRIPT_ARGS,
  MEMBERS = SCRIPT_MEMBERS,
  EVENTS = 8
};

typedef struct script_names {
  uint32_t n;
  struct {
    char name[16];
    uint64_t id; /* of a task, buffer or piece */
    uint64_t size;
  } at[NAMES];
} script_names;

typedef struct script_runner {
  const char *id;
  fsched_hazards hazards;
  bool ring;
  uint32_t n;
  char line[LINES][LINE];
  fsched_context *ctx;
  const fs_script_driver *driver;
  void *of;      /* of the driver; NULL: not made yet */
  fs_dynamic *e; /* while it is looked at */
  fs_heap_rings heaps;
  bool has_heaps;
  uint64_t now, timeout; /* ns */
  script_names tasks, buffers;
  uint64_t next_address;
  uint32_t n_events;
  struct {
    uint64_t at;
    char name[4][16];
    uint32_t n;
  } event[EVENTS];
  /* The statement that is run */
  uint32_t n_words;
  char *word[WORDS];
  fsched_status status;
  bool known;
  fs_script_counts *counts;
} script_runner;

static const uint64_t ms = 1000000;

static void fail_script(const script_runner *r, const char *format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  ck_abort_msg("%s: %s", r->id, text);
}

static uint32_t index_of(script_runner *r, const script_names *names, const char *name) {
  for (uint32_t i = 0; i < names->n; i++) {
    if (strcmp(names->at[i].name, name) == 0) {
      return i;
    }
  }
  fail_script(r, "nothing is named %s", name);
  return 0;
}

static void add_name(script_runner *r, script_names *names, const char *name, uint64_t id,
                     uint64_t size) {
  ck_assert_uint_lt(names->n, NAMES);
  for (uint32_t i = 0; i < names->n; i++) {
    if (strcmp(names->at[i].name, name) == 0) {
      fail_script(r, "%s is named twice", name);
    }
  }
  (void)snprintf(names->at[names->n].name, sizeof names->at->name, "%s", name);
  names->at[names->n].id = id;
  names->at[names->n++].size = size;
}

static uint64_t task_of(script_runner *r, const char *name) {
  return r->tasks.at[index_of(r, &r->tasks, name)].id;
}

static const char *name_of(const script_runner *r, uint64_t task) {
  for (uint32_t i = 0; i < r->tasks.n; i++) {
    if (r->driver->task_of(r->of, r->tasks.at[i].id) == task) {
      return r->tasks.at[i].name;
    }
  }
  return "?";
}

/* The clock and what happens on it */

static uint64_t read_time(void *user) { return ((script_runner *)user)->now; }

static bool wait_for_time(void *user, uint64_t until) {
  script_runner *r = user;
  uint32_t next = r->n_events;
  for (uint32_t i = 0; i < r->n_events; i++) {
    next = r->event[i].at <= until && (next == r->n_events || r->event[i].at < r->event[next].at)
               ? i
               : next;
  }
  if (next == r->n_events) {
    r->now = until;
    return true;
  }
  r->now = r->event[next].at;
  for (uint32_t i = 0; i < r->event[next].n; i++) {
    fs_heap_give(&r->heaps, (uint32_t)task_of(r, r->event[next].name[i]));
  }
  r->event[next] = r->event[--r->n_events];
  return true;
}

static bool is_never_stuck(void *user, uint32_t owner) {
  (void)user;
  (void)owner;
  return false;
}

/* L3 */

static uint64_t number_in(script_runner *r, const char *text) {
  char *end;
  uint64_t value = strtoull(text, &end, 10);
  if (end == text) {
    fail_script(r, "%s is no number", text);
  }
  return value;
}

static void make_run(script_runner *r, uint64_t heap) {
  fs_script_settings s = {.ctx = r->ctx,
                          .hazards = r->hazards,
                          .heap = heap,
                          .timeout = r->timeout,
                          .user = r,
                          .now = read_time,
                          .wait = wait_for_time};
  r->of = r->driver->make(&s);
}

/* B, B@off+len or B[r+rows,c+cols/RxC]. */
static void read_view(script_runner *r, char *text, fs_dynamic_arg *a) {
  char *mark = strpbrk(text, "@[");
  char kind = mark == NULL ? '\0' : *mark;
  unsigned long long v[6];
  if (mark != NULL) {
    *mark++ = '\0';
  }
  a->buffer = r->buffers.at[index_of(r, &r->buffers, text)].id;
  a->has_view = kind != '\0';
  if (kind == '@') {
    ck_assert_int_eq(sscanf(mark, "%llu+%llu", &v[0], &v[1]), 2);
    a->view = (fs_view){v[0], 1, 1, {v[1]}, {1}};
  } else if (kind == '[') {
    int n = sscanf(mark, "%llu+%llu,%llu+%llu/%llux%llu", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5]);
    ck_assert_int_eq(n, 6);
    a->view = (fs_view){v[0] * v[5] + v[2], 1, 2, {v[1], v[3]}, {v[5], 1}};
  }
}

static void read_arg(script_runner *r, const char *word, fs_dynamic_arg *a) {
  static const struct {
    const char *name;
    fsched_tag tag;
  } tags[] = {{"IN", FSCHED_IN},
              {"OUT", FSCHED_OUT},
              {"INOUT", FSCHED_INOUT},
              {"OUTX", FSCHED_OUT_EXISTING},
              {"NODEP", FSCHED_NO_DEP}};
  char text[128];
  (void)snprintf(text, sizeof text, "%s", word);
  char *view = strchr(text, ':');
  ck_assert_ptr_nonnull(view);
  *view++ = '\0';
  *a = (fs_dynamic_arg){.tag = FSCHED_VALUE};
  for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
    a->tag = strcmp(tags[i].name, text) == 0 ? tags[i].tag : a->tag;
  }
  read_view(r, view, a);
}

static void submit_task(script_runner *r) {
  fs_dynamic_arg arg[MEMBERS][ARGS];
  fs_dynamic_member member[MEMBERS];
  uint32_t queue[MEMBERS];
  fs_script_task s = {.name = r->word[1],
                      .group = strcmp(r->word[0], "group") == 0,
                      .sub = strcmp(r->word[2], "sub") == 0,
                      .queue = queue,
                      .member = member};
  if (!s.sub) {
    ck_assert(strncmp(r->word[2], "next@", 5) == 0);
    for (char *p = r->word[2] + 5; *p != '\0'; p += *p == ',') {
      queue[s.n_queues++] = (uint32_t)strtol(p, &p, 10);
    }
  }
  s.n_members = !s.group || r->n_words > 3;
  member[0] = (fs_dynamic_member){0, arg[0]};
  for (uint32_t i = 3; i < r->n_words; i++) {
    if (strcmp(r->word[i], "|") == 0) {
      ck_assert_uint_lt(s.n_members, MEMBERS);
      member[s.n_members] = (fs_dynamic_member){0, arg[s.n_members]};
      s.n_members++;
    } else {
      fs_dynamic_member *m = &member[s.n_members - 1];
      ck_assert_uint_lt(m->n_args, ARGS);
      read_arg(r, r->word[i], &arg[s.n_members - 1][m->n_args++]);
    }
  }
  uint64_t task;
  r->status = r->driver->submit(r->of, &s, &task);
  if (r->status == FSCHED_OK) {
    add_name(r, &r->tasks, r->word[1], task, 0);
  }
}

static bool has_word(const script_runner *r, const char *word) {
  for (uint32_t i = 1; i < r->n_words; i++) {
    if (strcmp(r->word[i], word) == 0) {
      return true;
    }
  }
  return false;
}

static void import_buffer(script_runner *r) {
  fs_dynamic_import d = {.size = number_in(r, r->word[2]),
                         .address = r->next_address,
                         .readable = !has_word(r, "wo"),
                         .writable = !has_word(r, "ro"),
                         .device = has_word(r, "dev")};
  uint64_t b = 0;
  r->next_address += d.size;
  r->status = r->driver->import(r->of, r->word[1], &d, &b);
  add_name(r, &r->buffers, r->word[1], b, d.size);
}

static void alloc_buffer(script_runner *r) {
  uint64_t size = number_in(r, r->word[3]);
  uint64_t b, t;
  r->status = r->driver->alloc(r->of, !has_word(r, "rank0"), size, &b, &t);
  if (r->status == FSCHED_OK) {
    if (t != FS_DYNAMIC_NO_TASK) {
      add_name(r, &r->tasks, r->word[1], t, 0);
    }
    add_name(r, &r->buffers, r->word[2], b, size);
  }
}

static void change_scopes(script_runner *r) {
  bool repeat = strcmp(r->word[0], "repeat") == 0;
  uint64_t n = repeat ? number_in(r, r->word[1]) : 1;
  const char *what = r->word[repeat ? 2 : 0];
  for (uint64_t i = 0; i < n && r->status == FSCHED_OK; i++) {
    r->status = r->driver->scope(r->of, what[5] == '+');
  }
}

static void end_member(script_runner *r) {
  char *dot = strchr(r->word[1], '.');
  uint32_t member = 0;
  if (dot != NULL) {
    *dot = '\0';
    member = (uint32_t)number_in(r, dot + 1);
  }
  r->driver->end(r->of, task_of(r, r->word[1]), member,
                 strcmp(r->word[0], "done") == 0 ? NULL : r->word[2]);
}

static const char *const state_names[] = {"FREE",    "BUILDING",  "PENDING", "READY",
                                          "RUNNING", "COMPLETED", "FAILED",  "CONSUMED"};
static const char *const run_names[] = {"open", "closed", "failing", "done", "failed"};

/* Compares a list of tasks with what stands behind the "=". */
static void expect_tasks(script_runner *r, const fs_dynamic_task *task, uint32_t n) {
  char text[LINE] = "";
  for (uint32_t i = 0; i < n; i++) {
    (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i == 0 ? "" : ",",
                   name_of(r, task[i]));
  }
  if (strcmp(n == 0 ? "-" : text, r->word[3]) != 0) {
    fail_script(r, "%s %s = %s, not %s", r->word[0], r->word[1], n == 0 ? "-" : text, r->word[3]);
  }
}

static void expect_text(script_runner *r, const char *is, const char *want) {
  if (is == NULL || strcmp(is, want) != 0) {
    fail_script(r, "%s %s is %s, not %s", r->word[0], r->n_words > 1 ? r->word[1] : "",
                is == NULL ? "none" : is, want);
  }
}

static void expect_number(script_runner *r, uint64_t is, const char *want) {
  char text[24];
  (void)snprintf(text, sizeof text, "%llu", (unsigned long long)is);
  expect_text(r, text, want);
}

static void expect_writers(script_runner *r) {
  fs_dynamic_task found[NAMES];
  fs_dynamic_arg a = {.tag = FSCHED_IN};
  uint32_t n;
  char text[128];
  (void)snprintf(text, sizeof text, "%s", r->word[1]);
  read_view(r, text, &a);
  ck_assert_int_eq(fs_dynamic_writers(r->e, r->driver->buffer_of(r->of, a.buffer),
                                      a.has_view ? &a.view : NULL, 0, found, NAMES, &n),
                   FSCHED_OK);
  expect_tasks(r, found, n);
}

/* Looks at a task: state, preds, live, refs, reason, ringof. */
static bool expect_task(script_runner *r) {
  fs_dynamic_task found[NAMES];
  const char *what = r->word[0];
  bool known = strcmp(what, "state") == 0 || strcmp(what, "preds") == 0 ||
               strcmp(what, "live") == 0 || strcmp(what, "refs") == 0 ||
               strcmp(what, "reason") == 0 || strcmp(what, "ringof") == 0;
  if (!known) {
    return false;
  }
  fs_dynamic_task task = r->driver->task_of(r->of, task_of(r, r->word[1]));
  fs_dynamic_task_info info = fs_dynamic_task_get(r->e, task);
  switch (what[0] == 'r' ? what[2] : what[0]) {
    case 's':
      if (!r->driver->eager || strcmp(r->word[3], "READY") != 0 || info.state != FS_TASK_RUNNING) {
        expect_text(r, state_names[info.state], r->word[3]);
      }
      break;
    case 'p':
      expect_tasks(r, found, fs_dynamic_predecessors(r->e, task, found, NAMES));
      break;
    case 'l':
      expect_number(r, info.n_waits, r->word[3]);
      break;
    case 'f': {
      char text[64];
      (void)snprintf(text, sizeof text, "%u/%u", info.references, info.releases);
      expect_text(r, text, r->word[3]);
      break;
    }
    case 'a':
      expect_text(r, info.cause, r->driver->own_words ? info.cause : r->word[3]);
      break;
    default:
      expect_number(r, info.heap, r->word[3]);
      break;
  }
  return true;
}

/* Looks at the engine: false in r->known for an unknown statement. */
static void expect_inside(void *user, fs_dynamic *e) {
  script_runner *r = user;
  const char *what = r->word[0];
  r->e = e;
  r->known = true;
  if (strcmp(what, "writers") == 0) {
    expect_writers(r);
  } else if (strcmp(what, "mapsize") == 0) {
    if (strcmp(r->word[1], "0") == 0) {
      expect_number(r, fs_dynamic_accesses(r->e), "0");
    }
  } else if (strcmp(what, "active") == 0) {
    expect_number(r, fs_dynamic_active(r->e), r->word[1]);
  } else {
    r->known = expect_task(r);
  }
  r->e = NULL;
}

static bool expect_run(script_runner *r) {
  const char *what = r->word[0];
  r->known = true;
  if (strcmp(what, "run_is") == 0) {
    expect_text(r, run_names[r->driver->state(r->of)], r->word[1]);
  } else if (strcmp(what, "wait") == 0) {
    ck_assert_int_eq(r->driver->drain(r->of), FSCHED_OK);
  } else if (strcmp(what, "preds") == 0 && r->driver->expect_predecessors != NULL) {
    r->driver->expect_predecessors(r->of, task_of(r, r->word[1]), r->word[3]);
  } else if (r->driver->inspect != NULL) {
    r->driver->inspect(r->of, expect_inside, r);
  } else {
    r->counts->left_out++;
  }
  return r->known;
}

static void run_l3_statement(script_runner *r) {
  const char *what = r->word[0];
  if (strcmp(what, "heap") == 0) {
    r->timeout = (r->n_words > 2 ? number_in(r, r->word[2]) : 200) * ms;
    make_run(r, number_in(r, r->word[1]));
    return;
  }
  if (r->of == NULL) {
    make_run(r, 1 << 20);
  }
  if (strcmp(what, "buf") == 0) {
    import_buffer(r);
  } else if (strncmp(what, "scope", 5) == 0 || strcmp(what, "repeat") == 0) {
    change_scopes(r);
  } else if (strcmp(what, "alloc") == 0) {
    alloc_buffer(r);
  } else if (strcmp(what, "submit") == 0 || strcmp(what, "group") == 0) {
    submit_task(r);
  } else if (strcmp(what, "run") == 0) {
    if (!r->driver->run(r->of, task_of(r, r->word[1]))) {
      fail_script(r, "%s cannot run", r->word[1]);
    }
  } else if (strcmp(what, "done") == 0 || strcmp(what, "fail") == 0) {
    end_member(r);
  } else if (strcmp(what, "close") == 0) {
    r->status = r->driver->close(r->of);
  } else if (strcmp(what, "cancel") == 0) {
    r->driver->cancel(r->of, r->word[1]);
  } else if (!expect_run(r)) {
    fail_script(r, "unknown statement %s", what);
  }
}

/* RING */

static uint64_t option_of(script_runner *r, const char *name, uint64_t otherwise) {
  size_t n = strlen(name);
  for (uint32_t i = 1; i < r->n_words; i++) {
    if (strncmp(r->word[i], name, n) == 0 && r->word[i][n] == '=') {
      return number_in(r, r->word[i] + n + 1);
    }
  }
  return otherwise;
}

static void take_piece(script_runner *r) {
  fs_heap_waiting w = {r, r->timeout, read_time, wait_for_time, is_never_stuck};
  uint32_t depth = (uint32_t)option_of(r, "depth", 0), piece;
  r->status =
      fs_heap_take(&r->heaps, fs_heap_ring_of(depth + 1), number_in(r, r->word[2]), &w, &piece);
  if (r->status == FSCHED_OK) {
    add_name(r, &r->tasks, r->word[1], piece, 0);
  }
}

static void plan_event(script_runner *r) {
  ck_assert_uint_lt(r->n_events, EVENTS);
  ck_assert_str_eq(r->word[2], "rfree");
  r->event[r->n_events].at = r->now + number_in(r, r->word[1]) * ms;
  r->event[r->n_events].n = 0;
  for (uint32_t i = 3; i < r->n_words; i++) {
    uint32_t k = r->event[r->n_events].n++;
    (void)snprintf(r->event[r->n_events].name[k], 16, "%s", r->word[i]);
  }
  r->n_events++;
}

static void expect_ring(script_runner *r) {
  const char *what = r->word[0];
  if (strcmp(what, "depthring") == 0) {
    long depth = strtol(r->word[1], NULL, 10);
    expect_number(r, fs_heap_ring_of((uint32_t)(depth + 1)), r->word[3]);
  } else if (strcmp(what, "top") == 0) {
    expect_number(r, r->heaps.ring[number_in(r, r->word[1])].top, r->word[3]);
  } else if (strcmp(what, "tail") == 0) {
    expect_number(r, r->heaps.ring[number_in(r, r->word[1])].tail, r->word[3]);
  } else if (strcmp(what, "active") == 0) {
    expect_number(r, r->heaps.n_active, r->word[1]);
  } else if (strcmp(what, "nextid") == 0) {
    expect_number(r, r->heaps.next_serial, r->word[1]);
  } else {
    const fs_heap_piece *p = &r->heaps.piece.at[task_of(r, r->word[1])];
    if (strcmp(what, "off") == 0) {
      expect_number(r, p->offset, r->word[3]);
    } else if (strcmp(what, "id") == 0) {
      expect_number(r, p->serial, r->word[3]);
    } else if (strcmp(what, "ringof") == 0) {
      expect_number(r, p->ring, r->word[3]);
    } else if (strcmp(what, "null") == 0) {
      expect_number(r, p->bytes, "0");
    } else {
      fail_script(r, "unknown statement %s", what);
    }
  }
}

static void run_ring_statement(script_runner *r) {
  const char *what = r->word[0];
  if (strcmp(what, "ring") == 0) {
    r->timeout = option_of(r, "timeout_ms", 200) * ms;
    fs_heap_room room[FS_HEAP_RINGS];
    for (uint32_t i = 0; i < FS_HEAP_RINGS; i++) {
      room[i] = (fs_heap_room){number_in(r, r->word[1]), FS_HEAP_ALIGN, NULL};
    }
    if (fs_heap_rings_init(&r->heaps, r->ctx, FS_HEAP_RINGS, room) != FSCHED_OK) {
      fail_script(r, "no memory for heaps");
    }
    r->has_heaps = true;
  } else if (strcmp(what, "ralloc") == 0) {
    take_piece(r);
  } else if (strcmp(what, "rfree") == 0) {
    fs_heap_give(&r->heaps, (uint32_t)task_of(r, r->word[1]));
  } else if (strcmp(what, "rreset") == 0) {
    r->status = fs_heap_reset(&r->heaps);
  } else if (strcmp(what, "after") == 0) {
    plan_event(r);
  } else {
    expect_ring(r);
  }
}

/* Cases */

/* Splits a line into words; what stands in quotes is one. */
static void split_words(script_runner *r, char *line) {
  r->n_words = 0;
  for (char *p = line; *(p += strspn(p, " ")) != '\0';) {
    bool quoted = *p == '"';
    p += quoted;
    ck_assert_uint_lt(r->n_words, WORDS);
    r->word[r->n_words++] = p;
    p += strcspn(p, quoted ? "\"" : " ");
    if (*p != '\0') {
      *p++ = '\0';
    }
  }
}

static void check_status(script_runner *r, const char *line, const char *error) {
  static const struct {
    const char *kind;
    fsched_status status[2];
  } kinds[] = {{"invalid", {FSCHED_BAD_INPUT, FSCHED_BAD_INPUT}},
               {"logic", {FSCHED_USAGE, FSCHED_USAGE}},
               {"runtime", {FSCHED_INFEASIBLE, FSCHED_REPLAY}}};
  if (error == NULL) {
    if (r->status != FSCHED_OK) {
      fail_script(r, "'%s' fails with %d", line, (int)r->status);
    }
    return;
  }
  bool right = false;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    size_t n = strlen(kinds[i].kind);
    right =
        right || (strncmp(error, kinds[i].kind, n) == 0 && (error[n] == ' ' || error[n] == '\0') &&
                  (r->status == kinds[i].status[0] || r->status == kinds[i].status[1]));
  }
  if (!right || fsched_diag_errors(r->ctx) != 1) {
    fail_script(r, "'%s' gives %d with %u errors, not %s", line, (int)r->status,
                fsched_diag_errors(r->ctx), error);
  }
  fsched_diag_clear(r->ctx);
  r->counts->errors++;
}

static void run_lines(script_runner *r) {
  for (uint32_t i = 0; i < r->n; i++) {
    char line[LINE];
    bool fails = i + 1 < r->n && strncmp(r->line[i + 1], "error ", 6) == 0;
    memcpy(line, r->line[i], sizeof line);
    split_words(r, line);
    r->status = FSCHED_OK;
    if (r->ring) {
      run_ring_statement(r);
    } else {
      run_l3_statement(r);
    }
    check_status(r, r->line[i], fails ? r->line[i + 1] + 6 : NULL);
    r->counts->statements += 1 + fails;
    i += fails;
  }
}

static void replace_line(script_runner *r, uint32_t at, const char *to) {
  char text[LINE * 4];
  (void)snprintf(text, sizeof text, "%s", to);
  memmove(r->line[at], r->line[at + 1], (r->n - at - 1) * sizeof r->line[0]);
  r->n--;
  char *save;
  for (char *p = strtok_r(text, "\n", &save); p != NULL; p = strtok_r(NULL, "\n", &save), at++) {
    ck_assert_uint_lt(r->n, LINES);
    memmove(r->line[at + 1], r->line[at], (r->n - at) * sizeof r->line[0]);
    (void)snprintf(r->line[at], LINE, "%s", p);
    r->n++;
  }
}

static void edit_lines(script_runner *r, const fs_script_edit *edits) {
  uint32_t at = 0;
  for (const fs_script_edit *x = edits; x != NULL && x->id != NULL; x++) {
    if (x->from != NULL && strcmp(x->id, r->id) == 0) {
      while (at < r->n && strcmp(r->line[at], x->from) != 0) {
        at++;
      }
      if (at == r->n) {
        fail_script(r, "no line '%s'", x->from);
      }
      replace_line(r, at, x->to);
      r->counts->edits++;
    }
  }
}

/* Whether a case is among those of a list; one without replacement leaves out the case. */
static bool is_left_out(const script_runner *r, const fs_script_edit *edits) {
  for (const fs_script_edit *x = edits; x != NULL && x->id != NULL; x++) {
    if (x->from == NULL && strcmp(x->id, r->id) == 0) {
      return true;
    }
  }
  return false;
}

static void run_case(script_runner *r, const fs_script_run *run) {
  for (uint32_t i = 0; i < FS_SCRIPT_EDITS; i++) {
    edit_lines(r, run->edits[i]);
    if (is_left_out(r, run->edits[i])) {
      r->counts->cases_left_out++;
      return;
    }
  }
  ck_assert_int_eq(fsched_context_create(NULL, &r->ctx), FSCHED_OK);
  r->next_address = 4096;
  run_lines(r);
  if (r->of != NULL) {
    r->driver->drop(r->of);
  }
  if (r->has_heaps) {
    fs_heap_rings_release(&r->heaps);
  }
  fsched_context_destroy(r->ctx);
  *(r->ring ? &r->counts->rings : &r->counts->cases) += 1;
}

/* Takes a line of the file into the case. */
static void add_line(script_runner *r, const char *line, bool *runs) {
  if (strncmp(line, "exec ", 5) == 0) {
    r->ring = strcmp(line + 5, "RING") == 0;
    *runs = (r->ring && r->driver == &fs_script_engine) || strcmp(line + 5, "L3") == 0;
  } else if (strncmp(line, "from ", 5) != 0 && strcmp(line, "probe") != 0 &&
             strncmp(line, "note ", 5) != 0) {
    ck_assert_uint_lt(r->n, LINES);
    (void)snprintf(r->line[r->n++], LINE, "%s", line);
  }
}

bool fs_script_run_all(const fs_script_run *run, fs_script_counts *counts) {
  FILE *file = fs_shared_facts("orchestrator_vectors.txt");
  if (file == NULL) {
    return false;
  }
  script_runner *r = malloc(sizeof *r);
  char line[LINE], id[LINE] = "";
  bool runs = false, more = true;
  *counts = (fs_script_counts){0};
  while (more) {
    more = fgets(line, sizeof line, file) != NULL;
    line[more ? strcspn(line, "#\n") : 0] = '\0';
    for (size_t n = strlen(line); n > 0 && line[n - 1] == ' '; n--) {
      line[n - 1] = '\0';
    }
    if (!more || strncmp(line, "case ", 5) == 0) {
      if (runs) {
        run_case(r, run);
      }
      (void)snprintf(id, sizeof id, "%s", more ? line + 5 : "");
      memset(r, 0, sizeof *r);
      r->id = id;
      r->hazards = run->hazards;
      r->driver = run->driver;
      r->counts = counts;
      runs = false;
    } else if (line[0] != '\0') {
      add_line(r, line, &runs);
    }
  }
  free(r);
  (void)fclose(file);
  return true;
}
