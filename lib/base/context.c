/* SPDX-License-Identifier: Apache-2.0 */
/* Context: creation, registered sources, and the list of diagnostics.  A diagnostic is reserved for
 * running out of memory, so that reporting it needs no memory. */
#include "base/context.h"

#include <stdio.h>

#include "base/context_private.h"

enum { DEFAULT_MAX_ERRORS = 20, STORED_LIMIT = 1000 };

static const struct {
  const char *code, *summary;
} diag_table[] = {
#define FS_DIAG(id, code, summary) {code, summary},
#include "base/diag.def"
#undef FS_DIAG
};

const char *fs_diag_code_name(fs_diag_code code) {
  assert(code < FS_DIAG_COUNT);
  return diag_table[code].code;
}

fsched_status fsched_context_create(const fsched_context_options *options, fsched_context **out) {
  fsched_context_options o = {.size = sizeof o};
  *out = NULL;
  if (options != NULL && options->size < FS_SIZE_UP_TO(fsched_context_options, max_errors)) {
    return FSCHED_USAGE;
  }
  if (options != NULL) {
    memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
  }
  if (o.reallocate == NULL) {
    o.reallocate = fs_default_reallocate;
  }
  fsched_context *ctx = o.reallocate(o.user, NULL, 0, sizeof *ctx);
  if (ctx == NULL) {
    return FSCHED_SYSTEM;
  }
  *ctx = (fsched_context){
      .reallocate = o.reallocate,
      .user = o.user,
      .max_errors = o.max_errors == 0 ? DEFAULT_MAX_ERRORS : o.max_errors,
      .key = fs_key_random(),
      .limits = &fs_limits_usual,
      .trial_steps = FS_TRIAL_STEPS,
  };
  fs_arena_init(&ctx->arena, ctx);
  fs_arena_init(&ctx->texts, ctx);
  fs_names_init(&ctx->hidden, &ctx->arena);
  fs_warn_init(ctx);
  *out = ctx;
  return FSCHED_OK;
}

const fs_limits fs_limits_usual = {
#define FS_LIMIT(name, most, what) .name = most,
#include "base/limits.def"
#undef FS_LIMIT
};

const fs_limits *fs_limits_of(const fsched_context *ctx) { return ctx->limits; }

void fs_limits_set(fsched_context *ctx, const fs_limits *limits) {
  assert(limits != NULL); /* and no limit above the usual one: */
#define FS_LIMIT(name, most, what) assert(limits->name <= fs_limits_usual.name);
#include "base/limits.def"
#undef FS_LIMIT
  ctx->limits = limits;
}

uint64_t fs_trial_steps_of(const fsched_context *ctx) { return ctx->trial_steps; }

void fs_trial_steps_set(fsched_context *ctx, uint64_t steps) {
  assert(steps <= FS_TRIAL_STEPS);
  ctx->trial_steps = steps;
}

void fsched_context_destroy(fsched_context *ctx) {
  if (ctx == NULL) {
    return;
  }
  fsched_diag_clear(ctx);
  fs_vec_free(ctx, &ctx->diags);
  for (size_t i = 0; i < ctx->sources.n; i++) {
    const fs_source *source = &ctx->sources.at[i];
    (void)fs_realloc(ctx, source->owned, source->length + 1, 0);
  }
  fs_vec_free(ctx, &ctx->sources);
  fs_names_free(&ctx->hidden);
  fs_arena_release(&ctx->arena);
  (void)ctx->reallocate(ctx->user, ctx, sizeof *ctx, 0);
}

uint32_t fsched_diag_count(const fsched_context *ctx) {
  return (uint32_t)ctx->diags.n + (ctx->out_of_memory ? 1 : 0);
}

const fsched_diag *fsched_diag_get(const fsched_context *ctx, uint32_t index) {
  if (index < ctx->diags.n) {
    return &ctx->diags.at[index];
  }
  return index == ctx->diags.n && ctx->out_of_memory ? &ctx->memory_diag : NULL;
}

uint32_t fsched_diag_errors(const fsched_context *ctx) { return ctx->errors; }

void fsched_diag_clear(fsched_context *ctx) {
  fs_arena_release(&ctx->texts);
  ctx->diags.n = 0;
  ctx->errors = 0;
  ctx->out_of_memory = false;
}

fs_diag_mark fs_context_mark(const fsched_context *ctx) {
  return (fs_diag_mark){ctx->diags.n, ctx->errors, ctx->warning_errors};
}

void fs_context_rewind(fsched_context *ctx, fs_diag_mark mark) {
  assert(mark.n <= ctx->diags.n && mark.errors <= ctx->errors);
  ctx->diags.n = mark.n;
  ctx->errors = mark.errors;
  ctx->warning_errors = mark.warning_errors;
}

