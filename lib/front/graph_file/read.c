/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a graph file.  The text becomes a tree of nodes, the target may come from a file of its
 * own, overrides are put into its tree, and everything is handed to the builder, which does the
 * rest.  Cost: O(text), plus the builder's. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/confine.h"
#include "base/files/file.h"
#include "base/progress.h"
#include "base/text/utf8.h"
#include "front/graph_file/private.h"

enum {
  ROOT_FSCHED,
  ROOT_NAME,
  ROOT_HAZARDS,
  ROOT_TARGET,
  ROOT_BUFFERS,
  ROOT_OPS,
  ROOT_LOOPS,
  ROOT_KEYS
};
static const fs_key root_keys[] = {{"fsched", false}, {"name", false},    {"hazards", false},
                                   {"target", false}, {"buffers", false}, {"ops", false},
                                   {"loops", false}};

/* The file's name without directory and extension, for graphs without a name. */
static const char *stem(fs_arena *arena, const char *path) {
  const char *slash = strrchr(path, '/');
  const char *base = slash == NULL ? path : slash + 1;
  const char *dot = strrchr(base, '.');
  size_t n = dot == NULL || dot == base ? strlen(base) : (size_t)(dot - base);
  return n == 0 || strcmp(path, "-") == 0 ? "graph" : fs_arena_strndup(arena, base, n);
}

/* `path` as seen from the directory of `from`. */
static const char *relative(fs_arena *arena, const char *from, const char *path) {
  const char *slash = strrchr(from, '/');
  if (path[0] == '/' || slash == NULL) {
    return path;
  }
  size_t directory = (size_t)(slash - from) + 1;
  char *joined = fs_arena_alloc(arena, directory + strlen(path) + 1);
  if (joined != NULL) {
    memcpy(joined, from, directory);
    memcpy(joined + directory, path, strlen(path) + 1);
  }
  return joined;
}

/* Whether a file can be read.  One that cannot is reported where the text names it; reading goes
 * on, and ends as when the graph's own file cannot be read. */
static bool readable(fs_reader *r, uint32_t node, const char *path) {
  struct stat st;
  if (stat(path, &st) == 0 && access(path, R_OK) == 0) {
    if (!S_ISDIR(st.st_mode)) {
      return true;
    }
    errno = EISDIR;
  }
  fs_read_fail(r, FS_DIAG_FILE, node, NULL, "cannot read the target %.300s: %s", path,
               strerror(errno));
  r->lacks_file = true;
  return false;
}

static fs_status refuse_target(fs_reader *r, uint32_t node, const char *path) {
  fs_read_fail(r, FS_DIAG_FILE, node,
               "--targets (fsched_read_options.targets) names a directory in which it may be, too",
               "the target %.300s is no file in the graph's directory or below", path);
  return FSCHED_BAD_INPUT;
}

/* Whether the file lies in the directory of the graph, or below. */
static bool lies_beside(const char *graph, const char *path) {
  char directory[PATH_MAX], real[PATH_MAX];
  const char *slash = strrchr(graph, '/');
  int n = slash == NULL ? 1 : (int)fs_min((uint64_t)(slash - graph) + 1, sizeof directory);
  n = snprintf(directory, sizeof directory, "%.*s", n, slash == NULL ? "." : graph);
  return n >= 0 && (size_t)n < sizeof directory &&
         fs_confine_path(directory, path, real) == FS_CONFINED;
}

/* Whether a stranger's graph may have this file as its target. */
static bool may_read(const fs_reader *r, const char *name, const char *path) {
  char real[PATH_MAX];
  return (fs_confine_name(name) == FS_CONFINED && lies_beside(r->path, path)) ||
         (r->options->targets != NULL &&
          fs_confine_path(r->options->targets, path, real) == FS_CONFINED);
}

/* Is it an amount, perhaps with a unit ("64KiB")? */
static bool is_amount(const char *text) {
  size_t digits = strspn(text, "0123456789");
  return digits > 0 && strspn(text + digits, "BKMGTPEZYi") == strlen(text + digits);
}

/* Hides the words of a stranger's target from diagnostics: all but amounts, and these too where
 * they are names.  Keys are words of the format, or faults. */
