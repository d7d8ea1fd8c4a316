/* SPDX-License-Identifier: Apache-2.0 */
/* Why an iteration of a loop waits: "load[3]", "load[1][3]" in a loop in a loop, or "load" for all
 * iterations.  A wait names a command and a distance in iterations, so each of them has the same
 * reasons, but for those for which the distance leads before the first: these wait for nothing. */
#include "base/text/columns.h"
#include "base/text/fields.h"
#include "base/text/plural.h"
#include "draw/explain/explain.h"
#include "draw/parts.h"

/* ---- names */

static uint32_t depth_of(const fs_stream *s, uint32_t loop) {
  uint32_t depth = 0;
  for (; loop != FS_NONE; loop = s->loops[loop].within) {
    depth++;
  }
  return depth;
}

/* Reads "[3][4]"; returns how many numbers there are, 0: the text is something else. */
static uint32_t read_indexes(const char *text, uint64_t *index) {
  uint32_t n = 0;
  while (*text == '[' && n < FS_LOOP_NEST) {
    uint64_t value = 0;
    const char *at = text + 1;
    for (; *at >= '0' && *at <= '9' && value <= UINT64_MAX / 16; at++) {
      value = 10 * value + (uint64_t)(*at - '0');
    }
    if (*at != ']' || at == text + 1) {
      return 0;
    }
    index[n++] = value;
    text = at + 1;
  }
  return *text == '\0' ? n : 0;
}

/* Are these iterations of the loop and of those around it? */
static bool runs_iterations(const fs_stream *s, uint32_t loop, const uint64_t *index, uint32_t n) {
  for (uint32_t i = n; i-- > 0; loop = s->loops[loop].within) {
    if (index[i] >= s->loops[loop].trip) {
      return false;
    }
  }
  return true;
}

fs_status fs_explain_instance(fs_explain *e, const char *name, bool *found) {
  const fs_stream *s = e->s;
  const char *bracket = strchr(name, '[');
  size_t length = bracket == NULL ? strlen(name) : (size_t)(bracket - name);
  fs_explained x = {.n = 0};
  x.n = bracket == NULL ? 0 : read_indexes(bracket, x.index);
  if (bracket != NULL && x.n == 0) {
    return FSCHED_OK;
  }
  for (x.loop = 0; x.loop < s->n_loops; x.loop++) {
    const fs_stream_loop *l = &s->loops[x.loop];
    for (x.op = l->op0; x.op < l->op0 + l->n_ops; x.op++) {
      const char *op = fs_explain_string(e, s->loop_ops[x.op].name);
      bool same = strlen(op) == length && memcmp(op, name, length) == 0;
      if (same &&
          (x.n == 0 || (x.n == depth_of(s, x.loop) && runs_iterations(s, x.loop, x.index, x.n)))) {
        *found = true;
        return fs_vec_push(e->ctx, &e->explained, x);
      }
    }
  }
  return FSCHED_OK;
}

bool fs_explain_in_loop(const fs_explain *e, const char *name) {
  size_t length = strcspn(name, "[");
  bool found = false;
  for (uint32_t op = 0; op < e->s->n_loop_ops && name[length] == '[' && !found; op++) {
    const char *known = fs_explain_string(e, e->s->loop_ops[op].name);
    found = strlen(known) == length && memcmp(known, name, length) == 0;
  }
  return found;
}

/* ---- reasons */

typedef enum step_why { STEP_DATA, STEP_SLOT, STEP_AFTER, STEP_CONTENT, STEP_ORDER } step_why;

static const char *const step_words[] = {[STEP_DATA] = "data",
                                         [STEP_SLOT] = "slot",
                                         [STEP_AFTER] = "after",
                                         [STEP_CONTENT] = "content",
                                         [STEP_ORDER] = "order"};

typedef struct step_reason {
  step_why why;
  uint32_t buffer; /* DATA, SLOT, CONTENT */
  uint32_t depth;  /* SLOT */
} step_reason;

