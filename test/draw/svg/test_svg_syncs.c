/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of schedules with syncs have lines where the sequencer goes on. */
#include <inttypes.h>
#include <stdio.h>

#include "kit/gen.h"
#include "kit/golden_case.h"
#include "kit/sync_kit.h"

#include "kit/context.h"
#include "model/handle.h"

/* Gives a compiled schedule another kind of sync. */
static void resync(fsched_schedule *s, fs_sync_kind kind) {
  fsched_program *program;
  ck_fs(ctx, fs_kit_program(s, kind, &program));
  fsched_program_destroy(program);
}

START_TEST(golden)
{
  fs_golden_case c;
  char *text;
  size_t n;
  fs_golden_open(&c, ctx, "rich");
  resync(c.schedule, FS_SYNC_BLOCK);
  ck_fs(ctx, fsched_schedule_svg(ctx, c.schedule, NULL, &text, &n));
  fs_golden_check("rich.block.svg", text, n);
  fsched_text_free(ctx, text, n);
  fs_golden_close(&c);
}
END_TEST

/* When everything that was issued before is over, or everything of the queue except its last
 * commands. */
static fs_tick end_of(const fsched_schedule *s, const fs_stop *stop) {
  const fs_sync *y = s->sync;
  fs_tick end = 0;
  for (uint32_t q = 0; q < s->schedule->n_queues; q++) {
    for (uint32_t c = y->queue_command0[q]; c < y->queue_command0[q + 1]; c++) {
      uint32_t later = c + stop->keep;
      bool over = stop->queue == FS_NONE || (stop->queue == q && later < y->queue_command0[q + 1] &&
                                             y->issue[later] < stop->at);
      if (y->issue[c] < stop->at && over) {
        end = fs_max(end, s->schedule->end[y->command_item[c]]);
      }
    }
  }
  return end;
}

/* Checks that the line whose title begins with `words` gives this time. */
static void find_line(const char *text, const char *words, fs_tick time) {
  char title[96];
  (void)snprintf(title, sizeof title, "<title>%s: %" PRIu64 "<", words, time);
  if (strstr(text, title) == NULL) {
    ck_abort_msg("there is no %s", title);
  }
}

static void compare_lines(const fsched_schedule *s, const char *text) {
  const fs_sync *y = s->sync;
  fs_tick time = 0;
  uint32_t full = 0;
  for (uint32_t i = 0; i < y->n_stops; i++) {
    const fs_stop *stop = &y->stop[i];
    char words[64];
    time = fs_max(time, end_of(s, stop));
    if (stop->queue == FS_NONE) {
      (void)snprintf(words, sizeof words, "full sync %u of %u", ++full, y->n_full);
    } else {
      (void)snprintf(words, sizeof words, "sync of %s", s->schedule->queue_name[stop->queue]);
    }
    find_line(text, words, time);
  }
}

static uint32_t count(const char *text, const char *what) {
  uint32_t n = 0;
  for (const char *at = text; (at = strstr(at, what)) != NULL; at += strlen(what)) {
    n++;
  }
  return n;
}

/* Checks "full sync 3 of 9" and "full syncs 3 to 5 of 9": all of them are there, in order, and none
 * when there is no full sync. */
static void count_full(const char *text, uint32_t n_full) {
  uint32_t n = 0;
  for (const char *at = text; (at = strstr(at, "<title>full sync")) != NULL; at++) {
    uint32_t first, last;
    int got = sscanf(at, "<title>full syncs %u to %u of", &first, &last);
    if (got != 2) {
      ck_assert_int_eq(sscanf(at, "<title>full sync %u of", &first), 1);
      last = first;
    }
    ck_assert_uint_eq(first, n + 1);
    ck_assert_uint_ge(last, first);
    n = last;
  }
  ck_assert_uint_eq(n, n_full);
}

static void draw(const fsched_schedule *s, uint32_t width, char **text, size_t *n) {
  fsched_svg_options o = {.size = sizeof o, .width = width};
  ck_fs(ctx, fsched_schedule_svg(ctx, s, &o, text, n));
}

/* In the small schedules no two lines meet; in one there are more lines than pixels. */
START_TEST(random_schedules)
{
  bool large = _i == 20;
  fs_gen_params params = {
      .seed = (uint64_t)_i + 1, .n_ops = large ? 1500 : 10, .n_queues = large ? 5 : 3};
  fsched_graph *g;
  fsched_schedule *s;
  fsched_program *program;
  char *text;
  size_t n;
  ck_fs(ctx, fs_gen_graph(ctx, &params, &g));
  ck_fs(ctx, fsched_compile(ctx, g, NULL, &s, &program));
  fsched_program_destroy(program);
  draw(s, 0, &text, &n);
  ck_assert_ptr_null(strstr(text, "class=\"s"));
  fsched_text_free(ctx, text, n);
  resync(s, FS_SYNC_BLOCK);
  draw(s, large ? 400 : 10000, &text, &n);
  count_full(text, s->sync->n_full);
  if (large) {
    ck_assert_uint_lt(count(text, "class=\"sf\" d"), 400);
    ck_assert_uint_gt(count(text, "<title>full syncs "), 0);
  } else if (count(text, "syncs") == 0) {
    compare_lines(s, text);
  }
  ck_assert_int_eq(strstr(text, ".sf{") != NULL, s->sync->n_stops > 0);
  fsched_text_free(ctx, text, n);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

FS_SUITE(svg_syncs, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, golden);
  FS_LOOPS(t, 0, 21, random_schedules);
}