static fs_status hide_target_words(const fs_reader *r, const fs_doc *doc) {
  static const char *const naming[] = {"name", "class", "time_unit"};
  for (uint32_t i = 0; i < doc->n_nodes; i++) {
    if (doc->node[i].kind == FS_NODE_SCALAR) {
      continue; /* a scalar has its text where other kinds have their children */
    }
    bool mapping = doc->node[i].kind == FS_NODE_MAPPING;
    const char *key = NULL;
    uint32_t at = 0;
    for (uint32_t c = doc->node[i].child; c != FS_NONE; c = doc->node[c].next, at++) {
      if (doc->node[c].kind != FS_NODE_SCALAR) {
        continue;
      }
      const char *text = doc->node[c].text;
      if (mapping && at % 2 == 0) {
        key = text;
        continue;
      }
      bool names = false;
      for (size_t k = 0; key != NULL && k < sizeof naming / sizeof *naming; k++) {
        names |= strcmp(key, naming[k]) == 0;
      }
      if (names || !is_amount(text)) {
        FS_TRY(fs_context_hide_word(r->ctx, text, strlen(text)));
      }
    }
  }
  return FSCHED_OK;
}

static fs_status load_target(fs_reader *r, uint32_t node, fs_doc *doc) {
  const char *path;
  char *text;
  size_t length;
  if (!fs_read_name(r, node, "'target'", &path)) {
    return FSCHED_BAD_INPUT;
  }
  const char *name = path;
  path = relative(r->arena, r->path, path);
  if (path == NULL) {
    return FSCHED_SYSTEM;
  }
  if (r->options->untrusted && !may_read(r, name, path)) {
    return refuse_target(r, node, name); /* the same answer where no such file exists */
  }
  if (!readable(r, node, path)) {
    return FSCHED_BAD_INPUT;
  }
  FS_TRY(fs_file_read(r->ctx, path, &text, &length));
  fs_status status = fs_builder_add_file(r->b, path);
  if (status == FSCHED_OK) {
    fs_context_hide_files(r->ctx, r->options->untrusted != 0);
    status = fs_doc_parse(r->ctx, r->arena, path, text, length, doc);
    fs_context_hide_files(r->ctx, false);
    if (status == FSCHED_OK && r->options->untrusted) {
      status = hide_target_words(r, doc);
    }
  }
  (void)fs_realloc(r->ctx, text, length + 1, 0);
  return status;
}

static bool has_overrides(const fs_reader *r) {
  return r->options->n_memory_overrides + r->options->n_target_overrides > 0;
}

/* Reads the target, which is a path, a mapping, or absent. */
static fs_status read_any_target(fs_reader *r, fs_doc *doc, uint32_t node) {
  if (node != FS_NONE && doc->node[node].kind == FS_NODE_SCALAR) {
    fs_doc target;
    fs_status status = load_target(r, node, &target);
    if (status == FSCHED_BAD_INPUT) {
      fs_read_lose_target(r);
      return FSCHED_OK;
    }
    FS_TRY(status);
    FS_TRY(fs_read_overrides(r, &target, 0));
    uint32_t errors = fsched_diag_errors(r->ctx);
    r->doc = &target;
    status = fs_read_target(r, 0);
    r->doc = doc;
    /* Messages about the graph must not show content of a stranger's file that is not a target. */
    bool hushed = r->options->untrusted && fsched_diag_errors(r->ctx) != errors;
    return status == FSCHED_OK && hushed ? FSCHED_BAD_INPUT : status;
  }
  if (node == FS_NONE && has_overrides(r)) {
    FS_TRY(fs_doc_set_mapping(r->arena, doc, 0, "target", ((fs_pos){doc->file, 1, 1, 1}), &node));
    doc->overlay = FS_NONE; /* the mapping is in the graph file itself */
  }
  if (node == FS_NONE) {
    return FSCHED_OK;
  }
  FS_TRY(fs_read_overrides(r, doc, node));
  return fs_read_target(r, node);
}

