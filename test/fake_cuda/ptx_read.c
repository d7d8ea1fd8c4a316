/* SPDX-License-Identifier: Apache-2.0 */
/* Reads PTX: module-level declarations, then per entry one statement after the other.  Registers
 * and labels get numbers when they are first met; branches are resolved at the end of an entry. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cuda/ptx_private.h"

struct ptx_module {
  ptx_entry *entry;
};

typedef struct name_list {
  char (*at)[PTX_NAME];
  uint32_t *value;
  uint32_t n, cap;
} name_list;

typedef struct reader {
  const char *at;
  uint32_t line;
  char *why;
  size_t why_size;
  bool failed;
  ptx_module *module;
  ptx_entry *entry; /* the entry that is being read */
  name_list shared; /* addresses */
  uint32_t shared_bytes;
  name_list registers, labels; /* labels: their instruction, UINT32_MAX while unknown */
  uint32_t cap;                /* of the entry's instructions */
} reader;

static bool fail(reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(reader *r, const char *format, ...) {
  if (!r->failed) {
    int n = snprintf(r->why, r->why_size, "line %u: ", r->line);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(r->why + n, r->why_size - (size_t)n, format, args);
    va_end(args);
  }
  r->failed = true;
  return false;
}

/* Returns the index of a name; a new name is added with the value. */
static uint32_t intern(name_list *list, const char *name, uint32_t value) {
  for (uint32_t i = 0; i < list->n; i++) {
    if (strcmp(list->at[i], name) == 0) {
      return i;
    }
  }
  if (list->n == list->cap) {
    list->cap = list->cap == 0 ? 64 : 2 * list->cap;
    list->at = realloc(list->at, list->cap * sizeof *list->at);
    list->value = realloc(list->value, list->cap * sizeof *list->value);
  }
  (void)snprintf(list->at[list->n], PTX_NAME, "%s", name);
  list->value[list->n] = value;
  return list->n++;
}

static void forget(name_list *list) {
  free(list->at);
  free(list->value);
  *list = (name_list){0};
}

/* ---- tokens */

static void skip(reader *r) {
  for (;;) {
    if (*r->at == '\n') {
      r->line++;
      r->at++;
    } else if (*r->at == ' ' || *r->at == '\t' || *r->at == '\r') {
      r->at++;
    } else if (r->at[0] == '/' && r->at[1] == '/') {
      r->at += strcspn(r->at, "\n");
    } else if (r->at[0] == '/' && r->at[1] == '*') {
      const char *end = strstr(r->at + 2, "*/");
      r->at = end == NULL ? r->at + strlen(r->at) : end + 2;
    } else {
      return;
    }
  }
}

static bool next_is(reader *r, char c) {
  skip(r);
  if (*r->at != c) {
    return false;
  }
  r->at++;
  return true;
}

static bool expect(reader *r, char c) {
  return next_is(r, c) || fail(r, "'%c' wanted before '%.20s'", c, r->at);
}

static bool word_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '$' || c == '%';
}

static bool next_word(reader *r, char *word) {
  skip(r);
  size_t n = 0;
  while (word_letter(r->at[n])) {
    n++;
  }
  if (n == 0 || n >= PTX_NAME) {
    return fail(r, "a name wanted at '%.20s'", r->at);
  }
  memcpy(word, r->at, n);
  word[n] = '\0';
  r->at += n;
  return true;
}

static void skip_past(reader *r, char c) {
  while (*r->at != '\0' && *r->at != c) {
    r->line += *r->at == '\n';
    r->at++;
  }
  r->at += *r->at != '\0';
}

/* ---- types and mnemonics */

static bool read_type(const char *text, ptx_type *type) {
  if (strcmp(text, "pred") == 0) {
    *type = (ptx_type){'p', 1};
    return true;
  }
  int bits = text[0] == '\0' ? 0 : atoi(text + 1);
  if (strchr("usbf", text[0]) == NULL || (bits != 8 && bits != 16 && bits != 32 && bits != 64)) {
    return false;
  }
  *type = (ptx_type){text[0], (uint8_t)bits};
  return true;
}

