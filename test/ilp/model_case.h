/* SPDX-License-Identifier: Apache-2.0 */
/* An integer program named "small", which tests fill and which each gets anew.  Include this behind
 * all other headers, as its names are short. */
#ifndef FS_TEST_MODEL_CASE_H
#define FS_TEST_MODEL_CASE_H

#include "ilp/model/model.h"
#include "kit/context.h"

extern fs_model own_model;

/* Needs a fixture that has the context beside it. */
void fs_test_model(TCase *t);

#endif
