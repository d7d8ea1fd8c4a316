/* SPDX-License-Identifier: Apache-2.0 */
/* A search by several threads.  Each is a member of a crew (crew/crew.h): it searches the whole
 * graph on its own, with random numbers and ways of its own, and in a context of its own.  At the
 * end of each round it hears of the schedules and bounds of the others.  The first member is the
 * thread of the caller, and the only one that calls back.
 *
 * Where a member has proven that its best schedule is optimal, all others end as soon as they hear
 * of it.  Of equal schedules, that of the first member counts; of bounds, the greatest.  Where a
 * proof is wanted, a member's bound is what its own steps prove, so it only hears that others are
 * at an end, and the proof is that of the first member with the greatest bound.
 *
 * Determinism: members only hear what was said at a round of the speaker that their own round
 * chooses, and rounds are counted by work, so without a limit of time the result is a function of
 * graph, options and number of members. */
#include <pthread.h>

#include "base/clock.h"
#include "base/saturate.h"
#include "search/private.h"

enum { STACK_BYTES = 8 << 20 };

/* ---- exchanges */

/* Copies a schedule that others have said, if it is shorter than what is known. */
static fs_status take_schedule(fs_search_state *s, const fs_crew_word *word, fs_tick *known,
                               fs_schedule **heard) {
  if (word->schedule == NULL || word->makespan >= *known) {
    return FSCHED_OK;
  }
  fs_schedule *copy;
  FS_TRY(fs_schedule_clone(s->ctx, word->schedule, &copy));
  fs_schedule_destroy(*heard);
  *heard = copy;
  *known = s->said = word->makespan;
  return FSCHED_OK;
}

static void take_bound(fs_search_state *s, fs_tick bound) {
  s->bound = s->o->proof == NULL ? fs_max(s->bound, bound) : s->bound;
  s->heard_bound = fs_max(s->heard_bound, bound);
}

static void tell_again(void *user) {
  fs_search_state *s = user;
  fs_search_tell(s, s->told_makespan == 0 ? fs_search_best(s) : s->told_makespan);
}

static fs_status hear_round(fs_search_state *s, uint64_t round, fs_tick known,
                            fs_schedule **heard) {
  s->heard_nodes = 0;
  for (uint32_t m = 0; m < s->crew->n; m++) {
    fs_crew_word word;
    if (m == s->member || !fs_crew_hear(s->crew, m, round, &word, tell_again, s)) {
      continue;
    }
    FS_TRY(take_schedule(s, &word, &known, heard));
    take_bound(s, word.bound);
    s->heard_nodes += word.nodes;
  }
  s->settled = s->heard_bound >= fs_min(known, FS_SEARCH_LONGEST);
  return FSCHED_OK;
}

/* A schedule is said once. */
static fs_status say(fs_search_state *s, const fs_schedule *best, bool last) {
  fs_crew_word word = {.makespan = FS_TICK_NONE, .bound = s->bound, .nodes = s->nodes};
  if (best != NULL && best->makespan < s->said) {
    FS_TRY(fs_schedule_clone(s->ctx, best, &word.schedule));
    word.makespan = s->said = best->makespan;
  }
  fs_crew_say(s->crew, s->member, &word, last);
  return FSCHED_OK;
}

fs_status fs_search_exchange(fs_search_state *s, const fs_schedule *best, fs_schedule **heard) {
  assert(fs_search_meets(s));
  fs_status status = FSCHED_OK;
  *heard = NULL;
  for (; s->work >= s->round_end && status == FSCHED_OK; s->round++) {
    s->round_end += FS_WORK_ROUND;
    status = say(s, *heard == NULL ? best : *heard, false);
    if (status == FSCHED_OK && s->round >= FS_CREW_LAG) {
      fs_tick known = *heard != NULL ? (*heard)->makespan
                      : best != NULL ? best->makespan
                                     : FS_TICK_NONE;
      status = hear_round(s, s->round - FS_CREW_LAG, known, heard);
    }
  }
  if (status != FSCHED_OK) {
    fs_schedule_destroy(*heard);
    *heard = NULL;
  }
  return status;
}

