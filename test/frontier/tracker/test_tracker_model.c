/* SPDX-License-Identifier: Apache-2.0 */
/* The tracker's protocol (lib/frontier/tracker/tracker.c), explored completely.
 *
 * A few threads run the steps of wait, advance, cancel, fail and of the lock-free read, one access
 * to shared memory a step, under a store-buffer memory model (TSO): a store enters its thread's
 * buffer and reaches memory at any later moment, in order; a load sees its own thread's buffer
 * first.  Every interleaving of steps and of stores reaching memory is visited once (depth first,
 * with all seen states kept).  Data that the lock guards need no buffer: a thread that gives up the
 * lock waits until its buffer is empty, which has the same effect as an unlocking store in that
 * buffer.
 *
 * The heavy fence passes once each thread's buffer has been seen empty, one thread after the other.
 * At the end of every run each waiter must have had what it was promised.  Several waiters that one
 * call moves on are a batch: they share a fence, and those that meet at an axis share its `wanted`.
 * The same exploration has to find the faults of weaker protocols, which shows that it can fail. */
#include <stdlib.h>

#include "base/base.h"
#include "kit/suite.h"
#include "kit/turn.h"

typedef enum protocol {
  MEMBARRIER,      /* fence by the waiter for both */
  SEQ_CST,         /* each side waits until its own store is in memory */
  RELEASE_ACQUIRE, /* neither does */
  NO_SECOND_READ,  /* the waiter fences, and does not look again */
  ONLY_THE_LOWEST  /* it looks again only at those of a batch that lowered `wanted` */
} protocol;

enum { AXES = 2, WAITERS = 3, THREADS = 4, BUFFER = 8, NOBODY = 0xff, NEVER = 0xff };
enum { EPOCH, WANTED = EPOCH + AXES, LIFE = WANTED + AXES, VARIABLES = LIFE + AXES };
enum { ALIVE, ENDING, ENDED };
enum { IDLE, PENDING, CHOSEN };

typedef enum kind { NONE, WAIT, ADVANCE, CANCEL, FAIL, READ } kind;

/* What a thread does: WAIT registers the waiters `on` ...  `to` one after the other, CANCEL cancels
 * waiter `on`; the others act on axis `on`, and ADVANCE goes to 1, 2 ...  `to`. */
typedef struct role {
  kind kind;
  uint8_t on, to;
} role;

typedef struct tracker_model_setting {
  role role[THREADS];
  struct {
    uint8_t n;
    uint8_t axis[2], epoch[2];
  } wants[WAITERS];
} tracker_model_setting;

typedef enum tracker_model_place { /* where a thread is */
                                   BEGIN,
                                   LOAD_WANTED,
                                   LOCK,
                                   COLLECT,
                                   END_FENCE,
                                   END_READ,
                                   MOVE,
                                   FENCE,
                                   LOOK_AGAIN,
                                   CALL,
                                   CALLING,
                                   RELOCK,
                                   READ_LIFE,
                                   READ_LOCKED,
                                   DONE
} tracker_model_place;

typedef struct tracker_model_thread {
  uint8_t place, epoch, peer;     /* epoch: or how many WAIT has registered; peer: how many the
                                     fence has seen empty */
  uint8_t moving, parked, chosen; /* sets of waiters */
  uint8_t calling;
  uint8_t claim; /* READ: the epoch said to be reached */
  uint8_t n;     /* in the buffer */
  uint8_t variable[BUFFER], value[BUFFER];
} tracker_model_thread;

typedef struct tracker_model_state {
  uint8_t memory[VARIABLES];
  uint8_t end[AXES];
  uint8_t owner;   /* the thread that has the lock */
  uint8_t lowered; /* axes whose `wanted` was lowered and not fenced since */
  struct {
    uint8_t state, at, calls, failed, cancels, registered;
  } waiter[WAITERS];
  tracker_model_thread thread[THREADS];
} tracker_model_state;

typedef struct tracker_model_explorer {
  const tracker_model_setting *setting;
  protocol protocol;
  tracker_model_state *seen; /* hash set */
  uint8_t *used;
  size_t n, size;
  uint64_t runs, lost, doubled, untruthful, stuck;
} tracker_model_explorer;

