/* SPDX-License-Identifier: Apache-2.0 */
/* Loops mean their unrolling.  The oracle unrolls by itself: it walks random loops as an
 * interpreter would, and writes the text of a flat graph in which each version is a buffer of its
 * own; it shares nothing with the builder but the format.  Both graphs must be the same but for
 * names of buffers. */
#include <stdio.h>
#include <string.h>

#include "front/same_graph.h"
#include "kit/gen.h"

#include "kit/context.h"

enum {
  MOST_NODES = 24, /* ops and loops of a program */
  MOST_ARGS = 5,
  DEPTH = 3,
  TEMPS = 3,
  LONG = 1 << 12, /* bytes of the buffers from outside */
  MOST_SNAPS = 16,
  INSTANCES = 4096,
  GRAPHS = 60 /* per seed */
};

typedef struct loop_arg {
  int tag; /* 'i'n, 'o'ut, 'm' inout, 'e'xisting (a slice of y), 'x' (a slice of x) */
  int temp;
  int distance;
  int offset, length, step[DEPTH];
} loop_arg;

typedef struct loop_node {
  bool loop;
  int parent, first, end; /* nodes [first, end) are inside a loop */
  int trip, depth;        /* depth: loops around it */
  int param;              /* the trips come from a parameter */
  int n_args, after, after_distance;
  loop_arg arg[MOST_ARGS];
  int slots[TEMPS], every[TEMPS]; /* of a loop's rings; 0: none given */
} loop_node;

typedef struct loop_instance {
  int node;
  int index[DEPTH];
} loop_instance;

typedef struct snapshot {
  int version[TEMPS], writes[TEMPS];
} snapshot;

/* What a ring's op has begun: versions, and by which instances.  It starts over where something
 * outside of its loop has begun one since. */
typedef struct loop_ring {
  int n, version[INSTANCES], by[INSTANCES], first[INSTANCES]; /* first: since it started over */
  bool over;
} loop_ring;

typedef struct loop_use {
  int temp, version, by;
} loop_use;

typedef struct loop_program {
  loop_node at[MOST_NODES];
  int n;
  fs_rng rng;
  /* the interpreter */
  int current[TEMPS];          /* -1: nothing was written */
  int writes[TEMPS];           /* in place, of the current version */
  int final[TEMPS][INSTANCES]; /* of the others */
  int index[DEPTH];
  int n_snaps[DEPTH];
  snapshot snap[DEPTH][MOST_SNAPS];
  loop_instance done[INSTANCES];
  int n_done;
  loop_ring ring[MOST_NODES][TEMPS];   /* by the op that begins */
  int used[MOST_NODES][TEMPS];         /* slots of these, from a begin to a last use, at most */
  loop_use use[INSTANCES * MOST_ARGS]; /* of the temporaries */
  int n_uses;
  bool any_after;    /* the instance at hand is after something */
  const char *fault; /* the diagnostic that the program gets */
  fs_text ops, temps;
} loop_program;

static int below(loop_program *p, int n) { return (int)fs_rng_below(&p->rng, (uint32_t)n); }

/* Whether the body that a node is in begins the temporary already. */
static bool begun_here(const loop_program *p, int parent, int temp) {
  for (int i = 0; i < p->n; i++) {
    for (int a = 0; !p->at[i].loop && p->at[i].parent == parent && a < p->at[i].n_args; a++) {
      if (p->at[i].arg[a].tag == 'o' && p->at[i].arg[a].temp == temp) {
        return true;
      }
    }
  }
  return false;
}

static void draw_slice(loop_program *p, const loop_node *x, loop_arg *a) {
  a->length = 1 + below(p, 200);
  a->offset = 1000 + below(p, 1000);
  for (int l = 0; l < x->depth; l++) {
    a->step[l] = below(p, 3) == 0 ? 0 : below(p, 301) - 150;
  }
}

