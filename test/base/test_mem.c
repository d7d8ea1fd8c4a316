/* SPDX-License-Identifier: Apache-2.0 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/context.h"
#include "base/mem.h"
#include "kit/budget.h"

#include "kit/context.h"

START_TEST(arena_marks)
{
  fs_arena a;
  fs_arena_init(&a, ctx);
  char *first = fs_arena_strndup(&a, "first", 5);
  fs_arena_mark mark = fs_arena_set_mark(&a);
  for (int i = 1; i < 100; i++) {
    uint32_t *p;
    ck_assert_int_eq(fs_new_none(&a, &p, (size_t)i * 100), FSCHED_OK);
    ck_assert_uint_eq(p[i * 100 - 1], FS_NONE);
    ck_assert_uint_eq((uintptr_t)p % 16, 0);
  }
  fs_arena_reset(&a, mark);
  ck_assert_str_eq(first, "first");
  fs_arena_release(&a);
}
END_TEST

/* What one arena holds grows and shrinks in place of itself, and stays valid in another arena until
 * that one is released or reset. */
START_TEST(arena_resizes_and_joins)
{
  fs_arena a, b;
  fs_arena_init(&a, ctx);
  fs_arena_init(&b, ctx);
  uint32_t *p = NULL;
  for (uint32_t n = 1; n <= 4096; n *= 2) {
    p = fs_arena_resize(&b, p, n * sizeof *p);
    ck_assert_ptr_nonnull(p);
    p[n - 1] = n;
  }
  p = fs_arena_resize(&b, p, 2 * sizeof *p);
  ck_assert_uint_eq(p[0], 1);
  ck_assert_uint_eq(p[1], 2);
  char *before = fs_arena_strndup(&a, "before", 6);
  fs_arena_mark mark = fs_arena_set_mark(&a);
  fs_arena_join(&a, &b);
  ck_assert_ptr_null(b.last);
  fs_arena_join(&a, &b); /* an empty one changes nothing */
  char *after = fs_arena_strndup(&a, "after", 5);
  ck_assert_str_eq(before, "before");
  ck_assert_str_eq(after, "after");
  ck_assert_uint_eq(p[1], 2);
  fs_arena_reset(&a, mark);
  ck_assert_str_eq(fs_arena_strndup(&a, "again", 5), "again");
  ck_assert_str_eq(before, "before");
  fs_arena_release(&a);
}
END_TEST

/* Failing at the second array, or not at all. */
static fs_status use_scratch(fsched_context *own, size_t second) {
  char *first, *then;
  FS_SCRATCH(scratch, own);
  FS_TRY(fs_new_zero(&scratch, &first, 1 << 20));
  FS_TRY(fs_new_zero(&scratch, &then, second));
  return FSCHED_OK;
}

START_TEST(scratch_ends_with_its_block)
{
  fs_budget budget = {.left = 1000};
  fsched_context_options options = {
      .size = sizeof options, .reallocate = fs_budget_reallocate, .user = &budget};
  fsched_context *own;
  ck_assert_int_eq(fsched_context_create(&options, &own), FSCHED_OK);
  long held = budget.held;
  ck_assert_int_eq(use_scratch(own, 1), FSCHED_OK);
  ck_assert_int_eq(budget.held, held);
  ck_assert_int_ge(budget.peak, held + (1 << 20));
  budget.left = 1;
  ck_assert_int_eq(use_scratch(own, 1 << 20), FSCHED_SYSTEM);
  ck_assert_int_lt(budget.held, held + (1 << 20)); /* the report is kept */
  fsched_context_destroy(own);
  ck_assert_int_eq(budget.held, 0);
}
END_TEST

START_TEST(text_json)
{
  fs_text t;
  fs_text_init(&t, ctx);
  fs_text_json_string(&t, "a\"b\\\n\xc3\xa9");
  fs_text_printf(&t, " %d ", -7);
  fs_text_u64(&t, UINT64_MAX);
  fs_text_u64(&t, 0);
  char *text;
  size_t n;
  ck_assert_int_eq(fs_text_take(&t, &text, &n), FSCHED_OK);
  ck_assert_str_eq(text, "\"a\\\"b\\\\\\u000a\xc3\xa9\" -7 184467440737095516150");
  (void)fs_realloc(ctx, text, n + 1, 0);
}
END_TEST

static void *no_memory(void *user, void *block, size_t old_size, size_t new_size) {
  (void)old_size;
  if (new_size == 0) {
    free(block);
    return NULL;
  }
  int *left = user;
  return (*left)-- > 0 ? realloc(block, new_size) : NULL;
}

START_TEST(out_of_memory_is_reported_once)
{
  int left = 2;
  fsched_context_options o = {.size = sizeof o, .reallocate = no_memory, .user = &left};
  fsched_context *own;
  ck_assert_int_eq(fsched_context_create(&o, &own), FSCHED_OK);
  fs_arena a;
  fs_arena_init(&a, own);
  ck_assert_ptr_nonnull(fs_arena_alloc(&a, 10));
  ck_assert_ptr_null(fs_arena_alloc(&a, 1 << 20));
  ck_assert_ptr_null(fs_arena_alloc(&a, SIZE_MAX));
  ck_assert_uint_eq(fsched_diag_count(own), 1);
  ck_assert_str_eq(fsched_diag_get(own, 0)->code, "out-of-memory");
  fs_arena_release(&a);
  fsched_context_destroy(own);
}
END_TEST

/* Do the bytes lie in one mapping that may get large pages, as the system tells? */
static bool may_be_large(const void *first, size_t size) {
  FILE *f = fopen("/proc/self/smaps", "r");
  char line[512];
  unsigned long at = (unsigned long)(uintptr_t)first, begin, end;
  bool here = false, large = false;
  while (f != NULL && fgets(line, sizeof line, f) != NULL) {
    if (sscanf(line, "%lx-%lx ", &begin, &end) == 2) {
      here = begin <= at && at + size <= end;
    } else if (here && strncmp(line, "VmFlags:", 8) == 0) {
      large = strstr(line, " hg") != NULL;
    }
  }
  if (f != NULL) {
    (void)fclose(f);
  }
  return large;
}

/* Does the system take the advice, and tell that it has? */
static bool has_large_pages(void) {
  bool has = false;
#ifdef MADV_HUGEPAGE
  size_t size = (size_t)4 << 20;
  void *range = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ck_assert_ptr_ne(range, MAP_FAILED);
  has = madvise(range, size, MADV_HUGEPAGE) == 0 && may_be_large(range, size);
  (void)munmap(range, size);
#endif
  return has;
}

START_TEST(large_blocks_may_have_large_pages)
{
  if (!has_large_pages()) {
    printf("skipped: the system has no large pages on request\n");
    return;
  }
  /* More than any allocator keeps in store.  Of these sizes some end just before a page, where the
   * allocator's own bytes may take one more: a block in two mappings could not be moved. */
  for (size_t less = 0; less < 64; less += 8) {
    size_t size = ((size_t)64 << 20) - less;
    char *block = fs_realloc(ctx, NULL, 0, size / 2);
    ck_assert_ptr_nonnull(block);
    ck_assert(may_be_large(block, malloc_usable_size(block)));
    block = fs_realloc(ctx, block, size / 2, size);
    ck_assert_ptr_nonnull(block);
    ck_assert(may_be_large(block, malloc_usable_size(block)));
    (void)fs_realloc(ctx, block, size, 0);
  }
}
END_TEST

FS_SUITE(mem, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, arena_marks, arena_resizes_and_joins, scratch_ends_with_its_block, text_json,
           out_of_memory_is_reported_once, large_blocks_may_have_large_pages);
}
