/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs in place in bodies become one buffer.
 *
 *     make: out x    work: in x, out y, inplace {y: x}    use: in y
 *
 * Where x is nothing but a value on the way to y, each iteration has one place for both: `make`
 * begins y, and `work` writes over it, which to its kernel is an `out` still.  The buffer that is
 * left has the name of the output.
 *
 * This takes no plan away, as long as nothing says how many slots the two have.  All that uses x
 * comes before `work` anyway.  A slot is taken from the begin of x to the last use of y, so if a
 * and b slots suffice for the two, a + b do for the one, of the same size.  Where it is said, and
 * where slots need barriers, pairs are merged only in loops that do not fit a memory otherwise. */
#include <string.h>

#include "base/saturate.h"
#include "front/builder/roll/roll.h"

/* X(id, text): why the two of a pair are not made one buffer. */
#define PAIR_FAULTS(X)                                                          \
  X(ELSEWHERE, "in a loop that stays one, each has a place of its own")         \
  X(BARRIERS, "on a target of barriers, each has those of its own")             \
  X(TOO_LONG, "checking it takes too long")                                     \
  X(OTHER_USES, "the op uses them otherwise, too")                              \
  X(SIZES, "their sizes differ")                                                \
  X(MEMORIES, "they are in different memories")                                 \
  X(PART, "only a part of the input is read")                                   \
  X(KEPT, "one of them is given or kept")                                       \
  X(DEPTH, "it is said how many slots they have")                               \
  X(HANDED_ON, "the input is used in other iterations, or outside of the loop") \
  X(USED_LATER, "the input is used later, too")                                 \
  X(UNORDERED, "another op that uses the input need not come before")           \
  X(NOT_BEGUN, "the input is not begun in the iteration")                       \
  X(ADDRESS, "the output has a 'no_dep' arg")                                   \
  X(BEGUN_ELSEWHERE, "another loop begins the output, too")                     \
  X(USED_BEFORE, "the output is used before it is begun")                       \
  X(BEGUN_INSIDE, "a loop inside begins the output, too")

typedef enum pair_fault_code {
#define PAIR_ID_(id, text) PAIR_##id,
  PAIR_FAULTS(PAIR_ID_) PAIR_FITS
#undef PAIR_ID_
} pair_fault_code;

static const char *const pair_texts[] = {
#define PAIR_TEXT_(id, text) text,
    PAIR_FAULTS(PAIR_TEXT_)
#undef PAIR_TEXT_
};

void fs_roller_keep_pair(fs_item_draft *pair) {
  assert(pair->a == pair->b);
  pair->amount = PAIR_FITS;
}

bool fs_roller_pair_kept(const fs_item_draft *pair) { return pair->amount == PAIR_FITS; }

const char *fs_roller_pair_fault(const fs_item_draft *pair) {
  assert(pair->amount < PAIR_FITS);
  return pair_texts[pair->amount];
}

enum { STEPS_OF_PAIRS = 1 << 24, OPS_BETWEEN = 64 };

typedef struct pair_merger {
  fsched_builder *b;
  uint32_t *loop_of;      /* per op: the innermost loop around it, or FS_NONE */
  uint32_t *op_of;        /* per arg */
  uint32_t *moving;       /* per arg: into b->moving, or FS_NONE */
  uint32_t *first, *next; /* per buffer: an arg of it; per arg: another one; or FS_NONE */
  uint32_t *seen;         /* per buffer: the turn that has counted it */
  uint32_t turn;
  uint64_t steps; /* so far */
} pair_merger;