/* What is between an arg of the op and one of the op that it waits for. */
static bool find_between(const fs_stream *s, const fs_stream_loop_arg *own,
                         const fs_stream_loop_arg *other, uint32_t distance, step_reason *out) {
  bool writes = fs_tag_writes(own->tag), written = fs_tag_writes(other->tag);
  if (own->buffer == FS_NONE || own->buffer != other->buffer || (!writes && !written)) {
    return false;
  }
  *out = (step_reason){.why = STEP_CONTENT, .buffer = own->buffer};
  if (own->ring == FS_NONE || own->ring != other->ring) {
    return own->ring == other->ring;
  }
  uint32_t depth = s->rings[own->ring].depth;
  if (written && own->back >= other->back && own->back - other->back >= distance) {
    out->why = STEP_DATA;
    return true;
  }
  out->why = STEP_SLOT;
  out->depth = depth;
  return writes && depth + own->back >= other->back + distance;
}

/* The first reason for a wait, of the kinds in their order. */
static step_reason reason_of(const fs_stream *s, uint32_t op, uint32_t before, uint32_t distance) {
  const fs_stream_loop_op *x = &s->loop_ops[op], *y = &s->loop_ops[before];
  step_reason best = {.why = STEP_ORDER, .buffer = FS_NONE}, r;
  for (uint32_t i = x->after0; i < x->after0 + x->n_afters; i++) {
    const fs_stream_loop_after *a = &s->loop_afters[i];
    best.why = a->op == before && a->distance >= distance ? STEP_AFTER : best.why;
  }
  for (uint32_t a = x->arg0; a < x->arg0 + x->n_args; a++) {
    for (uint32_t b = y->arg0; b < y->arg0 + y->n_args; b++) {
      if (find_between(s, &s->loop_args[a], &s->loop_args[b], distance, &r) && r.why < best.why) {
        best = r;
      }
    }
  }
  return best;
}

/* ---- text */

static void put(const fs_explain *e, const char *text) { fs_text_puts(e->t, text); }

static void put_u64(const fs_explain *e, const char *before, uint64_t value) {
  put(e, before);
  fs_text_u64(e->t, value);
}

static void put_name(const fs_explain *e, uint32_t string) {
  fs_text_visible(e->t, fs_explain_string(e, string));
}

/* Whether a parameter gives the trips, which are not known then. */
static bool is_open(const fs_stream_loop *l) { return l->param != FS_NONE && l->least < l->most; }

/* The iteration in its run of the loop, or in all of its runs where these are joined, with as many
 * trips as there may be. */
static uint64_t number_of(const fs_explain *e, const fs_explained *x) {
  const fs_stream_loop *l = &e->s->loops[x->loop];
  assert(x->n > 0);
  return x->index[x->n - 1] + (l->joined != 0 ? x->index[x->n - 2] * l->trip : 0);
}

/* With how many trips, at least, there is an iteration so many before; UINT64_MAX: with none. Where
 * runs are joined, it may be one of an earlier run. */
static uint64_t trips_for(const fs_explain *e, const fs_explained *x, uint64_t back) {
  const fs_stream_loop *l = &e->s->loops[x->loop];
  uint64_t own = x->index[x->n - 1], runs = l->joined != 0 ? x->index[x->n - 2] : 0;
  uint64_t trips = back <= own ? 0 : runs == 0 ? UINT64_MAX : fs_ceil_div(back - own, runs);
  return trips <= l->trip ? trips : UINT64_MAX;
}

/* Whether the trips of earlier runs, which are not known, tell which iteration that is. */
static bool is_of_earlier_run(const fs_explain *e, const fs_explained *x, uint64_t back) {
  const fs_stream_loop *l = &e->s->loops[x->loop];
  return l->joined != 0 && is_open(l) && back > x->index[x->n - 1];
}

