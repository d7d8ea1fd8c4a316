/* SPDX-License-Identifier: Apache-2.0 */
/* A plain interpreter of submits, which knows for every byte of every buffer which task wrote it
 * last and which have read it since: its state, and which args it takes. */
#ifndef FS_TEST_SUBMIT_INTERPRETER_H
#define FS_TEST_SUBMIT_INTERPRETER_H

#include <string.h>

#include "base/mem.h"
#include "fsched/dynamic.h"
#include "kit/gen.h"

enum { TASKS = 48, BUFFERS = 128, BYTES = 24, SCOPES = 256, ARGS = 4, UNWRITTEN = -1, GIVEN = -2 };
enum { ROW = 32, MIRRORS = 3 }; /* ROW: bytes of memory for a buffer */

typedef struct model_buffer {
  char name[40];
  uint32_t size, bytes; /* bytes: at least 1 */
  bool imported, readable, writable, constant, bounded, output, elsewhere;
  fsched_io io;
  int scope, content_scope; /* -1: none */
  int holds;
  int writer[BYTES];
  bool reader[BYTES][TASKS];
  uint32_t versions; /* that an `out` has begun */
} model_buffer;

/* What a task does to a version. */
typedef struct model_access {
  uint32_t task, buffer, version, mask, member;
  bool write;
} model_access;

typedef struct model_arg {
  fsched_tag tag;
  uint32_t buffer;
  bool view, tile, alloc;
  uint32_t offset, length;
  uint64_t shape[2], stride[2], element; /* of a tile */
  uint32_t mask;                         /* of its bytes */
  uint32_t member;                       /* of a group; else 0 */
} model_arg;

/* A dynamic run in which the same is submitted. */
typedef struct model_mirror {
  fsched_dynamic *d;
  uint8_t *memory; /* ROW bytes for each buffer, of which imports use theirs */
} model_mirror;

/* A task of the plain evaluation. */
typedef struct model_record {
  char name[40];
  model_arg arg[ARGS];
  uint32_t n;
  bool group;
  uint8_t block[4];
  size_t n_params;
} model_record;

/* What is in a program, in tasks unless something else is said. */
typedef struct model_counts {
  uint32_t blocks;         /* with a block of parameters */
  uint32_t groups;         /* both members of which have args */
  uint32_t gangs;          /* on any two queues of a class, groups too */
  uint32_t manual, host;   /* in a manual scope; on a queue of the host */
  uint32_t tiles;          /* args */
  uint32_t waits, retains; /* predecessors that are only waited for, or only retained */
  uint32_t added;          /* predecessors without which there would be a race */
  uint32_t refused;
  uint32_t states; /* buffers of state that tasks write */
} model_counts;

typedef struct model_program {
  fs_rng rng;
  fsched_submitter *s;
  model_mirror mirror[MIRRORS];
  uint32_t n_mirrors;
  uint8_t (*left)[ROW]; /* with mirrors: what the program before has left in imported memory */
  model_record record[TASKS];
  uint32_t seen; /* with mirrors: the output that shows what is in buffers */
  uint8_t plain[BUFFERS][ROW], given[BUFFERS][ROW]; /* with mirrors: now, and before all tasks */
  bool raw;
  bool must; /* tasks from now on may not be left out */
  model_buffer buffer[BUFFERS];
  uint32_t n_buffers, n_tasks, n_allocs, n_calls[3]; /* tasks of each callable */
  bool ended[SCOPES];
  int n_scopes, stack[FSCHED_SUBMIT_SCOPES], depth;
  bool edge[TASKS][TASKS];  /* [later][earlier] */
  bool order[TASKS][TASKS]; /* with what follows from it, and without what tags of tasks in manual
                               scopes give */
  bool scope_manual[SCOPES];
  model_access access[TASKS * ARGS];
  uint32_t n_accesses;
  fs_text buffers, ops; /* of the graph file */
  model_counts counts;
} model_program;

static inline bool has_ended(const model_program *p, int scope) {
  return scope >= 0 && p->ended[scope];
}

static inline int innermost(const model_program *p) {
  return p->depth == 0 ? -1 : p->stack[p->depth - 1];
}

