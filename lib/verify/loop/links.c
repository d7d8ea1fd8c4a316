/* SPDX-License-Identifier: Apache-2.0 */
/* The links between ops: queue order and waits, of which loop.h tells. */
#include "verify/loop/parts.h"

typedef struct link_visitor {
  const fs_loop_links *links;
  void (*visit)(void *user, const fs_loop_link *link);
  void *user;
} link_visitor;

static uint32_t op_of(const fs_loop_links *links, uint32_t command) {
  const fs_rolled_command *c = &links->r->command[command];
  return c->member * links->r->copies + c->copy;
}

/* How far iterations of `to` must be ahead, so that the queue of both has x's before them. */
static int64_t queue_lag(const fs_loop_links *links, uint32_t x, uint32_t to) {
  const fs_rolled_command *a = &links->r->command[x], *b = &links->r->command[to];
  assert(links->queue[x] == links->queue[to]);
  int64_t steps = (int64_t)a->shift - b->shift + (x >= to);
  return links->r->copies * steps + (int64_t)b->copy - a->copy;
}

static void visit_link(const link_visitor *v, uint32_t x, uint32_t to, int64_t lag, int64_t since,
                       bool over) {
  const fs_loop_links *l = v->links;
  fs_loop_link link = {op_of(l, x), op_of(l, to), lag, since, lag, over};
  link.lag = l->joined ? fs_loop_raise(lag, since, l->r->copies) : lag;
  v->visit(v->user, &link);
}

static void visit_queue(const link_visitor *v, uint32_t first, uint32_t end) {
  for (uint32_t x = first; x < end; x++) {
    bool over = !v->links->r->command[x].slow;
    for (uint32_t to = first; to < end; to++) {
      visit_link(v, x, to, queue_lag(v->links, x, to), 0, over);
    }
  }
}

static void visit_wait(const link_visitor *v, uint32_t to, const fs_rolled_wait *w) {
  const fs_loop_links *links = v->links;
  uint32_t q = links->queue[w->command];
  for (uint32_t x = links->r->command0[q]; x < links->r->command0[q + 1]; x++) {
    int64_t lag = x == w->command ? 0 : queue_lag(links, x, w->command);
    bool over = x == w->command || !links->r->guarded || !links->r->command[x].slow;
    visit_link(v, x, to, w->distance + lag, w->distance, over);
  }
}

void fs_loop_links_walk(const fs_loop_links *links,
                        void (*visit)(void *user, const fs_loop_link *link), void *user) {
  const fs_rolled_loop *r = links->r;
  link_visitor v = {links, visit, user};
  for (uint32_t q = 0; q < r->n_queues; q++) {
    visit_queue(&v, r->command0[q], r->command0[q + 1]);
  }
  for (uint32_t c = 0; c < r->n_commands; c++) {
    const fs_rolled_command *to = &r->command[c];
    for (uint32_t k = 0; k < to->n_waits; k++) {
      const fs_rolled_wait *w = &r->wait[to->wait0 + k];
      if (w->distance < links->trips) {
        visit_wait(&v, c, w);
      }
    }
  }
}

fs_status fs_loop_links_make(fs_arena *arena, const fs_rolled_loop *r, const fs_loop_rules *rules,
                             fs_loop_links *out) {
  bool known = rules->trip > 0 && rules->trip <= INT64_MAX;
  *out = (fs_loop_links){.r = r,
                         .trips = known ? (int64_t)rules->trip : INT64_MAX,
                         .n_ops = rules->n_members * r->copies,
                         .one = rules->one,
                         .joined = rules->joined};
  FS_TRY(fs_new(arena, &out->queue, r->n_commands));
  for (uint32_t q = 0; q < r->n_queues; q++) {
    for (uint32_t c = r->command0[q]; c < r->command0[q + 1]; c++) {
      out->queue[c] = q;
    }
  }
  return FSCHED_OK;
}