/* Writes "load[1][3]", or "load[i][j-2]" for all iterations, which is `back` before. */
static void put_instance(const fs_explain *e, const fs_explained *x, uint32_t op, uint64_t back) {
  static const char letters[] = "ijklmnop";
  uint32_t depth = depth_of(e->s, x->loop);
  const fs_stream_loop *l = &e->s->loops[x->loop];
  fs_explained at = *x;
  if (x->n > 0 && l->joined != 0) {
    at.index[x->n - 2] = (number_of(e, x) - back) / l->trip;
    at.index[x->n - 1] = (number_of(e, x) - back) % l->trip;
  } else if (x->n > 0) {
    at.index[x->n - 1] -= back;
  }
  put_name(e, e->s->loop_ops[op].name);
  for (uint32_t i = 0; i < depth; i++) {
    uint64_t less = i + 1 == depth ? back : 0;
    put(e, "[");
    if (x->n > 0) {
      fs_text_u64(e->t, at.index[i]);
    } else {
      fs_text_printf(e->t, "%c", letters[i]);
      if (less > 0) {
        put_u64(e, "-", less);
      }
    }
    put(e, "]");
  }
}

static void put_reason(const fs_explain *e, const step_reason *r) {
  switch (r->why) {
    case STEP_DATA:
      put(e, "data in ");
      put_name(e, e->s->buffers[r->buffer].name);
      break;
    case STEP_SLOT:
      put_u64(e, "reuse of a slot, of ", r->depth);
      put(e, " of ");
      put_name(e, e->s->buffers[r->buffer].name);
      break;
    case STEP_AFTER:
      put(e, "named in after");
      break;
    case STEP_CONTENT:
      put(e, "content of ");
      put_name(e, e->s->buffers[r->buffer].name);
      break;
    case STEP_ORDER:
      put(e, "an order that follows from others");
      break;
  }
}

/* The queue of a command of the op's loop. */
static uint32_t queue_of(const fs_explain *e, const fs_explained *x, uint32_t command) {
  const fs_stream_loop_queue *q = &e->s->loop_queues[e->s->loops[x->loop].queue0];
  while (command - q->command0 >= q->n_commands) {
    q++;
  }
  return q->queue;
}

/* Whether a wait is for the part that a queue has of a loop whose runs are joined. */
static bool is_part(const fs_explain *e, const fs_stream_loop_wait *w) {
  uint32_t inner = e->s->loop_ops[e->s->loop_commands[w->command].op].loop;
  return inner != FS_NONE && e->s->loops[inner].joined != 0;
}

/* Writes "load, 3 iterations before in all runs (load[0][2] if n is 4, none below 3)". */
static void put_earlier(const fs_explain *e, const fs_explained *x, uint32_t op, uint64_t back) {
  const fs_stream_loop *l = &e->s->loops[x->loop];
  put_name(e, e->s->loop_ops[op].name);
  put(e, ", ");
  fs_text_count(e->t, back, "iteration");
  put(e, " before in all runs (");
  put_instance(e, x, op, back);
  put(e, " if ");
  put_name(e, e->s->params[l->param].name);
  put_u64(e, " is ", l->trip);
  if (trips_for(e, x, back) > l->least) {
    put_u64(e, ", none below ", trips_for(e, x, back));
  }
  put(e, ")");
}

static void put_wait(const fs_explain *e, const fs_explained *x, const fs_stream_loop_wait *w) {
  uint32_t before = e->s->loop_commands[w->command].op;
  step_reason r = reason_of(e->s, x->op, before, w->distance);
  bool known = x->n == 0 || !is_of_earlier_run(e, x, w->distance);
  put(e, "    ");
  if (!known && trips_for(e, x, w->distance) != UINT64_MAX) {
    put_earlier(e, x, before, w->distance);
  } else if (x->n > 0 && trips_for(e, x, w->distance) == UINT64_MAX) {
    put_name(e, e->s->loop_ops[before].name);
    put_u64(e, " from iteration ", w->distance);
    put(e, " on, not yet");
  } else {
    put_instance(e, x, before, w->distance);
  }
  if (is_part(e, w)) {
    put(e, " on ");
    put_name(e, e->s->queues[queue_of(e, x, w->command)].name);
  }
  put(e, ": ");
  put_reason(e, &r);
  put(e, "\n");
}

