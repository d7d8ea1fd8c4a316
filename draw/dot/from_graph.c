/* SPDX-License-Identifier: Apache-2.0 */
/* The picture of a graph: its ops in topological order, each as early as its edges allow, in
 * clusters by the queues they may run on. */
#include "picture.h"

bool fs_picture_is_data(const fsched_graph *g, uint32_t a, uint32_t b) {
  for (uint32_t w = g->op_arg0[a]; w < g->op_arg0[a + 1]; w++) {
    if (!fs_tag_writes(g->arg_tag[w])) {
      continue;
    }
    for (uint32_t r = g->op_arg0[b]; r < g->op_arg0[b + 1]; r++) {
      if (fs_tag_reads(g->arg_tag[r]) && g->arg_version[r] == g->arg_version[w] &&
          g->arg_offset[r] < g->arg_offset[w] + g->arg_length[w] &&
          g->arg_offset[w] < g->arg_offset[r] + g->arg_length[r]) {
        return true;
      }
    }
  }
  return false;
}

static bool same_queues(const fs_target *t, uint32_t a, uint32_t b) {
  uint32_t n = t->domain_queue0[a + 1] - t->domain_queue0[a];
  return n == t->domain_queue0[b + 1] - t->domain_queue0[b] &&
         memcmp(t->domain_queue + t->domain_queue0[a], t->domain_queue + t->domain_queue0[b],
                n * sizeof *t->domain_queue) == 0;
}

/* A queue's name, or that of a class of several with their number. */
static const char *domain_name(fs_picture *p, const fs_target *t, uint32_t domain) {
  uint32_t first = t->domain_queue[t->domain_queue0[domain]];
  uint32_t n = t->domain_queue0[domain + 1] - t->domain_queue0[domain];
  if (n == 1) {
    return t->queue[first].name;
  }
  fs_text text;
  fs_text_init(&text, p->ctx);
  fs_text_printf(&text, "%s (%u queues)", t->class_name[t->queue[first].class_id], n);
  const char *name = text.failed ? NULL : fs_arena_strndup(&p->arena, text.at, text.n);
  fs_text_drop(&text);
  return name;
}

/* A cluster per set of queues that some op runs on.  One alone says nothing and is left out. */
static fs_status make_clusters(fs_picture *p, const fsched_graph *g, uint32_t **of_domain) {
  const fs_target *t = &g->target;
  uint32_t used = 0;
  FS_TRY(fs_new_none(&p->arena, of_domain, t->n_domains));
  FS_TRY(fs_picture_clusters(p, t->n_domains));
  p->n_clusters = 0;
  for (uint32_t o = 0; o < g->n_ops && !t->implicit_queues; o++) {
    uint32_t d = g->op_domain[o], same = 0;
    if (d == FS_NONE || (*of_domain)[d] != FS_NONE) {
      continue;
    }
    while (same < t->n_domains && ((*of_domain)[same] == FS_NONE || !same_queues(t, same, d))) {
      same++;
    }
    if (same < t->n_domains) {
      (*of_domain)[d] = (*of_domain)[same];
      continue;
    }
    (*of_domain)[d] = used;
    p->cluster[used] = domain_name(p, t, d);
    if (p->cluster[used++] == NULL) {
      return FSCHED_SYSTEM;
    }
  }
  p->n_clusters = used > 1 ? used : 0;
  return FSCHED_OK;
}

static fs_status gang_queues(fs_picture *p, const fsched_graph *g, uint32_t gang,
                             const char **out) {
  const char **name;
  FS_TRY(fs_new(&p->arena, &name, g->target.n_queues));
  for (uint32_t q = 0; q < g->target.n_queues; q++) {
    name[q] = g->target.queue[q].name;
  }
  uint32_t first = g->gang_queue0[gang];
  *out = fs_picture_list(p, name, g->gang_queue + first, g->gang_queue0[gang + 1] - first);
  return *out == NULL ? FSCHED_SYSTEM : FSCHED_OK;
}

static fs_status make_item(fs_picture *p, const fsched_graph *g, uint32_t op,
                           const uint32_t *of_domain, fs_pic_item *item) {
  *item = (fs_pic_item){.name = g->op_name[op], .cluster = FS_NONE, .kind = FS_PIC_OP};
  if (g->op_gang[op] != FS_NONE) {
    item->kind = FS_PIC_GANG;
    return gang_queues(p, g, g->op_gang[op], &item->queues);
  }
  item->cluster = p->n_clusters == 0 ? FS_NONE : of_domain[g->op_domain[op]];
  return FSCHED_OK;
}

fs_status fs_picture_of_graph(const fsched_graph *g, fs_picture *p) {
  uint32_t *of_domain, *place;
  p->name = g->name;
  p->unit = g->target.time_unit;
  FS_TRY(make_clusters(p, g, &of_domain));
  FS_TRY(fs_picture_items(p, g->n_ops));
  FS_TRY(fs_new(&p->arena, &place, g->n_ops));
  for (uint32_t i = 0; i < g->n_ops; i++) {
    uint32_t op = g->topo[i];
    fs_pic_item *item = &p->item[i];
    place[op] = i;
    FS_TRY(make_item(p, g, op, of_domain, item));
    for (uint32_t k = g->pred0[op]; k < g->pred0[op + 1]; k++) {
      uint32_t before = g->pred[k];
      item->start = fs_max(item->start, p->item[place[before]].end);
      FS_TRY(fs_picture_edge(p, place[before], i,
                             fs_picture_is_data(g, before, op) ? FS_PIC_DATA : FS_PIC_ORDER));
    }
    item->end = item->start + g->op_time[op];
    p->span = fs_max(p->span, item->end);
  }
  return fs_picture_finish(p);
}
