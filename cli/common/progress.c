/* SPDX-License-Identifier: Apache-2.0 */
/* Progress on standard error.  The clock decides only when a line of a terminal is redrawn, and how
 * often a refinement is reported; other lines for a file or a pipe depend on the work alone. */
#include "cli/common/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"

enum {
  REDRAW_NS = 100000000, /* a line is redrawn at most ten times a second */
  DEFAULT_WIDTH = 80,
  MOST_WIDTH = 100,
  NAME_WIDTH = 10,
  LEAST_BAR = 10
};

typedef enum fs_form { FORM_TERMINAL, FORM_TEXT, FORM_JSON } fs_form;

struct fs_cli_progress {
  fs_form form;
  fsched_refine_state refine; /* last state of a refinement that was shown */
  uint64_t drawn_at;          /* time of the last drawing, in ns */
  size_t drawn;               /* columns of the line on the terminal */
  const char *what;           /* the pass or work of the last line of text */
  unsigned percent;
};

static unsigned percent_of(uint64_t done, uint64_t total) {
  if (total == 0) {
    return 100;
  }
  for (; total >> 56 != 0; total >>= 1) { /* keeps the product below within 64 bits */
    done >>= 1;
  }
  return (unsigned)(done * 100 / total);
}

/* The number of columns that fit without the cursor going to the next line. */
static size_t line_width(void) {
  struct winsize size;
  bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return fs_min(known ? size.ws_col : DEFAULT_WIDTH, MOST_WIDTH) - 1;
}

static void erase(struct fs_cli_progress *p) {
  if (p->drawn > 0) {
    fprintf(stderr, "\r%*s\r", (int)p->drawn, "");
    p->drawn = 0;
  }
}

static void draw_text(struct fs_cli_progress *p, const char *line) {
  size_t used = fs_min(strlen(line), line_width());
  fprintf(stderr, "\r%.*s", (int)used, line);
  if (p->drawn > used) {
    fprintf(stderr, "%*s\r%.*s", (int)(p->drawn - used), "", (int)used, line);
  }
  p->drawn = used;
}

/* Draws "listsched   40 % [########            ]", cut to the width. */
static void draw_bar(struct fs_cli_progress *p, const char *what, unsigned percent) {
  char line[MOST_WIDTH + 64];
  size_t width = line_width();
  int n = snprintf(line, sizeof line, "%-*.40s %3u %%", NAME_WIDTH, what, percent);
  size_t used = (size_t)n;
  if (used + LEAST_BAR + 3 <= width) {
    size_t bar = width - used - 3;
    size_t full = bar * percent / 100;
    line[used++] = ' ';
    line[used++] = '[';
    memset(line + used, '#', full);
    memset(line + used + full, ' ', bar - full);
    used += bar;
    line[used++] = ']';
  }
  line[fs_min(used, width)] = '\0';
  draw_text(p, line);
}

static void tell_terminal(struct fs_cli_progress *p, const char *what, unsigned percent) {
  uint64_t now = fs_now_ns();
  if (p->drawn_at == 0 || now - p->drawn_at >= REDRAW_NS) {
    p->drawn_at = now;
    draw_bar(p, what, percent);
  }
}

/* Prints a line when another tenth is complete, and one for the whole. */
static void tell_lines(struct fs_cli_progress *p, const char *what, uint64_t done, uint64_t total) {
  unsigned percent = percent_of(done, total);
  if (p->what != what || done == 0) {
    p->what = what;
    p->percent = 0;
  }
  bool complete = done == total && p->percent < 100;
  if (percent / 10 <= p->percent / 10 && !complete) {
    return;
  }
  p->percent = complete ? 100 : percent - percent % 10;
  if (p->form == FORM_TEXT) {
    fprintf(stderr, "%s %u %%\n", what, p->percent);
  } else {
    fprintf(stderr, "{\"progress\": \"%s\", \"percent\": %u}\n", what, p->percent);
  }
}

static void tell_progress(void *user, const char *what, uint64_t done, uint64_t total) {
  struct fs_cli_progress *p = user;
  if (p->form == FORM_TERMINAL) {
    tell_terminal(p, what, percent_of(done, total));
  } else {
    tell_lines(p, what, done, total);
  }
}

/* Writes the gap in percent of the makespan with one decimal, independent of the locale. */
static void put_gap(char *text, size_t size, const fsched_refine_state *s) {
  uint64_t gap = s->incumbent == 0 || s->bound >= s->incumbent ? 0 : s->incumbent - s->bound;
  uint64_t whole = s->incumbent;
  for (; whole >> 53 != 0; whole >>= 1) { /* keeps the product below within 64 bits */
    gap >>= 1;
  }
  uint64_t tenths = whole == 0 ? 0 : (gap * 1000 + whole / 2) / whole;
  (void)snprintf(text, size, "%llu.%llu", (unsigned long long)tenths / 10,
                 (unsigned long long)tenths % 10);
}

/* Whether a line that is not erased has news: a new makespan or bound, or a second has passed. */
static bool says_more(const struct fs_cli_progress *p, const fsched_refine_state *s) {
  return p->refine.size == 0 || s->incumbent != p->refine.incumbent ||
         s->bound != p->refine.bound || s->seconds >= p->refine.seconds + 1;
}

void fs_cli_progress_refine(struct fs_cli_progress *p, const fsched_refine_state *s) {
  char line[MOST_WIDTH + 160], gap[32];
  uint64_t tenths = (uint64_t)(s->seconds * 10), now = fs_now_ns();
  put_gap(gap, sizeof gap, s);
  if (p->form == FORM_TERMINAL ? p->drawn_at != 0 && now - p->drawn_at < REDRAW_NS
                               : !says_more(p, s)) {
    return;
  }
  p->drawn_at = now;
  p->refine = *s;
  (void)snprintf(line, sizeof line,
                 p->form == FORM_JSON
                     ? "{\"progress\": \"refine\", \"makespan\": %llu, \"bound\": %llu, "
                       "\"gap_percent\": %s, \"nodes\": %llu, \"seconds\": %llu.%llu}"
                     : "refine makespan %llu, bound %llu, gap %s %%, %llu nodes, %llu.%llu s",
                 (unsigned long long)s->incumbent, (unsigned long long)s->bound, gap,
                 (unsigned long long)s->nodes, (unsigned long long)tenths / 10,
                 (unsigned long long)tenths % 10);
  if (p->form == FORM_TERMINAL) {
    draw_text(p, line);
  } else {
    fprintf(stderr, "%s\n", line);
  }
}

fs_status fs_cli_progress_start(fs_cli *cli) {
  if (cli->quiet || !fs_args_has(&cli->args, FS_OPTION_PROGRESS)) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new_zero(&cli->arena, &cli->progress, 1));
  const char *term = getenv("TERM");
  bool can_erase = isatty(STDERR_FILENO) && (term == NULL || strcmp(term, "dumb") != 0);
  cli->progress->form = fs_cli_diagnostics_json(cli) ? FORM_JSON
                        : can_erase                  ? FORM_TERMINAL
                                                     : FORM_TEXT;
  fsched_progress_set(cli->ctx, tell_progress, cli->progress);
  return FSCHED_OK;
}

void fs_cli_progress_clear(fs_cli *cli) {
  if (cli->progress != NULL) {
    erase(cli->progress);
  }
}