static void draw_op(loop_program *p, int parent) {
  loop_node *x = &p->at[p->n];
  *x = (loop_node){.parent = parent, .after = -1};
  x->depth = parent < 0 ? 0 : p->at[parent].depth + 1;
  bool used[TEMPS] = {false};
  for (int i = 1 + below(p, MOST_ARGS); i > 0; i--) {
    static const char tags[] = "iiiooomex";
    loop_arg a = {.tag = tags[below(p, 9)], .temp = below(p, TEMPS)};
    bool temp = a.tag != 'x' && a.tag != 'e';
    if (temp && (used[a.temp] || (a.tag == 'o' && begun_here(p, parent, a.temp)))) {
      continue;
    }
    if (temp) {
      used[a.temp] = true;
    } else {
      draw_slice(p, x, &a);
    }
    if (a.tag == 'i' && x->depth > 0 && below(p, 2) == 0) {
      a.distance = 1 + below(p, 3);
    }
    x->arg[x->n_args++] = a;
  }
  if (p->n > 0 && below(p, 3) == 0) {
    x->after = below(p, p->n);
    x->after_distance = below(p, 3) == 0 ? 1 + below(p, 2) : 0;
  }
  p->n++;
}

static bool encloses(const loop_program *p, int loop, int of) {
  for (of = p->at[of].parent; of >= 0; of = p->at[of].parent) {
    if (of == loop) {
      return true;
    }
  }
  return false;
}

/* The innermost loop around both, or -1. */
static int around_both(const loop_program *p, int a, int c) {
  for (int l = p->at[a].parent; l >= 0; l = p->at[l].parent) {
    if (encloses(p, l, c)) {
      return l;
    }
  }
  return -1;
}

static void draw_body(loop_program *p, int parent, int depth) {
  for (int i = 1 + below(p, 4); i > 0 && p->n < MOST_NODES - 1; i--) {
    if (depth == DEPTH || below(p, 3) > 0) {
      draw_op(p, parent);
      continue;
    }
    int me = p->n++;
    p->at[me] = (loop_node){.loop = true, .parent = parent, .depth = depth, .after = -1};
    p->at[me].trip = below(p, 5);
    p->at[me].param = below(p, 4) == 0;
    p->at[me].first = p->n;
    draw_body(p, me, depth + 1);
    p->at[me].end = p->n;
  }
}

/* Takes away what the format refuses. */
static void make_legal(loop_program *p) {
  for (int i = 0; i < p->n; i++) {
    loop_node *x = &p->at[i];
    if (!x->loop && x->parent >= 0 && below(p, 8) == 0) { /* perhaps what comes later */
      const loop_node *around = &p->at[x->parent];
      x->after = around->first + below(p, around->end - around->first);
      x->after_distance = 1;
    }
    if (x->after < 0) {
      continue;
    }
    int both = around_both(p, i, x->after);
    if (p->at[x->after].loop && encloses(p, x->after, i)) {
      x->after = -1;
    } else if (both < 0) {
      x->after_distance = 0;
    }
  }
}

/* The op of a loop's own body that begins the temporary, or -1. */
static int beginner(const loop_program *p, int loop, int temp) {
  for (int i = 0; i < p->n; i++) {
    for (int a = 0; !p->at[i].loop && p->at[i].parent == loop && a < p->at[i].n_args; a++) {
      if (p->at[i].arg[a].tag == 'o' && p->at[i].arg[a].temp == temp) {
        return i;
      }
    }
  }
  return -1;
}

/* The slots that values of earlier iterations need, which the format asks for. */
static int slots_needed(const loop_program *p, int loop, int temp) {
  int need = 1;
  for (int i = 0; i < p->n; i++) {
    for (int a = 0; !p->at[i].loop && p->at[i].parent == loop && a < p->at[i].n_args; a++) {
      const loop_arg *x = &p->at[i].arg[a];
      if (x->tag == 'i' && x->temp == temp && x->distance > 0) {
        int mine = x->distance + (i >= beginner(p, loop, temp));
        need = mine > need ? mine : need;
      }
    }
  }
  return need;
}