static fs_status list_args(pair_merger *p, fs_arena *scratch) {
  fsched_builder *b = p->b;
  FS_TRY(fs_new_none(scratch, &p->loop_of, b->op.n));
  FS_TRY(fs_new(scratch, &p->op_of, b->arg.n));
  FS_TRY(fs_new_none(scratch, &p->moving, b->arg.n));
  FS_TRY(fs_new_none(scratch, &p->next, b->arg.n));
  FS_TRY(fs_new_none(scratch, &p->first, b->buffer_size.n));
  FS_TRY(fs_new_zero(scratch, &p->seen, b->buffer_size.n));
  for (uint32_t l = 0; l < b->loop.n; l++) { /* those inside come later */
    for (uint32_t op = b->loop.at[l].op0; op < b->loop.at[l].op_end; op++) {
      p->loop_of[op] = l;
    }
  }
  for (uint32_t m = 0; m < b->moving.n; m++) {
    p->moving[b->moving.at[m].arg] = m;
  }
  for (uint32_t op = (uint32_t)b->op.n; op-- > 0;) {
    for (uint32_t arg = fs_builder_args_end(b, op); arg-- > b->op.at[op].arg0;) {
      p->op_of[arg] = op;
      if (fs_tag_names_buffer(b->arg.at[arg].tag)) {
        p->next[arg] = p->first[b->arg.at[arg].buffer];
        p->first[b->arg.at[arg].buffer] = arg;
      }
    }
  }
  return FSCHED_OK;
}

static bool is_whole(const pair_merger *p, const fs_arg_draft *a) {
  return !a->has_at ||
         (a->view == FS_NONE && a->offset == 0 && a->u.length == p->b->buffer_size.at[a->buffer]);
}

/* The arg of an op on a buffer, if it has one alone; else FS_NONE. */
static uint32_t only_arg(const pair_merger *p, uint32_t op, uint32_t buffer) {
  uint32_t found = FS_NONE, n = 0;
  for (uint32_t i = p->b->op.at[op].arg0; i < fs_builder_args_end(p->b, op); i++) {
    const fs_arg_draft *a = &p->b->arg.at[i];
    if (fs_tag_names_buffer(a->tag) && a->buffer == buffer) {
      found = i;
      n++;
    }
  }
  return n == 1 ? found : FS_NONE;
}

/* Whether an op uses what another one of the same iteration writes, or is after it. */
static bool follows(const pair_merger *p, uint32_t op, uint32_t before) {
  const fsched_builder *b = p->b;
  for (uint32_t i = b->op.at[op].arg0; i < fs_builder_args_end(b, op); i++) {
    const fs_arg_draft *a = &b->arg.at[i];
    for (uint32_t k = b->op.at[before].arg0; k < fs_builder_args_end(b, before); k++) {
      const fs_arg_draft *w = &b->arg.at[k];
      if (fs_tag_reads(a->tag) && fs_tag_writes(w->tag) && a->buffer == w->buffer &&
          p->moving[i] == FS_NONE && p->moving[k] == FS_NONE &&
          (is_whole(p, a) || is_whole(p, w))) {
        return true;
      }
    }
  }
  return false;
}

/* Whether an op of the body comes before another one in each iteration, whatever the plan, by what
 * the ops between read. */
static bool comes_before(pair_merger *p, uint32_t before, uint32_t op) {
  bool after[OPS_BETWEEN + 1] = {false}; /* per op from `before` on */
  if (op - before > OPS_BETWEEN) {
    return false;
  }
  after[0] = true;
  for (uint32_t x = before + 1; x <= op; x++) {
    for (uint32_t y = before; y < x && p->loop_of[x] == p->loop_of[op]; y++) {
      p->steps++;
      bool way = after[y - before] && p->loop_of[y] == p->loop_of[op];
      after[x - before] = after[x - before] || (way && follows(p, x, y));
    }
  }
  return after[op - before];
}

/* The arg by which an op begins a buffer, or FS_NONE. */
static uint32_t out_arg(const pair_merger *p, uint32_t op, uint32_t buffer) {
  uint32_t i = p->b->op.at[op].arg0, end = fs_builder_args_end(p->b, op);
  while (i < end && !(fs_tag_begins(p->b->arg.at[i].tag) && p->b->arg.at[i].buffer == buffer)) {
    i++;
  }
  return i < end ? i : FS_NONE;
}

