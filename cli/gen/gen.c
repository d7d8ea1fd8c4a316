/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/gen/gen.h"

#include <stdio.h>
#include <stdlib.h>

#include "fsched/compile.h"

char *gen_read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  size_t cap = 1 << 16, n = 0;
  char *text = malloc(cap + 1);
  while (file != NULL && text != NULL) {
    size_t got = fread(text + n, 1, cap - n, file);
    n += got;
    if (got == 0) {
      break;
    }
    if (n == cap) {
      cap *= 2;
      text = realloc(text, cap + 1);
    }
  }
  bool good = file != NULL && text != NULL && !ferror(file);
  if (file != NULL) {
    (void)fclose(file);
  }
  if (!good) {
    free(text);
    return NULL;
  }
  text[n] = '\0';
  return text;
}

static bool make_page(fs_text *t, const char *path, const char *date) {
  char *source = gen_read_file(path);
  if (source == NULL) {
    perror(path);
    return false;
  }
  bool good = gen_page(t, path, source, date);
  free(source);
  return good;
}

static bool make_file(fs_text *t, int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "page") == 0 && argc == 4) {
    return make_page(t, argv[2], argv[3]);
  }
  if (strcmp(what, "bash") == 0) {
    gen_bash(t);
  } else if (strcmp(what, "zsh") == 0) {
    gen_zsh(t);
  } else if (strcmp(what, "fish") == 0) {
    gen_fish(t);
  } else {
    fputs("usage: gen page FILE DATE | bash | zsh | fish\n", stderr);
    return false;
  }
  return true;
}

int main(int argc, char **argv) {
  fsched_context *ctx;
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    return 1;
  }
  fs_text t;
  fs_text_init(&t, ctx);
  bool good = make_file(&t, argc, argv) && !t.failed && fwrite(t.at, 1, t.n, stdout) == t.n &&
              fflush(stdout) == 0;
  fs_text_drop(&t);
  fsched_context_destroy(ctx);
  return good ? 0 : 1;
}