static void draw_rings(loop_program *p) {
  for (int l = 0; l < p->n; l++) {
    for (int temp = 0; p->at[l].loop && temp < TEMPS; temp++) {
      if (beginner(p, l, temp) >= 0 && below(p, 2) == 0) {
        p->at[l].slots[temp] = slots_needed(p, l, temp) + below(p, 3);
        p->at[l].every[temp] = 1 + below(p, p->at[l].slots[temp]);
      }
    }
  }
}

/* The text of the program as loops. */
static void print_args(fs_text *t, const loop_node *x) {
  static const char *const words[] = {['i'] = "in", ['o'] = "out", ['m'] = "inout"};
  for (int i = 0; i < x->n_args; i++) {
    const loop_arg *a = &x->arg[i];
    fs_text_puts(t, i == 0 ? "" : ", ");
    if (a->tag == 'x' || a->tag == 'e') {
      fs_text_printf(t, "{%s, at: {offset: %d, length: %d",
                     a->tag == 'x' ? "in: x" : "out_existing: y", a->offset, a->length);
      for (int l = 0; l < x->depth; l++) {
        fs_text_printf(t, "%s%d", l == 0 ? ", step: [" : ", ", a->step[l]);
      }
      fs_text_puts(t, x->depth > 0 ? "]}}" : "}}");
    } else {
      fs_text_printf(t, "{%s: t%d", words[a->tag], a->temp);
      if (a->distance > 0) {
        fs_text_printf(t, ", distance: %d", a->distance);
      }
      fs_text_puts(t, "}");
    }
  }
}

static void print_node(fs_text *t, const loop_program *p, int i) {
  const loop_node *x = &p->at[i];
  if (!x->loop) {
    fs_text_printf(t, "%*s- {name: n%d, args: [", 2 + 4 * x->depth, "", i);
    print_args(t, x);
    fs_text_puts(t, "]");
    if (x->after >= 0 && x->after_distance > 0) {
      fs_text_printf(t, ", after: [{%s: n%d, distance: %d}]", p->at[x->after].loop ? "loop" : "op",
                     x->after, x->after_distance);
    } else if (x->after >= 0) {
      fs_text_printf(t, ", after: [n%d]", x->after);
    }
    fs_text_puts(t, "}\n");
    return;
  }
  int in = 2 + 4 * x->depth;
  fs_text_printf(t, "%*s- loop: n%d\n%*s  trip: ", in, "", i, in, "");
  if (x->param) {
    fs_text_printf(t, "{param: p%d, max: 4}\n", i);
  } else {
    fs_text_printf(t, "%d\n", x->trip);
  }
  for (int temp = 0, n = 0; temp <= TEMPS; temp++) {
    if (temp == TEMPS) {
      fs_text_puts(t, n > 0 ? "}\n" : "");
    } else if (x->slots[temp] > 0) {
      fs_text_printf(t, n++ == 0 ? "%*s  buffers: {" : ", ", in, "");
      fs_text_printf(t, "t%d: {depth: %d, every: %d}", temp, x->slots[temp], x->every[temp]);
    }
  }
  fs_text_printf(t, "%*s  ops:\n", in, "");
}

static const char head[] =
    "fsched: 1\nname: g\n"
    "target: {queues: [{name: q}, {name: r}], memories: [{name: m}]}\n"
    "buffers:\n  - {name: x, size: 4096, io: input}\n"
    "  - {name: y, size: 4096, io: state}\n";

static void print_loops(fs_text *t, const loop_program *p) {
  fs_text_puts(t, head);
  for (int i = 0; i < TEMPS; i++) {
    fs_text_printf(t, "  - {name: t%d, size: 64}\n", i);
  }
  fs_text_puts(t, "ops:\n");
  for (int i = 0; i < p->n; i++) {
    print_node(t, p, i);
  }
  fs_text_add(t, "", 1);
}