static bool writes_it(const pair_merger *p, uint32_t op, uint32_t buffer) {
  bool found = false;
  for (uint32_t i = p->b->op.at[op].arg0; i < fs_builder_args_end(p->b, op) && !found; i++) {
    const fs_arg_draft *a = &p->b->arg.at[i];
    found = fs_tag_writes(a->tag) && a->buffer == buffer;
  }
  return found;
}

/* Whether the input is begun in the body, and used by nothing but what comes before the op. */
static pair_fault_code input_fault(pair_merger *p, uint32_t op, uint32_t buffer) {
  const fsched_builder *b = p->b;
  uint32_t begins = 0;
  for (uint32_t i = p->first[buffer]; i != FS_NONE; i = p->next[i]) {
    const fs_arg_draft *a = &b->arg.at[i];
    uint32_t user = p->op_of[i];
    p->steps++;
    if (p->loop_of[user] != p->loop_of[op] || p->moving[i] != FS_NONE || !fs_tag_accesses(a->tag)) {
      return PAIR_HANDED_ON;
    }
    if (user > op) {
      return PAIR_USED_LATER;
    }
    if (user != op && !writes_it(p, user, buffer) && !comes_before(p, user, op)) {
      return PAIR_UNORDERED;
    }
    begins += fs_tag_begins(a->tag);
  }
  uint32_t first = p->first[buffer]; /* in program order, as args are listed */
  return begins == 1 && fs_tag_begins(b->arg.at[first].tag) ? PAIR_FITS : PAIR_NOT_BEGUN;
}

/* Whether an op is in a loop, or in one inside of it. */
static bool is_inside(const pair_merger *p, uint32_t op, uint32_t loop) {
  return op >= p->b->loop.at[loop].op0 && op < p->b->loop.at[loop].op_end;
}

/* Whether the body names the output, before the op, only as the value of an earlier iteration, and
 * no other loop begins it. */
static pair_fault_code output_fault(pair_merger *p, uint32_t op, uint32_t out, uint32_t buffer) {
  const fsched_builder *b = p->b;
  uint32_t loop = p->loop_of[op];
  for (uint32_t i = p->first[buffer]; i != FS_NONE; i = p->next[i]) {
    const fs_arg_draft *a = &b->arg.at[i];
    uint32_t user = p->op_of[i];
    uint64_t distance = p->moving[i] == FS_NONE ? 0 : b->moving.at[p->moving[i]].distance;
    bool inner = p->loop_of[user] != loop;
    p->steps++;
    if (!fs_tag_accesses(a->tag)) {
      return PAIR_ADDRESS;
    }
    if (!is_inside(p, user, loop)) {
      if (fs_tag_begins(a->tag) && p->loop_of[user] != FS_NONE &&
          !is_inside(p, op, p->loop_of[user])) {
        return PAIR_BEGUN_ELSEWHERE;
      }
    } else if (i != out && (inner ? user < op || distance > 0 : user <= op && distance == 0)) {
      return PAIR_USED_BEFORE;
    } else if (i != out && fs_tag_begins(a->tag)) {
      return PAIR_BEGUN_INSIDE;
    }
  }
  return PAIR_FITS;
}

/* Whether a loop is told how many slots a buffer has, or how they are used. */
static bool has_depth(pair_merger *p, uint32_t buffer) {
  bool found = false;
  for (size_t i = 0; i < p->b->ring.n; i++) {
    const fs_ring_draft *r = &p->b->ring.at[i];
    found = found || (r->buffer == buffer && (r->depth > 0 || r->every > 1 || r->ahead > 0));
  }
  p->steps += p->b->ring.n;
  return found;
}