/* Memory */

static uint8_t load(const tracker_model_state *s, const tracker_model_thread *t, uint8_t variable) {
  for (uint8_t i = t->n; i > 0; i--) {
    if (t->variable[i - 1] == variable) {
      return t->value[i - 1];
    }
  }
  return s->memory[variable];
}

static void store(tracker_model_thread *t, uint8_t variable, uint8_t value) {
  assert(t->n < BUFFER);
  t->variable[t->n] = variable;
  t->value[t->n++] = value;
}

static bool drain(tracker_model_state *s, tracker_model_thread *t) {
  if (t->n == 0) {
    return false;
  }
  s->memory[t->variable[0]] = t->value[0];
  memmove(t->variable, t->variable + 1, BUFFER - 1);
  memmove(t->value, t->value + 1, BUFFER - 1);
  t->n--;
  t->variable[t->n] = t->value[t->n] = 0; /* equal states, equal bytes */
  return true;
}

/* Steps; each returns false when it cannot be taken now. */

typedef struct turn {
  tracker_model_explorer *x;
  tracker_model_state *s;
  tracker_model_thread *t;
  const role *role;
  uint8_t index;
} turn;

static bool go(const turn *u, tracker_model_place to) {
  u->t->place = (uint8_t)to;
  return true;
}

static bool lock(const turn *u, tracker_model_place then) {
  if (u->s->owner != NOBODY) {
    return false;
  }
  u->s->owner = u->index;
  return go(u, then);
}

static bool unlock(const turn *u) {
  if (u->t->n > 0) {
    return false;
  }
  assert(u->s->owner == u->index);
  u->s->owner = NOBODY;
  return true;
}

static uint8_t axis_of(const turn *u, uint8_t w) {
  return u->x->setting->wants[w].axis[u->s->waiter[w].at];
}

static uint8_t epoch_of(const turn *u, uint8_t w) {
  return u->x->setting->wants[w].epoch[u->s->waiter[w].at];
}

static bool stands_at(const turn *u, uint8_t w, uint8_t axis) {
  return u->s->waiter[w].state == PENDING && axis_of(u, w) == axis;
}

static void raise_wanted(const turn *u, uint8_t axis) {
  if (load(u->s, u->t, LIFE + axis) != ALIVE) {
    return;
  }
  uint8_t least = NEVER;
  for (uint8_t w = 0; w < WAITERS; w++) {
    if (stands_at(u, w, axis) && epoch_of(u, w) < least) {
      least = epoch_of(u, w);
    }
  }
  store(u->t, WANTED + axis, least);
}

static void leave(const turn *u, uint8_t w) {
  u->s->waiter[w].state = IDLE;
  raise_wanted(u, axis_of(u, w));
}

static void choose(const turn *u, uint8_t w, bool failed) {
  u->s->waiter[w].state = CHOSEN;
  u->s->waiter[w].failed = failed;
  u->t->chosen |= (uint8_t)(1 << w);
}

static void collect(const turn *u, uint8_t axis, uint8_t epoch) {
  for (uint8_t w = 0; w < WAITERS; w++) {
    if (stands_at(u, w, axis) && epoch_of(u, w) <= epoch) {
      u->s->waiter[w].state = IDLE;
      u->t->moving |= (uint8_t)(1 << w);
    }
  }
  raise_wanted(u, axis);
}

static uint8_t first_of(uint8_t set) {
  uint8_t w = 0;
  while ((set >> w & 1) == 0) {
    w++;
  }
  return w;
}

static bool wants_more(const turn *u, uint8_t w, uint8_t axis) {
  for (uint8_t i = u->s->waiter[w].at; i < u->x->setting->wants[w].n; i++) {
    if (u->x->setting->wants[w].axis[i] == axis) {
      return u->x->setting->wants[w].epoch[i] > u->s->end[axis];
    }
  }
  return false;
}

