/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/kit.h"

enum { MOST_MEMORY = 256 << 20 };

void fs_fuzz_fail(const char *what) {
  (void)fprintf(stderr, "fuzz: %s\n", what);
  abort();
}

/* The allocator of the contexts, from any thread: a replay has several. */
static void *bounded(void *user, void *block, size_t old_size, size_t new_size) {
  fs_fuzz *f = user;
  size_t before = block == NULL ? 0 : old_size;
  if (new_size == 0) {
    free(block);
    (void)__atomic_sub_fetch(&f->taken, before, __ATOMIC_RELAXED);
    return NULL;
  }
  if (new_size > MOST_MEMORY ||
      __atomic_load_n(&f->taken, __ATOMIC_RELAXED) + new_size > MOST_MEMORY) {
    __atomic_store_n(&f->short_of_memory, true, __ATOMIC_RELAXED);
    return NULL;
  }
  void *grown = realloc(block, new_size);
  if (grown != NULL) {
    (void)__atomic_add_fetch(&f->taken, new_size - before, __ATOMIC_RELAXED);
  }
  return grown;
}

void fs_fuzz_begin(fs_fuzz *f) {
  memset(f, 0, sizeof *f);
  fsched_context_options o = {.size = sizeof o, .reallocate = bounded, .user = f};
  fs_fuzz_must(fsched_context_create(&o, &f->ctx) == FSCHED_OK, "no context");
}

static void show_diagnostics(const fsched_context *ctx) {
  for (uint32_t i = 0; i < fsched_diag_count(ctx); i++) {
    const fsched_diag *d = fsched_diag_get(ctx, i);
    (void)fprintf(stderr, "fuzz: [%s] %s\n", d->code, d->message);
  }
}

bool fs_fuzz_met(fs_fuzz *f, fsched_status status, unsigned allowed, const char *what) {
  if (f->short_of_memory) {
    allowed |= FS_FUZZ_MAY(FSCHED_SYSTEM);
  }
  const char *fault = NULL;
  if ((allowed >> status & 1) == 0) {
    fault = "a status that is not allowed";
  } else if (status != FSCHED_OK && fsched_diag_count(f->ctx) == 0) {
    fault = "failed without a diagnostic";
  } else if (status == FSCHED_OK && fsched_diag_errors(f->ctx) > 0) {
    fault = "done in spite of an error";
  }
  if (fault != NULL) {
    (void)fprintf(stderr, "fuzz: %s: status %d\n", what, (int)status);
    show_diagnostics(f->ctx);
    fs_fuzz_fail(fault);
  }
  fsched_diag_clear(f->ctx);
  return status == FSCHED_OK;
}

void fs_fuzz_end(fs_fuzz *f) {
  fsched_context_destroy(f->ctx);
  fs_fuzz_must(f->taken == 0, "memory was not given back");
}

fsched_graph *fs_fuzz_graph(fsched_context *ctx, const char *path) {
  fsched_graph *graph = NULL;
  fs_fuzz_must(fsched_graph_read(ctx, path, NULL, &graph) == FSCHED_OK,
               "a graph in test/fuzz is not read: targets run from the top of the tree");
  return graph;
}
