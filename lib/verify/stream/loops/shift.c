/* SPDX-License-Identifier: Apache-2.0 */
/* What is read in loops in loops was written before, at a cost that does not depend on their trips.
 *
 * Take a read r, and w an access that writes.  Iterations I of the loops around r name an instance
 * of it, J of those around w one of that; k loops are around both.  (w, J) comes before (r, I) if,
 * for some q < k, J and I are the same in the first q loops and J < I in the next; or if they are
 * the same in all k, and w is of an earlier op of the innermost.  Bytes of r are shown one after
 * the other by a (w, J) that writes them: it is found by arithmetic, among all J that q allows.
 *
 * Of I only a few are looked at.  In each loop d these are the first ones (its edge), the last
 * ones, and as many as a period P[d] behind the first.  Each of these stands for all that are t[d]
 * iterations later, t[d] a multiple of the period, up to the last ones; so all together they are
 * all I.  That r reads what was written in I + t, for all t, is shown in I by a (w, J) and ways
 * u = u(t) by which J is moved on, so that
 *
 *   place  r moves on by sum(step_r[d] * t[d]), and w by sum(step_w[a] * u[a]).  Each d is carried
 *          by one loop a of w: u[a] has a part t[d] * step_r[d] / step_w[a], which is whole, as the
 *          period says; or by none.  Bytes that w writes from b on then are those of r at t if they
 *          begin at b less all that r moves on without w.  That is between two numbers, of which
 *          the range is made smaller at both ends.
 *   trips  J and J + u are iterations that w has.
 *   order  (w, J + u) comes before (r, I + t).  In the first q loops, and the next, u[a] has a part
 *          of a itself alone, between 0 and t[a].  So if J was before I in one of them, J + u is
 *          before I + t in it or in an earlier one, and if both were the same, J + u is not behind.
 *          In the others (`free`), and those of w alone, the order does not depend on J.
 *
 * Ranges of J that leave no gaps count as one, before it is made smaller: which J writes a byte may
 * depend on t.  A ring's slots have a period, too, from the first iteration on that has a version
 * of the loop's own.
 *
 * Where trips are a parameter, what has run before (r, I) is least if each is as small as I lets it
 * be: the larger they are, the more has, as nothing that is before it depends on them.  So a loop
 * of w has run J for sure, if J is below its least trip, or not above I[d] of a loop d of r with
 * the same parameter: J + u is not above I[d] + t[d], if no other than d has a part in u, which is
 * at most t[d] then.
 *
 * A strided view of w is a range with more loops, all of whose iterations it has.  One of r is
 * looked at run by run.
 *
 * A range of r is cut off with its buffer or version: looked at is all of it, but for those I that
 * stand for themselves alone.  Ranges of w count as if they were not cut off with the buffer: the
 * bytes behind that are no bytes of r.
 *
 * If one I that stands for itself alone lacks something, that is so.  Otherwise edges and periods
 * may be too short.  Some are tried, until the steps are over.  Complexity: O(2^loops * accesses)
 * steps for each I that is looked at, and for each J that is tried. */
#include "verify/stream/loops/shift.h"

/* Edges and longest periods that are tried, in iterations. */
static const struct {
  uint64_t edge, period;
} attempts[] = {{1, 1}, {2, 16}, {8, 64}, {32, 256}, {96, 1024}};

enum { MOST_MOVES = FSCHED_MAX_LOOPS };
#define NOBODY FS_NONE
#define SEVERAL (FS_NONE - 1)

/* Iterations low .. low + n - 1 of a loop of w. */
typedef struct shift_dim {
  uint64_t step, n;
} shift_dim;

typedef struct shift_slots {
  const fs_stream_ring *ring;
  uint32_t back;
  int64_t low, high;
} shift_slots;

typedef struct shift_proof {
  const fs_stream *s;
  fs_vnest_accesses access;
  uint64_t steps;
  bool lacks; /* an instance lacks something for sure */
  /* the read at hand */
  const fs_vnest_access *r;
  int64_t trip[MOST_MOVES], edge[MOST_MOVES], period[MOST_MOVES];
  /* I, and the largest t */
  int64_t at[MOST_MOVES], more[MOST_MOVES];
  /* w, and how J is moved on */
  const fs_vnest_access *w;
  uint32_t common, same;                    /* k; q */
  int64_t up[MOST_MOVES], down[MOST_MOVES]; /* the most that J is moved on, and back */
  uint32_t by[MOST_MOVES];                  /* the loop of r that moves it on */
  int64_t ahead, behind;                    /* the most that r moves on without w, and back */
  /* what of J is allowed */
  int64_t base, length; /* the range in the least iterations, and slots 0 */
  uint32_t n_dims, n_slots;
  shift_dim dim[MOST_MOVES + FS_VIEW_DIMS]; /* ascending by step */
  shift_slots slots[MOST_MOVES];
  int64_t x, end; /* a byte that is read; the end of what was found with it */
} shift_proof;

