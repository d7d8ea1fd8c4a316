/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that all makers of pictures share. */
#include "draw/dot/picture.h"

#include "draw/parts.h"

#include <stdlib.h>

void fs_picture_init(fs_picture *p, fsched_context *ctx, fs_pic_source source) {
  *p = (fs_picture){.ctx = ctx, .source = source, .lower_bound = FS_TICK_NONE};
  fs_arena_init(&p->arena, ctx);
}

void fs_picture_release(fs_picture *p) {
  fs_vec_free(p->ctx, &p->edge);
  fs_vec_free(p->ctx, &p->given);
  fs_vec_free(p->ctx, &p->kept);
  fs_vec_free(p->ctx, &p->updates);
  fs_vec_free(p->ctx, &p->awaits);
  fs_arena_release(&p->arena);
}

fs_status fs_picture_clusters(fs_picture *p, uint32_t n) {
  assert(p->n_clusters == 0);
  p->n_clusters = n;
  FS_TRY(fs_new_none(&p->arena, &p->host, n));
  return fs_new_zero(&p->arena, &p->cluster, n);
}

fs_status fs_picture_items(fs_picture *p, uint32_t n) {
  assert(p->n_items == 0);
  p->n_items = n;
  return fs_new_zero(&p->arena, &p->item, n);
}

fs_status fs_picture_barriers(fs_picture *p, uint32_t n) {
  p->n_barriers = n;
  return fs_new_zero(&p->arena, &p->barrier, n);
}

fs_status fs_picture_update(fs_picture *p, uint32_t item, uint32_t barrier, uint32_t slots) {
  assert(item < p->n_items && barrier < p->n_barriers);
  p->barrier[barrier].slots += slots;
  return fs_vec_push(p->ctx, &p->updates, ((fs_pic_end){barrier, item}));
}

fs_status fs_picture_await(fs_picture *p, uint32_t item, uint32_t barrier) {
  assert(item < p->n_items && barrier < p->n_barriers);
  return fs_vec_push(p->ctx, &p->awaits, ((fs_pic_end){barrier, item}));
}

fs_status fs_picture_versions(fs_picture *p, uint32_t n) {
  assert(p->n_versions == 0);
  p->n_versions = n;
  FS_TRY(fs_new(&p->arena, &p->version_name, n));
  return fs_new(&p->arena, &p->version_index, n);
}

fs_status fs_picture_graph_loops(fs_picture *p, const fsched_graph *g) {
  p->n_loops = g->n_rolled;
  FS_TRY(fs_shown_of_graph(&p->arena, g, &p->loop));
  FS_TRY(fs_new(&p->arena, &p->loop_parts, g->n_rolled));
  for (uint32_t l = 0; l < g->n_rolled; l++) {
    FS_TRY(fs_new(&p->arena, &p->loop_parts[l], g->rolled[l].n_ops));
    for (uint32_t m = 0; m < g->rolled[l].n_ops; m++) {
      FS_TRY(fs_parts_of_body(&p->arena, g, l, m, &p->loop_parts[l][m]));
    }
  }
  return FSCHED_OK;
}

fs_status fs_picture_graph_versions(fs_picture *p, const fsched_graph *g) {
  FS_TRY(fs_picture_versions(p, g->n_versions));
  for (uint32_t v = 0; v < g->n_versions; v++) {
    p->version_name[v] = g->buffer_name[g->version_buffer[v]];
    p->version_index[v] = fs_version_index(g, v);
  }
  return FSCHED_OK;
}

static fs_status add_edge(fs_picture *p, uint32_t from, uint32_t to, uint32_t version,
                          fs_pic_why why) {
  assert(from < p->n_items && to < p->n_items);
  fs_pic_edge e = {.from = from, .to = to, .version = version, .why = (uint16_t)(1u << why)};
  return from == to ? FSCHED_OK : fs_vec_push(p->ctx, &p->edge, e);
}

fs_status fs_picture_edge(fs_picture *p, uint32_t from, uint32_t to, fs_pic_why why) {
  assert(from < p->n_items && to < p->n_items);
  return add_edge(p, from, to, FS_NONE, why);
}

fs_status fs_picture_data(fs_picture *p, uint32_t from, uint32_t to, uint32_t version) {
  assert(from < p->n_items && to < p->n_items && version < p->n_versions);
  return add_edge(p, from, to, version, FS_PIC_DATA);
}

static int by_ends(const void *a, const void *b) {
  const fs_pic_edge *x = a, *y = b;
  if (x->from != y->from) {
    return x->from < y->from ? -1 : 1;
  }
  if (x->to != y->to) {
    return x->to < y->to ? -1 : 1;
  }
  if (x->version != y->version) {
    return x->version < y->version ? -1 : 1;
  }
  return (x->why > y->why) - (x->why < y->why);
}

/* Ends that compare equal are equal in every member. */
static int by_version(const void *a, const void *b) {
  const fs_pic_end *x = a, *y = b;
  if (x->version != y->version) {
    return x->version < y->version ? -1 : 1;
  }
  return (x->node > y->node) - (x->node < y->node);
}

