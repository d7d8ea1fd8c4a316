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
  char tag;                   /* of the record or script: T X U D */
  char id[64];                /* its name */
  char *word[FS_FACTS_WORDS]; /* of a record: from the operation on; of a script: the command */
  char **expected;            /* behind the => */
  int n_words, n_expected;    /* n_words: up to the => */
} fs_facts;

/* False, with a message, when the file is not there: $FSCHED_SHARED or ../shared. */
bool fs_facts_open(fs_facts *f);
void fs_facts_close(fs_facts *f);
/* The next record on one line; scripts are passed over. */
bool fs_facts_record(fs_facts *f);
/* The next script. */
bool fs_facts_script(fs_facts *f);
/* The next command of the script; false at its end. */
bool fs_facts_command(fs_facts *f);
bool fs_facts_is(const fs_facts *f, const char *command);

/* A number in decimal or hexadecimal; a number that is none fails the test. */
uint64_t fs_facts_u64(const char *text);
/* A frontier literal into `entry` (FS_FACTS_ENTRIES); `-` and `null` are empty. */
fsched_frontier fs_facts_frontier(const char *text, fsched_frontier_entry *entry);

/* OK is 0, CANCELLED FSCHED_CAUSE_CANCELLED, DEADLINE_EXCEEDED FSCHED_CAUSE_TIMEOUT, every other
 * name a positive number. */
fsched_cause fs_facts_cause(const char *status);
const char *fs_facts_cause_name(fsched_cause cause);

/* What was called, in order. */
typedef struct fs_fired {
  int n;
  struct {
    const char *name;
    fsched_cause cause;
  } at[FS_FACTS_FIRED];
} fs_fired;
void fs_fired_add(fs_fired *f, const char *name, fsched_cause cause);
/* Compares with words name:STATUS (or one `-`), in order.  Two records list failures last in, first
 * out; ours come in the order of registration, so these are read from the end. */
void fs_fired_check(const fs_fired *f, const char *id, char **expected, int n);

#endif
