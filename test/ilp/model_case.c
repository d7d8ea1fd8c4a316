/* SPDX-License-Identifier: Apache-2.0 */
#include "ilp/model_case.h"

fs_model own_model;

static void model_begin(void) { fs_model_init(&own_model, ctx, "small"); }
static void model_end(void) { fs_model_release(&own_model); }

void fs_test_model(TCase *t) { tcase_add_checked_fixture(t, model_begin, model_end); }
