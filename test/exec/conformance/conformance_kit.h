/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the conformance suite share: a device under test, and a rig, which is an
 * instance of a back end with a small core around it, whose results are compared with the
 * reference. */
#ifndef FS_TEST_CONFORMANCE_KIT_H
#define FS_TEST_CONFORMANCE_KIT_H

#include <pthread.h>
#include <stdlib.h>

#include "exec/conformance/conformance.h"
#include "exec/context/device.h"
#include "exec/host/kernel.h"
#include "fsched/compile.h"
#include "fsched/replay.h"
#include "kit/budget.h"
#include "kit/gen.h"
#include "kit/replay_maker.h"
#include "model/graph.h"
#include "model/stream/points.h"

typedef struct conf {
  const fs_conformance *what;
  fsched_context *ctx;
  fsched_device_options options; /* of the device */
  fsched_device *device;
  const fs_backend *backend;
  bool on_host; /* kernels may be functions of the test: fails() below */
  maker *m;
} conf;

/* The number of random graphs on which a property is tested. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { CONF_GRAPHS = 8 };
#else
enum { CONF_GRAPHS = 40 };
#endif

const fs_conformance *conf_registered(int i);
void conf_open(conf *c, const fs_conformance *what);
void conf_close(conf *c);
/* Replaces the maker by an empty one. */
void conf_fresh(conf *c);
void conf_ok(const conf *c, fs_status status, const char *what);
/* Compiles the seed's graph. */
fsched_program *conf_compile(const conf *c, uint64_t seed);
/* The same with another kind of sync (resync.h). */
fsched_program *conf_compile_as(const conf *c, uint64_t seed, fs_sync_kind kind);

/* Prepares an instance of the stream while each allocation of both contexts fails in turn. */
void conf_fail_allocations(const conf *c, const fs_stream *s);

/* Defines a test that is given the device under test. */
#define CONFORMS(name)                  \
  static void name##_of(conf *c);       \
  START_TEST(name)                      \
  {                                     \
    conf c;                             \
    conf_open(&c, conf_registered(_i)); \
    name##_of(&c);                      \
    conf_close(&c);                     \
  }                                     \
  END_TEST                              \
  static void name##_of(conf *c)

/* The kernel of ops that name one of a module fails with this cause while it is not 0. */
extern _Atomic int conf_failure;

/* ---- a rig */

typedef struct rig {
  const conf *c;
  const fs_stream *s;
  fs_stream seen; /* what the reference evaluates: s, perhaps with other values */
  fs_arena arena;
  fs_points points;
  fsched_context *own;
  fs_io io;
  fs_backend_config config;
  fs_instance *instance;

  fs_work work;
  void **given; /* per item: content of this invocation */
  bool *late;
  void **kept;
  int64_t *values; /* NULL: the stream's */
  fs_stream_arg *args;
  fs_record record;
  uint64_t n_runs;

  /* What has been told about the invocation. */
  pthread_mutex_t lock;
  pthread_cond_t news;
  uint32_t *taken, *there; /* per item: how often it was */
  uint32_t n_done, n_failed;
  bool out_of_order; /* something was told after done */
  fsched_cause cause, failed_cause;
  uint64_t ns;
  char failed[512];
  uint64_t again; /* how many more invocations to start from within done */
} rig;

typedef struct rig_options {
  bool empty, pooled, timed;
} rig_options;

void rig_open(rig *r, const conf *c, const fs_stream *s, rig_options o);
void rig_close(rig *r);
/* Sets up new content for all given items, none of it late, and keeps everything. */
void rig_fill(rig *r, uint64_t seed);
/* Sets up new content alone. */
void rig_fill_given(rig *r, uint64_t seed);
void rig_fill_item(rig *r, uint32_t item, uint64_t seed);
void rig_start(rig *r);
/* Waits until the invocation is done; returns its cause. */
fsched_cause rig_await(rig *r);
/* Waits until nothing goes on, which is when two looks show the same.  The runner's time limit ends
 * a test in which that never comes. */
void rig_await_stuck(rig *r);
/* Waits until the invocation is done, or nothing goes on; whether it is done. */
bool rig_await_end(rig *r);
/* Poisons the invocation unless it is done. */
void rig_poison(rig *r, fsched_cause cause);
/* Waits until the item has been kept. */
void rig_await_kept(rig *r, uint32_t item);
/* After a success, compares with the reference. */
fs_status rig_compare(rig *r);
/* After a success, compares with the reference, and the records with the stream's order. */
void rig_check(rig *r);
/* Runs an invocation: fill, start, await, check. */
void rig_run(rig *r, uint64_t seed);
/* Checks that begins and ends respect queues, waits and gangs. */
void rig_check_times(const rig *r);

void fs_conformance_instances(TCase *t, int i);
void fs_conformance_failures(TCase *t, int i);
void fs_conformance_execs(TCase *t, int i);
void fs_conformance_syncs(TCase *t, int i);
void fs_conformance_loads(TCase *t, int i);
void fs_conformance_fork(TCase *t, int i);

#endif