/* What is said of the slots that a loop has of a buffer; NULL: nothing. */
static fs_ring_draft *ring_of(pair_merger *p, uint32_t loop, uint32_t buffer) {
  size_t i = 0, n = p->b->ring.n;
  while (i < n && (p->b->ring.at[i].loop != loop || p->b->ring.at[i].buffer != buffer)) {
    i++;
  }
  p->steps += i + 1;
  return i < n ? &p->b->ring.at[i] : NULL;
}

static bool is_carried(pair_merger *p, uint32_t buffer) {
  bool found = false;
  for (uint32_t i = p->first[buffer]; i != FS_NONE && !found; i = p->next[i]) {
    found = p->moving[i] != FS_NONE;
    p->steps++;
  }
  return found;
}

/* Whether nothing is said of a buffer but, in that loop, its depth, which is 0 if it is not. */
static bool has_depth_alone(pair_merger *p, uint32_t loop, uint32_t buffer, uint64_t *depth) {
  bool alone = true;
  *depth = 0;
  for (size_t i = 0; i < p->b->ring.n; i++) {
    const fs_ring_draft *r = &p->b->ring.at[i];
    if (r->buffer == buffer) {
      alone = alone && r->every <= 1 && r->ahead == 0 && (r->loop == loop || r->depth == 0);
      *depth = r->loop == loop ? r->depth : *depth;
    }
  }
  p->steps += p->b->ring.n;
  return alone;
}

/* Whether what is said of the two lets them be one: a depth at most, the same for both. */
static bool depths_agree(pair_merger *p, const fs_item_draft *x) {
  uint64_t out, in;
  bool alone = has_depth_alone(p, p->loop_of[x->op], x->a, &out) &&
               has_depth_alone(p, p->loop_of[x->op], x->b, &in);
  return alone && (out == in || out == 0 || in == 0) &&
         ((out == 0 && in == 0) || !is_carried(p, x->a));
}

/* Why the two of a pair are not made one buffer.  `needed`: the loop does not fit otherwise. */
static pair_fault_code find_fault(pair_merger *p, const fs_item_draft *x, bool needed) {
  const fsched_builder *b = p->b;
  uint32_t out = out_arg(p, x->op, x->a), in = only_arg(p, x->op, x->b);
  if (fs_sync_has_barriers(b->sync) && !needed) {
    return PAIR_BARRIERS;
  }
  if (p->steps > STEPS_OF_PAIRS) {
    return PAIR_TOO_LONG;
  }
  if (out == FS_NONE || in == FS_NONE || !fs_tag_only_reads(b->arg.at[in].tag)) {
    return PAIR_OTHER_USES;
  }
  if (b->buffer_size.at[x->a] != b->buffer_size.at[x->b]) {
    return PAIR_SIZES;
  }
  if (b->buffer_memory.at[x->a] != b->buffer_memory.at[x->b]) {
    return PAIR_MEMORIES;
  }
  if (!is_whole(p, &b->arg.at[in])) {
    return PAIR_PART;
  }
  if (fs_io_said(b->buffer_io.at[x->a]) || fs_io_said(b->buffer_io.at[x->b])) {
    return PAIR_KEPT;
  }
  if (needed ? !depths_agree(p, x) : has_depth(p, x->a) || has_depth(p, x->b)) {
    return PAIR_DEPTH;
  }
  pair_fault_code fault = input_fault(p, x->op, x->b);
  return fault != PAIR_FITS ? fault : output_fault(p, x->op, out, x->a);
}

/* --- merging --- */

/* The memory of a buffer: by default the first bounded one, else the first; FS_NONE: there are
 * none. */
static uint32_t memory_of(const fsched_builder *b, uint32_t buffer) {
  uint32_t found = b->buffer_memory.at[buffer];
  for (uint32_t m = 0; m < b->memory.n && found == FS_NONE; m++) {
    found = fs_memory_bounded(&b->memory.at[m].m) ? m : FS_NONE;
  }
  return found == FS_NONE && b->memory.n > 0 ? 0 : found;
}

