/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of --emit, each of which has a row in emit.def and a function here. */
#include "cli/compile/emit.h"

#include "base/files/file.h"
#include "base/text/c_name.h"
#include "draw/dot/dot.h"
#include "model/handle.h"

typedef fs_status (*fs_emitter)(fs_cli *cli, const fs_emit_source *source, char **text,
                                size_t *length);

static fs_status emit_schedule(fs_cli *cli, const fs_emit_source *source, char **text,
                               size_t *length) {
  return fsched_schedule_json(cli->ctx, source->schedule, text, length);
}

static fs_status emit_table(fs_cli *cli, const fs_emit_source *source, char **text,
                            size_t *length) {
  return fsched_schedule_table(cli->ctx, source->schedule, text, length);
}

static fs_status emit_stats(fs_cli *cli, const fs_emit_source *source, char **text,
                            size_t *length) {
  return fsched_schedule_stats_json(cli->ctx, source->schedule, text, length);
}

static fs_status emit_dot(fs_cli *cli, const fs_emit_source *source, char **text, size_t *length) {
  return fs_dot_schedule(cli->ctx, source->schedule->sync, NULL, text, length);
}

static fs_status emit_svg(fs_cli *cli, const fs_emit_source *source, char **text, size_t *length) {
  return fsched_schedule_svg(cli->ctx, source->schedule, NULL, text, length);
}

static fs_status emit_trace(fs_cli *cli, const fs_emit_source *source, char **text,
                            size_t *length) {
  fsched_trace_options o = {.size = sizeof o};
  FS_TRY(fs_cli_tick(cli, &o.tick_ps));
  return fsched_program_trace(cli->ctx, source->program, &o, text, length);
}

static fs_status emit_lp(fs_cli *cli, const fs_emit_source *source, char **text, size_t *length) {
  return fsched_compile_model(cli->ctx, source->graph, source->options, FSCHED_MODEL_LP, text,
                              length);
}

static fs_status emit_mps(fs_cli *cli, const fs_emit_source *source, char **text, size_t *length) {
  return fsched_compile_model(cli->ctx, source->graph, source->options, FSCHED_MODEL_MPS, text,
                              length);
}

/* Makes only the source, named after the graph; fs_emit_write handles results with a header. */
static fs_status emit_c(fs_cli *cli, const fs_emit_source *source, char **text, size_t *length) {
  fsched_c_options o = {.size = sizeof o, .symbol = fs_args_last(&cli->args, FS_OPTION_SYMBOL)};
  return fsched_program_c(cli->ctx, source->program, &o, text, length, NULL, NULL);
}

static const struct {
  fs_emitter emit;
  bool before, named;
} kinds[] = {
#define FS_EMIT(name, before, named, what) {emit_##name, before, named},
#include "cli/common/emit.def"
#undef FS_EMIT
};

static const char kinds_with_bar[] =
#define FS_EMIT(name, before, named, what) "|" #name
#include "cli/common/emit.def"
#undef FS_EMIT
    ;
static const char *const emit_words = kinds_with_bar + 1;

/* Sets the symbol, and, if the source is written to a plain file, the header's path and by default
 * a symbol from the file's name. */
static fs_status name_c(fs_cli *cli, fs_emit *emit) {
  emit->symbol = fs_args_last(&cli->args, FS_OPTION_SYMBOL);
  if (emit->symbol != NULL && !fs_c_name_valid(emit->symbol)) {
    return fs_usage(cli->ctx, "letters, digits and underscores, a letter first, and no keyword",
                    "'%s' is no name for --symbol in C and C++", emit->symbol);
  }
  if (!fs_cli_is_file(emit->path)) {
    return FSCHED_OK;
  }
  emit->header = fs_cli_with_suffix(cli, emit->path, NULL, ".h");
  const char *slash = strrchr(emit->path, '/');
  const char *name = slash == NULL ? emit->path : slash + 1;
  if (emit->header != NULL && emit->symbol == NULL) {
    size_t stem = strlen(emit->header) - strlen(".h") - (size_t)(name - emit->path);
    emit->symbol = fs_c_name_make(&cli->arena, name, stem, FS_C_SUFFIX);
  }
  return emit->header == NULL || emit->symbol == NULL ? FSCHED_SYSTEM : FSCHED_OK;
}