static const struct {
  const char *name;
  ptx_op op;
} ops[] = {{"add", PTX_ADD},   {"sub", PTX_SUB},   {"mul", PTX_MUL_LO}, {"mad", PTX_MAD_LO},
           {"div", PTX_DIV},   {"rem", PTX_REM},   {"and", PTX_AND},    {"or", PTX_OR},
           {"xor", PTX_XOR},   {"not", PTX_NOT},   {"neg", PTX_NEG},    {"shl", PTX_SHL},
           {"shr", PTX_SHR},   {"min", PTX_MIN},   {"max", PTX_MAX},    {"fma", PTX_FMA},
           {"setp", PTX_SETP}, {"selp", PTX_SELP}, {"mov", PTX_MOV},    {"cvt", PTX_CVT},
           {"cvta", PTX_CVTA}, {"ld", PTX_LD},     {"st", PTX_ST},      {"bra", PTX_BRA},
           {"bar", PTX_BAR},   {"ret", PTX_RET},   {"exit", PTX_RET}};
static const char *const comparisons[] = {"eq", "ne", "lt", "le", "gt", "ge"};

static bool read_modifier(ptx_instruction *x, const char *part) {
  static const char *const ignored[] = {"rn",   "rz",       "rzi", "rm", "rp", "ftz", "uni",
                                        "sync", "volatile", "nc",  "lo", "ca", "cg",  "cs"};
  for (unsigned c = 0; c < 6 && x->op == PTX_SETP; c++) {
    if (strcmp(part, comparisons[c]) == 0) {
      x->cmp = (ptx_cmp)c;
      return true;
    }
  }
  ptx_type type;
  if (read_type(part, &type)) {
    if (x->type.bits == 0) {
      x->type = type;
    }
    x->from = type;
    return true;
  }
  if (strcmp(part, "wide") == 0 || strcmp(part, "hi") == 0) {
    bool wide = part[0] == 'w';
    x->op = x->op == PTX_MAD_LO ? PTX_MAD_WIDE : wide ? PTX_MUL_WIDE : PTX_MUL_HI;
    return true;
  }
  if (part[0] == 'v' && (part[1] == '2' || part[1] == '4') && part[2] == '\0') {
    x->width = (uint8_t)(part[1] - '0');
    return true;
  }
  static const char *const spaces[] = {"", "global", "shared", "param"};
  for (unsigned s = 1; s < 4; s++) {
    if (strcmp(part, spaces[s]) == 0) {
      x->space = (ptx_space)s;
      return true;
    }
  }
  if (strcmp(part, "to") == 0) {
    x->to_space = true;
    return true;
  }
  for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++) {
    if (strcmp(part, ignored[i]) == 0) {
      return true;
    }
  }
  return false;
}

static bool read_mnemonic(reader *r, char *word, ptx_instruction *x) {
  char *rest = NULL;
  char *part = strtok_r(word, ".", &rest);
  size_t i = 0, n = sizeof ops / sizeof ops[0];
  while (i < n && (part == NULL || strcmp(ops[i].name, part) != 0)) {
    i++;
  }
  if (i == n) {
    return fail(r, "unknown instruction '%s'", part == NULL ? "" : part);
  }
  x->op = ops[i].op;
  x->width = 1;
  while ((part = strtok_r(NULL, ".", &rest)) != NULL) {
    if (!read_modifier(x, part)) {
      return fail(r, "'%s' with '.%s' is not known here", ops[i].name, part);
    }
  }
  return true;
}

/* ---- operands */

