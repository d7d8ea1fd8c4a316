/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/facts_script.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "kit/shared_facts.h"

static const struct {
  const char *name;
  fsched_cause cause;
} causes[] = {{"OK", FSCHED_CAUSE_NONE},
              {"CANCELLED", FSCHED_CAUSE_CANCELLED},
              {"DEADLINE_EXCEEDED", FSCHED_CAUSE_TIMEOUT},
              {"INVALID_ARGUMENT", 1},
              {"NOT_FOUND", 2},
              {"ALREADY_EXISTS", 3},
              {"RESOURCE_EXHAUSTED", 4},
              {"ABORTED", 5},
              {"INTERNAL", 6},
              {"UNAVAILABLE", 7}};
enum { N_CAUSES = sizeof causes / sizeof *causes };

bool fs_facts_open(fs_facts *f) {
  *f = (fs_facts){.file = fs_shared_facts("frontier_vectors.txt")};
  return f->file != NULL;
}

void fs_facts_close(fs_facts *f) { (void)fclose(f->file); }

/* Goes to the next line that has words; false at the end of the file. */
static bool next_line(fs_facts *f) {
  while (fgets(f->line, sizeof f->line, f->file) != NULL) {
    f->line[strcspn(f->line, "#\n")] = '\0';
    int n = 0;
    int arrow = -1;
    char *save;
    for (char *p = strtok_r(f->line, " ", &save); p != NULL; p = strtok_r(NULL, " ", &save)) {
      ck_assert_int_lt(n, FS_FACTS_WORDS - 1);
      arrow = strcmp(p, "=>") == 0 ? n : arrow;
      f->word[n++] = p;
    }
    f->word[n] = NULL;
    if (n > 0) {
      f->n_words = arrow < 0 ? n : arrow;
      f->n_expected = arrow < 0 ? 0 : n - arrow - 1;
      f->expected = f->word + n - f->n_expected;
      return true;
    }
  }
  return false;
}

static void set_name(fs_facts *f, const char *tag, const char *id) {
  f->tag = tag[0];
  (void)snprintf(f->id, sizeof f->id, "%s", id);
}

bool fs_facts_record(fs_facts *f) {
  bool inside = false;
  while (next_line(f)) {
    if (strcmp(f->word[0], "begin") == 0 || strcmp(f->word[0], "end") == 0) {
      inside = f->word[0][0] == 'b';
    } else if (!inside && f->n_words > 2 && f->n_expected > 0 && strlen(f->word[0]) == 1) {
      set_name(f, f->word[0], f->word[1]);
      f->n_words -= 2;
      memmove(f->word, f->word + 2, (size_t)f->n_words * sizeof *f->word);
      return true;
    }
  }
  return false;
}

bool fs_facts_script(fs_facts *f) {
  while (next_line(f)) {
    if (strcmp(f->word[0], "begin") == 0) {
      ck_assert_int_eq(f->n_words, 3);
      set_name(f, f->word[1], f->word[2]);
      return true;
    }
  }
  return false;
}

bool fs_facts_command(fs_facts *f) {
  ck_assert_msg(next_line(f), "%s has no end", f->id);
  return strcmp(f->word[0], "end") != 0;
}

bool fs_facts_is(const fs_facts *f, const char *command) {
  return strcmp(f->word[0], command) == 0;
}

uint64_t fs_facts_u64(const char *text) {
  char *end;
  errno = 0;
  uint64_t value = strtoull(text, &end, 0);
  ck_assert_msg(end != text && *end == '\0' && errno == 0, "'%s' is no number", text);
  return value;
}

fsched_frontier fs_facts_frontier(const char *text, fsched_frontier_entry *entry) {
  fsched_frontier f = {.entry = entry, .capacity = FS_FACTS_ENTRIES};
  bool empty = strcmp(text, "-") == 0 || strcmp(text, "null") == 0;
  for (const char *p = text; !empty && *p != '\0';) {
    ck_assert_uint_lt(f.n, FS_FACTS_ENTRIES);
    char *end;
    fsched_frontier_entry *e = &entry[f.n++];
    e->axis = strtoull(p, &end, 0);
    ck_assert_msg(*end == ':', "frontier %s", text);
    e->epoch = strtoull(end + 1, &end, 0);
    p = *end == ',' ? end + 1 : end;
  }
  return f;
}

fsched_cause fs_facts_cause(const char *status) {
  for (int i = 0; i < N_CAUSES; i++) {
    if (strcmp(causes[i].name, status) == 0) {
      return causes[i].cause;
    }
  }
  ck_abort_msg("no cause for %s", status);
  return FSCHED_CAUSE_NONE;
}

const char *fs_facts_cause_name(fsched_cause cause) {
  for (int i = 0; i < N_CAUSES; i++) {
    if (causes[i].cause == cause) {
      return causes[i].name;
    }
  }
  return "?";
}

void fs_fired_add(fs_fired *f, const char *name, fsched_cause cause) {
  ck_assert_int_lt(f->n, FS_FACTS_FIRED);
  f->at[f->n].name = name;
  f->at[f->n++].cause = cause;
}

static bool is_last_in_first_out(const char *id) {
  return strcmp(id, "trk.device_lost") == 0 || strcmp(id, "sem.fail") == 0;
}

void fs_fired_check(const fs_fired *f, const char *id, char **expected, int n) {
  if (n == 1 && strcmp(expected[0], "-") == 0) {
    n = 0;
  }
  ck_assert_msg(f->n == n, "%s: %d fired, not %d", id, f->n, n);
  for (int i = 0; i < n; i++) {
    char text[128];
    const char *word = expected[is_last_in_first_out(id) ? n - 1 - i : i];
    (void)snprintf(text, sizeof text, "%s:%s", f->at[i].name, fs_facts_cause_name(f->at[i].cause));
    ck_assert_msg(strcmp(text, word) == 0, "%s: %s, not %s", id, text, word);
  }
}