static void merge_ends(fs_pic_ends *ends) {
  size_t n = 0;
  if (ends->n > 1) {
    qsort(ends->at, ends->n, sizeof *ends->at, by_version);
  }
  for (size_t i = 0; i < ends->n; i++) {
    if (n == 0 || by_version(&ends->at[n - 1], &ends->at[i]) != 0) {
      ends->at[n++] = ends->at[i];
    }
  }
  ends->n = n;
}

/* Edges that compare equal differ in nothing that matters, so the order is total. */
static void merge_edges(fs_picture *p) {
  size_t n = 0;
  if (p->edge.n > 1) {
    qsort(p->edge.at, p->edge.n, sizeof *p->edge.at, by_ends);
  }
  for (size_t i = 0; i < p->edge.n; i++) {
    fs_pic_edge e = p->edge.at[i];
    fs_pic_edge *last = n == 0 ? NULL : &p->edge.at[n - 1];
    if (last != NULL && last->from == e.from && last->to == e.to) {
      last->why |= e.why;
      last->more |= e.more || (e.version != FS_NONE && e.version != last->version);
      last->critical |= e.critical;
    } else {
      p->edge.at[n++] = e;
    }
  }
  p->edge.n = n;
}

fs_status fs_picture_finish(fs_picture *p) {
  assert(p->n_nodes == 0);
  FS_TRY(fs_new(&p->arena, &p->node, p->n_items));
  p->n_nodes = p->n_items;
  for (uint32_t i = 0; i < p->n_items; i++) {
    const fs_pic_item *item = &p->item[i];
    bool copy = fs_pic_copies(item->kind);
    p->node[i] = (fs_pic_node){.first = i,
                               .last = i,
                               .ops = !copy,
                               .copies = copy,
                               .start = item->start,
                               .end = item->end,
                               .cluster = item->cluster,
                               .kind = item->kind};
    p->n_ops += !copy;
    p->n_copies += copy;
  }
  merge_edges(p);
  merge_ends(&p->given);
  merge_ends(&p->kept);
  merge_ends(&p->updates);
  merge_ends(&p->awaits);
  return FSCHED_OK;
}

const char *fs_picture_list(fs_picture *p, const char *const *name, const uint32_t *id,
                            uint32_t n) {
  assert(n > 0);
  size_t length = 0;
  for (uint32_t i = 0; i < n; i++) {
    length += strlen(name[id[i]]) + 2;
  }
  char *text = fs_arena_alloc(&p->arena, length + 1), *to = text;
  for (uint32_t i = 0; text != NULL && i < n; i++) {
    if (i > 0) {
      memcpy(to, ", ", 2);
      to += 2;
    }
    size_t k = strlen(name[id[i]]);
    memcpy(to, name[id[i]], k);
    to += k;
  }
  if (text != NULL) {
    *to = '\0';
  }
  return text;
}

const char *fs_picture_queue(fs_picture *p, const char *name, bool host) {
  assert(name != NULL);
  if (!host) {
    return name;
  }
  fs_text text;
  fs_text_init(&text, p->ctx);
  fs_text_printf(&text, "%s (host)", name);
  const char *marked = text.failed ? NULL : fs_arena_strndup(&p->arena, text.at, text.n);
  fs_text_drop(&text);
  return marked;
}

void fs_picture_host(fs_picture *p, const uint32_t *cluster, uint32_t n) {
  assert(n > 0 && cluster[0] < p->n_clusters);
  for (uint32_t i = 1; i < n; i++) {
    if (p->host[cluster[i]] == FS_NONE) {
      p->host[cluster[i]] = cluster[0];
    }
  }
}

static void contract_ends(fs_pic_ends *ends, const uint32_t *group) {
  for (size_t i = 0; i < ends->n; i++) {
    ends->at[i].node = group[ends->at[i].node];
  }
  merge_ends(ends);
}

static void contract(fs_picture *p, const uint32_t *group, fs_pic_node *to) {
  for (uint32_t i = 0; i < p->n_nodes; i++) {
    const fs_pic_node *from = &p->node[i];
    fs_pic_node *n = &to[group[i]];
    if (n->ops + n->copies == 0) {
      *n = *from;
      continue;
    }
    n->last = from->last;
    n->ops += from->ops;
    n->copies += from->copies;
    n->start = fs_min(n->start, from->start);
    n->end = fs_max(n->end, from->end);
    n->critical |= from->critical;
  }
  size_t k = 0;
  for (size_t i = 0; i < p->edge.n; i++) {
    fs_pic_edge e = p->edge.at[i];
    e.from = group[e.from];
    e.to = group[e.to];
    if (e.from != e.to) {
      p->edge.at[k++] = e;
    }
  }
  p->edge.n = k;
  merge_edges(p);
  contract_ends(&p->given, group);
  contract_ends(&p->kept, group);
  contract_ends(&p->updates, group);
  contract_ends(&p->awaits, group);
}

fs_status fs_picture_contract(fs_picture *p, const uint32_t *group, uint32_t n_groups) {
  assert(n_groups <= p->n_nodes && (group != NULL || p->n_nodes == 0));
  fs_pic_node *to;
  FS_TRY(fs_new_zero(&p->arena, &to, n_groups));
  contract(p, group, to);
  p->node = to;
  p->n_nodes = n_groups;
  return FSCHED_OK;
}