fs_status fs_search_meet(fs_search_state *s) {
  fs_schedule *heard;
  if (!fs_search_meets(s)) {
    return FSCHED_OK;
  }
  FS_TRY(fs_search_exchange(s, s->best, &heard));
  fs_search_offer(s, heard);
  fs_search_tell(s, fs_search_best(s));
  return FSCHED_OK;
}

/* ---- members */

/* An allocator that its users call one after the other. */
typedef struct shared_memory {
  pthread_mutex_t lock;
  fs_allocator of;
} shared_memory;

static void *reallocate_alone(void *user, void *block, size_t old_size, size_t new_size) {
  shared_memory *m = user;
  (void)pthread_mutex_lock(&m->lock);
  void *p = m->of.reallocate(m->of.user, block, old_size, new_size);
  (void)pthread_mutex_unlock(&m->lock);
  return p;
}

typedef struct search_job {
  fs_search_state s;
  fs_search_options o;
  fs_text proof;
  fs_status status;
  pthread_t thread;
  bool runs;
} search_job;

typedef struct search_jobs {
  fs_search_state *s; /* of the caller */
  fs_crew crew;
  shared_memory memory;
  search_job *job; /* per member */
  uint32_t n, made;
} search_jobs;

/* A context for a member, with the limits of the caller's. */
static fs_status make_context(search_jobs *x, fsched_context **out) {
  fsched_context *ctx = x->s->ctx;
  fsched_context_options o = {.size = sizeof o, .reallocate = reallocate_alone, .user = &x->memory};
  if (fsched_context_create(&o, out) != FSCHED_OK) {
    return fs_no_memory(ctx, 0);
  }
  fs_limits_set(*out, fs_limits_of(ctx));
  fs_trial_steps_set(*out, fs_trial_steps_of(ctx));
  return FSCHED_OK;
}

/* Seeds of members are apart, and not multiples of what random numbers are counted by. */
static uint64_t seed_of(const search_jobs *x, uint32_t member) {
  return x->s->o->seed + member * UINT64_C(0xd1342543de82ef95);
}

static fs_status make_job(search_jobs *x, uint32_t member) {
  search_job *job = &x->job[member];
  fs_search_state *s = &job->s;
  fsched_context *own;
  FS_TRY(make_context(x, &own));
  x->made++;
  *s = *x->s;
  s->ctx = own;
  s->best = NULL;
  s->o = &job->o;
  s->crew = &x->crew;
  s->member = member;
  s->round_end = FS_WORK_ROUND;
  s->said = fs_search_best(x->s);
  fs_text_init(&job->proof, own);
  job->o = *x->s->o;
  job->o.seed = seed_of(x, member);
  job->o.news = member == 0 ? job->o.news : NULL;
  job->o.proof = job->o.proof == NULL ? NULL : &job->proof;
  return x->s->best == NULL ? FSCHED_OK : fs_schedule_clone(own, x->s->best, &s->best);
}

/* A member that has failed ends them all. */
static void run_job(search_job *job) {
  fs_search_state *s = &job->s;
  job->status = fs_search_graph(s);
  fs_status status = say(s, s->best, true);
  job->status = job->status == FSCHED_OK ? status : job->status;
  if (job->status != FSCHED_OK) {
    fs_crew_abandon(s->crew);
  }
}

static void *run_thread(void *user) {
  run_job(user);
  return NULL;
}

/* Returns 0, or the error number that prevented a thread. */
static int start_threads(search_jobs *x) {
  pthread_attr_t attr;
  int error = pthread_attr_init(&attr);
  if (error != 0) {
    return error;
  }
  error = pthread_attr_setstacksize(&attr, STACK_BYTES);
  for (uint32_t m = 1; m < x->n && error == 0; m++) {
    search_job *job = &x->job[m];
    error = pthread_create(&job->thread, &attr, run_thread, job);
    job->runs = error == 0;
  }
  (void)pthread_attr_destroy(&attr);
  return error;
}

