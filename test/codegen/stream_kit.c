/* SPDX-License-Identifier: Apache-2.0 */
#include "codegen/stream_kit.h"

#include "base/crc32c.h"
#include "kit/golden_case.h"

fs_stream_copy fs_stream_copy_of(const fsched_program *p) {
  fs_stream_copy c;
  const void *bytes = fsched_program_bytes(p, &c.size);
  c.bytes = malloc(c.size);
  memcpy(c.bytes, bytes, c.size);
  c.header = (fs_stream_header *)(void *)c.bytes;
  uint32_t i = 0;
#define SECTION(id, type) c.id = (type *)(void *)(c.bytes + c.header->section[i++].offset);
  FS_STREAM_SECTIONS(SECTION)
#undef SECTION
  return c;
}

void fs_stream_copy_sign(fs_stream_copy *c) {
  c->header->checksum = 0;
  c->header->checksum = fs_crc32c(0, c->bytes, c->size);
}

static uint32_t other_word(fs_rng *rng, uint32_t value) {
  switch (fs_rng_below(rng, 4)) {
    case 0:
      return value ^ 1u << fs_rng_below(rng, 32);
    case 1:
      return value + fs_rng_below(rng, 5) - 2;
    case 2:
      return fs_rng_below(rng, 12);
    default:
      return UINT32_MAX - fs_rng_below(rng, 2);
  }
}

void fs_stream_damage(fs_stream_copy *c, fs_rng *rng, size_t from, size_t to) {
  for (uint32_t m = fs_rng_below(rng, 2) + 1; m-- > 0;) {
    size_t at = from + fs_rng_below(rng, (uint32_t)(to - from) / 4) * 4;
    uint32_t value;
    memcpy(&value, c->bytes + at, 4);
    value = other_word(rng, value);
    memcpy(c->bytes + at, &value, 4);
  }
}

void fs_check_round_trip(fsched_context *ctx, const fsched_program *p) {
  size_t size, n, again_size;
  const void *bytes = fsched_program_bytes(p, &size);
  char *text;
  fsched_program *again;
  ck_fs(ctx, fsched_program_json(ctx, p, &text, &n));
  ck_fs(ctx, fsched_program_assemble(ctx, "again", text, n, &again));
  const void *again_bytes = fsched_program_bytes(again, &again_size);
  ck_assert_uint_eq(size, again_size);
  ck_assert_mem_eq(bytes, again_bytes, size);
  fsched_program_destroy(again);
  fsched_text_free(ctx, text, n);
  ck_fs(ctx, fsched_program_load(ctx, "again", bytes, size, &again));
  ck_assert_mem_eq(fsched_program_bytes(again, &again_size), bytes, size);
  fsched_program_destroy(again);
  ck_fs(ctx, fsched_program_text(ctx, p, &text, &n));
  ck_assert_uint_eq(text[n - 1], '\n');
  fsched_text_free(ctx, text, n);
}

void fs_check_forms(fsched_context *ctx, const fsched_program *p, const char *name) {
  char file[64], *text;
  size_t n;
  ck_fs(ctx, fsched_program_json(ctx, p, &text, &n));
  (void)snprintf(file, sizeof file, "%s.program.json", name);
  fs_golden_check(file, text, n);
  fsched_text_free(ctx, text, n);
  ck_fs(ctx, fsched_program_text(ctx, p, &text, &n));
  (void)snprintf(file, sizeof file, "%s.program.txt", name);
  fs_golden_check(file, text, n);
  fsched_text_free(ctx, text, n);
  fs_check_round_trip(ctx, p);
}

char *fs_edited_json(fsched_context *ctx, const fsched_program *p, const char *from, const char *to,
                     size_t *length, uint32_t *line) {
  char *text;
  size_t n;
  ck_fs(ctx, fsched_program_json(ctx, p, &text, &n));
  const char *at = strstr(text, from);
  ck_assert_msg(at != NULL, "no %s", from);
  size_t before = (size_t)(at - text), room = n + strlen(to) + 1;
  char *edited = malloc(room);
  *length = (size_t)snprintf(edited, room, "%.*s%s%s", (int)before, text, to, at + strlen(from));
  *line = 1;
  for (size_t i = 0; i < before; i++) {
    *line += text[i] == '\n';
  }
  fsched_text_free(ctx, text, n);
  return edited;
}