/* Whether an op begins a buffer in the place that it had. */
static bool is_in_its_place(pair_merger *p, uint32_t op, uint32_t buffer) {
  bool found = false;
  for (size_t i = 0; i < p->b->inplaces.item.n && !found; i++) {
    const fs_item_draft *x = &p->b->inplaces.item.at[i];
    found = x->op == op && x->a == buffer && x->b == buffer;
  }
  p->steps += p->b->inplaces.item.n;
  return found;
}

/* The slots that a loop has at least of a buffer which its body begins by an arg: as many as are
 * given, and those of the values of earlier iterations that are read. */
static uint64_t least_slots(pair_merger *p, uint32_t loop, uint32_t begin) {
  const fsched_builder *b = p->b;
  uint32_t buffer = b->arg.at[begin].buffer;
  const fs_ring_draft *r = ring_of(p, loop, buffer);
  uint64_t trips = fs_bodies_trip(b, loop);
  uint64_t slots = r == NULL ? 1 : fs_max(fs_min(r->depth, trips), 1);
  for (uint32_t i = p->first[buffer]; i != FS_NONE; i = p->next[i]) {
    uint64_t distance = p->moving[i] == FS_NONE ? 0 : b->moving.at[p->moving[i]].distance;
    p->steps++;
    if (distance > 0 && p->loop_of[p->op_of[i]] == loop) {
      bool before = p->op_of[i] < p->op_of[begin] ||
                    (p->op_of[i] == p->op_of[begin] && is_in_its_place(p, p->op_of[i], buffer));
      uint64_t need = distance + !before;
      slots = fs_max(slots, fs_min(need, trips + 1));
    }
  }
  return slots;
}

/* The bytes of a memory that a loop needs in any case. */
static uint64_t least_need(pair_merger *p, uint32_t loop, uint32_t memory) {
  const fsched_builder *b = p->b;
  const fs_loop_draft *l = &b->loop.at[loop];
  uint64_t align = b->memory.at[memory].m.align, need = 0;
  p->turn++;
  for (uint32_t i = b->op.at[l->op0].arg0; i < fs_builder_args_end(b, l->op_end - 1); i++) {
    const fs_arg_draft *a = &b->arg.at[i];
    if (!fs_tag_accesses(a->tag) || memory_of(b, a->buffer) != memory) {
      continue;
    }
    uint64_t slots = p->seen[a->buffer] == p->turn ? 0 : 1;
    if (fs_tag_begins(a->tag) && p->loop_of[p->op_of[i]] == loop) {
      slots += least_slots(p, loop, i) - 1;
    }
    p->seen[a->buffer] = p->turn;
    uint64_t size = fs_align_up(b->buffer_size.at[a->buffer], align);
    need = fs_add_most(need, fs_multiply_most(slots, size));
  }
  for (size_t i = 0; i < b->scratches.item.n; i++) {
    const fs_item_draft *x = &b->scratches.item.at[i];
    bool here = x->a == memory && x->op >= l->op0 && x->op < l->op_end;
    need = here ? fs_add_most(need, fs_align_up(x->amount, align)) : need;
  }
  p->steps += b->scratches.item.n + b->arg.n + b->loop.n;
  return need;
}

/* Whether the loop around an op does not fit the memory of a buffer. */
static bool is_short(pair_merger *p, const fs_item_draft *x) {
  uint32_t memory = memory_of(p->b, x->a);
  return least_need(p, p->loop_of[x->op], memory) > p->b->memory.at[memory].m.capacity;
}

/* Gives the args of the input to the output; those of a buffer are in program order. */
static void join_args(pair_merger *p, uint32_t from, uint32_t to) {
  uint32_t a = p->first[from], b = p->first[to], last = FS_NONE;
  while (a != FS_NONE || b != FS_NONE) {
    uint32_t *head = a < b ? &a : &b; /* FS_NONE is above all */
    uint32_t arg = *head;
    *head = p->next[arg];
    *(last == FS_NONE ? &p->first[to] : &p->next[last]) = arg;
    p->b->arg.at[arg].buffer = to;
    last = arg;
    p->steps++;
  }
  p->next[last] = FS_NONE;
  p->first[from] = FS_NONE;
}