static inline bool starts_version(const model_program *p, const model_arg *a) {
  return a->alloc || (a->tag == FSCHED_OUT && !a->view && !p->buffer[a->buffer].imported);
}

static inline bool reads(fsched_tag tag) { return tag == FSCHED_IN || tag == FSCHED_INOUT; }
static inline bool writes(fsched_tag tag) {
  return tag == FSCHED_OUT || tag == FSCHED_INOUT || tag == FSCHED_OUT_EXISTING;
}

static inline bool has_byte(const model_arg *a, uint32_t i) { return (a->mask >> i & 1) != 0; }

/* Finds the bytes of an arg; false: they are not those of a view that is possible. */
static inline bool mask_bytes(const model_buffer *x, model_arg *a) {
  a->mask = 0;
  if (!a->view) {
    a->mask = x->bytes == 32 ? UINT32_MAX : ((uint32_t)1 << x->bytes) - 1;
    return true;
  }
  if (!a->tile) {
    a->shape[0] = a->shape[1] = a->element = 1;
    a->shape[1] = a->length;
    a->stride[0] = a->stride[1] = 1;
  }
  bool twice = false;
  for (uint64_t i = 0; i < a->shape[0] * a->shape[1] * a->element; i++) {
    uint64_t row = i / a->element / a->shape[1], column = i / a->element % a->shape[1];
    uint64_t at = a->offset + row * a->stride[0] + column * a->stride[1] + i % a->element;
    if (at >= x->size) {
      return false;
    }
    twice |= (a->mask >> at & 1) != 0;
    a->mask |= (uint32_t)1 << at;
  }
  return a->mask != 0 && !(twice && writes(a->tag));
}

/* Whether an arg is possible by itself; it becomes what it counts as. */
static inline bool arg_is_right(const model_program *p, model_arg *a) {
  if (a->tag == FSCHED_VALUE || a->alloc) {
    return true;
  }
  if (a->buffer >= p->n_buffers) {
    return false;
  }
  const model_buffer *x = &p->buffer[a->buffer];
  bool whole = starts_version(p, a), address = a->tag == FSCHED_NO_DEP;
  if (!mask_bytes(x, a)) {
    return false;
  }
  if ((reads(a->tag) && !x->readable) || (writes(a->tag) && (!x->writable || x->constant)) ||
      (address && (x->bounded || !x->readable || !x->writable))) {
    return false;
  }
  if (x->holds == 0 && (has_ended(p, x->scope) || (has_ended(p, x->content_scope) && !whole))) {
    return false;
  }
  uint32_t written = 0;
  for (uint32_t i = 0; i < BYTES; i++) {
    written += has_byte(a, i) && x->writer[i] != UNWRITTEN;
  }
  if (reads(a->tag) && written < (uint32_t)__builtin_popcount(a->mask)) {
    if (a->tag == FSCHED_IN || written > 0 || x->imported) {
      return false;
    }
    a->tag = FSCHED_OUT_EXISTING;
  } else if (a->tag == FSCHED_OUT && !whole) {
    a->tag = FSCHED_OUT_EXISTING;
  }
  return true;
}

/* Whether two args are of members that run at the same time, and of one version. */
static inline bool side_by_side(const model_arg *a, const model_arg *b) {
  return a->member != b->member && a->tag != FSCHED_OUT && b->tag != FSCHED_OUT;
}

/* Whether two args may not stand in one task: they write the same bytes, or their members cannot
 * run at the same time. */
static inline bool args_meet(const model_program *p, const model_arg *a, const model_arg *b) {
  bool shared = a->tag <= FSCHED_OUT_EXISTING && b->tag <= FSCHED_OUT_EXISTING && !a->alloc &&
                !b->alloc && a->buffer == b->buffer && (a->mask & b->mask) != 0;
  if (shared && side_by_side(a, b)) {
    return (writes(a->tag) || writes(b->tag)) && !p->raw;
  }
  return shared && writes(a->tag) && writes(b->tag);
}

static inline bool args_are_right(const model_program *p, model_arg *a, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    if (!arg_is_right(p, &a[i])) {
      return false;
    }
  }
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t k = 0; k < i; k++) {
      if (args_meet(p, &a[i], &a[k])) {
        return false;
      }
    }
  }
  return true;
}

#endif
