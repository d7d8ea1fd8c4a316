/* SPDX-License-Identifier: Apache-2.0 */
/* Under a confining rule, absolute names and names with `..` are refused before the file
 * system is looked at, so that a refusal does not reveal which files exist. */
#include "exec/host/module_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/files/confine.h"

static const char hint[] =
    "--modules DIR allows those of a directory, --trust-modules any (in a program of your own: "
    "fsched_device_options)";

fs_module_rule fs_module_rule_of(const fsched_device_options *options) {
  bool trusted = options != NULL && options->trust_modules != 0;
  const char *directory = options == NULL ? NULL : options->modules;
  return (fs_module_rule){.directory = directory == NULL ? "." : directory,
                          .closed = directory == NULL && !trusted,
                          .confined = !trusted};
}

static fs_status refuse_file(fsched_context *ctx, const char *op, const char *module,
                             const char *why) {
  return fs_fail(ctx, FSCHED_REPLAY, FS_DIAG_REPLAY_KERNEL, FS_NOWHERE, hint,
                 "op '%s': module '%s' is not opened: %s", op, module, why);
}

static bool is_complete(const char *module) {
  const char *slash = strrchr(module, '/');
  return strchr(slash == NULL ? module : slash, '.') != NULL;
}

/* Makes the path of a module.  False: there is no such file; errno says why. */
static bool join_path(const fs_module_rule *rule, const char *module, const char *ending,
                      char file[FS_MODULE_PATH]) {
  bool absolute = module[0] == '/';
  int n = snprintf(file, FS_MODULE_PATH, "%s%s%s%s", absolute ? "" : rule->directory,
                   absolute ? "" : "/", module, ending);
  if (n < 0 || n >= FS_MODULE_PATH) {
    errno = ENAMETOOLONG;
    return false;
  }
  struct stat s;
  return stat(file, &s) == 0;
}

/* Replaces the file's name by its real path, if that lies in the directory. */
static fs_status confine(fsched_context *ctx, const fs_module_rule *rule, const char *op,
                         const char *module, char file[FS_MODULE_PATH]) {
  char real[PATH_MAX];
  switch (fs_confine_path(rule->directory, file, real)) {
    case FS_CONFINED:
      break;
    case FS_CONFINED_KIND:
      return refuse_file(ctx, op, module, "it is no regular file");
    case FS_CONFINED_SYSTEM:
      return refuse_file(ctx, op, module, strerror(errno));
    case FS_CONFINED_NAME:
    case FS_CONFINED_LINK:
      return refuse_file(ctx, op, module, "a link leads out of the modules' directory");
  }
  (void)snprintf(file, FS_MODULE_PATH, "%s", real);
  return FSCHED_OK;
}

/* " with .cubin, .fatbin or .ptx" */
static const char *list_endings(const char *const *endings, char *text, size_t room) {
  size_t n = 0;
  text[0] = '\0';
  for (size_t i = 0; endings[i] != NULL && n < room; i++) {
    const char *between = i == 0 ? " with " : endings[i + 1] == NULL ? " or " : ", ";
    n += (size_t)snprintf(text + n, room - n, "%s%s", between, endings[i]);
  }
  return text;
}

fs_status fs_module_file(fsched_context *ctx, const fs_module_rule *rule, const char *op,
                         const char *module, const char *const *endings,
                         char file[FS_MODULE_PATH]) {
  assert(op != NULL && module != NULL && endings != NULL);
  static const char *const none[] = {"", NULL};
  if (rule->closed) {
    return refuse_file(ctx, op, module, "modules are code, and none is allowed");
  }
  if (rule->confined && fs_confine_name(module) != FS_CONFINED) {
    return refuse_file(ctx, op, module, "it lies outside of the modules' directory");
  }
  char with[80];
  bool there = false;
  for (const char *const *e = is_complete(module) ? none : endings; *e != NULL && !there; e++) {
    there = join_path(rule, module, *e, file);
  }
  if (!there) {
    const char *why = strerror(errno);
    return fs_fail(ctx, FSCHED_REPLAY, FS_DIAG_REPLAY_KERNEL, FS_NOWHERE, NULL,
                   "op '%s': cannot open module '%s' in '%s'%s: %s", op, module, rule->directory,
                   list_endings(is_complete(module) ? none + 1 : endings, with, sizeof with), why);
  }
  return rule->confined ? confine(ctx, rule, op, module, file) : FSCHED_OK;
}
