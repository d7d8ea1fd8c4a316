/* SPDX-License-Identifier: Apache-2.0 */
/* Reader of frontier_vectors.txt among the shared facts: records on one line, and scripts
 *
 *     begin TAG ID
 *     COMMAND ARGS... => EXPECTED...
 *     end
 *
 * `#` starts a comment.  Also what the drivers of scripts need: names of statuses as causes, and
 * the list of callbacks that a command let go. */
#ifndef FS_TEST_FACTS_SCRIPT_H
#define FS_TEST_FACTS_SCRIPT_H

#include <stdio.h>

#include "base/base.h"
#include "fsched/cause.h"
#include "fsched/frontier.h"

enum { FS_FACTS_WORDS = 32, FS_FACTS_LINE = 4096, FS_FACTS_ENTRIES = 64, FS_FACTS_FIRED = 16 };

typedef struct fs_facts {
  FILE *file;
  char line[FS_FACTS_LINE];
  char tag;                   /* of the record or script: T, X, U or D */
  char id[64];                /* its name */
  char *word[FS_FACTS_WORDS]; /* of a record: from the operation on; of a script: the command */
  char **expected;            /* behind the => */
  int n_words, n_expected;    /* n_words: up to the => */
} fs_facts;

/* Opens $FSCHED_SHARED/frontier_vectors.txt, or the one in ../shared.  Returns false, with a
 * message, when there is none. */
bool fs_facts_open(fs_facts *f);
void fs_facts_close(fs_facts *f);
/* Goes to the next record on one line, and skips scripts. */
bool fs_facts_record(fs_facts *f);
/* Goes to the next script. */
bool fs_facts_script(fs_facts *f);
/* Goes to the next command of the script; false at its end. */
bool fs_facts_command(fs_facts *f);
bool fs_facts_is(const fs_facts *f, const char *command);

/* Returns a number written in decimal or hexadecimal; any other text fails the test. */
uint64_t fs_facts_u64(const char *text);
/* Reads a frontier literal into `entry` (FS_FACTS_ENTRIES); `-` and `null` are empty. */
fsched_frontier fs_facts_frontier(const char *text, fsched_frontier_entry *entry);

/* Returns the cause that a status stands for: OK is 0, CANCELLED FSCHED_CAUSE_CANCELLED,
 * DEADLINE_EXCEEDED FSCHED_CAUSE_TIMEOUT, and every other name a positive number. */
fsched_cause fs_facts_cause(const char *status);
const char *fs_facts_cause_name(fsched_cause cause);

/* The callbacks that were called, in order. */
typedef struct fs_fired {
  int n;
  struct {
    const char *name;
    fsched_cause cause;
  } at[FS_FACTS_FIRED];
} fs_fired;
void fs_fired_add(fs_fired *f, const char *name, fsched_cause cause);
/* Compares them with words name:STATUS (or one `-`), in order.  The expected callbacks of two
 * records are listed last in, first out; callbacks come in the order of registration here, so those
 * two are read from the end. */
void fs_fired_check(const fs_fired *f, const char *id, char **expected, int n);

#endif