static bool read_special(const char *name, uint32_t *special) {
  static const char *const names[] = {"%tid", "%ntid", "%ctaid", "%nctaid"};
  if (strcmp(name, "%globaltimer") == 0) {
    *special = PTX_CLOCK;
    return true;
  }
  for (uint32_t i = 0; i < 4; i++) {
    size_t n = strlen(names[i]);
    if (strncmp(name, names[i], n) == 0 && name[n] == '.' && name[n + 1] >= 'x' &&
        name[n + 1] <= 'z') {
      *special = 3 * i + (uint32_t)(name[n + 1] - 'x');
      return true;
    }
  }
  return false;
}

static bool read_number(reader *r, uint64_t *value) {
  skip(r);
  char *end;
  if (r->at[0] == '0' && (r->at[1] == 'f' || r->at[1] == 'F' || r->at[1] == 'd')) {
    *value = strtoull(r->at + 2, &end, 16);
  } else {
    *value = *r->at == '-' ? (uint64_t)strtoll(r->at, &end, 0) : strtoull(r->at, &end, 0);
  }
  if (end == r->at) {
    return fail(r, "a number wanted at '%.20s'", r->at);
  }
  r->at = end;
  r->at += *r->at == 'U';
  return true;
}

/* Reads a register, a parameter, a name in shared memory, or (else) a label. */
static bool read_name(reader *r, ptx_operand *o) {
  char name[PTX_NAME];
  if (!next_word(r, name)) {
    return false;
  }
  if (read_special(name, &o->index)) {
    o->kind = PTX_SPECIAL;
    return true;
  }
  if (name[0] == '%') {
    *o = (ptx_operand){.kind = PTX_REG, .index = intern(&r->registers, name, 0)};
    return true;
  }
  uint64_t param = 0; /* each takes whole words of 8 bytes */
  for (uint32_t i = 0; i < r->entry->n_params; i++) {
    if (strcmp(r->entry->param_name[i], name) == 0) {
      *o = (ptx_operand){.kind = PTX_IMM, .value = param};
      return true;
    }
    param += ((uint64_t)r->entry->param_bytes[i] + 7) / 8 * 8;
  }
  for (uint32_t i = 0; i < r->shared.n; i++) {
    if (strcmp(r->shared.at[i], name) == 0) {
      *o = (ptx_operand){.kind = PTX_IMM, .value = r->shared.value[i]};
      return true;
    }
  }
  *o = (ptx_operand){.kind = PTX_LABEL, .index = intern(&r->labels, name, UINT32_MAX)};
  return true;
}

static bool read_plain(reader *r, ptx_operand *o) {
  skip(r);
  if ((*r->at >= '0' && *r->at <= '9') || *r->at == '-') {
    *o = (ptx_operand){.kind = PTX_IMM};
    return read_number(r, &o->value);
  }
  return read_name(r, o);
}

/* Reads [base + offset]. */
static bool read_address(reader *r, ptx_operand *o) {
  ptx_operand base;
  if (!read_plain(r, &base)) {
    return false;
  }
  *o = (ptx_operand){.kind = PTX_AT,
                     .based = base.kind == PTX_REG,
                     .index = base.index,
                     .value = base.kind == PTX_IMM ? base.value : 0};
  if (base.kind != PTX_REG && base.kind != PTX_IMM) {
    return fail(r, "unknown address");
  }
  if (next_is(r, '+')) {
    uint64_t offset;
    if (!read_number(r, &offset)) {
      return false;
    }
    o->value += offset;
  }
  return expect(r, ']');
}

static bool add_operand(reader *r, ptx_instruction *x, const ptx_operand *o) {
  if (x->n == PTX_OPERANDS) {
    return fail(r, "too many operands");
  }
  x->operand[x->n++] = *o;
  return true;
}