bool fs_context_mute(fsched_context *ctx, bool mute) {
  bool before = ctx->muted;
  ctx->muted = mute;
  return before;
}

static fs_status add_source(fsched_context *ctx, const char *name, fs_source source, uint32_t *id) {
  source.hidden = ctx->hides_files;
  source.name = fs_arena_strndup(&ctx->arena, name, strlen(name));
  if (source.name == NULL) {
    return FSCHED_SYSTEM;
  }
  *id = (uint32_t)ctx->sources.n;
  return fs_vec_push(ctx, &ctx->sources, source);
}

fs_status fs_context_add_file(fsched_context *ctx, const char *name, const char *text,
                              size_t length, uint32_t *id) {
  assert(name != NULL && (text != NULL || length == 0));
  char *copy = fs_arena_strndup(&ctx->arena, text, length);
  return copy == NULL ? FSCHED_SYSTEM
                      : add_source(ctx, name, (fs_source){.text = copy, .length = length}, id);
}

fs_status fs_context_take_file(fsched_context *ctx, const char *name, char *text, size_t length,
                               uint32_t *id) {
  assert(name != NULL && text != NULL);
  fs_source source = {.text = text, .length = length, .owned = text};
  fs_status status = add_source(ctx, name, source, id);
  if (status != FSCHED_OK) {
    (void)fs_realloc(ctx, text, length + 1, 0);
  }
  return status;
}

void fs_context_hide_files(fsched_context *ctx, bool hide) { ctx->hides_files = hide; }

fs_status fs_check_options(fsched_context *ctx, const char *type, size_t size, size_t least) {
  assert(type != NULL && least > 0);
  if (size >= least) {
    return FSCHED_OK;
  }
  return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE,
                 "set it to the sizeof of the struct",
                 "'size' of %s is %zu, at least %zu is needed", type, size, least);
}

/* Does `a` sort after `b`?  File names are compared as pointers, as each belongs to one source. */
static bool stands_after(const fsched_context *ctx, const fsched_diag *a, const fsched_diag *b) {
  if (a->file == b->file) {
    return a->line != b->line ? a->line > b->line : a->column > b->column;
  }
  for (size_t i = 0; i < ctx->sources.n; i++) {
    const char *name = ctx->sources.at[i].name;
    if (name == a->file || name == b->file) {
      return name == b->file;
    }
  }
  return false;
}

/* Insertion sort: the list is bounded and rarely long. */
void fs_context_sort(fsched_context *ctx, uint32_t first) {
  assert(first <= ctx->diags.n);
  for (size_t i = (size_t)first + 1; i < ctx->diags.n; i++) {
    fsched_diag d = ctx->diags.at[i];
    size_t at = i;
    for (; at > first && stands_after(ctx, &ctx->diags.at[at - 1], &d); at--) {
      ctx->diags.at[at] = ctx->diags.at[at - 1];
    }
    ctx->diags.at[at] = d;
  }
}

uint32_t fs_context_error_room(const fsched_context *ctx) {
  return ctx->errors < ctx->max_errors ? ctx->max_errors - ctx->errors : 0;
}

void fs_context_subject(fsched_context *ctx, const char *name) {
  ctx->subject = name == NULL ? NULL : fs_arena_strndup(&ctx->arena, name, strlen(name));
}

/* Faults of the machine and of the command line do not belong to the subject. */
static bool is_of_subject(fs_diag_code code) {
  return code > FS_DIAG_RACE && code != FS_DIAG_BAD_ARGUMENT && code != FS_DIAG_REPLAY_OPTIONS;
}

void fs_context_set_durable(fsched_context *ctx, bool durable) { ctx->hasty = !durable; }

bool fs_context_durable(const fsched_context *ctx) { return !ctx->hasty; }

bool fs_context_out_of_memory(const fsched_context *ctx) { return ctx->out_of_memory; }

void fs_report_out_of_memory(fsched_context *ctx, size_t wanted) {
  (void)wanted;
  if (!ctx->out_of_memory) {
    ctx->out_of_memory = true;
    ctx->errors++;
    ctx->memory_diag = (fsched_diag){.severity = FSCHED_ERROR,
                                     .code = fs_diag_code_name(FS_DIAG_OUT_OF_MEMORY),
                                     .message = "out of memory"};
  }
}

/* Copies line `line` (from 1) of a source; NULL when there is no such line or no memory. */
static const char *copy_line(fsched_context *ctx, const fs_source *source, uint32_t line) {
  assert(line > 0);
  const char *p = source->text;
  const char *end = p + source->length;
  for (uint32_t at = 1; at < line; at++) {
    p = memchr(p, '\n', (size_t)(end - p));
    if (p == NULL) {
      return NULL;
    }
    p++;
  }
  const char *stop = memchr(p, '\n', (size_t)(end - p));
  size_t n = (size_t)((stop == NULL ? end : stop) - p);
  if (n > 0 && p[n - 1] == '\r') {
    n--;
  }
  return fs_arena_strndup(&ctx->texts, p, n);
}