static int64_t size_of(int64_t a) { return a < 0 ? -a : a; }

static const fs_stream_loop *loop_of(const shift_proof *p, const fs_vmove *m) {
  return &p->s->loops[m->loop];
}

static bool has_steps(const shift_proof *p) { return p->steps < FS_VNEST_STEPS && !p->lacks; }

static int64_t slot_of(const fs_stream_ring *r, int64_t iteration, uint32_t back) {
  int64_t slot = iteration >= back ? (iteration - back) % r->depth : r->depth - 1;
  return slot * (int64_t)r->slot;
}

/* --- J that writes a byte --- */

static bool find_dims(shift_proof *p, uint32_t n, int64_t base) {
  int64_t span = p->length;
  for (uint32_t i = 0; i + 1 < n; i++) {
    span += (int64_t)(p->dim[i].step * (p->dim[i].n - 1));
  }
  p->steps++;
  if (p->x < base || n == 0) {
    p->end = base + p->length;
    return p->x >= base && p->x < p->end;
  }
  int64_t step = (int64_t)p->dim[n - 1].step, j = (p->x - base) / step;
  j = j < (int64_t)p->dim[n - 1].n ? j : (int64_t)p->dim[n - 1].n - 1;
  for (; j >= 0 && base + step * j + span > p->x && has_steps(p); j--) {
    if (find_dims(p, n - 1, base + step * j)) {
      return true;
    }
  }
  return false;
}

static bool find_slots(shift_proof *p, uint32_t n, int64_t base) {
  if (n == 0) {
    return find_dims(p, p->n_dims, base);
  }
  const shift_slots *l = &p->slots[n - 1];
  int64_t last = l->high - (int64_t)l->ring->depth + 1;
  last = last > l->low ? last : l->low;
  for (int64_t j = l->high; j >= last && has_steps(p); j--) {
    if (find_slots(p, n - 1, base + slot_of(l->ring, j, l->back))) {
      return true;
    }
  }
  return l->low < l->back && find_slots(p, n - 1, base + slot_of(l->ring, l->low, l->back));
}

/* A loop of w that is one, or whose order with r does not depend on it. */
static bool is_free(const shift_proof *p, uint32_t a) { return a >= p->common || a > p->same; }

/* The last iteration that has run before r for sure, of a loop of w with a parameter. */
static int64_t last_run(const shift_proof *p, uint32_t a) {
  const fs_vmove *w = &p->w->move[a];
  int64_t last = (int64_t)loop_of(p, w)->least - 1 - p->up[a];
  for (uint32_t d = 0; d < p->r->n; d++) {
    const fs_vmove *r = &p->r->move[d];
    bool slower = p->by[a] == NOBODY || (p->by[a] == d && size_of(r->step) <= size_of(w->step));
    if (loop_of(p, r)->param == loop_of(p, w)->param && slower && p->at[d] > last) {
      last = p->at[d];
    }
  }
  return last;
}

/* The iterations of a loop of w that J may have; false: none. */
static bool find_allowed(const shift_proof *p, uint32_t a, int64_t *low, int64_t *high) {
  const fs_stream_loop *l = loop_of(p, &p->w->move[a]);
  *low = p->down[a];
  *high = (int64_t)l->trip - 1 - p->up[a];
  if (!is_free(p, a)) {
    int64_t most = p->at[a] - (a == p->same);
    *low = a == p->same || *low > most ? *low : most;
    *high = *high < most ? *high : most;
  }
  if (l->least < l->trip) {
    int64_t last = last_run(p, a);
    *high = *high < last ? *high : last;
  }
  return *low <= *high;
}

static void add_dim(shift_proof *p, uint64_t step, uint64_t n) {
  uint32_t i = p->n_dims++;
  for (; i > 0 && p->dim[i - 1].step > step; i--) {
    p->dim[i] = p->dim[i - 1];
  }
  p->dim[i] = (shift_dim){step, n};
}

/* Dims that leave no gaps make the range longer. */
static void join_dims(shift_proof *p) {
  uint32_t joined = 0;
  while (joined < p->n_dims && (int64_t)p->dim[joined].step <= p->length) {
    p->length += (int64_t)(p->dim[joined].step * (p->dim[joined].n - 1));
    joined++;
  }
  p->n_dims -= joined;
  for (uint32_t i = 0; i < p->n_dims; i++) {
    p->dim[i] = p->dim[i + joined];
  }
}

