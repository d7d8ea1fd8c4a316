/* SPDX-License-Identifier: Apache-2.0 */
/* Windows that slide over a schedule too large for one model.
 *
 *        fixed          free            rigid
 *   |--------------|=============|---------------------------|
 *    items before   the window's   all items behind it: they move together,
 *                   items          as far to the left as they can
 *
 * The makespan gains as many ticks as a window gains.  Copies are items, too, and addresses stay:
 * residencies that have addresses in common keep apart in time.  The problem of a window
 * (problem/window.c) has only the constraints that can bind, so that its model is as small as the
 * window:
 *
 *   few starts are possible     time-indexed
 *   else                        continuous time: the strip packing model with addresses given
 *
 * A window that cannot gain because an item behind it depends on an item before it grows up to that
 * item.  Windows overlap by half.  They grow where the search ends early, and shrink where it is
 * cut short, which depends on nodes and sizes, never on the clock.  A sweep that gains nothing is
 * followed by one with wider windows, and after the widest all sweeps are repeated with more
 * effort, as long as searches are cut short.  The limits end the refinement.
 *
 * Gains are kept in the answer of one problem.  Without a time limit, each better answer becomes
 * the best schedule at once.  With one, this happens when making a schedule takes little of the
 * time since the last one, and at the end.  If the answer is refused, the gains since the last
 * schedule are dropped and the windows end. */
#include "problem/window.h"
#include "ilp/refine/refine_private.h"

enum {
  NARROW = 6,
  WIDEST = 40,
  WIDER = 4,           /* items by which windows grow after a sweep */
  MOST_NODES = 200,    /* of one search, times the effort */
  LEAST_NODES = 5,     /* the same, in the largest models */
  WINDOW_WORK = 20000, /* terms * nodes of one search, times the effort */
  MOST_EFFORT = 16,
  EASY_TERMS = 2500,  /* of a solved model after which windows grow */
  MOST_ITEMS = 300,   /* of a window, with all that it touches */
  MOST_STARTS = 5000, /* of a time-indexed model */
  WINDOW_TERMS = 60000,
  MOST_WINDOWS = 1000, /* without a time limit; nodes are limited, too */
  PATIENCE = 8,        /* a schedule is made after so many times its cost */
  RESERVE = 2
};

typedef struct slider {
  fs_refiner *r;
  fs_problem *p;
  fs_frame frame;
  fs_answer *answer;         /* the best one, which the frame refers to */
  fs_answer safe;            /* that of the best schedule */
  uint64_t convert_ns, last; /* ns: what making a schedule takes, and when one was made last */
  uint64_t windows;
  uint64_t nodes; /* granted to searches that used them all; 1 for any other search */
  uint32_t width, effort;
  bool gained; /* some window of this sweep has gained */
  bool cut;    /* some search was cut short at this effort */
  bool open;   /* the answer is better than the best schedule */
  bool over;   /* the answer was refused */
} slider;

/* ---- the best answer and the best schedule */

static void copy_answer(const slider *s, fs_answer *to, const fs_answer *from) {
  memcpy(to->start, from->start, s->p->n_items * sizeof *to->start);
  memcpy(to->choice, from->choice, s->p->n_items * sizeof *to->choice);
  to->makespan = from->makespan;
}

static fs_status open_best(slider *s) {
  uint64_t begin = fs_now_ns();
  FS_TRY(fs_problem_from_schedule(s->r->ctx, s->r->best, &s->p));
  FS_TRY(fs_answer_of_schedule(s->p, s->r->best, &s->answer));
  assert(s->answer != NULL);
  FS_TRY(fs_new(&s->p->arena, &s->safe.start, s->p->n_items));
  FS_TRY(fs_new(&s->p->arena, &s->safe.choice, s->p->n_items));
  copy_answer(s, &s->safe, s->answer);
  FS_TRY(fs_frame_open(&s->frame, s->p, s->answer));
  s->last = fs_now_ns();
  s->convert_ns = s->last - begin;
  return FSCHED_OK;
}