/* Of a long word, which messages may cut, only the beginning is compared; then the rest of the
 * message is hidden. */
enum { WORD_BYTES = 32 };

fs_status fs_context_hide_word(fsched_context *ctx, const char *word, size_t length) {
  assert(word != NULL && memchr(word, '\0', length) == NULL);
  size_t n = length < WORD_BYTES ? length : WORD_BYTES;
  uint32_t id;
  if (n == 0) {
    return FSCHED_OK;
  }
  ctx->longest_hidden = n > ctx->longest_hidden ? n : ctx->longest_hidden;
  return fs_names_intern(&ctx->hidden, word, n, &id, NULL);
}

static bool in_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         (unsigned char)c >= 0x80;
}

/* Whether a word may begin or end before text[at]. */
static bool is_edge(const char *text, size_t at) {
  return at == 0 || !in_word(text[at - 1]) || !in_word(text[at]);
}

/* The bytes of the longest hidden word that stands at text[at]; 0: none. */
static size_t hidden_bytes(const fsched_context *ctx, const char *text, size_t at) {
  size_t left = strlen(text + at), longest = 0;
  for (size_t n = 1; is_edge(text, at) && n <= left && n <= ctx->longest_hidden; n++) {
    bool whole = n < WORD_BYTES;
    if ((!whole || is_edge(text, at + n)) && fs_names_find(&ctx->hidden, text + at, n) != FS_NONE) {
      longest = whole ? n : left;
    }
  }
  return longest;
}

/* Replaces hidden words, in place; returns whether there were any. */
static bool hide_words(const fsched_context *ctx, char *text) {
  char *out = text;
  bool any = false;
  if (ctx->longest_hidden == 0) {
    return false;
  }
  for (size_t at = 0, n; text[at] != '\0'; at += n) {
    n = hidden_bytes(ctx, text, at);
    any |= n > 0;
    *out++ = n > 0 ? '*' : text[at];
    n += n == 0;
  }
  *out = '\0';
  return any;
}

/* The text lives as long as the diagnostic; NULL when there is no memory. */
static const char *format_message(fsched_context *ctx, const char *format, va_list args) {
  assert(format != NULL);
  va_list again;
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, format, again);
  va_end(again);
  size_t size = n < 0 ? 1 : (size_t)n + 1;
  char *message = fs_arena_alloc(&ctx->texts, size);
  if (message != NULL) {
    message[0] = '\0';
    (void)vsnprintf(message, size, format, args);
    (void)hide_words(ctx, message);
  }
  return message;
}

void fs_report(fsched_context *ctx, fsched_severity severity, fs_diag_code code, fs_pos pos,
               const char *hint, const char *format, ...) {
  assert(code < FS_DIAG_COUNT && format != NULL);
  if (ctx->muted) {
    return;
  }
  if (severity == FSCHED_WARNING) {
    fsched_warning_level level = fs_warn_level(ctx, code);
    if (level == FSCHED_WARNING_OFF) {
      return;
    }
    if (level == FSCHED_WARNING_AS_ERROR) {
      severity = FSCHED_ERROR;
      ctx->warning_errors++;
    }
  }
  if (severity == FSCHED_ERROR && ++ctx->errors > ctx->max_errors) {
    return;
  }
  if (severity != FSCHED_ERROR && ctx->diags.n >= STORED_LIMIT) {
    return;
  }
  bool hidden = pos.file < ctx->sources.n && ctx->sources.at[pos.file].hidden;
  va_list args;
  va_start(args, format);
  const char *message = hidden ? diag_table[code].summary : format_message(ctx, format, args);
  va_end(args);
  if (message == NULL) {
    return;
  }
  hint = hidden ? NULL : hint;
  fsched_diag d = {.severity = severity, .code = fs_diag_code_name(code), .message = message};
  if (hint != NULL) {
    char *shown = fs_arena_strndup(&ctx->texts, hint, strlen(hint));
    d.hint = shown != NULL && hide_words(ctx, shown) ? NULL : shown;
  }
  if (pos.file < ctx->sources.n) {
    const fs_source *source = &ctx->sources.at[pos.file];
    d.file = source->name;
    d.line = pos.line;
    d.column = pos.column;
    d.length = pos.length == 0 ? 1 : pos.length;
    d.source_line = pos.line == 0 || hidden ? NULL : copy_line(ctx, source, pos.line);
  }
  if (d.file == NULL && is_of_subject(code)) {
    d.file = ctx->subject;
  }
  (void)!fs_vec_push(ctx, &ctx->diags, d);
}
