/* SPDX-License-Identifier: Apache-2.0 */
/* Fixtures: what each test of a case gets anew, and what is freed after it.  Include this behind
 * all other headers, as its names are short. */
#ifndef FS_TEST_CONTEXT_H
#define FS_TEST_CONTEXT_H

#include "base/mem.h"
#include "fsched/graph.h"
#include "kit/status.h"
#include "kit/suite.h"
#include "kit/temp_dir.h"

extern fsched_context *ctx;
extern fs_arena own_arena;
extern fs_temp_dir own_dir;

void fs_test_context(TCase *t);
/* A context that reports to nobody. */
void fs_test_silent(TCase *t);
/* A context and an arena of it. */
void fs_test_arena(TCase *t);
/* A context, and a directory in which the test runs. */
void fs_test_in_dir(TCase *t);

/* A context that keeps 200 errors. */
void fs_test_many_errors(TCase *t);
/* Most tests need a schedule, not a short one: contexts of the kit allow the scheduler few trials,
 * and others that compile much can be told to. */
void fs_few_trials(fsched_context *own);
/* A further one. */
fsched_context *fs_new_context(void);

/* Returns the graph that a text describes; the text has to be right. */
fsched_graph *fs_parse(const char *text);

/* For fixtures that prepare more than a context. */
void fs_test_begin(void);
void fs_test_end(void);

#endif