/* Whether some J that is moved on as it was chosen to be writes x. */
static bool find_iteration(shift_proof *p) {
  const fs_vnest_access *w = p->w;
  p->n_dims = p->n_slots = 0;
  p->base = w->at;
  p->length = (int64_t)w->runs.run;
  p->steps++;
  for (uint32_t d = 0; d < w->runs.n_dims; d++) {
    add_dim(p, w->runs.stride[d], w->runs.shape[d]);
  }
  for (uint32_t a = 0; a < w->n; a++) {
    const fs_vmove *m = &w->move[a];
    int64_t low, high;
    if (!find_allowed(p, a, &low, &high)) {
      return false;
    }
    p->base += m->step * (m->step < 0 ? high : low);
    if (m->ring != FS_NONE) {
      p->slots[p->n_slots++] = (shift_slots){&p->s->rings[m->ring], m->back, low, high};
    } else if (m->step != 0 && high > low) {
      add_dim(p, (uint64_t)size_of(m->step), (uint64_t)(high - low) + 1);
    }
  }
  join_dims(p);
  p->base += p->behind;
  p->length -= p->behind + p->ahead;
  return p->length > 0 && find_slots(p, p->n_slots, p->base);
}

/* Whether loop a of w can carry loop d of r. */
static bool can_carry(const shift_proof *p, uint32_t a, uint32_t d) {
  int64_t step = p->w->move[a].step, of = p->r->move[d].step;
  if (step == 0 || p->period[d] * of % step != 0) {
    return false;
  }
  return is_free(p, a) || (a == d && (step < 0) == (of < 0) && size_of(of) <= size_of(step));
}

/* Chooses what carries loop d of r, and those behind.  The recursion is as deep as loops nest. */
static bool find_carriers(shift_proof *p, uint32_t d) {
  while (d < p->r->n && (p->more[d] == 0 || p->r->move[d].step == 0)) {
    d++;
  }
  if (d == p->r->n) {
    return find_iteration(p);
  }
  int64_t way = p->r->move[d].step * p->more[d];
  for (uint32_t a = 0; a < p->w->n && has_steps(p); a++) {
    int64_t u = can_carry(p, a, d) ? way / p->w->move[a].step : 0;
    uint32_t by = p->by[a];
    *(u < 0 ? &p->down[a] : &p->up[a]) += size_of(u);
    p->by[a] = u <= 0 ? by : by == NOBODY ? d : SEVERAL;
    bool found = u != 0 && find_carriers(p, d + 1);
    *(u < 0 ? &p->down[a] : &p->up[a]) -= size_of(u);
    p->by[a] = by;
    if (found) {
      return true;
    }
  }
  *(way < 0 ? &p->behind : &p->ahead) += size_of(way);
  bool found = find_carriers(p, d + 1);
  *(way < 0 ? &p->behind : &p->ahead) -= size_of(way);
  return found;
}

/* --- I that are looked at --- */

static uint32_t count_common(const fs_vnest_access *r, const fs_vnest_access *w) {
  uint32_t k = 0;
  while (k < r->n && k < w->n && r->move[k].loop == w->move[k].loop) {
    k++;
  }
  return k;
}

/* Whether x was written before r; p->end is the end of what is found with it. */
static bool is_written(shift_proof *p) {
  for (size_t i = 0; i < p->access.n; i++) {
    p->w = &p->access.at[i];
    p->common = count_common(p->r, p->w);
    uint32_t k = p->common;
    bool earlier = k == 0 || p->w->move[k - 1].op < p->r->move[k - 1].op;
    for (uint32_t n = 0; p->w->writes && n < k + earlier && has_steps(p); n++) {
      p->same = k + earlier - 1 - n; /* what is next to it first */
      for (uint32_t a = 0; a < p->w->n; a++) {
        p->by[a] = NOBODY;
      }
      if (find_carriers(p, 0)) {
        return true;
      }
    }
  }
  return false;
}

/* The bytes of r in I, [*low, *high); cut off, if I stands for itself alone. */
static void find_bytes(const shift_proof *p, bool alone, int64_t *low, int64_t *high) {
  const fs_vnest_access *r = p->r;
  int64_t within = r->within;
  *low = r->at;
  for (uint32_t d = 0; d < r->n; d++) {
    const fs_vmove *m = &r->move[d];
    int64_t way =
        m->ring == FS_NONE ? m->step * p->at[d] : slot_of(&p->s->rings[m->ring], p->at[d], m->back);
    *low += way;
    within += d >= r->inside ? way : 0;
  }
  int64_t length = alone && r->length > r->limit - within ? r->limit - within : r->length;
  *high = *low + length;
}