/* One look at the axis of the waiter's entry. */
static bool step_move(const turn *u) {
  tracker_model_thread *t = u->t;
  if (t->moving == 0) {
    return go(u, t->parked != 0 ? FENCE : CALL);
  }
  uint8_t w = first_of(t->moving);
  uint8_t axis = axis_of(u, w);
  bool alive = load(u->s, t, LIFE + axis) == ALIVE;
  uint8_t reached = alive ? load(u->s, t, EPOCH + axis) : u->s->end[axis];
  if (epoch_of(u, w) <= reached) {
    if (++u->s->waiter[w].at < u->x->setting->wants[w].n) {
      return true;
    }
    choose(u, w, false);
  } else if (!alive) {
    choose(u, w, true);
  } else {
    u->s->waiter[w].state = PENDING;
    if (epoch_of(u, w) < load(u->s, t, WANTED + axis)) {
      store(t, WANTED + axis, epoch_of(u, w));
      u->s->lowered |= (uint8_t)(1 << axis);
      t->parked |= (uint8_t)(1 << w);
    } else if ((u->s->lowered >> axis & 1) != 0 && u->x->protocol != ONLY_THE_LOWEST) {
      t->parked |= (uint8_t)(1 << w);
    }
  }
  t->moving &= (uint8_t) ~(1 << w);
  return true;
}

static bool step_fence(const turn *u, tracker_model_place then) {
  tracker_model_thread *t = u->t;
  if (u->x->protocol == RELEASE_ACQUIRE) {
    return go(u, then);
  }
  if (u->x->protocol == SEQ_CST) {
    return t->n == 0 && go(u, then);
  }
  if (t->n > 0 || u->s->thread[t->peer].n > 0) {
    return false;
  }
  if (++t->peer < THREADS) {
    return true;
  }
  t->peer = 0;
  return go(u, then);
}

static bool step_look_again(const turn *u) {
  tracker_model_thread *t = u->t;
  u->s->lowered = 0;
  if (t->parked == 0 || u->x->protocol == NO_SECOND_READ) {
    t->parked = 0;
    return go(u, MOVE);
  }
  uint8_t w = first_of(t->parked);
  t->parked &= (uint8_t) ~(1 << w);
  if (load(u->s, t, EPOCH + axis_of(u, w)) >= epoch_of(u, w)) {
    leave(u, w);
    t->moving |= (uint8_t)(1 << w);
  }
  return true;
}

/* Ends a call. */
static bool finish(const turn *u) {
  if (!unlock(u)) {
    return false;
  }
  bool more = (u->role->kind == ADVANCE && u->t->epoch < u->role->to) ||
              (u->role->kind == WAIT && u->role->on + u->t->epoch <= u->role->to);
  return go(u, more ? BEGIN : DONE);
}

static bool step_call(const turn *u) {
  tracker_model_thread *t = u->t;
  if (t->chosen == 0) {
    return finish(u);
  }
  t->calling = first_of(t->chosen);
  t->chosen &= (uint8_t) ~(1 << t->calling);
  u->s->waiter[t->calling].state = IDLE;
  return go(u, CALLING);
}

static bool step_calling(const turn *u) {
  if (!unlock(u)) {
    return false;
  }
  u->s->waiter[u->t->calling].calls++;
  u->t->calling = 0;
  return go(u, RELOCK);
}

static bool begin_advance(const turn *u) {
  store(u->t, EPOCH + u->role->on, ++u->t->epoch);
  return go(u, LOAD_WANTED);
}

static bool step_load_wanted(const turn *u) {
  if (u->x->protocol == SEQ_CST && u->t->n > 0) {
    return false;
  }
  if (u->t->epoch >= load(u->s, u->t, WANTED + u->role->on)) {
    return go(u, LOCK);
  }
  return go(u, u->t->epoch < u->role->to ? BEGIN : DONE);
}

static bool begin_read(const turn *u) {
  u->t->claim = load(u->s, u->t, EPOCH + u->role->on);
  return go(u, READ_LIFE);
}

static bool step_read_life(const turn *u) {
  return go(u, load(u->s, u->t, LIFE + u->role->on) == ALIVE ? DONE : LOCK);
}

static bool step_read_locked(const turn *u) {
  uint8_t end = u->s->end[u->role->on];
  u->t->claim = u->t->claim < end ? u->t->claim : end;
  return finish(u);
}