/* Visits the commands of the op that run its iteration, on all of its queues. */
typedef void (*visit_command)(const fs_explain *e, const fs_explained *x, uint32_t queue,
                              uint32_t command, uint32_t nth);

static void each_command(const fs_explain *e, const fs_explained *x, visit_command visit) {
  const fs_stream *s = e->s;
  const fs_stream_loop *l = &s->loops[x->loop];
  uint32_t n = 0;
  for (uint32_t q = l->queue0; q < l->queue0 + l->n_queues; q++) {
    const fs_stream_loop_queue *k = &s->loop_queues[q];
    for (uint32_t c = k->command0; c < k->command0 + k->n_commands; c++) {
      bool runs = x->n == 0 || x->index[x->n - 1] % l->copies == s->loop_commands[c].copy;
      if (s->loop_commands[c].op == x->op && runs) {
        visit(e, x, k->queue, c, n++);
      }
    }
  }
}

static void text_command(const fs_explain *e, const fs_explained *x, uint32_t queue,
                         uint32_t command, uint32_t nth) {
  (void)nth;
  const fs_stream_loop_command *k = &e->s->loop_commands[command];
  put(e, "  on ");
  put_name(e, e->s->queues[queue].name);
  if (x->n == 0 && e->s->loops[x->loop].copies > 1) {
    put_u64(e, ", iterations ", k->copy);
    put_u64(e, ", ", k->copy + e->s->loops[x->loop].copies);
    put(e, ", ...");
  }
  put_u64(e, ", in step ",
          k->shift + (x->n == 0 ? 0 : x->index[x->n - 1] / e->s->loops[x->loop].copies));
  put(e, x->n == 0 ? " + t" : "");
  put(e, k->n_waits == 0 ? ": waits for nothing but its queue\n" : ": waits for\n");
  for (uint32_t w = k->wait0; w < k->wait0 + k->n_waits; w++) {
    put_wait(e, x, &e->s->loop_waits[w]);
  }
}

/* What else there is to say of the op (draw/parts.h), between two texts. */
static void put_parts(const fs_explain *e, const fs_explained *x, const char *before,
                      void put_text(fs_text *t, const char *parts), const char *behind) {
  FS_SCRATCH(scratch, e->ctx);
  const char *parts = NULL;
  e->t->failed |= fs_parts_of_loop_op(&scratch, e->s, x->op, &parts) != FSCHED_OK;
  if (parts != NULL) {
    put(e, before);
    put_text(e->t, parts);
    put(e, behind);
  }
}

void fs_explain_instance_text(const fs_explain *e, const fs_explained *x) {
  const fs_stream_loop *l = &e->s->loops[x->loop];
  put_instance(e, x, x->op, 0);
  put(e, ": in loop ");
  put_name(e, l->within == FS_NONE ? e->s->ops[l->op].name : e->s->loop_ops[l->op].name);
  put(e, " of ");
  if (is_open(l)) {
    put_name(e, e->s->params[l->param].name);
    put_u64(e, " (", l->least);
    put_u64(e, " to ", l->most);
    put(e, ") iterations");
  } else {
    fs_text_count(e->t, l->trip, "iteration");
  }
  put(e, l->joined != 0 ? ", whose runs are joined" : "");
  put(e, fs_sync_has_stops(e->s->meta->sync) ? ", whose syncs say what follows\n" : "\n");
  put_parts(e, x, "  ", fs_text_visible, "\n");
  each_command(e, x, text_command);
}

/* ---- JSON */