/* The interpreter. */
static void set_fault(loop_program *p, const char *fault) {
  p->fault = p->fault == NULL ? fault : p->fault;
}

static int new_version(loop_program *p, int temp) {
  if (p->current[temp] >= 0) {
    p->final[temp][p->current[temp]] = p->writes[temp];
  }
  int v = p->current[temp] = p->current[temp] + 1;
  p->writes[temp] = 0;
  fs_text_printf(&p->temps, "  - {name: t%dv%d, size: 64}\n", temp, v);
  return v;
}

/* The version that an arg reads; -1: it has a fault. */
static int version_read(loop_program *p, const loop_node *x, const loop_arg *a) {
  if (a->distance == 0) {
    if (p->current[a->temp] < 0) {
      set_fault(p, "not-produced");
    }
    return p->current[a->temp];
  }
  int level = x->depth - 1;
  int wanted = p->index[level] - a->distance; /* below 0: on entry */
  const snapshot *s = &p->snap[level][wanted < 0 ? 0 : wanted + 1];
  int v = s->version[a->temp];
  if (v < 0) {
    set_fault(p, "not-produced");
  } else if (s->writes[a->temp] !=
             (v == p->current[a->temp] ? p->writes[a->temp] : p->final[a->temp][v])) {
    set_fault(p, "value-lost");
  }
  return v;
}

static bool same_iterations(const loop_program *p, const loop_instance *s, int loop, int distance) {
  for (int l = loop; l >= 0; l = p->at[l].parent) {
    int level = p->at[l].depth;
    if (s->index[level] != p->index[level] - (l == loop ? distance : 0)) {
      return false;
    }
  }
  return true;
}

static void print_instance(fs_text *t, const loop_program *p, const loop_instance *s) {
  fs_text_printf(t, "n%d", s->node);
  for (int l = 0; l < p->at[s->node].depth; l++) {
    fs_text_printf(t, "[%d]", s->index[l]);
  }
}

static void print_one_after(loop_program *p, int done) {
  fs_text_puts(&p->ops, p->any_after ? ", '" : ", after: ['");
  print_instance(&p->ops, p, &p->done[done]);
  fs_text_puts(&p->ops, "'");
  p->any_after = true;
}

/* Names what the instance at hand is after: all instances of a loop, or the last one of an op, in
 * the iteration of the loops around both. */
static void print_after(loop_program *p, int me) {
  const loop_node *x = &p->at[me];
  int both = around_both(p, me, x->after);
  for (int i = p->n_done - 1; i >= 0; i--) {
    const loop_instance *s = &p->done[i];
    bool fits = p->at[x->after].loop ? encloses(p, x->after, s->node) : s->node == x->after;
    if (!fits || !same_iterations(p, s, both, x->after_distance)) {
      continue;
    }
    print_one_after(p, i);
    if (!p->at[x->after].loop) {
      break;
    }
  }
}

static bool in_loop(const loop_program *p, int loop, int done) {
  return encloses(p, loop, p->done[done].node);
}

/* The version from before the loop counts as version -1, if an instance in the loop uses it. */
static bool entry_counts(const loop_program *p, int me, int temp, int first) {
  const loop_ring *r = &p->ring[me][temp];
  for (int i = 0; i < p->n_uses; i++) {
    if (p->use[i].temp == temp && p->use[i].version == r->version[first] - 1 &&
        in_loop(p, p->at[me].parent, p->use[i].by)) {
      return true;
    }
  }
  return false;
}

/* After all instances that used a version; no op works in place here. */
static void print_uses_after(loop_program *p, int temp, int version) {
  for (int i = 0; i < p->n_uses; i++) {
    if (p->use[i].temp == temp && p->use[i].version == version) {
      if (p->use[i].by == p->n_done) {
        set_fault(p, "bad-loop");
      } else {
        print_one_after(p, p->use[i].by);
      }
    }
  }
}