static void register_waiter(const turn *u, uint8_t w) {
  u->s->waiter[w].registered = 1;
  for (uint8_t i = 0; i < u->x->setting->wants[w].n; i++) {
    uint8_t axis = u->x->setting->wants[w].axis[i];
    if (load(u->s, u->t, LIFE + axis) != ALIVE && wants_more(u, w, axis)) {
      choose(u, w, true);
      return;
    }
  }
  u->t->moving = (uint8_t)(1 << w);
}

static void cancel(const turn *u, uint8_t w) {
  if (u->s->waiter[w].state == IDLE) {
    return;
  }
  if (u->s->waiter[w].state == PENDING) {
    leave(u, w);
  }
  u->s->waiter[w].state = IDLE;
  u->s->waiter[w].cancels = 1;
  for (uint32_t i = 0; i < THREADS; i++) {
    u->s->thread[i].chosen &= (uint8_t) ~(1 << w);
  }
}

static tracker_model_place locked_place(const turn *u) {
  switch (u->role->kind) {
    case WAIT:
      register_waiter(u, (uint8_t)(u->role->on + u->t->epoch++));
      return MOVE;
    case CANCEL:
      cancel(u, u->role->on);
      return CALL;
    case FAIL:
      store(u->t, LIFE + u->role->on, ENDING);
      store(u->t, WANTED + u->role->on, 0);
      return END_FENCE;
    case READ:
      return READ_LOCKED;
    default:
      return COLLECT;
  }
}

static bool step_lock(const turn *u) { return lock(u, LOCK) && go(u, locked_place(u)); }

static bool step_collect(const turn *u) {
  uint8_t axis = u->role->on;
  bool alive = load(u->s, u->t, LIFE + axis) == ALIVE;
  collect(u, axis, alive ? load(u->s, u->t, EPOCH + axis) : u->s->end[axis]);
  return go(u, MOVE);
}

static bool step_end_read(const turn *u) {
  uint8_t axis = u->role->on;
  u->s->end[axis] = load(u->s, u->t, EPOCH + axis);
  store(u->t, LIFE + axis, ENDED);
  for (uint8_t w = 0; w < WAITERS; w++) {
    if (u->s->waiter[w].state == PENDING && wants_more(u, w, axis)) {
      leave(u, w);
      choose(u, w, true);
    }
  }
  collect(u, axis, u->s->end[axis]);
  return go(u, MOVE);
}

static bool step_begin(const turn *u) {
  return u->role->kind == ADVANCE ? begin_advance(u)
         : u->role->kind == READ  ? begin_read(u)
                                  : step_lock(u);
}

static bool step(const turn *u) {
  switch ((tracker_model_place)u->t->place) {
    case BEGIN:
      return step_begin(u);
    case LOAD_WANTED:
      return step_load_wanted(u);
    case LOCK:
      return step_lock(u);
    case COLLECT:
      return step_collect(u);
    case END_FENCE:
      return step_fence(u, END_READ);
    case END_READ:
      return step_end_read(u);
    case MOVE:
      return step_move(u);
    case FENCE:
      return step_fence(u, LOOK_AGAIN);
    case LOOK_AGAIN:
      return step_look_again(u);
    case CALL:
      return step_call(u);
    case CALLING:
      return step_calling(u);
    case RELOCK:
      return lock(u, CALL);
    case READ_LIFE:
      return step_read_life(u);
    case READ_LOCKED:
      return step_read_locked(u);
    case DONE:
      break;
  }
  return false;
}

/* Exploring */

static uint64_t hash(const tracker_model_state *s) {
  uint64_t h = 1469598103934665603u;
  const unsigned char *p = (const unsigned char *)s;
  for (size_t i = 0; i < sizeof *s; i++) {
    h = (h ^ p[i]) * 1099511628211u;
  }
  return h ^ h >> 29;
}

static bool insert(tracker_model_explorer *x, const tracker_model_state *s);

static void grow(tracker_model_explorer *x) {
  tracker_model_explorer old = *x;
  x->size = x->size == 0 ? 1 << 12 : x->size * 4;
  x->n = 0;
  x->seen = malloc(x->size * sizeof *x->seen);
  x->used = calloc(x->size, 1);
  for (size_t i = 0; i < old.size; i++) {
    if (old.used[i]) {
      (void)insert(x, &old.seen[i]);
    }
  }
  free(old.seen);
  free(old.used);
}

