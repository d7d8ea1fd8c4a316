/* SPDX-License-Identifier: Apache-2.0 */
/* The one file that allocates.  Arenas are chains of blocks, each twice as large as the one before
 * up to a limit, so that n bytes cost O(log n + n / limit) allocations and about half is unused at
 * most. */
#include "base/mem.h"

#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/context.h"
#include "base/context_private.h"
#include "fsched/compile.h"

#if defined(__SANITIZE_ADDRESS__)
#define FS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FS_ASAN 1
#endif
#endif
#ifdef FS_ASAN
#include <sanitizer/asan_interface.h>
#define FS_POISON(p, n) ASAN_POISON_MEMORY_REGION((p), (n))
#define FS_UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
#else
#define FS_POISON(p, n) ((void)(p), (void)(n))
#define FS_UNPOISON(p, n) ((void)(p), (void)(n))
#endif

#ifdef FS_STRESS
enum { FS_BLOCK_FIRST = 64, FS_VEC_FIRST = 1 };
#define FS_BLOCK_LIMIT ((size_t)256)
#else
enum { FS_BLOCK_FIRST = 4096, FS_VEC_FIRST = 8 };
#define FS_BLOCK_LIMIT ((size_t)16 << 20)
#endif

enum { FS_LARGE_BLOCK = 1 << 20 };

struct fs_arena_block {
  fs_arena_block *previous;
  size_t size; /* of data */
  size_t used;
  size_t pad;
  _Alignas(16) unsigned char data[];
};

/* Asks for large pages where the system gives them on request: a large block is walked more than
 * once, and most of what it costs otherwise are faults and misses of the address cache.  Whether
 * there are any does not matter. */
static void ask_for_large_pages(void *block, size_t size) {
#ifdef MADV_HUGEPAGE
  if (size >= FS_LARGE_BLOCK) {
    /* All pages of the block, its ends included: what is advised in part is in two mappings
     * afterwards, which realloc cannot move but has to copy. */
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t before = (uintptr_t)block & (page - 1);
    int saved = errno;
    (void)madvise((unsigned char *)block - before, malloc_usable_size(block) + before,
                  MADV_HUGEPAGE);
    errno = saved;
  }
#else
  (void)block;
  (void)size;
#endif
}

static void *default_reallocate(void *user, void *block, size_t old_size, size_t new_size) {
  (void)user;
  if (new_size == 0) {
    free(block);
    return NULL;
  }
  void *p = realloc(block, new_size);
  if (p != NULL && new_size > old_size) {
    ask_for_large_pages(p, new_size);
  }
  return p;
}

void *fs_default_reallocate(void *user, void *block, size_t old_size, size_t new_size) {
  return default_reallocate(user, block, old_size, new_size);
}

void *fs_realloc(fsched_context *ctx, void *block, size_t old_size, size_t new_size) {
  if (new_size == 0 && block == NULL) {
    return NULL;
  }
  void *p = ctx->reallocate(ctx->user, block, old_size, new_size);
  if (p == NULL && new_size != 0) {
    fs_report_out_of_memory(ctx, new_size);
  }
  return p;
}

fs_allocator fs_allocator_of(const fsched_context *ctx) {
  return (fs_allocator){ctx->reallocate, ctx->user};
}

void *fs_allocator_new(fs_allocator a, size_t size) {
  assert(a.reallocate != NULL);
  return a.reallocate(a.user, NULL, 0, size == 0 ? 1 : size);
}

void fs_allocator_free(fs_allocator a, void *block, size_t size) {
  if (block != NULL) {
    (void)a.reallocate(a.user, block, size == 0 ? 1 : size, 0);
  }
}

fs_status fs_no_memory(fsched_context *ctx, size_t size) {
  fs_report_out_of_memory(ctx, size);
  return FSCHED_SYSTEM;
}

fs_status fs_context_own(fsched_context *ctx, fsched_context **out) {
  fsched_context_options o = {.size = sizeof o, .reallocate = ctx->reallocate, .user = ctx->user};
  fs_status status = fsched_context_create(&o, out);
  return status == FSCHED_OK ? status : fs_no_memory(ctx, sizeof **out);
}

void fs_arena_init(fs_arena *a, fsched_context *ctx) {
  assert(ctx != NULL);
  a->ctx = ctx;
  a->last = NULL;
}

static void free_block(fs_arena *a, fs_arena_block *b) {
  FS_UNPOISON(b->data, b->size);
  (void)fs_realloc(a->ctx, b, sizeof *b + b->size, 0);
}