/* Of a ring with D slots, version k of which begins: it comes after those that used version k - D,
 * and where slots are given back `every` at a time, after those of as many versions, or after the
 * one that came after them. */
static void print_ring_after(loop_program *p, int me, int temp) {
  const loop_node *loop = &p->at[p->at[me].parent];
  loop_ring *r = &p->ring[me][temp];
  int n = r->n++, slots = loop->slots[temp];
  int first = n == 0 || r->over ? n : r->first[n - 1], k = n - first;
  r->version[n] = p->current[temp];
  r->by[n] = p->n_done;
  r->first[n] = first;
  r->over = false;
  if (k == slots - 1 && r->version[first] > 0 && entry_counts(p, me, temp, first)) {
    print_uses_after(p, temp, r->version[first] - 1);
  }
  int back = k < slots ? 0 : (k - slots) % loop->every[temp];
  if (k < slots) {
    return;
  }
  if (back > 0) {
    print_one_after(p, r->by[n - back]);
    return;
  }
  for (int j = 0; j < loop->every[temp]; j++) {
    print_uses_after(p, temp, r->version[n - slots + j]);
  }
}

/* Whether the slot of a ring's j-th version was taken again. */
static bool was_taken(const loop_ring *r, int j, int slots, int every) {
  int k = j - r->first[j], by = r->first[j] + k - k % every + slots;
  return by < r->n && r->first[by] == r->first[j];
}

/* The slots that a ring, of which the instance at hand begins a version if it is `its`, has taken
 * since its j-th version was begun. */
static int slots_since(const loop_ring *r, int j, bool its) {
  int n = its && !r->over && r->first[r->n - 1] == r->first[j];
  for (int k = j; k < r->n; k++) {
    n += r->first[k] == r->first[j];
  }
  return n;
}

/* Notes a use; of a version whose slot was taken before, it is a fault. */
static void note_use(loop_program *p, int temp, int version) {
  p->use[p->n_uses++] = (loop_use){temp, version, p->n_done};
  for (int i = 0; i < p->n; i++) {
    const loop_ring *r = &p->ring[i][temp];
    for (int j = 0; j < r->n; j++) {
      if (r->version[j] == version) {
        int n = slots_since(r, j, i == p->done[p->n_done].node);
        p->used[i][temp] = n > p->used[i][temp] ? n : p->used[i][temp];
      }
    }
    const loop_node *loop = &p->at[p->at[i].parent < 0 ? 0 : p->at[i].parent];
    for (int j = 0; j < r->n; j++) {
      int last = j + loop->slots[temp] - 1;
      if (r->version[j] == version && was_taken(r, j, loop->slots[temp], loop->every[temp])) {
        set_fault(p, "bad-loop");
      }
      if (r->first[j] == j && last < r->n && r->first[last] == j && version == r->version[j] - 1 &&
          entry_counts(p, i, temp, j)) {
        set_fault(p, "bad-loop");
      }
    }
  }
}

/* A node has begun a version: rings of loops that it is not in start over. */
static void start_rings_over(loop_program *p, int me, int temp) {
  for (int i = 0; i < p->n; i++) {
    if (!p->at[i].loop && p->at[i].parent >= 0 && !encloses(p, p->at[i].parent, me)) {
      p->ring[i][temp].over = true;
    }
  }
}

static void print_rings_after(loop_program *p, int me) {
  const loop_node *x = &p->at[me];
  for (int i = 0; i < x->n_args; i++) {
    if (x->arg[i].tag == 'o' && x->parent >= 0 && p->at[x->parent].slots[x->arg[i].temp] > 0) {
      print_ring_after(p, me, x->arg[i].temp);
    }
  }
}

/* Notes what the instance at hand reads. */
static int reads(loop_program *p, const loop_node *x, const loop_arg *a) {
  int version = version_read(p, x, a);
  note_use(p, a->temp, version);
  return version;
}