/* Whether what a wait is for exists: where the trips tell that, from how many on. */
static void json_exists(const fs_explain *e, const fs_explained *x, uint64_t back) {
  uint64_t trips = trips_for(e, x, back);
  if (trips == UINT64_MAX || trips <= e->s->loops[x->loop].least) {
    put(e, trips == UINT64_MAX ? ", \"exists\": false" : ", \"exists\": true");
  } else {
    put_u64(e, ", \"exists_from\": ", trips);
  }
}

static void json_trips(const fs_explain *e, const fs_stream_loop *l) {
  if (is_open(l)) {
    put(e, ", \"trip\": {\"param\": ");
    fs_text_quoted(e->t, fs_explain_string(e, e->s->params[l->param].name));
    put_u64(e, ", \"min\": ", l->least);
    put_u64(e, ", \"max\": ", l->most);
    put(e, "}");
  } else {
    put_u64(e, ", \"trip\": ", l->trip);
  }
  put(e, l->joined != 0 ? ", \"joined\": true" : "");
}

static void json_wait(const fs_explain *e, const fs_explained *x, const fs_stream_loop_wait *w) {
  uint32_t before = e->s->loop_commands[w->command].op;
  step_reason r = reason_of(e->s, x->op, before, w->distance);
  put(e, "{\"op\": ");
  fs_text_quoted(e->t, fs_explain_string(e, e->s->loop_ops[before].name));
  put_u64(e, ", \"distance\": ", w->distance);
  if (x->n > 0) {
    json_exists(e, x, w->distance);
  }
  if (is_part(e, w)) {
    put(e, ", \"queue\": ");
    fs_text_quoted(e->t, fs_explain_string(e, e->s->queues[queue_of(e, x, w->command)].name));
  }
  put(e, ", \"why\": \"");
  put(e, step_words[r.why]);
  put(e, "\"");
  if (r.buffer != FS_NONE) {
    put(e, ", \"buffer\": ");
    fs_text_quoted(e->t, fs_explain_string(e, e->s->buffers[r.buffer].name));
  }
  if (r.why == STEP_SLOT) {
    put_u64(e, ", \"depth\": ", r.depth);
  }
  put(e, "}");
}

static void json_command(const fs_explain *e, const fs_explained *x, uint32_t queue,
                         uint32_t command, uint32_t nth) {
  const fs_stream_loop_command *k = &e->s->loop_commands[command];
  put(e, nth == 0 ? "{\"queue\": " : ", {\"queue\": ");
  fs_text_quoted(e->t, fs_explain_string(e, e->s->queues[queue].name));
  put_u64(e, ", \"copy\": ", k->copy);
  put_u64(e, ", \"shift\": ", k->shift);
  put(e, ", \"waits\": [");
  for (uint32_t w = k->wait0; w < k->wait0 + k->n_waits; w++) {
    put(e, w == k->wait0 ? "" : ", ");
    json_wait(e, x, &e->s->loop_waits[w]);
  }
  put(e, "]}");
}

void fs_explain_instance_json(const fs_explain *e, const fs_explained *x) {
  const fs_stream_loop *l = &e->s->loops[x->loop];
  put(e, "{\"op\": ");
  fs_text_quoted(e->t, fs_explain_string(e, e->s->loop_ops[x->op].name));
  put(e, ", \"loop\": ");
  fs_text_quoted(e->t, fs_explain_string(e, l->within == FS_NONE ? e->s->ops[l->op].name
                                                                 : e->s->loop_ops[l->op].name));
  json_trips(e, l);
  for (uint32_t i = 0; i < x->n; i++) {
    put_u64(e, i == 0 ? ", \"iteration\": [" : ", ", x->index[i]);
  }
  put(e, x->n > 0 ? "]" : "");
  put_parts(e, x, ", \"parts\": ", fs_text_quoted, "");
  put(e, ", \"commands\": [");
  each_command(e, x, json_command);
  put(e, "]}");
}