/* Returns false if the state was there. */
static bool insert(tracker_model_explorer *x, const tracker_model_state *s) {
  if (x->n * 2 >= x->size) {
    grow(x);
  }
  size_t i = hash(s) & (x->size - 1);
  for (; x->used[i]; i = (i + 1) & (x->size - 1)) {
    if (memcmp(&x->seen[i], s, sizeof *s) == 0) {
      return false;
    }
  }
  x->used[i] = 1;
  x->seen[i] = *s;
  x->n++;
  return true;
}

static uint8_t final_epoch(const tracker_model_state *s, uint8_t axis) {
  return s->memory[LIFE + axis] == ALIVE ? s->memory[EPOCH + axis] : s->end[axis];
}

/* Judges a state in which all threads are done and all stores are in memory. */
static void judge(tracker_model_explorer *x, const tracker_model_state *s) {
  x->runs++;
  for (uint8_t w = 0; w < WAITERS; w++) {
    bool reached = true;
    bool ended = false;
    for (uint8_t i = 0; i < x->setting->wants[w].n; i++) {
      uint8_t axis = x->setting->wants[w].axis[i];
      bool here = x->setting->wants[w].epoch[i] <= final_epoch(s, axis);
      reached = reached && here;
      ended = ended || (!here && s->memory[LIFE + axis] != ALIVE);
    }
    uint32_t fates = (uint32_t)s->waiter[w].calls + s->waiter[w].cancels;
    x->lost += s->waiter[w].registered && (reached || ended) && fates == 0;
    x->doubled += fates > 1;
    x->untruthful += s->waiter[w].calls > 0 && !(s->waiter[w].failed ? ended : reached);
  }
  for (uint32_t i = 0; i < THREADS; i++) {
    const role *r = &x->setting->role[i];
    x->untruthful += r->kind == READ && s->thread[i].claim > final_epoch(s, r->on);
  }
}

static void explore(tracker_model_explorer *x, const tracker_model_state *s) {
  if (!insert(x, s)) {
    return;
  }
  bool stuck = true;
  bool done = true;
  for (uint8_t i = 0; i < THREADS; i++) {
    tracker_model_state next = *s;
    if (drain(&next, &next.thread[i])) {
      stuck = false;
      explore(x, &next);
    }
    next = *s;
    turn u = {x, &next, &next.thread[i], &x->setting->role[i], i};
    if (step(&u)) {
      stuck = false;
      explore(x, &next);
    }
    done = done && s->thread[i].place == DONE;
  }
  if (stuck && done) {
    judge(x, s);
  } else {
    x->stuck += stuck;
  }
}

static tracker_model_explorer run(const tracker_model_setting *of, protocol p) {
  tracker_model_explorer x = {.setting = of, .protocol = p};
  tracker_model_state s;
  memset(&s, 0, sizeof s);
  memset(s.memory + WANTED, NEVER, AXES);
  s.owner = NOBODY;
  for (uint32_t i = 0; i < THREADS; i++) {
    s.thread[i].place = of->role[i].kind == NONE ? DONE : BEGIN;
  }
  explore(&x, &s);
  free(x.seen);
  free(x.used);
  return x;
}

static const tracker_model_setting settings[] = {
#include "frontier/tracker/tracker_settings.def"
};
enum { SETTINGS = sizeof settings / sizeof *settings, FIRST_BATCH = 9 };
/* Of the generated settings every STRIDE-th is explored; the turn decides with which one to
 * begin. */
enum { STRIDE = 61 };

/* The generated settings are all batches: three waiters, each for one of the axes or both, at
 * epochs 1 or 2; both axes advance to 2 while a thread registers the waiters; and one more thread
 * may cancel a waiter or fail an axis. */
enum { FRONTIERS = 8, EXTRAS = 6, GENERATED = FRONTIERS * FRONTIERS * FRONTIERS * EXTRAS };