static bool read_operands(reader *r, ptx_instruction *x) {
  while (!next_is(r, ';')) {
    ptx_operand o = {0};
    if (next_is(r, '[')) {
      if (!read_address(r, &o) || !add_operand(r, x, &o)) {
        return false;
      }
    } else if (next_is(r, '{')) {
      do {
        if (!read_plain(r, &o) || !add_operand(r, x, &o)) {
          return false;
        }
      } while (next_is(r, ','));
      if (!expect(r, '}')) {
        return false;
      }
    } else if (!read_plain(r, &o) || !add_operand(r, x, &o)) {
      return false;
    }
    skip(r);
    if (*r->at != ';' && !expect(r, ',')) {
      return false;
    }
  }
  return true;
}

/* ---- statements */

/* Reads `.shared .align 8 .b8 name[2048];`, which with `.extern` in front is the dynamic part. */
static bool read_shared(reader *r) {
  char word[PTX_NAME];
  ptx_type type = {0};
  uint64_t align = 8, count = 1;
  for (;;) {
    if (!next_word(r, word)) {
      return false;
    }
    if (strcmp(word, ".align") == 0) {
      if (!read_number(r, &align)) {
        return false;
      }
    } else if (word[0] != '.') {
      break;
    } else if (!read_type(word + 1, &type)) {
      return fail(r, "unknown type '%s'", word);
    }
  }
  if (next_is(r, '[')) {
    count = 0;
    skip(r);
    if (*r->at != ']' && !read_number(r, &count)) {
      return false;
    }
    if (!expect(r, ']')) {
      return false;
    }
  }
  r->shared_bytes = (uint32_t)((r->shared_bytes + align - 1) & ~(align - 1));
  (void)intern(&r->shared, word, r->shared_bytes);
  r->shared_bytes += (uint32_t)(count * type.bits / 8);
  return expect(r, ';');
}

static ptx_instruction *add_instruction(reader *r) {
  ptx_entry *e = r->entry;
  if (e->n_instructions == r->cap) {
    r->cap = r->cap == 0 ? 256 : 2 * r->cap;
    e->instruction = realloc(e->instruction, r->cap * sizeof *e->instruction);
  }
  ptx_instruction *x = &e->instruction[e->n_instructions++];
  *x = (ptx_instruction){.line = r->line};
  return x;
}

static bool read_statement(reader *r) {
  ptx_instruction guard = {0};
  char word[PTX_NAME];
  if (next_is(r, '@')) {
    guard.guarded = true;
    guard.guard_not = next_is(r, '!');
    if (!next_word(r, word)) {
      return false;
    }
    guard.guard = intern(&r->registers, word, 0);
  }
  if (!next_word(r, word)) {
    return false;
  }
  if (strcmp(word, ".shared") == 0) {
    return read_shared(r);
  }
  if (word[0] == '.') { /* .reg and .pragma need nothing */
    skip_past(r, ';');
    return true;
  }
  if (next_is(r, ':')) {
    uint32_t label = intern(&r->labels, word, 0);
    r->labels.value[label] = r->entry->n_instructions;
    return true;
  }
  ptx_instruction *x = add_instruction(r);
  x->guarded = guard.guarded;
  x->guard_not = guard.guard_not;
  x->guard = guard.guard;
  return read_mnemonic(r, word, x) && read_operands(r, x);
}

static bool read_params(reader *r) {
  ptx_entry *e = r->entry;
  char word[PTX_NAME];
  ptx_type type = {0};
  while (!next_is(r, ')')) {
    if (!next_word(r, word)) {
      return false;
    }
    if (word[0] == '.') {
      uint64_t align;
      if (strcmp(word, ".align") == 0 && !read_number(r, &align)) {
        return false;
      }
      (void)read_type(word + 1, &type);
      continue;
    }
    if (e->n_params == PTX_PARAMS || type.bits < 8) {
      return fail(r, "parameter '%s'", word);
    }
    (void)snprintf(e->param_name[e->n_params], PTX_NAME, "%s", word);
    e->param_bytes[e->n_params] = type.bits / 8;
    uint64_t count = 1;
    if (next_is(r, '[') && (!read_number(r, &count) || !expect(r, ']'))) {
      return false;
    }
    e->param_bytes[e->n_params++] *= (uint32_t)count;
    (void)next_is(r, ',');
  }
  return true;
}