/* Whether bytes [low, high) of r are written. */
static bool check_run(shift_proof *p, int64_t low, int64_t high) {
  bool found = true;
  p->x = low;
  while (found && p->x < high) {
    found = has_steps(p) && is_written(p);
    p->x = p->end;
  }
  return found;
}

/* The same of all runs of a view that begins at `low`. */
static bool check_view(shift_proof *p, int64_t low) {
  bool found = true;
  for (fs_view_walk at = {.at = 0}; found && fs_view_walk_on(&p->r->runs, &at);) {
    p->steps++;
    found = has_steps(p) && check_run(p, low + (int64_t)at.low, low + (int64_t)at.high);
  }
  return found;
}

static bool check_point(shift_proof *p) {
  int64_t low, high;
  p->steps++;
  bool alone = true, found;
  for (uint32_t d = 0; d < p->r->n; d++) {
    alone = alone && p->more[d] == 0;
  }
  find_bytes(p, alone, &low, &high);
  found = p->r->runs.n_dims > 0 ? check_view(p, low) : check_run(p, low, high);
  p->lacks = p->lacks || (!found && alone && has_steps(p));
  return found;
}

/* Looks at all I from loop d on.  The recursion is as deep as loops nest. */
static bool check_points(shift_proof *p, uint32_t d) {
  if (d == p->r->n) {
    return check_point(p);
  }
  int64_t trip = p->trip[d], edge = p->edge[d], period = p->period[d];
  int64_t end = trip - (p->r->move[d].step == 0 ? 0 : edge); /* the last ones begin here */
  bool all = end - edge <= period, found = true;
  for (int64_t i = 0; found && i < trip; i++) {
    bool alone = all || i < edge || i >= end;
    if (!alone && i >= edge + period) {
      i = end - 1;
      continue;
    }
    p->at[d] = i;
    p->more[d] = alone ? 0 : (end - 1 - i) / period * period;
    found = has_steps(p) && check_points(p, d + 1);
  }
  return found;
}

/* --- a read --- */

static int64_t common_divisor(int64_t a, int64_t b) {
  while (b != 0) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* After how many iterations the read has moved on as whole numbers of iterations of writes do. */
static int64_t find_period(const shift_proof *p, uint32_t d, int64_t most) {
  const fs_vmove *m = &p->r->move[d];
  int64_t period = 1, step = size_of(m->step);
  for (size_t i = 0; step != 0 && i < p->access.n; i++) {
    const fs_vnest_access *w = &p->access.at[i];
    for (uint32_t a = 0; w->writes && a < w->n; a++) {
      int64_t of = size_of(w->move[a].step);
      int64_t n = of == 0 ? 1 : of / common_divisor(of, step);
      int64_t more = n / common_divisor(n, period);
      period *= more <= most / period ? more : 1;
    }
  }
  return m->ring == FS_NONE ? period : (int64_t)p->s->rings[m->ring].depth;
}

static bool check_read(shift_proof *p, size_t attempt) {
  for (uint32_t d = 0; d < p->r->n; d++) {
    const fs_vmove *m = &p->r->move[d];
    int64_t edge = (int64_t)attempts[attempt].edge;
    p->trip[d] = p->r->first && d + 1 == p->r->n ? 1 : (int64_t)loop_of(p, m)->trip;
    p->edge[d] = edge > m->back ? edge : m->back;
    p->period[d] = find_period(p, d, (int64_t)attempts[attempt].period);
  }
  return check_points(p, 0);
}

fs_status fs_vnest_prove(fsched_context *ctx, const fs_stream *s, uint32_t loop, uint32_t buffer,
                         uint64_t *steps, bool *shown) {
  assert(s->loops[loop].within == FS_NONE);
  shift_proof p = {.s = s};
  fs_status status = fs_vnest_list(ctx, s, loop, buffer, &p.access);
  *shown = status == FSCHED_OK;
  for (size_t i = 0; *shown && i < p.access.n; i++) {
    p.r = &p.access.at[i];
    bool found = !p.r->reads;
    for (size_t k = 0;
         !found && !p.r->elsewhere && has_steps(&p) && k < sizeof attempts / sizeof *attempts;
         k++) {
      found = check_read(&p, k);
    }
    *shown = found;
  }
  *steps = p.steps;
  fs_vec_free(ctx, &p.access);
  return status;
}
