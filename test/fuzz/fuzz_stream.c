/* SPDX-License-Identifier: Apache-2.0 */
/* Command streams.  The checksum is always made right, so that the checks behind it are reached;
 * what verifies is replayed and has to compute what a sequential evaluation does.
 *
 * The mutator knows the records: it sets members to values that are likely to mean something (an id
 * of the right section, what another record has there, a number nearby, the ends of the range),
 * several at once, exchanges records, and takes records out of lists or adds copies to them, with
 * the section table and all lists behind kept right.  Every fourth time it lets libFuzzer change
 * the bytes. */
#include "base/crc32c.h"
#include "fsched/program.h"
#include "fuzz/kit.h"
#include "model/stream/stream.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

static void fix_checksum(uint8_t *bytes, size_t size) {
  fs_stream_header h;
  if (size < sizeof h) {
    return;
  }
  memcpy(&h, bytes, sizeof h);
  h.checksum = 0;
  memcpy(bytes, &h, sizeof h);
  h.checksum = fs_crc32c(0, bytes, size);
  memcpy(bytes, &h, sizeof h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint8_t *bytes = malloc(size + (size == 0));
  fs_fuzz_must(bytes != NULL, "no memory");
  if (size > 0) {
    memcpy(bytes, data, size);
  }
  fix_checksum(bytes, size);
  fs_fuzz f;
  fs_fuzz_begin(&f);
  fsched_program *program = NULL;
  fsched_status status = fsched_program_load(f.ctx, "fuzz.fsb", bytes, size, &program);
  if (fs_fuzz_met(&f, status, FS_FUZZ_MAY(FSCHED_OK) | FS_FUZZ_MAY(FSCHED_BAD_INPUT), "stream")) {
    (void)fs_fuzz_program(&f, program);
  }
  fsched_program_destroy(program);
  fs_fuzz_end(&f);
  free(bytes);
  return 0;
}

/* ---- the mutator */

enum fuzz_stream_section {
#define FS_ENUM_(id, type) SECTION_##id,
  FS_STREAM_SECTIONS(FS_ENUM_) N_SECTIONS
};

static const size_t record_size[N_SECTIONS] = {
#define FS_SIZE_(id, type) sizeof(type),
    FS_STREAM_SECTIONS(FS_SIZE_)};

typedef enum field_kind { NUMBER, CHOICE, ID, TEXT } field_kind;
typedef struct field {
  uint32_t section, at, width, kind, of;
} field;

#define FS_TYPE_(id, type) typedef type record_##id;
FS_STREAM_SECTIONS(FS_TYPE_)
#define OF_NUMBER(x) (x)
#define OF_CHOICE(x) (x)
#define OF_ID(x) SECTION_##x
#define OF_TEXT(x) SECTION_##x
static const field fields[] = {
#define FS_FIELD(s, m, k, x)                                                                    \
  {SECTION_##s, (uint32_t)offsetof(record_##s, m), (uint32_t)sizeof(((record_##s *)0)->m), (k), \
   OF_##k(x)},
#include "fuzz/stream_fields.def"
};

typedef struct fuzz_stream_list {
  uint32_t section, first, count, of;
} fuzz_stream_list;
static const fuzz_stream_list lists[] = {
#define FS_LIST(s, f, c, o) \
  {SECTION_##s, (uint32_t)offsetof(record_##s, f), (uint32_t)offsetof(record_##s, c), SECTION_##o},
#include "fuzz/stream_fields.def"
};

typedef struct fuzz_stream_draft {
  uint8_t *bytes;
  size_t size, most;
  fs_stream_header h;
  uint64_t random;
} fuzz_stream_draft;

static uint64_t draw(fuzz_stream_draft *d) { /* splitmix64 */
  uint64_t x = d->random += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}
static uint64_t below(fuzz_stream_draft *d, uint64_t n) { return n == 0 ? 0 : draw(d) % n; }

/* Whether the sections lie one behind the other within the bytes. */
static bool well_formed(fuzz_stream_draft *d) {
  if (d->size < sizeof d->h) {
    return false;
  }
  memcpy(&d->h, d->bytes, sizeof d->h);
  uint64_t at = sizeof d->h;
  for (unsigned s = 0; s < N_SECTIONS; s++) {
    uint64_t count = d->h.section[s].count;
    if (d->h.section[s].offset != at || count > d->size / record_size[s]) {
      return false;
    }
    at += (count * record_size[s] + 7) / 8 * 8;
  }
  return at == d->size;
}

static uint8_t *record(const fuzz_stream_draft *d, uint32_t section, uint64_t i) {
  return d->bytes + d->h.section[section].offset + i * record_size[section];
}

static uint64_t load(const uint8_t *at, uint32_t width) {
  uint64_t v = 0;
  memcpy(&v, at, width);
  return v;
}

static void store(uint8_t *at, uint32_t width, uint64_t v) { memcpy(at, &v, width); }

static uint64_t other_number(fuzz_stream_draft *d, uint64_t was, uint64_t usual) {
  switch (below(d, 6)) {
    case 0:
      return was + 1 + below(d, 4);
    case 1:
      return was - 1 - below(d, 4);
    case 2:
      return below(d, usual + 1);
    case 3:
      return (uint64_t)1 << below(d, 64);
    case 4:
      return 0;
    default:
      return UINT64_MAX - below(d, 2);
  }
}

/* A new value for a member. */
static uint64_t other_value(fuzz_stream_draft *d, const field *f, uint64_t was) {
  uint64_t n = d->h.section[f->section].count;
  if (n > 1 && below(d, 3) == 0) { /* the value of another record */
    return load(record(d, f->section, below(d, n)) + f->at, f->width);
  }
  switch ((field_kind)f->kind) {
    case CHOICE:
      return below(d, f->of + 1u + (below(d, 8) == 0));
    case ID:
    case TEXT:
      return below(d, 8) == 0 ? FS_NONE : below(d, d->h.section[f->of].count + (below(d, 16) == 0));
    case NUMBER:
      return other_number(d, was, f->of);
  }
  return was;
}

static void change_field(fuzz_stream_draft *d) {
  const field *f = &fields[below(d, sizeof fields / sizeof *fields)];
  uint64_t n = d->h.section[f->section].count;
  if (n > 0) {
    uint8_t *at = record(d, f->section, below(d, n)) + f->at;
    store(at, f->width, other_value(d, f, load(at, f->width)));
  }
}

static void exchange_records(fuzz_stream_draft *d) {
  uint32_t s = (uint32_t)below(d, SECTION_strings);
  uint64_t n = d->h.section[s].count;
  if (n < 2) {
    return;
  }
  uint8_t *a = record(d, s, below(d, n)), *b = record(d, s, below(d, n));
  for (size_t i = 0; i < record_size[s]; i++) {
    uint8_t x = a[i];
    a[i] = b[i];
    b[i] = x;
  }
}

/* Makes room for record i of a section, or closes its gap: everything behind it moves, and padding
 * is adapted. */
static bool resize_section(fuzz_stream_draft *d, uint32_t s, uint64_t i, bool add) {
  size_t each = record_size[s];
  uint64_t n = d->h.section[s].count, begin = d->h.section[s].offset;
  size_t before = (size_t)((n * each + 7) / 8 * 8);
  size_t after = (size_t)(((add ? n + 1 : n - 1) * each + 7) / 8 * 8);
  size_t tail = d->size - (size_t)begin - before;
  uint8_t *at = d->bytes + begin;
  if (after > before && d->size + (after - before) > d->most) {
    return false;
  }
  if (after > before) {
    memmove(at + after, at + before, tail);
  }
  size_t behind = (size_t)(n - i - (add ? 0 : 1)) * each;
  memmove(at + (i + (add ? 1 : 0)) * each, at + (i + (add ? 0 : 1)) * each, behind);
  size_t used = (size_t)(add ? n + 1 : n - 1) * each;
  if (after < before) {
    memmove(at + after, at + before, tail);
  }
  memset(at + used, 0, after - used);
  d->size = d->size - before + after;
  d->h.section[s].count = add ? n + 1 : n - 1;
  for (unsigned k = s + 1; k < N_SECTIONS; k++) {
    d->h.section[k].offset += after - before;
  }
  d->h.file_size = d->size;
  memcpy(d->bytes, &d->h, sizeof d->h);
  return true;
}

/* Takes an entry out of a record's list, or adds a copy of some entry to it. */
static void change_list(fuzz_stream_draft *d) {
  const fuzz_stream_list *l = &lists[below(d, sizeof lists / sizeof *lists)];
  uint64_t n = d->h.section[l->section].count, total = d->h.section[l->of].count;
  if (n == 0 || total == 0) {
    return;
  }
  uint64_t owner = below(d, n);
  uint8_t *r = record(d, l->section, owner);
  uint64_t first = load(r + l->first, 4), count = load(r + l->count, 4);
  bool add = count == 0 || below(d, 2) == 0;
  if (first > total || count > total - first) {
    return;
  }
  uint64_t i = first + below(d, count + add), model = below(d, total);
  if (!resize_section(d, l->of, i, add)) {
    return;
  }
  if (add) { /* the model has moved with everything behind i */
    memmove(record(d, l->of, i), record(d, l->of, model + (model >= i)), record_size[l->of]);
  }
  r = record(d, l->section, owner);
  store(r + l->count, 4, add ? count + 1 : count - 1);
  for (uint64_t k = owner + 1; k < d->h.section[l->section].count; k++) {
    uint8_t *at = record(d, l->section, k) + l->first;
    store(at, 4, load(at, 4) + (add ? 1 : UINT32_MAX));
  }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  fuzz_stream_draft d = {.bytes = data, .size = size, .most = most, .random = seed};
  if (!well_formed(&d) || (below(&d, 4) == 0 && LLVMFuzzerMutate != NULL)) {
    d.size = LLVMFuzzerMutate(data, size, most);
  } else {
    for (uint64_t left = 1 + below(&d, 4); left > 0; left--) {
      switch (below(&d, 8)) {
        case 0:
          exchange_records(&d);
          break;
        case 1:
        case 2:
          change_list(&d);
          break;
        default:
          change_field(&d);
      }
    }
  }
  fix_checksum(data, d.size);
  return d.size;
}
