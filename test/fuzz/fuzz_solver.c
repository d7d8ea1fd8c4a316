/* SPDX-License-Identifier: Apache-2.0 */
/* The output of solvers (fsched-solver(7)): lines with solutions and bounds.  What is accepted is a
 * solution of the model, and not below the bound; and it does not depend on how the bytes come in,
 * all at once, one by one, or in pieces. */
#include "fuzz/fuzz_model.h"
#include "ilp/solver/talk.h"

typedef struct fuzz_solver_outcome {
  fs_solver_result result;
  fs_talk_state state;
  int64_t value[FS_FUZZ_VARS];
} fuzz_solver_outcome;

/* The point (0, 0, 0, 1, 0), with which a search may start. */
static const int64_t start_point[FS_FUZZ_VARS] = {0, 0, 0, 1, 0};

static void hear(fs_fuzz *f, const fs_model *m, const uint8_t *data, size_t size, size_t piece,
                 bool started, fuzz_solver_outcome *o) {
  memset(o, 0, sizeof *o);
  if (started) {
    memcpy(o->value, start_point, sizeof start_point);
    o->result.found = true;
    o->result.objective = fs_model_objective(m, start_point);
  }
  fs_talk t;
  if (!fs_fuzz_met(f, fs_talk_begin(f->ctx, m, o->value, &o->result, &t), FS_FUZZ_MAY(FSCHED_OK),
                   "talk")) {
    return;
  }
  for (size_t at = 0; at < size; at += piece) {
    fs_talk_hear(&t, (const char *)data + at, size - at < piece ? size - at : piece);
  }
  fs_talk_close(&t);
  o->state = t.state;
  fs_talk_release(&t);
}

static void check(const fs_model *m, const fuzz_solver_outcome *o) {
  const fs_solver_result *r = &o->result;
  fs_fuzz_must(!r->found || fs_model_broken(m, o->value) == FS_NONE, "a solution that is none");
  fs_fuzz_must(!r->found || fs_model_objective(m, o->value) == r->objective, "another objective");
  fs_fuzz_must(!r->found || !r->bounded || r->bound <= r->objective, "a bound above a solution");
}

static bool same(const fuzz_solver_outcome *a, const fuzz_solver_outcome *b) {
  const fs_solver_result *r = &a->result, *s = &b->result;
  return a->state == b->state && r->found == s->found && r->objective == s->objective &&
         r->bounded == s->bounded && r->bound == s->bound && strcmp(r->reason, s->reason) == 0 &&
         memcmp(a->value, b->value, sizeof a->value) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fs_fuzz f;
  fs_fuzz_begin(&f);
  fs_model m;
  if (fs_fuzz_met(&f, fs_fuzz_model(&m, f.ctx), FS_FUZZ_MAY(FSCHED_OK), "model")) {
    for (int started = 0; started < 2; started++) {
      fuzz_solver_outcome whole, bytes, pieces;
      hear(&f, &m, data, size, size + 1, started, &whole);
      hear(&f, &m, data, size, 1, started, &bytes);
      hear(&f, &m, data, size, 7, started, &pieces);
      check(&m, &whole);
      fs_fuzz_must(same(&whole, &bytes) && same(&whole, &pieces), "pieces of the talk matter");
    }
  }
  fs_model_release(&m);
  fs_fuzz_end(&f);
  return 0;
}
