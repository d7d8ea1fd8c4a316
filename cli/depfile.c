/* SPDX-License-Identifier: Apache-2.0 */
#include "depfile.h"

#include "file.h"
#include "fsched/compile.h"

bool fs_depfile_is_file(const char *graph_file) {
  return !fs_cli_is_std(graph_file) && graph_file[0] != '<';
}

/* A file name as make reads it. */
static void put_name(fs_text *t, const char *name) {
  for (; *name != '\0'; name++) {
    fs_text_puts(t, *name == '$' ? "$" : *name == ' ' || *name == '#' ? "\\" : "");
    fs_text_add(t, name, 1);
  }
}

fs_status fs_depfile_write(fs_cli *cli, const char *path, const char *target,
                           const fsched_graph *graph) {
  fs_text t;
  fs_text_init(&t, cli->ctx);
  put_name(&t, target);
  fs_text_puts(&t, ":");
  for (uint32_t i = 0; i < fsched_graph_files(graph); i++) {
    const char *name = fsched_graph_file(graph, i);
    if (fs_depfile_is_file(name)) {
      fs_text_puts(&t, " ");
      put_name(&t, name);
    }
  }
  fs_text_puts(&t, "\n");
  char *text = NULL;
  size_t length = 0;
  FS_TRY(fs_text_take(&t, &text, &length));
  fs_status status = fs_file_write(cli->ctx, path, text, length);
  fsched_text_free(cli->ctx, text, length);
  return status;
}
