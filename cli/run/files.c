/* SPDX-License-Identifier: Apache-2.0 */
/* Reads inputs from files, and writes outputs to files. */
#include <stdio.h>

#include "base/names.h"
#include "base/text/array_file.h"
#include "cli/run/run.h"
#include "model/stream/stream.h"

static const fs_stream_buffer *find_buffer(const fs_stream *s, const char *name) {
  for (uint32_t b = 0; b < s->n_buffers; b++) {
    if (strcmp(fs_stream_string(s, s->buffers[b].name), name) == 0) {
      return &s->buffers[b];
    }
  }
  return NULL;
}

static bool buffer_fits(const fs_stream_buffer *b, bool input) {
  return input ? fs_io_is_input(b->io) : fs_io_is_output(b->io);
}

/* The hint for a buffer that is not of the wanted kind: how it can be given or taken. */
static const char *other_use(const fs_stream_buffer *b) {
  switch ((fsched_io)b->io) {
    case FSCHED_IO_INPUT:
      return "it is an input: --input NAME=FILE";
    case FSCHED_IO_CONSTANT:
      return "it is a constant: --input NAME=FILE";
    case FSCHED_IO_OUTPUT:
      return "it is an output: --output NAME=FILE";
    case FSCHED_IO_STATE:
      return "it is state, which only a program of your own can read and write (libfsched(3))";
    case FSCHED_IO_NONE:
      break;
  }
  return "it is neither input nor output of the graph, which 'io' of the buffer says";
}

/* A hint on why a buffer cannot be read from or written to a file; NULL: none is known. */
static const char *advice(fs_cli *cli, const fs_stream *s, const char *name, bool input) {
  const fs_stream_buffer *b = find_buffer(s, name);
  const char **candidate;
  size_t n = 0;
  if (b != NULL) {
    return other_use(b);
  }
  if (fs_new(&cli->arena, &candidate, s->n_buffers) != FSCHED_OK) {
    return NULL;
  }
  for (uint32_t i = 0; i < s->n_buffers; i++) {
    if (buffer_fits(&s->buffers[i], input)) {
      candidate[n++] = fs_stream_string(s, s->buffers[i].name);
    }
  }
  const char *nearest = fs_nearest(name, candidate, n);
  size_t room = nearest == NULL ? 0 : sizeof "did you mean ''?" + strlen(nearest);
  char *hint = nearest == NULL ? NULL : fs_arena_alloc(&cli->arena, room);
  if (hint != NULL) {
    (void)snprintf(hint, room, "did you mean '%s'?", nearest);
  }
  return hint;
}

static fs_status check_file(fs_cli *cli, const fs_stream *s, const fs_run_file *f, bool input) {
  const fs_stream_buffer *b = find_buffer(s, f->name);
  return b != NULL && buffer_fits(b, input)
             ? FSCHED_OK
             : fs_usage(cli->ctx, advice(cli, s, f->name, input), "the program has no %s '%s'",
                        input ? "input or constant" : "output", f->name);
}

fs_status fs_run_read_files(fs_cli *cli, const fsched_program *program, fs_run *run) {
  const fs_stream *s = &program->view;
  fs_status status = FSCHED_OK;
  for (uint32_t i = 0; i < run->n_files; i++) {
    fs_status one = check_file(cli, s, &run->file[i], i < run->n_inputs);
    status = one == FSCHED_OK ? status : one;
  }
  FS_TRY(status);
  FS_TRY(fs_new_zero(&cli->arena, &run->bindings, run->n_files));
  for (uint32_t i = 0; i < run->n_files; i++) {
    fs_run_file *f = &run->file[i];
    f->bytes = find_buffer(s, f->name)->io_size;
    FS_TRY(fs_new_zero(&cli->arena, &f->data, f->bytes)); /* bytes that no command writes are
                                                           * zero */
    if (i < run->n_inputs) {
      FS_TRY(fs_array_file_read(cli->ctx, f->path, f->bytes, f->data));
    }
    run->bindings[i] = (fsched_binding){.buffer = f->name, .data = f->data, .bytes = f->bytes};
  }
  run->replay.bindings = run->bindings;
  run->replay.n_bindings = run->n_files;
  return FSCHED_OK;
}

fs_status fs_run_write_files(fs_cli *cli, const fs_run *run) {
  for (uint32_t i = run->n_inputs; i < run->n_files; i++) {
    const fs_run_file *f = &run->file[i];
    FS_TRY(fs_array_file_write(cli->ctx, f->path, f->data, f->bytes, NULL));
  }
  return FSCHED_OK;
}