void fs_arena_release(fs_arena *a) {
  while (a->last != NULL) {
    fs_arena_block *previous = a->last->previous;
    free_block(a, a->last);
    a->last = previous;
  }
}

fs_arena_mark fs_arena_set_mark(const fs_arena *a) {
  return (fs_arena_mark){a->last, a->last == NULL ? 0 : a->last->used};
}

void fs_arena_reset(fs_arena *a, fs_arena_mark mark) {
  assert(mark.block != NULL || mark.used == 0);
  while (a->last != mark.block) {
    assert(a->last != NULL);
    fs_arena_block *previous = a->last->previous;
    free_block(a, a->last);
    a->last = previous;
  }
  if (a->last != NULL) {
    assert(mark.used <= a->last->used);
    FS_POISON(a->last->data + mark.used, a->last->used - mark.used);
    a->last->used = mark.used;
  }
}

void fs_arena_join(fs_arena *a, fs_arena *from) {
  assert(a->ctx == from->ctx && a != from);
  if (from->last == NULL) {
    return;
  }
  fs_arena_block *first = from->last;
  while (first->previous != NULL) {
    first = first->previous;
  }
  first->previous = a->last;
  a->last = from->last;
  from->last = NULL;
}

static fs_arena_block *add_block(fs_arena *a, size_t need) {
  assert(need > 0 && need % 16 == 0);
  size_t size = a->last == NULL ? FS_BLOCK_FIRST : a->last->size * 2;
  if (size > FS_BLOCK_LIMIT) {
    size = FS_BLOCK_LIMIT;
  }
  if (size < need) {
    size = need;
  }
  fs_arena_block *b = fs_realloc(a->ctx, NULL, 0, sizeof *b + size);
  if (b == NULL) {
    return NULL;
  }
  b->previous = a->last;
  b->size = size;
  b->used = 0;
  a->last = b;
  FS_POISON(b->data, size);
  return b;
}

void *fs_arena_alloc(fs_arena *a, size_t size) {
  if (size > SIZE_MAX / 2) {
    fs_report_out_of_memory(a->ctx, size);
    return NULL;
  }
  size_t need = size == 0 ? 16 : (size + 15) & ~(size_t)15;
  fs_arena_block *b = a->last;
  if (b == NULL || b->size - b->used < need) {
    b = add_block(a, need);
    if (b == NULL) {
      return NULL;
    }
  }
  void *p = b->data + b->used;
  FS_ASSERT_SLOW(b->size - b->used >= need);
  b->used += need;
  FS_UNPOISON(p, size);
  return p;
}

void *fs_arena_zalloc(fs_arena *a, size_t size) {
  void *p = fs_arena_alloc(a, size);
  if (p != NULL) {
    memset(p, 0, size);
  }
  return p;
}

char *fs_arena_strndup(fs_arena *a, const char *s, size_t n) {
  FS_ASSERT_SLOW(s != NULL || n == 0);
  char *p = fs_arena_alloc(a, n + 1);
  if (p != NULL) {
    if (n > 0) {
      memcpy(p, s, n);
    }
    p[n] = '\0';
  }
  return p;
}

void *fs_arena_resize(fs_arena *a, void *p, size_t size) {
  fs_arena_block *b = a->last;
  assert(size > 0 && (p == NULL) == (b == NULL));
  assert(b == NULL || (b->previous == NULL && p == b->data));
  if (p == NULL || size > SIZE_MAX / 2) {
    return fs_arena_alloc(a, size);
  }
  size_t room = (size + 15) & ~(size_t)15;
  FS_UNPOISON(b->data, b->size);
  fs_arena_block *resized = fs_realloc(a->ctx, b, sizeof *b + b->size, sizeof *b + room);
  if (resized != NULL) {
    a->last = b = resized;
    b->size = b->used = room;
  }
  FS_POISON(b->data + b->used, b->size - b->used);
  return resized == NULL ? NULL : b->data;
}

fs_status fs_arena_array_(fs_arena *a, size_t n, size_t elem, int fill, void *out_ptr) {
  FS_ASSERT_SLOW(elem > 0);
  FS_ASSERT_SLOW(fill >= -1 && fill <= 0xFF);
  if (n > SIZE_MAX / 2 / elem) {
    fs_report_out_of_memory(a->ctx, SIZE_MAX);
    return FSCHED_SYSTEM;
  }
  void *p = fs_arena_alloc(a, n * elem);
  if (p == NULL) {
    return FSCHED_SYSTEM;
  }
  if (fill >= 0) {
    memset(p, fill, n * elem);
  }
  memcpy(out_ptr, &p, sizeof p);
  return FSCHED_OK;
}