static void read_version(fs_reader *r, uint32_t node) {
  uint64_t version;
  if (node == FS_NONE) {
    fs_read_fail(r, FS_DIAG_MISSING_KEY, 0, "a graph file begins with 'fsched: 1'",
                 "the key 'fsched' is missing");
  } else if (fs_read_number(r, node, "'fsched'", 0, UINT32_MAX, &version) && version != 1) {
    fs_read_fail(r, FS_DIAG_FORMAT_VERSION, node, NULL,
                 "the file is of version %llu of the format, this reads version 1",
                 (unsigned long long)version);
  }
}

static fs_status read_hazards(fs_reader *r, uint32_t node) {
  uint32_t index;
  if (node == FS_NONE ||
      !fs_read_choice(r, node, "'hazards'", fs_words_hazards, FS_N_HAZARDS, &index)) {
    return FSCHED_OK;
  }
  return fsched_builder_hazards(r->b, (fsched_hazards)index);
}

/* Notes what misspelt keys may have lost.  A misspelt key may be the one that is missing, so
 * entities of a missing section count as lost. */
static void lose_sections(fs_reader *r, const uint32_t *value) {
  fs_builder_incomplete(r->b);
  if (value[ROOT_TARGET] == FS_NONE) {
    fs_read_lose_target(r);
  }
  if (value[ROOT_BUFFERS] == FS_NONE) {
    fs_builder_lose(r->b, FS_KIND_BUFFER);
  }
}

static fs_status read_graph(fs_reader *r, fs_doc *doc) {
  uint32_t value[ROOT_KEYS];
  uint32_t errors = fsched_diag_errors(r->ctx);
  if (!fs_read_keys(r, 0, "a graph file", root_keys, ROOT_KEYS, value)) {
    return FSCHED_BAD_INPUT;
  }
  if (fsched_diag_errors(r->ctx) != errors) {
    lose_sections(r, value);
  }
  read_version(r, value[ROOT_FSCHED]);
  FS_TRY(read_hazards(r, value[ROOT_HAZARDS]));
  FS_TRY(read_any_target(r, doc, value[ROOT_TARGET]));
  FS_TRY(fs_read_buffers(r, value[ROOT_BUFFERS], value[ROOT_OPS], value[ROOT_LOOPS]));
  if (value[ROOT_OPS] == FS_NONE && value[ROOT_LOOPS] == FS_NONE) {
    fs_read_fail(r, FS_DIAG_MISSING_KEY, 0, NULL, "the key 'ops' is missing");
    return FSCHED_OK;
  }
  return fs_read_ops(r, value[ROOT_OPS], value[ROOT_LOOPS]);
}

static fs_status make_builder(fs_reader *r, const fs_doc *doc, const char *path) {
  uint32_t node = fs_node_get(doc, 0, "name");
  bool named =
      node != FS_NONE && doc->node[node].kind == FS_NODE_SCALAR && doc->node[node].text[0] != '\0';
  const char *name = named ? doc->node[node].text : stem(r->arena, path);
  if (name == NULL) {
    return FSCHED_SYSTEM;
  }
  FS_TRY(fsched_builder_create(r->ctx, name, &r->b));
  if (node != FS_NONE && !named) {
    (void)fs_read_name(r, node, "'name'", &name); /* reports faults */
  }
  return FSCHED_OK;
}

/* A number of at most 2^40, in decimal digits. */
static bool is_count(const char *text, uint64_t *value) {
  *value = 0;
  for (const char *c = text; *c != '\0'; c++) {
    if (*c < '0' || *c > '9' || *value > FSCHED_MAX_TIME) {
      return false;
    }
    *value = *value * 10 + (uint64_t)(*c - '0');
  }
  return *text != '\0' && *value <= FSCHED_MAX_TIME;
}

/* Gives the builder the parameters that the caller sets. */
static fs_status set_params(fs_reader *r) {
  for (size_t i = 0; i < r->options->n_params; i++) {
    const char *text = r->options->params[i];
    const char *equals = strchr(text, '=');
    uint64_t value;
    if (equals == NULL || equals == text || !fs_utf8_valid(text, strlen(text)) ||
        !is_count(equals + 1, &value)) {
      return fs_fail(r->ctx, FSCHED_USAGE, FS_DIAG_BAD_OVERRIDE, FS_NOWHERE, NULL,
                     "a parameter is given as NAME=N, N up to 2^40, not so");
    }
    const char *name = fs_arena_strndup(r->arena, text, (size_t)(equals - text));
    if (name == NULL) {
      return FSCHED_SYSTEM;
    }
    FS_TRY(fs_read_go_on(fsched_builder_param(r->b, name, value)));
  }
  FS_TRY(fs_read_go_on(fsched_builder_effort(r->b, r->options->effort)));
  return r->options->unroll ? fsched_builder_unroll(r->b) : FSCHED_OK;
}

