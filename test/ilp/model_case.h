/* SPDX-License-Identifier: Apache-2.0 */
/* An integer program named "small" that tests fill, anew for each.  To be included behind all
 * others, as the names are short. */
#ifndef FS_TEST_MODEL_CASE_H
#define FS_TEST_MODEL_CASE_H

#include "ilp/model/model.h"
#include "kit/context.h"

extern fs_model own_model;

/* Beside a fixture that has the context. */
void fs_test_model(TCase *t);

#endif