static fs_status run_jobs(search_jobs *x) {
  int error = start_threads(x);
  if (error == 0) {
    run_job(&x->job[0]);
    fs_crew_await(&x->crew, tell_again, &x->job[0].s);
  } else {
    fs_crew_abandon(&x->crew);
  }
  for (uint32_t m = 1; m < x->n; m++) {
    if (x->job[m].runs) {
      (void)pthread_join(x->job[m].thread, NULL);
    }
  }
  return error == 0 ? FSCHED_OK
                    : fs_fail(x->s->ctx, FSCHED_SYSTEM, FS_DIAG_THREAD, FS_NOWHERE, NULL,
                              "no thread for the search could be started");
}

/* ---- the result */

/* The first failure, which has nothing to say of the graph but that no proof can be written. */
static fs_status take_failure(search_jobs *x) {
  for (uint32_t m = 0; m < x->n; m++) {
    fs_status status = x->job[m].status;
    if (status == FSCHED_USAGE) {
      x->s->refused = x->job[m].s.refused;
      return status;
    }
    if (status != FSCHED_OK) {
      return fs_no_memory(x->s->ctx, 0);
    }
  }
  return FSCHED_OK;
}

static void take_proof(const search_jobs *x, const search_job *job) {
  fs_text *proof = x->s->o->proof;
  if (proof != NULL) {
    proof->n = 0;
    fs_text_add(proof, job->proof.at, job->proof.n);
    proof->failed = proof->failed || job->proof.failed;
  }
}

static fs_status take_results(search_jobs *x) {
  const search_job *best = x->job, *bound = x->job;
  uint64_t nodes = 0;
  for (uint32_t m = 0; m < x->n; m++) {
    const search_job *job = &x->job[m];
    best = fs_search_best(&job->s) < fs_search_best(&best->s) ? job : best;
    bound = job->s.bound > bound->s.bound ? job : bound;
    nodes += job->s.nodes;
  }
  take_proof(x, bound);
  if (fs_search_best(&best->s) < fs_search_best(x->s)) {
    fs_schedule *found;
    FS_TRY(fs_schedule_clone(x->s->ctx, best->s.best, &found));
    fs_search_offer(x->s, found);
  }
  x->s->bound = bound->s.bound;
  x->s->nodes = nodes;
  x->s->told_makespan = x->job[0].s.told_makespan;
  x->s->told_bound = x->job[0].s.told_bound;
  x->s->told_ns = x->job[0].s.told_ns;
  fs_search_tell(x->s, fs_search_best(x->s));
  return FSCHED_OK;
}

static void release_jobs(search_jobs *x) {
  fs_crew_release(&x->crew);
  for (uint32_t m = 0; m < x->made; m++) {
    search_job *job = &x->job[m];
    fs_schedule_destroy(job->s.best);
    fs_schedule_destroy(job->s.heard);
    fs_text_drop(&job->proof);
    fsched_context_destroy(job->s.ctx);
  }
  (void)pthread_mutex_destroy(&x->memory.lock);
}

fs_status fs_search_with_jobs(fs_search_state *s) {
  FS_SCRATCH(arena, s->ctx);
  search_jobs x = {.s = s, .n = s->o->jobs, .memory.of = fs_allocator_of(s->ctx)};
  assert(x.n > 1);
  FS_TRY(fs_new_zero(&arena, &x.job, x.n));
  FS_TRY(fs_crew_init(&x.crew, x.n, &arena));
  if (pthread_mutex_init(&x.memory.lock, NULL) != 0) {
    fs_crew_release(&x.crew);
    return fs_no_memory(s->ctx, sizeof x.memory.lock);
  }
  fs_status status = FSCHED_OK;
  for (uint32_t m = 0; m < x.n && status == FSCHED_OK; m++) {
    status = make_job(&x, m);
  }
  status = status == FSCHED_OK ? run_jobs(&x) : status;
  status = status == FSCHED_OK ? take_failure(&x) : status;
  status = status == FSCHED_OK ? take_results(&x) : status;
  release_jobs(&x);
  return status;
}