static void run_args(loop_program *p, const loop_node *x) {
  char first = '[';
  for (int i = 0; i < x->n_args; i++, first = ',') {
    const loop_arg *a = &x->arg[i];
    fs_text_printf(&p->ops, "%c ", first);
    if (a->tag == 'x' || a->tag == 'e') {
      int offset = a->offset;
      for (int l = 0; l < x->depth; l++) {
        offset += a->step[l] * p->index[l];
      }
      int length = offset + a->length > LONG ? LONG - offset : a->length;
      fs_text_printf(&p->ops, "{%s, at: [%d, %d]}", a->tag == 'x' ? "in: x" : "out_existing: y",
                     offset, length);
    } else if (a->tag == 'i') {
      fs_text_printf(&p->ops, "{in: t%dv%d}", a->temp, reads(p, x, a));
    } else if (a->tag == 'm') {
      fs_text_printf(&p->ops, "{inout: t%dv%d}", a->temp, reads(p, x, a));
    } else {
      note_use(p, a->temp, p->current[a->temp] + 1);
      fs_text_printf(&p->ops, "{out: t%dv%d}", a->temp, p->current[a->temp] + 1);
    }
  }
  fs_text_puts(&p->ops, first == '[' ? "[]" : "]");
  for (int i = 0; i < x->n_args; i++) { /* writes come behind reads */
    const loop_arg *a = &x->arg[i];
    if (a->tag == 'm') {
      p->writes[a->temp]++;
    } else if (a->tag == 'o') {
      (void)new_version(p, a->temp);
      start_rings_over(p, (int)(x - p->at), a->temp);
    }
  }
}

static void run_op(loop_program *p, int me) {
  loop_instance *s = &p->done[p->n_done];
  ck_assert_int_lt(p->n_done, INSTANCES);
  s->node = me;
  memcpy(s->index, p->index, sizeof s->index);
  fs_text_puts(&p->ops, "  - {name: '");
  print_instance(&p->ops, p, s);
  fs_text_puts(&p->ops, "', args: ");
  run_args(p, &p->at[me]);
  p->any_after = false;
  if (p->at[me].after >= 0) {
    print_after(p, me);
  }
  print_rings_after(p, me);
  fs_text_puts(&p->ops, p->any_after ? "]}\n" : "}\n");
  p->n_done++;
}

static void take_snapshot(loop_program *p, int level) {
  snapshot *s = &p->snap[level][p->n_snaps[level]++];
  memcpy(s->version, p->current, sizeof s->version);
  memcpy(s->writes, p->writes, sizeof s->writes);
}

static void run_body(loop_program *p, int first, int end) {
  for (int i = first; i < end;) {
    const loop_node *x = &p->at[i];
    if (!x->loop) {
      run_op(p, i++);
      continue;
    }
    p->n_snaps[x->depth] = 0;
    take_snapshot(p, x->depth);
    for (int k = 0; k < x->trip; k++) {
      p->index[x->depth] = k;
      run_body(p, x->first, x->end);
      take_snapshot(p, x->depth);
    }
    i = x->end;
  }
}

static void run_program(loop_program *p) {
  fs_text_init(&p->ops, ctx);
  fs_text_init(&p->temps, ctx);
  for (int i = 0; i < TEMPS; i++) {
    p->current[i] = -1;
    p->writes[i] = 0;
  }
  memset(p->ring, 0, sizeof p->ring);
  p->n_done = p->n_uses = 0;
  p->fault = NULL;
  run_body(p, 0, p->n);
}

/* Of slots that are given back several at a time, those that are in use are left out: how many that
 * are tells a run in which each is given back on its own. */
