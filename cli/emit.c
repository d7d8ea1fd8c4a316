/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of --emit: a row in emit.def and a function here. */
#include "emit.h"

#include "file.h"

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

static const fs_emitter emitters[] = {
#define FS_EMIT(name, what) emit_##name,
#include "emit.def"
#undef FS_EMIT
};

static const char kinds_with_bar[] =
#define FS_EMIT(name, what) "|" #name
#include "emit.def"
#undef FS_EMIT
    ;
const char *const fs_emit_kinds = kinds_with_bar + 1;

/* KIND=FILE; that there is a "=" the table of options has seen to. */
static fs_status parse_one(fs_cli *cli, const char *value, fs_emit *out) {
  const char *equals = strchr(value, '=');
  const char *kind = fs_arena_strndup(&cli->arena, value, (size_t)(equals - value));
  if (kind == NULL) {
    return FSCHED_SYSTEM;
  }
  *out = (fs_emit){fs_choice_index(fs_emit_kinds, kind), equals + 1};
  if (out->kind == FS_NONE) {
    return fs_usage(cli->ctx, fs_nearest_hint(&cli->arena, fs_emit_kinds, kind),
                    "--emit knows %s, not '%s'", fs_emit_kinds, kind);
  }
  if (*out->path == '\0') {
    return fs_usage(cli->ctx, NULL, "--emit %s= names no file", kind);
  }
  return FSCHED_OK;
}

fs_status fs_emit_parse(fs_cli *cli, fs_emit **emit, size_t *n) {
  const char *const *values;
  FS_TRY(fs_args_all(&cli->arena, &cli->args, FS_OPTION_EMIT, &values, n));
  FS_TRY(fs_new(&cli->arena, emit, *n + 1));
  for (size_t i = 0; i < *n; i++) {
    FS_TRY(parse_one(cli, values[i], &(*emit)[i]));
  }
  return FSCHED_OK;
}

fs_status fs_emit_write(fs_cli *cli, const fs_emit *emit, const fs_emit_source *source) {
  char *text = NULL;
  size_t length = 0;
  FS_TRY(emitters[emit->kind](cli, source, &text, &length));
  fs_status status = fs_file_write(cli->ctx, emit->path, text, length);
  fsched_text_free(cli->ctx, text, length);
  return status;
}