static bool resolve(reader *r) {
  ptx_entry *e = r->entry;
  for (uint32_t i = 0; i < e->n_instructions; i++) {
    ptx_instruction *x = &e->instruction[i];
    for (uint32_t j = 0; j < x->n; j++) {
      ptx_operand *o = &x->operand[j];
      if (o->kind == PTX_LABEL) {
        if (r->labels.value[o->index] == UINT32_MAX || x->op != PTX_BRA) {
          return fail(r, "'%s' is not there", r->labels.at[o->index]);
        }
        o->index = r->labels.value[o->index];
      }
    }
  }
  add_instruction(r)->op = PTX_RET;
  e->n_registers = r->registers.n;
  return true;
}

static bool read_entry(reader *r) {
  ptx_entry *e = calloc(1, sizeof *e);
  e->next = r->module->entry;
  r->module->entry = e;
  r->entry = e;
  r->cap = 0;
  forget(&r->registers);
  forget(&r->labels);
  if (!next_word(r, e->name) || (next_is(r, '(') && !read_params(r))) {
    return false;
  }
  if (next_is(r, ';')) { /* this is a declaration, and the definition follows */
    r->module->entry = e->next;
    free(e);
    return true;
  }
  while (!next_is(r, '{')) { /* this skips .maxntid and the like */
    skip(r);
    if (*r->at == '\0') {
      return fail(r, "the body of '%s' is missing", e->name);
    }
    r->at++;
  }
  uint32_t depth = 1;
  while (depth > 0) {
    if (next_is(r, '}')) {
      depth--;
    } else if (next_is(r, '{')) {
      depth++;
    } else if (!read_statement(r)) {
      return false;
    }
  }
  return resolve(r);
}

static bool read_all(reader *r) {
  char word[PTX_NAME];
  bool version = false;
  for (skip(r); *r->at != '\0'; skip(r)) {
    if (!next_word(r, word)) {
      return false;
    }
    if (strcmp(word, ".version") == 0 || strcmp(word, ".target") == 0 ||
        strcmp(word, ".address_size") == 0) {
      version = true;
      (void)next_word(r, word);
    } else if (strcmp(word, ".entry") == 0) {
      if (!read_entry(r)) {
        return false;
      }
    } else if (strcmp(word, ".shared") == 0) {
      if (!read_shared(r)) {
        return false;
      }
    } else if (strcmp(word, ".visible") != 0 && strcmp(word, ".extern") != 0 &&
               strcmp(word, ".weak") != 0) {
      return fail(r, "'%s' is not known here", word);
    }
  }
  return version || fail(r, "no .version");
}

ptx_module *ptx_read(const char *text, char *why, size_t size) {
  ptx_module *m = calloc(1, sizeof *m);
  reader r = {.at = text, .line = 1, .why = why, .why_size = size, .module = m};
  bool done = read_all(&r);
  for (ptx_entry *e = m->entry; e != NULL; e = e->next) {
    e->shared_bytes = r.shared_bytes;
  }
  forget(&r.shared);
  forget(&r.registers);
  forget(&r.labels);
  if (!done) {
    ptx_drop(m);
    return NULL;
  }
  return m;
}

void ptx_drop(ptx_module *m) {
  for (ptx_entry *e = m->entry; e != NULL;) {
    ptx_entry *next = e->next;
    free(e->instruction);
    free(e);
    e = next;
  }
  free(m);
}

const ptx_entry *ptx_find(const ptx_module *m, const char *name) {
  const ptx_entry *e = m->entry;
  while (e != NULL && strcmp(e->name, name) != 0) {
    e = e->next;
  }
  return e;
}

uint32_t ptx_param_bytes(const ptx_entry *entry, uint32_t i) {
  return i < entry->n_params ? entry->param_bytes[i] : 0;
}
