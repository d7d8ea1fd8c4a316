/* SPDX-License-Identifier: Apache-2.0 */
/* Checkers of solutions in other tools' formats, by the text of the instance.  They are written
 * apart from the importers and exporters, and take instances to be well-formed. */
#ifndef FS_TEST_SOLUTIONS_H
#define FS_TEST_SOLUTIONS_H

#include <stdint.h>

/* Each returns NULL when the solution is right, else what is wrong.  *reached is the makespan, the
 * height or the highest offset used. */

/* Patterson's format; O(jobs * makespan). */
const char *fs_check_project(const char *instance, const char *solution, uint64_t *reached);
/* O(rectangles^2). */
const char *fs_check_strip(const char *instance, const char *solution, uint64_t *reached);
/* The columns are id,lower,upper,size in this order, and ids have no quotes; O(buffers^2). */
const char *fs_check_memory(const char *instance, const char *solution, uint64_t *reached);

/* A job shop, and for each job the starts of its operations; O(ops^2). */
const char *fs_check_jobshop(const char *instance, const char *solution, uint64_t *reached);

#endif