/* Parses KIND=FILE; the table of options ensures that there is a "=". */
static fs_status parse_one(fs_cli *cli, const char *value, fs_emit *out) {
  const char *equals = strchr(value, '=');
  const char *kind = fs_arena_strndup(&cli->arena, value, (size_t)(equals - value));
  if (kind == NULL) {
    return FSCHED_SYSTEM;
  }
  *out = (fs_emit){.kind = fs_choice_index(emit_words, kind), .path = equals + 1};
  if (out->kind == FS_NONE) {
    return fs_usage(cli->ctx, fs_nearest_hint(&cli->arena, emit_words, kind),
                    "--emit knows %s, not '%s'", emit_words, kind);
  }
  if (*out->path == '\0') {
    return fs_usage(cli->ctx, NULL, "--emit %s= names no file", kind);
  }
  return kinds[out->kind].named ? name_c(cli, out) : FSCHED_OK;
}

fs_status fs_emit_parse(fs_cli *cli, fs_emit **emit, size_t *n) {
  const char *const *values;
  FS_TRY(fs_args_all(&cli->arena, &cli->args, FS_OPTION_EMIT, &values, n));
  FS_TRY(fs_new(&cli->arena, emit, *n + 1));
  bool with_c = false;
  for (size_t i = 0; i < *n; i++) {
    FS_TRY(parse_one(cli, values[i], &(*emit)[i]));
    with_c = with_c || kinds[(*emit)[i].kind].named;
  }
  if (!with_c && fs_args_has(&cli->args, FS_OPTION_SYMBOL)) {
    return fs_usage(cli->ctx, NULL, "--symbol needs --emit c=FILE: there is nothing to be named");
  }
  return FSCHED_OK;
}

/* Writes the header before the source: a build rule whose target is the source finds both. */
static fs_status write_c(fs_cli *cli, const fs_emit *emit, const fsched_program *program) {
  fsched_c_options o = {.size = sizeof o, .symbol = emit->symbol};
  char *source, *header;
  size_t source_length, header_length;
  FS_TRY(fsched_program_c(cli->ctx, program, &o, &source, &source_length, &header, &header_length));
  fs_status status = fs_file_write(cli->ctx, emit->header, header, header_length);
  if (status == FSCHED_OK) {
    status = fs_file_write(cli->ctx, emit->path, source, source_length);
  }
  fsched_text_free(cli->ctx, source, source_length);
  fsched_text_free(cli->ctx, header, header_length);
  return status;
}

fs_status fs_emit_before(fs_cli *cli, fs_emit *emit, size_t n, const fs_emit_source *source) {
  for (size_t i = 0; i < n; i++) {
    if (kinds[emit[i].kind].before) {
      FS_TRY(kinds[emit[i].kind].emit(cli, source, &emit[i].text, &emit[i].length));
    }
  }
  return FSCHED_OK;
}

void fs_emit_drop(fs_cli *cli, fs_emit *emit, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (emit[i].text != NULL) {
      fsched_text_free(cli->ctx, emit[i].text, emit[i].length);
      emit[i].text = NULL;
    }
  }
}

fs_status fs_emit_write(fs_cli *cli, const fs_emit *emit, const fs_emit_source *source) {
  assert(emit->path != NULL && source != NULL);
  if (emit->header != NULL) {
    return write_c(cli, emit, source->program);
  }
  if (emit->text != NULL) {
    return fs_file_write(cli->ctx, emit->path, emit->text, emit->length);
  }
  char *text = NULL;
  size_t length = 0;
  FS_TRY(kinds[emit->kind].emit(cli, source, &text, &length));
  fs_status status = fs_file_write(cli->ctx, emit->path, text, length);
  fsched_text_free(cli->ctx, text, length);
  return status;
}
