/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that hold for every graph, because the builder refuses graphs that break them, and so for
 * every program that was compiled from a graph.  An executor of a program relies on them.
 *
 *   names     of queues, memories, resources, buffers and ops are not empty
 *   target    no chain of backing stores comes back to its first memory, stacks only in programs
 *             for syncs, numbers in the builder's ranges
 *   args      `out` writes the whole buffer and an op starts one version of it; a range has bytes;
 *             no op writes a constant, some op writes every output; no_dep only in memories without
 *             a limit
 *   kernels   a built-in one with a name that is known, or a function of a module; no empty grid or
 *             block
 *
 * Rules that follow from the tags of all ops together (content that is read was produced, `after`
 * has no circles, every op fits) are checked by the verifier. */
#include "codegen/load/check.h"
#include "fsched/graph.h"
#include "model/builtins.h"
#include "model/sync.h"

static fs_status check_names(fs_checker *c) {
  const fs_stream *v = &c->v;
  const char *const strings = v->strings;
#define FS_CHECK_NAMED(section, what)                                                      \
  for (uint32_t i = 0; i < v->n_##section; i++) {                                          \
    FS_NEED(c, strings[v->section[i].name] != '\0', NAME, "%s %u has no name", (what), i); \
  }
  FS_CHECK_NAMED(axes, "axis")
  FS_CHECK_NAMED(memories, "memory")
  FS_CHECK_NAMED(resources, "resource")
  FS_CHECK_NAMED(buffers, "buffer")
  FS_CHECK_NAMED(ops, "op")
#undef FS_CHECK_NAMED
  return FSCHED_OK;
}

/* Checks that no memory backs itself.  A walk along the backing stores stops at a memory that an
 * earlier walk has met. */
static fs_status check_backings(fs_checker *c) {
  const fs_stream *v = &c->v;
  uint32_t *walk;
  FS_TRY(fs_new_none(&c->arena, &walk, v->n_memories));
  for (uint32_t i = 0; i < v->n_memories; i++) {
    uint32_t at = i;
    while (at != FS_NONE && walk[at] == FS_NONE) {
      walk[at] = i;
      at = v->memories[at].backing;
    }
    FS_NEED(c, at == FS_NONE || walk[at] != i, REFERENCE,
            "memory '%s' is, in the end, its own backing store", v->strings + v->memories[at].name);
  }
  return FSCHED_OK;
}

static fs_status check_target(fs_checker *c) {
  const fs_stream *v = &c->v;
  FS_NEED(c,
          v->meta->concurrency <= FSCHED_MAX_TIME && v->meta->frontier_capacity <= FSCHED_MAX_TIME,
          VALUE, "concurrency or frontier capacity is above 2^40");
  for (uint32_t i = 0; i < v->n_queues; i++) {
    FS_NEED(c, v->queues[i].device <= FSCHED_MAX_DEVICE, VALUE, "queue %u is of device %u", i,
            v->queues[i].device);
  }
  for (uint32_t i = 0; i < v->n_memories; i++) {
    FS_NEED(c, v->memories[i].align <= FSCHED_MAX_SIZE, VALUE, "memory %u has alignment %llu", i,
            (unsigned long long)v->memories[i].align);
    FS_NEED(c, v->memories[i].stack == 0 || fs_sync_has_stops(v->meta->sync), VALUE,
            "memory %u is a stack, in a program that is not for syncs", i);
  }
  for (uint32_t i = 0; i < v->n_resources; i++) {
    FS_NEED(c, v->resources[i].capacity <= FSCHED_MAX_TIME, VALUE, "resource %u has capacity %llu",
            i, (unsigned long long)v->resources[i].capacity);
  }
  return check_backings(c);
}