/* What was said of the input is said of the output. */
static void rename_input(pair_merger *p, uint32_t loop, uint32_t from, uint32_t to) {
  fsched_builder *b = p->b;
  fs_ring_draft *of_input = ring_of(p, loop, from), *of_output = ring_of(p, loop, to);
  size_t n = 0;
  for (size_t i = 0; i < b->inplaces.item.n; i++) {
    fs_item_draft *x = &b->inplaces.item.at[i];
    x->a = x->a == from ? to : x->a;
    x->b = x->b == from ? to : x->b;
  }
  if (of_input != NULL && of_output == NULL) {
    of_input->buffer = to;
  } else if (of_input != NULL) {
    of_output->depth = fs_max(of_output->depth, of_input->depth);
  }
  for (size_t i = 0; i < b->ring.n; i++) {
    if (b->ring.at[i].buffer != from) {
      b->ring.at[n++] = b->ring.at[i];
    }
  }
  b->ring.n = n;
  p->steps += b->inplaces.item.n + b->ring.n;
}

static void merge_pair(pair_merger *p, const fs_item_draft *x) {
  uint32_t from = x->b, to = x->a;
  fs_arg_draft *a = &p->b->arg.at[out_arg(p, x->op, to)];
  fs_roller_write_over(a, false);
  join_args(p, from, to);
  p->b->merged[from] = true;
  rename_input(p, p->loop_of[x->op], from, to);
}

/* Looks at a pair, which is merged, or keeps a fault; others, outside of loops or of no memory that
 * one could be short of, are left alone. */
static bool take_pair(pair_merger *p, fs_item_draft *x, bool needed) {
  const fsched_builder *b = p->b;
  uint32_t memory = memory_of(b, x->a);
  if (p->loop_of[x->op] == FS_NONE || x->a == x->b || memory == FS_NONE ||
      !fs_memory_bounded(&b->memory.at[memory].m)) {
    return false;
  }
  if (needed && ((x->amount != PAIR_BARRIERS && x->amount != PAIR_DEPTH) ||
                 p->steps > STEPS_OF_PAIRS || !is_short(p, x))) {
    return false;
  }
  pair_fault_code fault = find_fault(p, x, needed);
  if (fault != PAIR_FITS) {
    x->amount = fault;
    return false;
  }
  merge_pair(p, x);
  return true;
}

/* Takes the pairs that cost nothing, or those that are needed. */
static void merge_pairs(pair_merger *p, bool needed) {
  fsched_builder *b = p->b;
  fs_item_list *list = &b->inplaces;
  size_t n = 0, n_at = list->at.n;
  for (size_t i = 0; i < list->item.n; i++) {
    if (!take_pair(p, &list->item.at[i], needed)) {
      list->item.at[n] = list->item.at[i];
      if (n < n_at) {
        list->at.at[n] = fs_pos_at(&list->at, i);
      }
      n++;
    }
  }
  list->item.n = n;
  list->at.n = fs_min(n, n_at);
}

fs_status fs_roller_merge_pairs(fsched_builder *b) {
  assert(!b->contracted);
  if (b->inplaces.item.n == 0 || b->bad) {
    return FSCHED_OK;
  }
  FS_SCRATCH(scratch, b->ctx);
  pair_merger p = {.b = b};
  FS_TRY(fs_new_zero(&b->arena, &b->merged, b->buffer_size.n));
  b->n_merged = (uint32_t)b->buffer_size.n;
  FS_TRY(list_args(&p, &scratch));
  merge_pairs(&p, false);
  merge_pairs(&p, true);
  return FSCHED_OK;
}