fs_status fs_vec_reserve_(fsched_context *ctx, void *at_ptr, size_t *cap, size_t need,
                          size_t elem) {
  FS_ASSERT_SLOW(elem > 0);
  if (need <= *cap) {
    return FSCHED_OK;
  }
  size_t grown = *cap == 0 ? FS_VEC_FIRST : *cap * 2;
  if (grown < need) {
    grown = need;
  }
  if (grown > SIZE_MAX / 2 / elem) {
    fs_report_out_of_memory(ctx, SIZE_MAX);
    return FSCHED_SYSTEM;
  }
  void *at;
  memcpy(&at, at_ptr, sizeof at);
  at = fs_realloc(ctx, at, *cap * elem, grown * elem);
  if (at == NULL) {
    return FSCHED_SYSTEM;
  }
  memcpy(at_ptr, &at, sizeof at);
  *cap = grown;
  FS_ASSERT_SLOW(*cap >= need);
  return FSCHED_OK;
}

void fs_text_init(fs_text *t, fsched_context *ctx) {
  assert(ctx != NULL);
  *t = (fs_text){.ctx = ctx};
}

/* Room for n more characters and the final NUL. */
static bool text_room(fs_text *t, size_t n) {
  FS_ASSERT_SLOW(t->n <= t->cap);
  if (t->failed) {
    return false;
  }
  if (t->cap - t->n > n) {
    return true;
  }
  size_t cap = t->cap == 0 ? 256 : t->cap * 2;
  if (cap < t->n + n + 1) {
    cap = t->n + n + 1;
  }
  char *at = fs_realloc(t->ctx, t->at, t->cap, cap);
  if (at == NULL) {
    t->failed = true;
    return false;
  }
  t->at = at;
  t->cap = cap;
  FS_ASSERT_SLOW(t->n + n < t->cap);
  return true;
}

void fs_text_add(fs_text *t, const char *s, size_t n) {
  FS_ASSERT_SLOW(s != NULL || n == 0);
  if (text_room(t, n) && n > 0) {
    memcpy(t->at + t->n, s, n);
    t->n += n;
  }
}

void fs_text_puts(fs_text *t, const char *s) { fs_text_add(t, s, strlen(s)); }

void fs_text_printf(fs_text *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  va_list again;
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, format, args);
  va_end(args);
  if (n > 0 && text_room(t, (size_t)n)) {
    (void)vsnprintf(t->at + t->n, (size_t)n + 1, format, again);
    t->n += (size_t)n;
  }
  va_end(again);
}

void fs_text_u64(fs_text *t, uint64_t value) {
  char digits[20];
  size_t n = 0;
  do {
    digits[sizeof digits - ++n] = (char)('0' + value % 10);
    value /= 10;
  } while (value != 0);
  fs_text_add(t, digits + sizeof digits - n, n);
}

void fs_text_json_string(fs_text *t, const char *s) {
  FS_ASSERT_SLOW(s != NULL);
  static const char hex[] = "0123456789abcdef";
  fs_text_add(t, "\"", 1);
  for (const char *run = s;; s++) {
    unsigned char c = (unsigned char)*s;
    if (c >= 0x20 && c != '"' && c != '\\') {
      continue;
    }
    fs_text_add(t, run, (size_t)(s - run));
    if (c == '\0') {
      break;
    }
    if (c == '"' || c == '\\') {
      char escape[2] = {'\\', (char)c};
      fs_text_add(t, escape, 2);
    } else {
      char escape[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
      fs_text_add(t, escape, 6);
    }
    run = s + 1;
  }
  fs_text_add(t, "\"", 1);
}

fs_status fs_text_take(fs_text *t, char **text, size_t *length) {
  assert(t->ctx != NULL);
  if (!text_room(t, 0)) {
    fs_text_drop(t);
    return FSCHED_SYSTEM;
  }
  t->at[t->n] = '\0';
  char *at = fs_realloc(t->ctx, t->at, t->cap, t->n + 1);
  if (at == NULL) {
    fs_text_drop(t);
    return FSCHED_SYSTEM;
  }
  *text = at;
  *length = t->n;
  *t = (fs_text){.ctx = t->ctx};
  return FSCHED_OK;
}

void fs_text_drop(fs_text *t) {
  (void)fs_realloc(t->ctx, t->at, t->cap, 0);
  *t = (fs_text){.ctx = t->ctx};
}

void fsched_text_free(fsched_context *ctx, char *text, size_t length) {
  if (text != NULL) {
    (void)fs_realloc(ctx, text, length + 1, 0);
  }
}