/* The text of a graph file; `owned` is the same text if the context shall take it over, else
 * NULL. */
typedef struct graph_text {
  const char *path, *text;
  char *owned;
  size_t length;
  bool is_file;
} graph_text;

static fs_status parse_text_of(fs_reader *r, const graph_text *t, fs_doc *doc) {
  return t->owned == NULL ? fs_doc_parse(r->ctx, r->arena, t->path, t->text, t->length, doc)
                          : fs_doc_parse_owned(r->ctx, r->arena, t->path, t->owned, t->length, doc);
}

/* Hands the text to a builder and finishes the graph.  The document, which is large, is released
 * before that: finish does not need it. */
static fs_status parse(fs_reader *r, const graph_text *t, fsched_graph **out) {
  fs_doc doc;
  fs_status parsed = parse_text_of(r, t, &doc);
  if (parsed != FSCHED_OK && doc.n_nodes == 0) {
    return parsed;
  }
  r->doc = &doc;
  fs_progress_at(r->ctx, 1);
  FS_TRY(make_builder(r, &doc, t->path));
  FS_TRY(set_params(r));
  if (parsed != FSCHED_OK) {
    fs_builder_incomplete(r->b);
  }
  if (t->is_file) {
    FS_TRY(fs_builder_add_file(r->b, t->path));
  }
  FS_TRY(read_graph(r, &doc));
  if (r->options->unplanned) {
    fs_builder_unplan(r->b, r->options->most_at_once);
  }
  r->doc = NULL;
  fs_arena_release(r->arena);
  fs_progress_at(r->ctx, 2);
  return fsched_builder_finish(r->b, out);
}

static fs_status take_options(fsched_context *ctx, const fsched_read_options *options,
                              fsched_read_options *taken) {
  *taken = (fsched_read_options){.size = sizeof *taken};
  if (options == NULL) {
    return FSCHED_OK;
  }
  FS_TRY(fs_check_options(ctx, "fsched_read_options", options->size,
                          FS_SIZE_UP_TO(fsched_read_options, n_target_overrides)));
  memcpy(taken, options, fs_min(options->size, sizeof *taken));
  return FSCHED_OK;
}

static fs_status parse_graph(fsched_context *ctx, const graph_text *t,
                             const fsched_read_options *options, fsched_graph **out) {
  uint32_t first = fsched_diag_count(ctx);
  fs_progress_begin(ctx, "read", 3);
  FS_SCRATCH(arena, ctx);
  fs_reader r = {.ctx = ctx, .arena = &arena, .path = t->path, .options = options};
  fs_status status = parse(&r, t, out);
  status = r.lacks_file ? FSCHED_SYSTEM : status;
  fs_progress_end(ctx, status);
  fsched_builder_destroy(r.b);
  fs_context_sort(ctx, first);
  return status;
}

fsched_status fsched_graph_parse(fsched_context *ctx, const char *name, const char *text,
                                 size_t length, const fsched_read_options *options,
                                 fsched_graph **out) {
  fsched_read_options o;
  *out = NULL;
  FS_TRY(take_options(ctx, options, &o));
  return parse_graph(ctx, &(graph_text){.path = name, .text = text, .length = length}, &o, out);
}

fsched_status fsched_graph_read(fsched_context *ctx, const char *path,
                                const fsched_read_options *options, fsched_graph **out) {
  char *text;
  size_t length;
  fsched_read_options o;
  *out = NULL;
  FS_TRY(take_options(ctx, options, &o));
  FS_TRY(fs_file_read(ctx, path, &text, &length));
  bool input = strcmp(path, "-") == 0;
  graph_text t = {input ? "<stdin>" : path, text, text, length, !input};
  return parse_graph(ctx, &t, &o, out);
}
