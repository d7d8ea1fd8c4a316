/* SPDX-License-Identifier: Apache-2.0 */
/* A tool of the build, which makes manual pages and completions from the table of options.
 *
 *   gen page FILE DATE       a page of man/ with its markers replaced
 *   gen bash | zsh | fish    a completion
 *
 * All output goes to standard output. */
#ifndef FS_GEN_H
#define FS_GEN_H

#include "cli/common/describe.h"

/* ---- what completions know of an argument from its spelling in options.def */

typedef enum gen_kind {
  GEN_FLAG,    /* no argument */
  GEN_FREE,    /* anything */
  GEN_WORDS,   /* one of a list of words */
  GEN_FILE,    /* a file, perhaps with one of some suffixes */
  GEN_PAIR,    /* word=file */
  GEN_EITHER,  /* word or word=file */
  GEN_COMMAND, /* the name of a command */
  GEN_MEMORY,  /* the name of a memory of the graph, and "=" */
} gen_kind;

typedef struct gen_value {
  gen_kind kind;
  bool joined;          /* given only as --name=value, and optional */
  const char *argument; /* as in the table */
  fs_text words;        /* words, or suffixes without dots, each after a blank */
} gen_value;

/* The result is released with fs_text_drop(&value.words).  Requires an option of the table. */
gen_value gen_option_value(fsched_context *ctx, fs_option option);
/* Requires a command of the table. */
gen_value gen_operand_value(fsched_context *ctx, fs_cmd command);
/* Whether ops of a stream follow the command's first operand.  Requires a command of the table. */
bool gen_takes_ops(fs_cmd command);
/* For awk, which prints the names of a graph's memories, and for sed -n, which prints the ops that
 * the JSON form of a stream runs.  Neither has a single quote. */
extern const char gen_awk_memories[], gen_sed_ops[];
/* Writes the words of the command's operand KIND, each after a blank; nothing if it has no such
 * operand.  Requires a command of the table. */
void gen_kinds(fs_text *t, fs_cmd command);
/* Sets *name to the k-th word that completions offer for the option's argument, and *what to its
 * meaning: the words of fs_option_word, and for -W also no-CLASS, error=CLASS and no-error=CLASS.
 * False past the last.  Requires an option of the table. */
bool gen_word(fs_option option, uint32_t k, fs_text *name, fs_text *what);
/* Writes the first sentence of an option's help, without its period.  Requires an option of the
 * table. */
void gen_brief(fs_text *t, fs_option option);
/* Whether the option may be given several times.  Requires an option of the table. */
bool gen_repeats(fs_option option);

/* Writes a page, with its markers replaced.  False: one is unknown, reported on standard error. */
bool gen_page(fs_text *t, const char *name, const char *source, const char *date);
/* Writes the reference of a header, given as text.  False: the header has another form. */
bool gen_api(fs_text *t, const char *header);
/* Writes text for man(7): gen_escaped escapes it, gen_prose also breaks it into lines of prose and
 * marks the words of `argument` (or NULL). */
void gen_escaped(fs_text *t, const char *s, size_t n);
void gen_prose(fs_text *t, const char *argument, const char *text);
/* The content of a file, to be freed; NULL: it cannot be read. */
char *gen_read_file(const char *path);
void gen_bash(fs_text *t);
void gen_zsh(fs_text *t);
void gen_fish(fs_text *t);

#endif
