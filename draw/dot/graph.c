/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the picture of a graph: ops in topological order, starting as early as their edges allow,
 * and in clusters by the queues that they may run on. */
#include "base/names.h"
#include "draw/dot/picture.h"
#include "draw/parts.h"

/* The first access of version v by `arg` or a later arg; accesses are in the order of args. */
static uint32_t first_access(const fsched_graph *g, uint32_t v, uint32_t arg) {
  uint32_t low = g->version_access0[v], high = g->version_access0[v + 1];
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (g->access_arg[middle] < arg) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static bool share_runs(const fsched_graph *g, uint32_t w, uint32_t r) {
  if (fs_arg_view(g, w) == NULL && fs_arg_view(g, r) == NULL) {
    return true; /* as ranges, they do */
  }
  fs_view_runs x = fs_arg_pieces(g, w), y = fs_arg_pieces(g, r);
  return fs_view_overlap(&x, &y, NULL) != FS_OVERLAP_NONE;
}

/* Whether arg w writes some of the bytes that arg r of the same version reads. */
static bool passes(const fsched_graph *g, uint32_t w, uint32_t r) {
  return fs_tag_writes(g->arg_tag[w]) && fs_tag_reads(g->arg_tag[r]) &&
         g->arg_offset[r] < g->arg_offset[w] + g->arg_length[w] &&
         g->arg_offset[w] < g->arg_offset[r] + g->arg_length[r] && share_runs(g, w, r);
}

/* The first arg of op `b`, from `least` on, that reads bytes of arg w; FS_NONE: none does. */
static uint32_t next_reader(const fsched_graph *g, uint32_t w, uint32_t b, uint32_t least) {
  uint32_t v = fs_tag_writes(g->arg_tag[w]) ? g->arg_version[w] : FS_NONE;
  for (uint32_t i = v == FS_NONE ? 0 : first_access(g, v, least);
       v != FS_NONE && i < g->version_access0[v + 1] && g->access_op[i] == b; i++) {
    if (passes(g, w, g->access_arg[i])) {
      return g->access_arg[i];
    }
  }
  return FS_NONE;
}

/* Whether op a writes bytes that arg r reads.  *unwritten remembers a version that the op does not
 * write; FS_NONE: none yet. */
static bool written_by(const fsched_graph *g, uint32_t a, uint32_t r, uint32_t *unwritten) {
  uint32_t v = fs_tag_reads(g->arg_tag[r]) ? g->arg_version[r] : FS_NONE;
  bool writes = false;
  if (v == FS_NONE || v == *unwritten) {
    return false;
  }
  for (uint32_t i = first_access(g, v, g->op_arg0[a]);
       i < g->version_access0[v + 1] && g->access_op[i] == a; i++) {
    writes = writes || fs_tag_writes(g->arg_tag[g->access_arg[i]]);
    if (passes(g, g->access_arg[i], r)) {
      return true;
    }
  }
  *unwritten = writes ? *unwritten : v;
  return false;
}

/* Ops with many args have many edges, so the search starts from the op with few args. */
bool fs_picture_next_data(const fsched_graph *g, uint32_t a, uint32_t b, uint32_t *arg,
                          uint32_t *version) {
  assert(a < g->n_ops && b < g->n_ops);
  uint64_t n_a = g->op_arg0[a + 1] - g->op_arg0[a], n_b = g->op_arg0[b + 1] - g->op_arg0[b];
  uint32_t found = FS_NONE, unwritten = FS_NONE;
  if (n_a * n_a < n_b) { /* called again for each arg that is found */
    for (uint32_t w = g->op_arg0[a]; w < g->op_arg0[a + 1]; w++) {
      found = (uint32_t)fs_min(found, next_reader(g, w, b, *arg));
    }
  } else {
    for (uint32_t r = *arg; r < g->op_arg0[b + 1] && found == FS_NONE; r++) {
      found = written_by(g, a, r, &unwritten) ? r : FS_NONE;
    }
  }
  if (found == FS_NONE) {
    return false;
  }
  *arg = found + 1;
  *version = g->arg_version[found];
  return true;
}

/* Adds the data that one op passes on to another; if there is none, an edge of plain order. */
static fs_status add_edge(fs_picture *p, const fsched_graph *g, uint32_t a, uint32_t b,
                          const uint32_t *place) {
  uint32_t arg = g->op_arg0[b], version;
  if (!fs_picture_next_data(g, a, b, &arg, &version)) {
    return fs_picture_edge(p, place[a], place[b], FS_PIC_ORDER);
  }
  do {
    FS_TRY(fs_picture_data(p, place[a], place[b], version));
  } while (fs_picture_next_data(g, a, b, &arg, &version));
  return FSCHED_OK;
}

/* Given content has edges to its readers, except those whose bytes a single op has written before;
 * kept content has edges from all ops that write it. */
static fs_status find_ends_of(fs_picture *p, const fsched_graph *g, uint32_t v,
                              const uint32_t *place) {
  bool given = fs_version_given(g, v), kept = fs_version_kept(g, v);
  uint64_t from = 0, length = 0; /* the longest range written at once */
  for (uint32_t i = g->version_access0[v]; i < g->version_access0[v + 1]; i++) {
    uint32_t arg = g->access_arg[i];
    fs_pic_end end = {v, place[g->access_op[i]]};
    uint64_t offset = g->arg_offset[arg];
    bool written = offset >= from && offset + g->arg_length[arg] <= from + length;
    if (given && fs_tag_reads(g->arg_tag[arg]) && !written) {
      FS_TRY(fs_vec_push(p->ctx, &p->given, end));
    }
    if (kept && fs_tag_writes(g->arg_tag[arg])) {
      FS_TRY(fs_vec_push(p->ctx, &p->kept, end));
    }
    if (fs_tag_writes(g->arg_tag[arg]) && g->arg_length[arg] > length &&
        fs_arg_view(g, arg) == NULL) {
      from = offset;
      length = g->arg_length[arg];
    }
  }
  return FSCHED_OK;
}

/* The name of the only queue of a domain, or the name and size of its class of queues. */
static const char *domain_name(fs_picture *p, const fs_target *t, uint32_t domain) {
  uint32_t first = t->domain_queue[t->domain_queue0[domain]];
  uint32_t n = t->domain_queue0[domain + 1] - t->domain_queue0[domain];
  if (n == 1) {
    return fs_picture_queue(p, t->queue[first].name, t->queue[first].host);
  }
  fs_text text;
  fs_text_init(&text, p->ctx);
  fs_text_printf(&text, "%s (%u queues)", t->class_name[t->queue[first].class_id], n);
  const char *name = text.failed ? NULL : fs_arena_strndup(&p->arena, text.at, text.n);
  fs_text_drop(&text);
  return name;
}

/* Numbers the set of a domain's queues, which is represented as text. */
static fs_status intern_queues(fs_names *sets, const fs_target *t, uint32_t domain, uint32_t *id,
                               bool *added) {
  fs_text text;
  fs_text_init(&text, sets->ctx);
  for (uint32_t i = t->domain_queue0[domain]; i < t->domain_queue0[domain + 1]; i++) {
    fs_text_printf(&text, "%u,", t->domain_queue[i]);
  }
  fs_status status =
      text.failed ? FSCHED_SYSTEM : fs_names_intern(sets, text.at, text.n, id, added);
  fs_text_drop(&text);
  return status;
}

/* Numbers the clusters; domains with the same queues share one. */
static fs_status number_domains(fs_picture *p, const fsched_graph *g, fs_names *sets,
                                uint32_t *of_domain) {
  const fs_target *t = &g->target;
  for (uint32_t o = 0; o < g->n_ops && !t->implicit_queues; o++) {
    uint32_t d = g->op_domain[o];
    if (d == FS_NONE || of_domain[d] != FS_NONE) {
      continue;
    }
    bool added;
    FS_TRY(intern_queues(sets, t, d, &of_domain[d], &added));
    p->cluster[of_domain[d]] = added ? domain_name(p, t, d) : p->cluster[of_domain[d]];
    if (p->cluster[of_domain[d]] == NULL) {
      return FSCHED_SYSTEM;
    }
  }
  return FSCHED_OK;
}

/* Makes a cluster for each set of queues that some op may run on; a single one would show nothing
 * and is left out. */
static fs_status make_clusters(fs_picture *p, const fsched_graph *g, uint32_t **of_domain) {
  fs_names sets;
  FS_TRY(fs_new_none(&p->arena, of_domain, g->target.n_domains));
  FS_TRY(fs_picture_clusters(p, g->target.n_domains));
  fs_names_init(&sets, &p->arena);
  fs_status status = number_domains(p, g, &sets, *of_domain);
  p->n_clusters = fs_names_count(&sets) > 1 ? fs_names_count(&sets) : 0;
  fs_names_free(&sets);
  return status;
}

static fs_status queue_names(fs_picture *p, const fs_target *t, const char ***name) {
  FS_TRY(fs_new(&p->arena, name, t->n_queues));
  for (uint32_t q = 0; q < t->n_queues; q++) {
    (*name)[q] = t->queue[q].name;
  }
  return FSCHED_OK;
}

static fs_status gang_queues(fs_picture *p, const fsched_graph *g, uint32_t gang,
                             const char *const *name, const char **out) {
  uint32_t first = g->gang_queue0[gang];
  if (fs_gang_open(g, gang)) {
    const fs_target *t = &g->target;
    fs_text text;
    fs_text_init(&text, p->ctx);
    fs_text_printf(&text, "any %u of %s", g->gang_members[gang],
                   t->class_name[t->queue[g->gang_queue[first]].class_id]);
    *out = text.failed ? NULL : fs_arena_strndup(&p->arena, text.at, text.n);
    fs_text_drop(&text);
    return *out == NULL ? FSCHED_SYSTEM : FSCHED_OK;
  }
  *out = fs_picture_list(p, name, g->gang_queue + first, g->gang_queue0[gang + 1] - first);
  return *out == NULL ? FSCHED_SYSTEM : FSCHED_OK;
}

static fs_status make_item(fs_picture *p, const fsched_graph *g, uint32_t op,
                           const uint32_t *of_domain, const char *const *queue, fs_pic_item *item) {
  *item = (fs_pic_item){.name = g->op_name[op], .cluster = FS_NONE, .kind = FS_PIC_OP};
  FS_TRY(fs_parts_of_graph(&p->arena, g, op, &item->parts));
  if (g->op_gang[op] != FS_NONE) {
    uint32_t gang = g->op_gang[op];
    item->kind = FS_PIC_GANG;
    item->n_queues = g->gang_members[gang];
    item->members = fs_op_members(g, op) > 0;
    return gang_queues(p, g, gang, queue, &item->queues);
  }
  item->cluster = p->n_clusters == 0 ? FS_NONE : of_domain[g->op_domain[op]];
  return FSCHED_OK;
}

fs_status fs_picture_of_graph(const fsched_graph *g, fs_picture *p) {
  uint32_t *of_domain, *place;
  const char **queue;
  p->name = g->name;
  p->unit = g->target.time_unit;
  FS_TRY(fs_picture_graph_versions(p, g));
  FS_TRY(make_clusters(p, g, &of_domain));
  FS_TRY(queue_names(p, &g->target, &queue));
  p->queue_name = queue;
  FS_TRY(fs_picture_graph_loops(p, g));
  FS_TRY(fs_picture_items(p, g->n_ops));
  FS_TRY(fs_new(&p->arena, &place, g->n_ops));
  for (uint32_t i = 0; i < g->n_ops; i++) {
    uint32_t op = g->topo[i];
    fs_pic_item *item = &p->item[i];
    place[op] = i;
    FS_TRY(make_item(p, g, op, of_domain, queue, item));
    for (uint32_t k = g->pred0[op]; k < g->pred0[op + 1]; k++) {
      uint32_t before = g->pred[k];
      item->start = fs_max(item->start, p->item[place[before]].end);
      FS_TRY(add_edge(p, g, before, op, place));
    }
    item->end = item->start + fs_op_latency(g, op);
    p->span = fs_max(p->span, item->end);
  }
  for (uint32_t v = 0; v < g->n_versions; v++) {
    FS_TRY(find_ends_of(p, g, v, place));
  }
  return fs_picture_finish(p);
}