/* Makes a schedule from the best answer and offers it as the best schedule. */
static fs_status settle_answer(slider *s) {
  fs_schedule *schedule;
  const char *why;
  bool taken = false;
  uint64_t begin = fs_now_ns();
  if (!s->open) {
    return FSCHED_OK;
  }
  s->open = false;
  FS_TRY(fs_answer_schedule(s->p, s->answer, &schedule, &why));
  if (schedule != NULL) {
    FS_TRY(fs_refiner_offer(s->r, schedule, &taken));
  }
  s->over = !taken;
  copy_answer(s, taken ? &s->safe : s->answer, taken ? s->answer : &s->safe);
  s->last = fs_now_ns();
  s->convert_ns = fs_max(s->convert_ns, s->last - begin);
  fs_refiner_tell(s->r);
  return FSCHED_OK;
}

static bool out_of_time(const slider *s) {
  const fs_refiner *r = s->r;
  bool enough = s->windows >= MOST_WINDOWS || s->nodes >= fs_refiner_node_limit(r, NULL);
  return s->over || fs_refiner_done(r) || s->answer->makespan <= r->bound ||
         (r->deadline_ns != 0 && fs_now_ns() + RESERVE * s->convert_ns >= r->deadline_ns) ||
         (r->deadline_ns == 0 && enough);
}

/* ---- one window */

typedef struct attempt {
  slider *s;
  fs_window w;
  fs_time_model *time;
  fs_pack_model *pack;
  fs_answer *found;
  bool easy, hard;
} attempt;

static fs_status build_attempt(attempt *a) {
  const fs_window *w = &a->w;
  fs_time_options o = {.places = FS_TIME_GIVEN,
                       .address = w->known.address,
                       .rigid = w->rigid,
                       .max_shift = w->max_shift,
                       .max_terms = WINDOW_TERMS};
  if (w->n_starts <= MOST_STARTS) {
    FS_TRY(fs_time_model_build(&w->p, &o, &a->time));
  }
  if (a->time != NULL) {
    return FSCHED_OK;
  }
  fs_pack_options q = {.address = w->known.address,
                       .rigid = w->rigid,
                       .max_shift = w->max_shift,
                       .max_terms = WINDOW_TERMS};
  return fs_pack_model_build(&w->p, &q, &a->pack);
}

static uint64_t nodes_for(const slider *s, const fs_model *m) {
  uint64_t limit = s->r->o->node_limit, nodes = WINDOW_WORK / (1 + m->term.n);
  nodes = s->effort * fs_max(LEAST_NODES, fs_min(nodes, MOST_NODES));
  return limit == 0 ? nodes : fs_min(limit, nodes);
}

static fs_status solve_window(attempt *a) {
  slider *s = a->s;
  const fs_model *m = a->time != NULL ? fs_time_model_of(a->time) : fs_pack_model_of(a->pack);
  fs_solver_result result;
  int64_t *value;
  bool fits;
  FS_TRY(fs_new_zero(&a->w.p.arena, &value, m->var.n));
  FS_TRY(a->time != NULL ? fs_time_model_point(a->time, &a->w.known, value, &fits)
                         : fs_pack_model_point(a->pack, &a->w.known, value, &fits));
  if (!fits) { /* the models are stricter for items without length */
    return FSCHED_OK;
  }
  FS_TRY(fs_refiner_solve(s->r, m, true, nodes_for(s, m), value, &result));
  s->windows++;
  a->easy = result.status == FS_SOLVER_OPTIMAL && m->term.n <= EASY_TERMS;
  a->hard = result.status == FS_SOLVER_LIMIT;
  s->cut = s->cut || a->hard;
  s->nodes += a->hard ? nodes_for(s, m) : 1;
  if (!result.found || result.objective < 0 || (fs_tick)result.objective >= a->w.known.makespan) {
    return FSCHED_OK;
  }
  return a->time != NULL ? fs_time_model_answer(a->time, &a->w.p, value, &a->found)
                         : fs_pack_model_answer(a->pack, &a->w.p, value, &a->found);
}

