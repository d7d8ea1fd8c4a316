/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of back ends, and the differences that matter for the choice of one. */
#ifndef FS_EXEC_BACKENDS_H
#define FS_EXEC_BACKENDS_H

#include <stdbool.h>
#include <stdint.h>

/* X(id, "name", threads, number, simulates, best, submits): as --on and fsched_device_options call
 * them; exec has a fs_backend_ID for each (exec/host/backend.h). threads    commands run on threads
 * of this process, whose number can be limited and which can be bound to processors number devices
 * of the kind are told apart by numbers simulates  time is virtual: an option says how long
 * commands take, and a built-in kernel stands in for kernels of modules that may not be opened
 *   submits    ops are submitted one by one, and the plan is not used: so graphs can be run as well
 *   best       "auto" takes a kind of these where it can be opened, else the processors */
#define FS_BACKEND_KINDS(X)                               \
  X(cpu, "cpu", true, false, false, false, false)         \
  X(sim, "sim", false, false, true, false, false)         \
  X(dynamic, "dynamic", false, false, false, false, true) \
  X(cuda, "cuda", false, true, false, true, false)        \
  X(cuda_graph, "cuda-graph", false, true, false, false, false)

typedef struct fs_backend_kind {
  const char *name;
  bool threads, number, simulates, best, submits;
} fs_backend_kind;

/* The names of the kinds with numbers, each followed by a comma, for a hint. */
#define FS_BACKEND_IF_true(text) text
#define FS_BACKEND_IF_false(text)
#define FS_BACKEND_NUMBERED_(id, name, threads, number, ...) FS_BACKEND_IF_##number(name ", ")
#define FS_BACKENDS_NUMBERED FS_BACKEND_KINDS(FS_BACKEND_NUMBERED_)

#define FS_BACKEND_ROW_(id, ...) FS_BACKEND_ROW_##id,
enum { FS_BACKEND_KINDS(FS_BACKEND_ROW_) FS_N_BACKENDS };
extern const fs_backend_kind fs_backend_kinds[FS_N_BACKENDS];

/* The kind of that name; NULL when there is none. */
const fs_backend_kind *fs_backend_kind_of(const char *name);

#endif
