/* SPDX-License-Identifier: Apache-2.0 */
/* A program as C source and header.
 *
 * Compilers take string literals several times faster, and in far less memory, than lists of
 * numbers (a stream of 60 MB: 10 seconds instead of 90, 0.8 GB instead of 6).  But a literal of C99
 * has at most 4,095 characters, and ends with a zero byte of its own, which C++ does not allow to
 * be cut off.  The stream therefore becomes a struct of arrays, each initialised by one literal,
 * and is cut behind zero bytes: that of a literal's end stands for the last byte of a piece.
 *
 *   stream    66 73 63 00 01 00 00 00 | 07 41 42 43 00 ...
 *   members   unsigned char c0[8];      unsigned char c1[5]; ...
 *   values    "\146\163\143\0\1"        "\7\101\102\103" ...        the rest of an array is zero
 *
 * Streams are full of zero bytes; a long piece without one (a very long name) becomes a list of
 * numbers.  Every byte is an octal escape, so that neither trigraphs nor the compiler's character
 * set can change it, and an escape of one digit is never followed by a digit.
 *
 * A struct of arrays of bytes has no padding, and a union with a 64-bit word aligns it.  The bytes
 * are the same on any machine; on a machine that is not little-endian, the check of the stream
 * refuses them. */
#include "base/context.h"
#include "base/mem.h"
#include "base/text/c_name.h"
#include "base/text/plural.h"
#include "fsched/compile.h"
#include "model/stream/stream.h"

enum {
  PIECE = 4000, /* bytes of the stream in a literal */
  LINE = 24,    /* bytes in a line of the source */
  NAME_SHOWN = 60
};

/* One member of the struct: bytes [begin, end) of the stream; its literal holds the bytes up to
 * `shown`. */
typedef struct text_piece {
  size_t begin, end, shown;
  bool literal;
} text_piece;

/* The piece from `begin` on, which ends at the last zero byte within reach. */
static text_piece next_piece(const unsigned char *bytes, size_t size, size_t begin) {
  size_t reach = begin + fs_min(PIECE, size - begin), end = reach;
  while (end > begin && bytes[end - 1] != 0) {
    end--;
  }
  if (end == begin) {
    return (text_piece){begin, reach, reach, false};
  }
  size_t shown = end;
  while (shown > begin && bytes[shown - 1] == 0) {
    shown--;
  }
  return (text_piece){begin, end, shown, true};
}

/* ---- the text around the bytes */

/* Writes a name into a comment, without text that ends the comment or begins another one,
 * trigraphs, control characters, or U+2000 to U+207F (marks of writing direction are among
 * these). */
static void put_name(fs_text *t, const char *name) {
  for (size_t i = 0; name[i] != '\0'; i++) {
    unsigned char c = (unsigned char)name[i], next = (unsigned char)name[i + 1];
    if (i >= NAME_SHOWN && (c & 0xC0) != 0x80) {
      fs_text_puts(t, "...");
      return;
    }
    if (c == 0xE2 && (next == 0x80 || next == 0x81)) {
      fs_text_puts(t, ".");
      i += 2;
    } else if (c == 0xC2 && next < 0xA0) {
      fs_text_puts(t, ".");
      i++;
    } else if (c < 0x20 || c == 0x7F || c == '*' || c == '?' || c == '\\') {
      fs_text_puts(t, ".");
    } else {
      fs_text_add(t, &name[i], 1);
    }
  }
}

static void put_title(fs_text *t, const fs_stream *v) {
  const char *unit = fs_stream_string(v, v->meta->time_unit);
  fs_text_puts(t, "/* Made by fsched; do not edit.  The command stream of graph ");
  put_name(t, v->strings + v->meta->name);
  fs_text_puts(t, ":\n * ");
  fs_text_count(t, v->n_ops, "op");
  fs_text_puts(t, ", ");
  fs_text_count(t, v->n_commands, "command");
  fs_text_puts(t, " on ");
  fs_text_count(t, v->n_queues, "queue");
  fs_text_puts(t, ", makespan ");
  fs_text_u64(t, v->meta->makespan);
  if (unit != NULL) {
    fs_text_puts(t, " ");
    put_name(t, unit);
  }
  fs_text_puts(t, ". */\n");
}

static void put_declarations(fs_text *t, const char *symbol) {
  fs_text_printf(t,
                 "#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
                 "extern const struct %s_bytes %s;\n"
                 "extern const size_t %s_size;\n"
                 "#ifdef __cplusplus\n}\n#endif\n",
                 symbol, symbol, symbol);
}

/* ---- the bytes */

static void put_literal(fs_text *t, const unsigned char *bytes, const text_piece *piece) {
  char line[4 * LINE + 4]; /* escapes, two quotes and the newline */
  size_t at = piece->begin;
  do {
    size_t n = 0;
    line[n++] = '"';
    for (size_t end = fs_min(at + LINE, piece->shown); at < end; at++) {
      unsigned c = bytes[at];
      line[n++] = '\\';
      if (c >= 64) {
        line[n++] = (char)('0' + c / 64);
      }
      if (c >= 8) {
        line[n++] = (char)('0' + c / 8 % 8);
      }
      line[n++] = (char)('0' + c % 8);
    }
    line[n++] = '"';
    line[n++] = at < piece->shown ? '\n' : ',';
    fs_text_add(t, line, n);
  } while (at < piece->shown);
  fs_text_puts(t, "\n");
}