/* Checks one arg.  `started` holds, per buffer, 1 + the last op that began a version of it. */
static fs_status check_arg_rules(fs_checker *c, uint32_t op, uint32_t arg, uint32_t *started,
                                 uint8_t *written) {
  const fs_stream *v = &c->v;
  const fs_stream_arg *a = &v->args[arg];
  if (!fs_tag_names_buffer(a->tag)) {
    return FSCHED_OK;
  }
  const fs_stream_buffer *b = &v->buffers[a->buffer];
  const char *name = v->strings + b->name;
  FS_NEED(c, !a->has_at || a->length != 0, VALUE, "arg %u is a range of no bytes of '%s'", arg,
          name);
  if (!fs_tag_accesses(a->tag)) {
    FS_NEED(c, v->memories[b->memory].capacity == FS_UNBOUNDED, VALUE,
            "arg %u is no_dep of '%s', in a memory with a limit", arg, name);
    return FSCHED_OK;
  }
  if (fs_tag_begins(a->tag)) {
    FS_NEED(c, !a->has_at, VALUE, "arg %u is out of a range of '%s'", arg, name);
    FS_NEED(c, started[a->buffer] != op + 1, VALUE, "op %u starts two versions of '%s'", op, name);
    started[a->buffer] = op + 1;
  }
  if (fs_tag_writes(a->tag)) {
    FS_NEED(c, !fs_io_fixed(b->io), VALUE, "op %u writes the constant '%s'", op, name);
    written[a->buffer] = 1;
  }
  return FSCHED_OK;
}

static fs_status check_amounts(fs_checker *c, uint32_t op) {
  const fs_stream *v = &c->v;
  const fs_stream_op *o = &v->ops[op];
  for (uint32_t i = o->use0; i < o->use0 + o->n_uses; i++) {
    FS_NEED(c, v->uses[i].amount != 0 && v->uses[i].amount <= FSCHED_MAX_TIME, VALUE,
            "op %u uses amount %llu of resource %u", op, (unsigned long long)v->uses[i].amount,
            v->uses[i].resource);
  }
  for (uint32_t i = o->scratch0; i < o->scratch0 + o->n_scratches; i++) {
    FS_NEED(c, v->scratches[i].size != 0, VALUE, "op %u has scratch of no bytes", op);
  }
  for (uint32_t i = o->after0; i < o->after0 + o->n_afters; i++) {
    FS_NEED(c, v->afters[i] != op, VALUE, "op %u is after itself", op);
  }
  return FSCHED_OK;
}

static fs_status check_ops(fs_checker *c) {
  const fs_stream *v = &c->v;
  uint32_t *started;
  uint8_t *written;
  FS_TRY(fs_new_zero(&c->arena, &started, v->n_buffers));
  FS_TRY(fs_new_zero(&c->arena, &written, v->n_buffers));
  for (uint32_t op = 0; op < v->n_ops; op++) {
    const fs_stream_op *o = &v->ops[op];
    FS_TRY(check_amounts(c, op));
    for (uint32_t i = o->arg0; i < o->arg0 + o->n_args; i++) {
      FS_TRY(check_arg_rules(c, op, i, started, written));
    }
  }
  for (uint32_t b = 0; b < v->n_buffers; b++) {
    FS_NEED(c, !fs_io_is_output(v->buffers[b].io) || written[b], VALUE,
            "no op writes the output '%s'", v->strings + v->buffers[b].name);
  }
  return FSCHED_OK;
}

static bool known_builtin(const char *name) {
  bool known = false;
  for (size_t i = 0; i < sizeof fs_builtin_names / sizeof fs_builtin_names[0]; i++) {
    known = known || strcmp(name, fs_builtin_names[i]) == 0;
  }
  return known;
}

static fs_status check_kernels(fs_checker *c) {
  const fs_stream *v = &c->v;
  for (uint32_t i = 0; i < v->n_kernels; i++) {
    const fs_stream_kernel *k = &v->kernels[i];
    bool module = k->module != FS_NONE, function = k->function != FS_NONE;
    FS_NEED(c, module == function && module == (k->builtin == FS_NONE), VALUE,
            "kernel %u is neither a builtin alone, nor a function of a module", i);
    FS_NEED(c, module || known_builtin(v->strings + k->builtin), VALUE,
            "kernel %u is '%s', and no built-in kernel has that name", i, v->strings + k->builtin);
    FS_NEED(c, k->shared_bytes <= FSCHED_MAX_SIZE, VALUE, "kernel %u has %llu shared bytes", i,
            (unsigned long long)k->shared_bytes);
    for (uint32_t d = 0; d < 3; d++) {
      FS_NEED(c, k->grid[d] != 0 && k->block[d] != 0, VALUE, "kernel %u has an empty grid or block",
              i);
    }
  }
  return FSCHED_OK;
}

fs_status fs_check_rules(fs_checker *c) {
  assert(c->v.n_meta == 1);
  FS_TRY(check_names(c));
  FS_TRY(check_target(c));
  FS_TRY(check_ops(c));
  return check_kernels(c);
}