static tracker_model_setting generate(uint32_t i) {
  static const role extra[EXTRAS] = {{NONE, 0, 0},   {CANCEL, 0, 0}, {CANCEL, 1, 0},
                                     {CANCEL, 2, 0}, {FAIL, 0, 0},   {FAIL, 1, 0}};
  tracker_model_setting of = {
      {{WAIT, 0, WAITERS - 1}, {ADVANCE, 0, 2}, {ADVANCE, 1, 2}, extra[i % EXTRAS]}, {{0}}};
  i /= EXTRAS;
  for (uint32_t w = 0; w < WAITERS; w++, i /= FRONTIERS) {
    uint8_t one = i >> 1 & 1, both = i >> 2 & 1;
    uint8_t low = (uint8_t)(1 + (i & 1)), high = (uint8_t)(1 + one);
    of.wants[w].n = (uint8_t)(1 + both);
    of.wants[w].axis[0] = both ? 0 : one;
    of.wants[w].epoch[0] = low;
    of.wants[w].axis[1] = both;
    of.wants[w].epoch[1] = both ? high : 0;
  }
  return of;
}

static void assert_sound_setting(const tracker_model_setting *of, uint32_t i, protocol p) {
  tracker_model_explorer x = run(of, p);
  ck_assert_msg(x.lost + x.doubled + x.untruthful + x.stuck == 0,
                "setting %u: lost %lu, doubled %lu, untruthful %lu, stuck %lu", i,
                (unsigned long)x.lost, (unsigned long)x.doubled, (unsigned long)x.untruthful,
                (unsigned long)x.stuck);
  fs_assert_seen(x.runs, 0);
  fs_assert_seen(x.n, 50);
}

static void assert_sound(protocol p) {
  for (uint32_t i = 0; i < SETTINGS; i++) {
    assert_sound_setting(&settings[i], i, p);
  }
  for (uint32_t i = (uint32_t)(fs_turn() % STRIDE); i < GENERATED; i += STRIDE) {
    tracker_model_setting of = generate(i);
    assert_sound_setting(&of, i, p);
  }
}

START_TEST(fence_on_one_side_is_sound)
{ assert_sound(MEMBARRIER); }
END_TEST

START_TEST(sequential_consistency_is_sound)
{ assert_sound(SEQ_CST); }
END_TEST

/* These protocols do lose wake-ups, which shows that the explorer can fail. */
START_TEST(release_and_acquire_lose)
{
  tracker_model_explorer x = run(&settings[0], RELEASE_ACQUIRE);
  ck_assert_uint_gt(x.lost, 0);
  ck_assert_uint_eq(x.doubled + x.untruthful + x.stuck, 0);
  x = run(&settings[8], RELEASE_ACQUIRE); /* they also let a reader believe what is taken back */
  ck_assert_uint_gt(x.untruthful, 0);
}
END_TEST

START_TEST(one_look_loses)
{
  for (uint32_t i = 0; i < 4; i++) {
    ck_assert_uint_gt(run(&settings[i], NO_SECOND_READ).lost, 0);
  }
}
END_TEST

/* Wherever several waiters of a batch meet at an axis, all must be looked at again. */
START_TEST(looking_at_the_lowest_only_loses)
{
  uint32_t losing = 0;
  for (uint32_t i = FIRST_BATCH; i < SETTINGS; i++) {
    tracker_model_explorer x = run(&settings[i], ONLY_THE_LOWEST);
    losing += x.lost > 0;
    ck_assert_uint_eq(x.doubled + x.untruthful + x.stuck, 0);
  }
  ck_assert_uint_ge(losing, 6);
  for (uint32_t i = 0; i < GENERATED; i += STRIDE) {
    tracker_model_setting of = generate(i);
    losing += run(&of, ONLY_THE_LOWEST).lost > 0;
  }
  ck_assert_uint_gt(losing, 12);
  for (uint32_t i = 0; i < FIRST_BATCH; i++) { /* the first settings do not show this */
    ck_assert_uint_eq(run(&settings[i], ONLY_THE_LOWEST).lost, 0);
  }
}
END_TEST

FS_SUITE(tracker_model, s) {
  TCase *t = fs_case(s, NULL);
  FS_TESTS(t, fence_on_one_side_is_sound, sequential_consistency_is_sound, release_and_acquire_lose,
           one_look_loses, looking_at_the_lowest_only_loses);
}