static void put_numbers(fs_text *t, const unsigned char *bytes, const text_piece *piece) {
  for (size_t i = piece->begin; i < piece->end; i++) {
    fs_text_puts(t, i == piece->begin ? "{" : (i - piece->begin) % LINE == 0 ? ",\n" : ",");
    fs_text_u64(t, bytes[i]);
  }
  fs_text_puts(t, "},\n");
}

static void put_struct(fs_text *t, const unsigned char *bytes, size_t size, const char *symbol) {
  fs_text_printf(t, "\nstruct %s_bytes {\n  union {\n    struct {\n", symbol);
  uint64_t n = 0;
  for (size_t at = 0; at < size; n++) {
    text_piece piece = next_piece(bytes, size, at);
    fs_text_puts(t, "      unsigned char c");
    fs_text_u64(t, n);
    fs_text_puts(t, "[");
    fs_text_u64(t, piece.end - at);
    fs_text_puts(t, "];\n");
    at = piece.end;
  }
  fs_text_puts(t, "    } bytes;\n    uint64_t word; /* aligns */\n  } stream;\n};\n");
}

static void put_values(fs_text *t, const unsigned char *bytes, size_t size, const char *symbol) {
  fs_text_printf(t, "\nconst struct %s_bytes %s = {{{\n", symbol, symbol);
  for (size_t at = 0; at < size;) {
    text_piece piece = next_piece(bytes, size, at);
    if (piece.literal) {
      put_literal(t, bytes, &piece);
    } else {
      put_numbers(t, bytes, &piece);
    }
    at = piece.end;
  }
  fs_text_printf(t, "}}};\nconst size_t %s_size = %zu;\n", symbol, size);
}

/* ---- source and header */

static fs_status make_source(fsched_context *ctx, const fsched_program *p, const char *symbol,
                             char **text, size_t *length) {
  const unsigned char *bytes = p->bytes;
  fs_text t;
  fs_text_init(&t, ctx);
  put_title(&t, &p->view);
  fs_text_puts(&t, "#include <stddef.h>\n#include <stdint.h>\n\n");
  put_declarations(&t, symbol);
  put_struct(&t, bytes, p->size, symbol);
  put_values(&t, bytes, p->size, symbol);
  return fs_text_take(&t, text, length);
}

static fs_status make_header(fsched_context *ctx, const fsched_program *p, const char *symbol,
                             char **text, size_t *length) {
  fs_text t;
  fs_text_init(&t, ctx);
  put_title(&t, &p->view);
  fs_text_printf(&t, "#ifndef FSCHED_C_%s_H\n#define FSCHED_C_%s_H\n\n#include <stddef.h>\n\n",
                 symbol, symbol);
  fs_text_printf(&t,
                 "/* For use in place, with fsched/program.h:\n"
                 " *   fsched_program_borrow(ctx, name,\n"
                 " *                         &%s, %s_size, &program) */\n",
                 symbol, symbol);
  put_declarations(&t, symbol);
  fs_text_puts(&t, "\n#endif\n");
  return fs_text_take(&t, text, length);
}

static const char *choose_symbol(fs_arena *arena, const fsched_program *p,
                                 const fsched_c_options *o) {
  if (o != NULL && o->symbol != NULL) {
    return o->symbol;
  }
  const char *name = fs_stream_string(&p->view, p->view.meta->name);
  return fs_c_name_make(arena, name, strlen(name), FS_C_SUFFIX);
}

static fs_status emit(fsched_context *ctx, const fsched_program *p, const char *symbol,
                      char **source, size_t *source_length, char **header, size_t *header_length) {
  if (!fs_c_name_valid(symbol)) {
    return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                   "'%s' is not a name that an object may have in C and C++", symbol);
  }
  char *text = NULL;
  size_t length = 0;
  if (source != NULL) {
    FS_TRY(make_source(ctx, p, symbol, &text, &length));
  }
  if (header != NULL) {
    fs_status status = make_header(ctx, p, symbol, header, header_length);
    if (status != FSCHED_OK) {
      fsched_text_free(ctx, text, length);
      return status;
    }
  }
  if (source != NULL) {
    *source = text;
    *source_length = length;
  }
  return FSCHED_OK;
}

fs_status fsched_program_c(fsched_context *ctx, const fsched_program *p,
                           const fsched_c_options *options, char **source, size_t *source_length,
                           char **header, size_t *header_length) {
  if (options != NULL) {
    FS_TRY(fs_check_options(ctx, "fsched_c_options", options->size,
                            FS_SIZE_UP_TO(fsched_c_options, symbol)));
  }
  FS_SCRATCH(arena, ctx);
  const char *symbol = choose_symbol(&arena, p, options);
  return symbol == NULL ? FSCHED_SYSTEM
                        : emit(ctx, p, symbol, source, source_length, header, header_length);
}