static fs_status take_answer(slider *s, const fs_window *w, uint32_t to, const fs_answer *found) {
  fs_tick before = s->answer->makespan;
  fs_window_take(&s->frame, w, to, found);
  fs_frame_update(&s->frame);
  s->open = true;
  s->gained = s->gained || s->answer->makespan < before;
  uint64_t since = fs_now_ns() - s->last;
  return s->r->deadline_ns == 0 || since >= PATIENCE * s->convert_ns ? settle_answer(s) : FSCHED_OK;
}

/* Makes the window [from, *to).  While an item ties it, *to moves behind that item, up to WIDEST
 * items. */
static fs_status make_window(slider *s, uint32_t from, uint32_t *to, fs_window *w) {
  uint32_t n = s->p->n_items;
  for (;;) {
    FS_TRY(fs_window_make(&s->frame, from, *to, s->r->bound, MOST_ITEMS, w));
    uint32_t next = w->tied == FS_NONE ? n : w->tied + 1;
    if (w->made || w->tied == FS_NONE || next > from + WIDEST) {
      return FSCHED_OK;
    }
    fs_window_release(w);
    *to = next;
  }
}

static void adapt(slider *s, const attempt *a) {
  if (a->easy && a->found == NULL && s->width < WIDEST) {
    s->width++;
  } else if (a->hard && a->found == NULL && s->width > NARROW) {
    s->width--;
  }
}

static fs_status window(slider *s, uint32_t from, uint32_t to) {
  assert(from < to && to <= s->p->n_items);
  attempt a = {.s = s};
  fs_status status = make_window(s, from, &to, &a.w);
  if (status == FSCHED_OK && a.w.made) {
    status = build_attempt(&a);
    if (status == FSCHED_OK && (a.time != NULL || a.pack != NULL)) {
      status = solve_window(&a);
      adapt(s, &a);
    }
  }
  if (status == FSCHED_OK && a.found != NULL) {
    status = take_answer(s, &a.w, to, a.found);
  }
  fs_time_model_destroy(a.time);
  fs_pack_model_destroy(a.pack);
  fs_window_release(&a.w);
  return status;
}

/* ---- all windows */

static fs_status sweep_windows(slider *s) {
  s->gained = false;
  for (uint32_t from = 0; from < s->p->n_items && !out_of_time(s);) {
    uint32_t to = (uint32_t)fs_min(s->p->n_items, (uint64_t)from + s->width);
    FS_TRY(window(s, from, to));
    fs_refiner_tell(s->r);
    from = to == s->p->n_items ? to : from + s->width / 2;
  }
  return FSCHED_OK;
}

/* Makes sweeps with wider and wider windows. */
static fs_status widen(slider *s) {
  for (uint32_t width = NARROW; width <= WIDEST && !out_of_time(s); width += WIDER) {
    s->width = width;
    do {
      FS_TRY(sweep_windows(s));
    } while (s->gained && !out_of_time(s));
  }
  return FSCHED_OK;
}

static fs_status slide_windows(slider *s) {
  FS_TRY(open_best(s));
  if (s->r->deadline_ns != 0) {
    s->r->soon_ns = s->r->deadline_ns - fs_min(s->r->deadline_ns, RESERVE * s->convert_ns);
  }
  s->r->any = true;
  s->cut = true;
  uint32_t most = s->r->deadline_ns == 0 ? 1 : MOST_EFFORT;
  for (s->effort = 1; s->effort <= most && s->cut && !out_of_time(s); s->effort *= 2) {
    s->cut = false;
    FS_TRY(widen(s));
  }
  return settle_answer(s);
}

fs_status fs_refine_slide(fs_refiner *r) {
  assert(r->best != NULL);
  if (fs_graph_wait(r->g) != 0) {
    return FSCHED_OK; /* windows know nothing of waits */
  }
  for (uint32_t op = 0; op < r->g->n_ops; op++) {
    if (r->g->op_start != NULL && r->g->op_start[op] != FS_TICK_NONE) {
      return FSCHED_OK; /* an op with a given start cannot move with the others */
    }
  }
  slider s = {.r = r};
  r->silent = true;
  fs_status status = slide_windows(&s);
  r->soon_ns = 0;
  fs_frame_close(&s.frame);
  fs_problem_destroy(s.p);
  return status;
}
