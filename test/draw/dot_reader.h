/* SPDX-License-Identifier: Apache-2.0 */
/* Reads pictures for Graphviz back with Graphviz's own parser. */
#ifndef FS_TEST_DOT_READER_H
#define FS_TEST_DOT_READER_H

#include <cgraph.h>
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* The reasons of an edge, as bits in the order of fs_pic_why. */
enum { DATA = 1, ORDER = 2, REUSE = 4, RESOURCE = 8, CONCURRENCY = 16, WAIT = 64, QUEUE = 128 };
enum { CONTROL = 4 | 8 | 16 | 32 };
static const char *const dot_words[] = {"data",        "order",   "reuse", "resource",
                                        "concurrency", "barrier", "wait",  "queue"};

static inline Agraph_t *parse(const char *text) {
  Agraph_t *g = agmemread(text);
  ck_assert_ptr_nonnull(g);
  return g;
}

static inline bool has_class(void *object, const char *word) {
  const char *p = agget(object, (char *)"class");
  size_t n = strlen(word);
  for (; p != NULL && *p != '\0'; p += strcspn(p, " "), p += *p == ' ') {
    if (strcspn(p, " ") == n && memcmp(p, word, n) == 0) {
      return true;
    }
  }
  return false;
}

static inline Agnode_t *node_of(Agraph_t *g, uint32_t item) {
  char name[32];
  (void)snprintf(name, sizeof name, "n%u", item);
  return agnode(g, name, 0);
}

static inline bool is_drawn(Agnode_t *n) {
  return strcmp(agnameof(n), "legend") != 0 && !has_class(n, "see");
}
static inline uint32_t n_drawn(Agraph_t *g) {
  uint32_t count = 0;
  for (Agnode_t *n = agfstnode(g); n != NULL; n = agnxtnode(g, n)) {
    count += is_drawn(n);
  }
  return count;
}
static inline uint32_t item_of(Agnode_t *n) { return (uint32_t)strtoul(agnameof(n) + 1, NULL, 10); }
static const char *get(void *object, const char *key) {
  const char *value = agget(object, (char *)key);
  return value == NULL ? "" : value;
}

static inline unsigned whys_of(Agedge_t *e) {
  unsigned set = 0;
  for (unsigned k = 0; k < 8; k++) {
    set |= has_class(e, dot_words[k]) ? 1u << k : 0;
  }
  return set;
}

/* How many nodes it stands for: "(12 ops, 3 copies)" in a label says so, else one. */
static inline uint32_t stands_for(Agnode_t *n) {
  unsigned ops = 0, copies = 0;
  const char *p = strstr(get(n, "tooltip"), "\\n(");
  if (p == NULL) {
    return 1;
  }
  if (sscanf(p, "\\n(%u op%*[s], %u cop", &ops, &copies) == 0 || ops == 0) {
    return 0;
  }
  return strstr(p, "ops") == NULL && strstr(p, "cop") != NULL ? ops : ops + copies;
}

static inline void no_ports(Agraph_t *g, const char *text) {
  ck_assert_ptr_null(agattr(g, AGEDGE, (char *)"headport", NULL));
  ck_assert_ptr_null(agattr(g, AGEDGE, (char *)"tailport", NULL));
  ck_assert_ptr_null(strstr(text, "shape=record"));
}

#endif
