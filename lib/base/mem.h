/* SPDX-License-Identifier: Apache-2.0 */
/* Memory: the one place that allocates, arenas, and growing arrays.
 *
 * An arena hands out memory that is released all at once (or back to a mark).  The function in
 * which an allocation fails reports the diagnostic "out-of-memory" and returns NULL or
 * FSCHED_SYSTEM.  The stress build (FS_STRESS) uses tiny blocks; builds with the address sanitizer
 * poison memory that is not handed out. */
#ifndef FS_MEM_H
#define FS_MEM_H

#include "base/base.h"

/* Resizes a block from the context's allocator; new_size 0 frees it and returns NULL.  A failure is
 * reported and returns NULL; the old block stays valid. */
void *fs_realloc(fsched_context *ctx, void *block, size_t old_size, size_t new_size);

/* The allocator of a context, for objects that outlive the call and belong to several threads; the
 * allocator must then be safe to call from any of them.  Failures are not reported. */
typedef struct fs_allocator {
  void *(*reallocate)(void *user, void *block, size_t old_size, size_t new_size);
  void *user;
} fs_allocator;
fs_allocator fs_allocator_of(const fsched_context *ctx);
/* Requires an allocator whose `reallocate` is not NULL. */
void *fs_allocator_new(fs_allocator a, size_t size);
void fs_allocator_free(fs_allocator a, void *block, size_t size); /* NULL is ignored */
/* Makes a context that belongs to one object, with the allocator of ctx.  Errors: FSCHED_SYSTEM,
 * reported to ctx. */
fs_status fs_context_own(fsched_context *ctx, fsched_context **out) FS_MUST_USE;
/* Reports that there was no memory. */
fs_status fs_no_memory(fsched_context *ctx, size_t size);

typedef struct fs_arena_block fs_arena_block;
typedef struct fs_arena {
  fsched_context *ctx;
  fs_arena_block *last; /* newest block */
} fs_arena;

typedef struct fs_arena_mark {
  fs_arena_block *block;
  size_t used;
} fs_arena_mark;

/* Requires a context. */
void fs_arena_init(fs_arena *a, fsched_context *ctx);
void fs_arena_release(fs_arena *a); /* frees everything; the arena may be used again */
/* An arena for memory that a block of code needs until its end, released on every way out of it:
 *   FS_SCRATCH(scratch, ctx);
 *   FS_TRY(fs_new(&scratch, &mark, n)); */
#define FS_SCRATCH(name, context) \
  fs_arena name __attribute__((cleanup(fs_arena_release))) = {.ctx = (context)}
fs_arena_mark fs_arena_set_mark(const fs_arena *a);
/* Requires a mark of this arena, set since the arena was last released or reset to an earlier
 * mark. */
void fs_arena_reset(fs_arena *a, fs_arena_mark mark);

/* Hands all memory of `from` over to `a`; `from` is empty afterwards.  Requires two arenas of one
 * context. */
void fs_arena_join(fs_arena *a, fs_arena *from);

/* Memory is aligned to 16, and uninitialised or (zalloc) zeroed.  NULL (reported) when out of
 * memory; size 0 gives a valid pointer. */
void *fs_arena_alloc(fs_arena *a, size_t size);
void *fs_arena_zalloc(fs_arena *a, size_t size);
/* Requires a text of n bytes or more. */
char *fs_arena_strndup(fs_arena *a, const char *s, size_t n);
/* Resizes the one thing that an arena holds; `p` is NULL while it holds nothing.  What is new is
 * uninitialised.  NULL (reported) when out of memory; what was there then stays.  Requires a size
 * above 0, and that `p` is all that was taken from the arena. */
void *fs_arena_resize(fs_arena *a, void *p, size_t size);

/* fs_new(&arena, &array, n): sets the pointer `array` to n elements, uninitialised.  FSCHED_SYSTEM
 * when memory runs out or n * elem overflows.  Requires elem > 0, and a byte or -1 in `fill`. */
fs_status fs_arena_array_(fs_arena *a, size_t n, size_t elem, int fill, void *out_ptr) FS_MUST_USE;
#define fs_new(arena, ptr_to_ptr, n) \
  fs_arena_array_((arena), (n), sizeof **(ptr_to_ptr), -1, (ptr_to_ptr))
/* The same filled with zero bytes, and with 0xFF bytes (every id FS_NONE). */
#define fs_new_zero(arena, ptr_to_ptr, n) \
  fs_arena_array_((arena), (n), sizeof **(ptr_to_ptr), 0, (ptr_to_ptr))
#define fs_new_none(arena, ptr_to_ptr, n) \
  fs_arena_array_((arena), (n), sizeof **(ptr_to_ptr), 0xFF, (ptr_to_ptr))

/* A growing array of elements of one type: struct { T *at; size_t n, cap; }.
 *   FS_VEC(uint32_t) ids = {0};
 *   FS_TRY(fs_vec_push(ctx, &ids, 7));
 *   fs_vec_free(ctx, &ids); */
#define FS_VEC(T) \
  struct {        \
    T *at;        \
    size_t n;     \
    size_t cap;   \
  }
typedef FS_VEC(uint32_t) fs_ids;
/* Requires elem > 0. */
fs_status fs_vec_reserve_(fsched_context *ctx, void *at_ptr, size_t *cap, size_t need,
                          size_t elem) FS_MUST_USE;
#define fs_vec_reserve(ctx, v, need) \
  fs_vec_reserve_((ctx), &(v)->at, &(v)->cap, (need), sizeof *(v)->at)
/* The same without a call where there is room; `need` is evaluated twice. */
#define fs_vec_ensure(ctx, v, need) \
  ((need) <= (v)->cap ? FSCHED_OK : fs_vec_reserve((ctx), (v), (need)))
#define fs_vec_push(ctx, v, value)                                            \
  (((v)->n < (v)->cap || fs_vec_reserve((ctx), (v), (v)->n + 1) == FSCHED_OK) \
       ? ((v)->at[(v)->n++] = (value), FSCHED_OK)                             \
       : FSCHED_SYSTEM)
#define fs_vec_free(ctx, v)                                                                     \
  ((void)fs_realloc((ctx), (v)->at, (v)->cap * sizeof *(v)->at, 0), (v)->at = NULL, (v)->n = 0, \
   (v)->cap = 0)

/* Growing text. */
typedef struct fs_text {
  fsched_context *ctx;
  char *at;
  size_t n, cap;
  bool failed; /* sticky: out of memory (reported) */
} fs_text;
/* Requires a context. */
void fs_text_init(fs_text *t, fsched_context *ctx);
/* Requires n bytes at `s`. */
void fs_text_add(fs_text *t, const char *s, size_t n);
void fs_text_puts(fs_text *t, const char *s);
void fs_text_printf(fs_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void fs_text_u64(fs_text *t, uint64_t value); /* decimal, quick */
/* Requires a text, not NULL. */
void fs_text_json_string(fs_text *t, const char *s); /* quoted and escaped */
/* Hands the text over (NUL-terminated, for fsched_text_free); FSCHED_SYSTEM if an addition failed;
 * the text is then freed.  Requires a text that has not been taken yet. */
fs_status fs_text_take(fs_text *t, char **text, size_t *length) FS_MUST_USE;
void fs_text_drop(fs_text *t);

#endif