static void find_every(loop_program *p) {
  int given[MOST_NODES][TEMPS];
  for (int i = 0; i < p->n; i++) {
    memcpy(given[i], p->at[i].every, sizeof given[i]);
    for (int temp = 0; temp < TEMPS; temp++) {
      p->at[i].every[temp] = 1;
    }
  }
  memset(p->used, 0, sizeof p->used);
  run_program(p);
  fs_text_drop(&p->ops);
  fs_text_drop(&p->temps);
  for (int l = 0; l < p->n; l++) {
    for (int temp = 0; temp < TEMPS; temp++) {
      int left = p->at[l].slots[temp];
      for (int i = 0; i < p->n; i++) {
        int free = p->at[l].slots[temp] + 1 - p->used[i][temp];
        left = p->at[i].parent == l && free < left ? free : left;
      }
      left = left < 1 ? 1 : left;
      p->at[l].every[temp] = left < given[l][temp] ? left : given[l][temp];
    }
  }
}

/* Draws a program, and writes it as loops and flat. */
static void make_program(loop_program *p, uint64_t seed, fs_text *loops, fs_text *flat) {
  memset(p, 0, sizeof *p);
  p->rng.state = seed;
  if (below(p, 4) > 0) { /* else some value may be missing */
    p->at[p->n++] =
        (loop_node){.parent = -1,
                    .after = -1,
                    .n_args = 3,
                    .arg = {{.tag = 'o'}, {.tag = 'o', .temp = 1}, {.tag = 'o', .temp = 2}}};
  }
  draw_body(p, -1, 0);
  draw_op(p, -1);
  make_legal(p);
  draw_rings(p);
  fs_text_init(loops, ctx);
  fs_text_init(flat, ctx);
  print_loops(loops, p);
  find_every(p);
  run_program(p);
  fs_text_puts(flat, head);
  if (p->temps.n > 0) {
    fs_text_add(flat, p->temps.at, p->temps.n);
  }
  fs_text_puts(flat, "ops:\n");
  fs_text_add(flat, p->ops.at, p->ops.n); /* there is one behind all loops */
  fs_text_add(flat, "", 1);
  fs_text_drop(&p->ops);
  fs_text_drop(&p->temps);
}

static fs_status parse_loops(const loop_program *p, const char *text, fsched_graph **g) {
  char param[MOST_NODES][16];
  const char *params[MOST_NODES];
  fsched_read_options o = {.size = sizeof o, .unroll = 1, .params = params};
  for (int i = 0; i < p->n; i++) {
    if (p->at[i].loop && p->at[i].param) {
      (void)snprintf(param[o.n_params], sizeof param[0], "p%d=%d", i, p->at[i].trip);
      params[o.n_params] = param[o.n_params];
      o.n_params++;
    }
  }
  return fsched_graph_parse(ctx, "loops", text, strlen(text), &o, g);
}

/* The unrolled graph is the flat one, or has the fault that the interpreter has met. */
START_TEST(unrolling_is_what_is_meant)
{
  static loop_program p;
  int faults = 0;
  for (int i = 0; i < GRAPHS; i++) {
    fs_text loops, flat;
    make_program(&p, (uint64_t)_i * GRAPHS + (uint64_t)i + 1, &loops, &flat);
    fsched_graph *g, *want;
    fs_status status = parse_loops(&p, loops.at, &g);
    if (p.fault != NULL) {
      faults++;
      ck_assert_msg(status == FSCHED_BAD_INPUT, "%s was accepted:\n%s", p.fault, loops.at);
      ck_assert_msg(has_diag(p.fault), "not %s:\n%s", p.fault, loops.at);
    } else {
      ck_assert_msg(status == FSCHED_OK, "%s\n%s", fs_test_diags(ctx), loops.at);
      want = fs_parse(flat.at);
      assert_same(g, want, loops.at);
      fsched_graph_destroy(want);
      fsched_graph_destroy(g);
    }
    fsched_diag_clear(ctx);
    fs_text_drop(&loops);
    fs_text_drop(&flat);
  }
  ck_assert_int_lt(faults, GRAPHS * 3 / 4); /* most are legal */
}
END_TEST

FS_SUITE(loops, s) {
  TCase *t = fs_case(s, fs_test_arena);
  FS_LOOPS(t, 0, 8, unrolling_is_what_is_meant);
}
