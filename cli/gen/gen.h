/* SPDX-License-Identifier: Apache-2.0 */
/* A tool of the build: manual pages and completions out of the table of options.
 *
 *   gen page FILE DATE       a page of man/ with its markers replaced
 *   gen bash | zsh | fish    a completion
 *
 * Everything goes to standard output. */
#ifndef FS_GEN_H
#define FS_GEN_H

#include "cli/common/describe.h"

/* ---- what completions know of an argument, from its spelling in options.def */

typedef enum gen_kind {
  GEN_FLAG,    /* no argument */
  GEN_FREE,    /* nothing is known */
  GEN_WORDS,   /* one of some words */
  GEN_FILE,    /* a file; with suffixes where the spelling has them */
  GEN_PAIR,    /* word=file */
  GEN_EITHER,  /* word or word=file */
  GEN_COMMAND, /* a command's name */
} gen_kind;

typedef struct gen_value {
  gen_kind kind;
  bool joined;          /* only as --name=value, and may be absent */
  const char *argument; /* as in the table, without "[=" and "]" */
  fs_text words;        /* each with a blank before it: words, or suffixes without dots */
} gen_value;

/* To be released with fs_text_drop(&value.words).  Requires an option of the table. */
gen_value gen_option_value(fsched_context *ctx, fs_option option);
/* Requires a command of the table. */
gen_value gen_operand_value(fsched_context *ctx, fs_cmd command);
/* The words of an operand KIND before it, each with a blank before it: none, if there is no such.
 * Requires a command of the table. */
void gen_kinds(fs_text *t, fs_cmd command);
/* The k-th word that completions offer for the option's argument, and what it means (cleared
 * first): those of fs_option_word, and of -W also no-CLASS, error=CLASS and no-error=CLASS.  False
 * past the last.  Requires an option of the table. */
bool gen_word(fs_option option, uint32_t k, fs_text *name, fs_text *what);
/* The first sentence of an option's help, without its period.  Requires an option of the table. */
void gen_brief(fs_text *t, fs_option option);
/* May the option be given several times?  Requires an option of the table. */
bool gen_repeats(fs_option option);

/* Replaces the markers of a page.  False: an unknown one, reported on standard error. */
bool gen_page(fs_text *t, const char *name, const char *source, const char *date);
/* The reference of a header, given as text.  False: it is not of the form of ours. */
bool gen_api(fs_text *t, const char *header);
/* Text for man(7): escaped, and in lines of prose, with the words of `argument` (or NULL) marked.
 */
void gen_escaped(fs_text *t, const char *s, size_t n);
void gen_prose(fs_text *t, const char *argument, const char *text);
/* NULL: it cannot be read.  To be freed. */
char *gen_read_file(const char *path);
void gen_bash(fs_text *t);
void gen_zsh(fs_text *t);
void gen_fish(fs_text *t);

#endif
