/* SPDX-License-Identifier: Apache-2.0 */
/* Copies that no schedule does without, behind the ops.
 *
 * Given content of a memory that spills lies in its store, and no op that writes the version has
 * run when an op reads it that all of them wait for.  So the content that this op reads has come by
 * a read: the first read of the version is over when such an op starts.  What is kept of a version
 * that ops write is in the store in the end: the last write of the version starts when all of them
 * are over. */
#include "verify/proof/proof.h"

#include "base/saturate.h"

static bool spills(const fsched_graph *g, uint32_t version) {
  const fs_memory *m = &g->target.memory[g->buffer_memory[g->version_buffer[version]]];
  return m->capacity != FS_UNBOUNDED && m->backing != FS_NONE && m->spill_domain != FS_NONE &&
         !g->target.implicit_queues && g->buffer_slot == NULL;
}

static bool writes(const fsched_graph *g, uint32_t access) {
  return fs_tag_writes(g->arg_tag[g->access_arg[access]]);
}

/* Does every op that writes the version wait for this one, or is it that one? */
static bool is_before_writers(const fsched_graph *g, uint32_t version, uint32_t op) {
  for (uint32_t i = g->version_access0[version]; i < g->version_access0[version + 1]; i++) {
    uint32_t writer = g->access_op[i];
    if (writes(g, i) && writer != op && !fs_vgraph_has_edge(g, op, writer)) {
      return false;
    }
  }
  return true;
}

static bool reads_given(const fsched_graph *g, uint32_t version, uint32_t access) {
  uint32_t arg = g->access_arg[access];
  return fs_tag_reads(g->arg_tag[arg]) && g->arg_length[arg] > 0 &&
         is_before_writers(g, version, g->access_op[access]);
}

/* Lists the ops that wait for the copy, or that it waits for. */
static fs_status list_ops(fs_vproof *p, fs_vcopy *c) {
  const fsched_graph *g = p->g;
  c->op0 = p->copy_op.n;
  bool there = spills(g, c->version) &&
               (c->write ? fs_version_kept(g, c->version) : fs_version_given(g, c->version));
  uint32_t from = g->version_access0[c->version], to = g->version_access0[c->version + 1];
  for (uint32_t i = from; there && i < to; i++) {
    if (c->write ? writes(g, i) : reads_given(g, c->version, i)) {
      FS_TRY(fs_vec_push(p->ctx, &p->copy_op, g->access_op[i]));
    }
  }
  c->op1 = p->copy_op.n;
  return FSCHED_OK;
}

uint64_t fs_vcopy_ticks(const fsched_graph *g, const fs_vcopy *c) {
  uint32_t buffer = g->version_buffer[c->version];
  const fs_memory *m = &g->target.memory[g->buffer_memory[buffer]];
  uint64_t rate = c->write ? m->write_rate : m->read_rate, size = g->buffer_size[buffer];
  uint64_t fixed = c->write ? m->write_fixed : m->read_fixed;
  size = fs_multiply_most(size, c->write ? m->write_per : m->read_per);
  return fs_add_most(fixed, rate == 0 ? 0 : size / rate + (size % rate != 0));
}

fs_status fs_vproof_version(fs_vproof *p, uint32_t *version) {
  fs_vtext *t = &p->text;
  const fsched_graph *g = p->g;
  uint64_t buffer, number;
  size_t place = t->pos + 1;
  FS_TRY(fs_vtext_next(t, "a buffer", &buffer));
  if (buffer >= g->n_buffers) {
    return fs_vtext_wrong(t, place, "buffer %llu is none of the graph's",
                          (unsigned long long)buffer);
  }
  place = t->pos + 1;
  FS_TRY(fs_vtext_next(t, "a version", &number));
  uint32_t first = g->buffer_version0[buffer];
  if (number >= g->buffer_version0[buffer + 1] - first) {
    return fs_vtext_wrong(t, place, "the buffer has no version %llu", (unsigned long long)number);
  }
  *version = first + (uint32_t)number;
  return FSCHED_OK;
}

/* `seen`: 2 per version, if its read, and its write, were named. */
static fs_status read_copy(fs_vproof *p, bool write, bool *seen) {
  size_t place = p->text.pos;
  fs_vcopy c = {.write = write};
  FS_TRY(fs_vproof_version(p, &c.version));
  FS_TRY(fs_vtext_line_end(&p->text));
  FS_TRY(list_ops(p, &c));
  c.ticks = fs_vcopy_ticks(p->g, &c);
  if (seen[2 * (size_t)c.version + write]) {
    return fs_vtext_wrong(&p->text, place, "this copy was named before");
  }
  seen[2 * (size_t)c.version + write] = true;
  if (c.op0 == c.op1 || c.ticks > FS_VTEXT_MOST || p->n_items == FS_NONE - 1) {
    return fs_vtext_wrong(&p->text, place, "schedules may do without this copy");
  }
  p->n_items++;
  return fs_vec_push(p->ctx, &p->copy, c);
}

fs_status fs_vproof_copies(fs_vproof *p) {
  FS_SCRATCH(scratch, p->ctx);
  bool *seen;
  p->n_items = p->g->n_ops;
  FS_TRY(fs_new_zero(&scratch, &seen, 2 * (size_t)p->g->n_versions));
  for (;;) {
    bool read = fs_vtext_word(&p->text, "read");
    if (!read && !fs_vtext_word(&p->text, "write")) {
      return FSCHED_OK;
    }
    FS_TRY(read_copy(p, !read, seen));
  }
}

const fs_vcopy *fs_vproof_copy(const fs_vproof *p, uint32_t item) {
  assert(item >= p->g->n_ops && item < p->n_items);
  return &p->copy.at[item - p->g->n_ops];
}
