/* SPDX-License-Identifier: Apache-2.0 */
/* A module is loaded once, however many of its kernels are used.  A kernel is checked against each
 * op that runs it, since the number of its parameters must be the number of the op's args, and one
 * more for each strided view among them and for its own block of parameters. */
#include "exec/cuda/modules.h"

#include <stdio.h>

#include "base/files/file.h"
#include "exec/cuda/views.h"
#include "model/stream/views.h"

enum { PARAM_BYTES = 8, LOG_BYTES = 2048 };

typedef struct loader {
  fsched_context *ctx;
  const fs_cuda_device *device;
  const fs_stream *s;
  fs_module_rule rule;
  fs_cuda_modules *m;
  const char *op; /* the op at hand, and what its args are */
  uint32_t n_args;
  fs_cuda_args args; /* of its first call */
  fs_tag_counts tags;
  const fs_stream_kernel *kernel;
  uint32_t index; /* the kernel's */
} loader;

static fs_status refuse_module(const loader *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static fs_status refuse_module(const loader *l, const char *format, ...) {
  char text[400];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return fs_fail(l->ctx, FSCHED_REPLAY, FS_DIAG_REPLAY_KERNEL, FS_NOWHERE, NULL, "op '%s': %s",
                 l->op, text);
}

/* The first line of the compiler's log that is not empty. */
static const char *first_line(char *log) {
  char *line = log + strspn(log, " \t\r\n");
  line[strcspn(line, "\r\n")] = '\0';
  return line;
}

static fs_status load_image(const loader *l, const char *path, const char *image,
                            fs_cu_module *module) {
  const fs_cuda *d = &l->device->cuda;
  char log[LOG_BYTES] = "", text[200];
  fs_cu_jit_option options[] = {FS_CU_JIT_ERROR_LOG, FS_CU_JIT_ERROR_LOG_SIZE};
  void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1)};
  fs_cu_result result = d->api.cuModuleLoadDataEx(module, image, 2, options, values);
  if (result == FS_CU_SUCCESS) {
    return FSCHED_OK;
  }
  const char *line = first_line(log);
  fs_cuda_describe(d, "cuModuleLoadDataEx", result, text, sizeof text);
  *module = NULL;
  return refuse_module(l, "module '%s' cannot be loaded: %s%s%s", path, text,
                       *line == '\0' ? "" : "; ", line);
}

static fs_status load_module(const loader *l, const char *path, fs_cu_module *module) {
  /* The forms that leave the driver less to do come first. */
  static const char *const endings[] = {".cubin", ".fatbin", ".ptx", NULL};
  char *image, file[FS_MODULE_PATH];
  size_t length;
  FS_TRY(fs_module_file(l->ctx, &l->rule, l->op, path, endings, file));
  FS_TRY(fs_file_read(l->ctx, file, &image, &length));
  fs_status status = load_image(l, path, image, module);
  (void)fs_realloc(l->ctx, image, length + 1, 0);
  return status;
}

/* Finds the module of that path, and loads it when it is met for the first time.  A module that
 * cannot be loaded is reported once. */
static fs_status find_module(const loader *l, fs_cu_module *module) {
  const char *path = fs_stream_string(l->s, l->kernel->module);
  fs_cuda_modules *m = l->m;
  uint32_t i = 0;
  while (i < m->n && strcmp(fs_stream_string(l->s, m->path[i]), path) != 0) {
    i++;
  }
  if (i == m->n) {
    m->path[i] = l->kernel->module;
    m->module[i] = NULL;
    m->status[i] = load_module(l, path, &m->module[i]);
    m->n++;
  }
  *module = m->module[i];
  return m->status[i];
}

/* What a parameter has to be. */
typedef enum param_kind { PARAM_ARG, PARAM_VIEW, PARAM_BLOCK } param_kind;

static fs_status check_size(const loader *l, param_kind kind, uint32_t n, size_t size) {
  const char *name = fs_stream_string(l->s, l->kernel->function);
  uint32_t block = l->m->kernel[l->index].n_params;
  switch (kind) {
    case PARAM_ARG:
      return size <= PARAM_BYTES
                 ? FSCHED_OK
                 : refuse_module(
                       l, "parameter %u of '%s' has %zu bytes, not those of an address or a number",
                       n, name, size);
    case PARAM_VIEW:
      return size == sizeof(fsched_kernel_view)
                 ? FSCHED_OK
                 : refuse_module(l,
                                 "parameter %u of '%s' has %zu bytes, and as the shape of the "
                                 "strided view before it %zu",
                                 n, name, size, sizeof(fsched_kernel_view));
    case PARAM_BLOCK:
      return size == block
                 ? FSCHED_OK
                 : refuse_module(
                       l, "the last parameter of '%s' has %zu bytes, the kernel's 'params' %u",
                       name, size, block);
  }
  return FSCHED_OK;
}

/* Checks the parameters: the driver reads as many as the function has. */
static fs_status check_params(const loader *l, fs_cu_function function) {
  const fs_cuda *d = &l->device->cuda;
  const char *name = fs_stream_string(l->s, l->kernel->function);
  bool block = l->m->kernel[l->index].n_params > 0, behind = false;
  uint32_t n_views = fs_cuda_count_views(l->s, l->args);
  uint32_t n_args = l->n_args + n_views + block, n = 0, arg = 0;
  size_t offset, size;
  if (d->api.cuFuncGetParamInfo == NULL) {
    return FSCHED_OK;
  }
  while (n <= n_args && d->api.cuFuncGetParamInfo(function, n, &offset, &size) == FS_CU_SUCCESS) {
    param_kind kind = behind ? PARAM_VIEW : block && n + 1 == n_args ? PARAM_BLOCK : PARAM_ARG;
    FS_TRY(check_size(l, kind, n, size));
    behind = kind == PARAM_ARG && arg < l->n_args && fs_cuda_view_of(l->s, l->args, arg) != NULL;
    arg += kind == PARAM_ARG;
    n++;
  }
  return n == n_args
             ? FSCHED_OK
             : refuse_module(l, "'%s' has %s parameters than the op has args, which are %u%s%s",
                             name, n < n_args ? "fewer" : "more", l->n_args,
                             n_views > 0 ? ", the shapes of its views" : "",
                             block ? ", and its 'params'" : "");
}

static fs_status check_launch(const loader *l, fs_cu_function function) {
  const fs_stream_kernel *k = l->kernel;
  const fs_cuda_device *device = l->device;
  uint64_t threads = 1;
  for (unsigned i = 0; i < 3; i++) {
    if (k->grid[i] == 0 || k->grid[i] > (uint32_t)device->most_grid[i] || k->block[i] == 0 ||
        k->block[i] > (uint32_t)device->most_block[i]) {
      return refuse_module(
          l, "the device takes grids up to %d x %d x %d and blocks up to %d x %d x %d",
          device->most_grid[0], device->most_grid[1], device->most_grid[2], device->most_block[0],
          device->most_block[1], device->most_block[2]);
    }
    threads *= k->block[i];
  }
  if (threads > (uint32_t)device->most_threads) {
    return refuse_module(l, "a block of %llu threads, the device takes %d",
                         (unsigned long long)threads, device->most_threads);
  }
  if (k->shared_bytes > (uint32_t)device->most_shared) {
    return refuse_module(l, "%llu bytes of shared memory, the device has %d",
                         (unsigned long long)k->shared_bytes, device->most_shared);
  }
  /* The limit is set on the function, which several kernels of the stream may launch with different
   * sizes, so it is their largest; without one, the driver's limit holds for static and dynamic
   * memory together. */
  uint64_t most = k->shared_bytes;
  for (uint32_t i = 0; i < l->s->n_kernels; i++) {
    bool same = l->m->kernel[i].function == function;
    most = fs_max(most, same ? l->s->kernels[i].shared_bytes : 0);
  }
  if (most > 0) {
    FS_CU_TRY(l->ctx, &device->cuda, cuFuncSetAttribute,
              (function, FS_CU_DYNAMIC_SHARED_BYTES, (int)most));
  }
  return FSCHED_OK;
}

static fs_status load_function(const loader *l, fs_cuda_kernel *kernel) {
  const char *name = fs_stream_string(l->s, l->kernel->function);
  fs_cu_module module;
  fs_cu_result result;
  FS_TRY(find_module(l, &module));
  FS_TRY(fs_cuda_function_load(l->ctx, l->device, module, name, &kernel->function, &result));
  if (result == FS_CU_NOT_FOUND) {
    return refuse_module(l, "module '%s' has no function '%s'",
                         fs_stream_string(l->s, l->kernel->module), name);
  }
  FS_TRY(check_params(l, kernel->function));
  return check_launch(l, kernel->function);
}

/* Loads the kernel of the op at hand, unless that runs `mix`. */
static fs_status load_kernel(loader *l, uint32_t index) {
  if (index == FS_NONE) {
    return FSCHED_OK;
  }
  l->kernel = &l->s->kernels[index];
  l->index = index;
  fs_cuda_kernel *kernel = &l->m->kernel[index];
  if (l->kernel->builtin == FS_NONE) {
    kernel->builtin = FS_BUILTINS;
    return kernel->function != NULL ? check_params(l, kernel->function) : load_function(l, kernel);
  }
  const char *name = fs_stream_string(l->s, l->kernel->builtin);
  kernel->builtin = fs_builtin_find(name);
  if (kernel->builtin == FS_BUILTINS) {
    return refuse_module(l, "there is no built-in kernel '%s'", name);
  }
  const char *wants = fs_builtin_refusal(kernel->builtin, &l->tags);
  if (wants != NULL) {
    return refuse_module(l, "the built-in kernel '%s' wants %s", name, wants);
  }
  kernel->function = l->device->function[kernel->builtin];
  return FSCHED_OK;
}

static fs_status load_for_op(loader *l, const fs_stream_op *op) {
  fs_status status = FSCHED_OK;
  l->op = fs_stream_string(l->s, op->name);
  for (uint32_t m = 0; m < fs_op_calls(op); m++) {
    fs_stream_member args = fs_op_call_args(l->s, op, m);
    l->n_args = args.n_args;
    l->args = (fs_cuda_args){args.arg0, args.n_args, false};
    l->tags = fs_count_tags(l->s, args);
    fs_status one = load_kernel(l, op->kernel);
    status = status == FSCHED_OK ? one : status;
  }
  return status;
}

static fs_status load_for_loop_op(loader *l, const fs_stream_loop_op *op) {
  fs_status status = FSCHED_OK;
  l->op = fs_stream_string(l->s, op->name);
  for (uint32_t m = 0; m < fs_loop_op_calls(op); m++) {
    fs_stream_member args = fs_loop_op_call_args(l->s, op, m);
    l->n_args = args.n_args;
    l->args = (fs_cuda_args){args.arg0, args.n_args, true};
    l->tags = (fs_tag_counts){0};
    for (uint32_t a = args.arg0; a < args.arg0 + args.n_args; a++) {
      fs_count_tag(&l->tags, l->s->loop_args[a].tag);
    }
    fs_status one = load_kernel(l, op->kernel);
    status = status == FSCHED_OK ? one : status;
  }
  return status;
}

fs_status fs_cuda_modules_load(fsched_context *ctx, fs_arena *arena, const fs_cuda_device *device,
                               const fs_stream *s, const fs_module_rule *rule,
                               const fs_cuda_host_ops *hosts, fs_cuda_modules *m) {
  assert(s->n_meta == 1);
  *m = (fs_cuda_modules){.device = device};
  loader l = {.ctx = ctx, .device = device, .s = s, .rule = *rule, .m = m};
  fs_status status = FSCHED_OK;
  FS_TRY(fs_new(arena, &m->module, s->n_kernels));
  FS_TRY(fs_new(arena, &m->path, s->n_kernels));
  FS_TRY(fs_new(arena, &m->status, s->n_kernels));
  FS_TRY(fs_new_zero(arena, &m->kernel, s->n_kernels));
  for (uint32_t k = 0; k < s->n_kernels; k++) {
    const char *text = fs_stream_string(s, s->kernels[k].params);
    m->kernel[k].n_params = text == NULL ? 0 : (uint32_t)fs_hex_bytes(text);
    FS_TRY(fs_new_zero(arena, &m->kernel[k].params, (size_t)fs_cuda_params_words(s, k) * 8));
    if (text != NULL) {
      fs_hex_decode(text, m->kernel[k].params);
    }
  }
  for (uint32_t i = 0; i < s->n_ops; i++) {
    fs_status one = hosts->op[i] == 1 ? FSCHED_OK : load_for_op(&l, &s->ops[i]);
    status = status == FSCHED_OK ? one : status;
  }
  for (uint32_t i = 0; i < s->n_loop_ops; i++) {
    fs_status one = hosts->loop_op[i] == 1 ? FSCHED_OK : load_for_loop_op(&l, &s->loop_ops[i]);
    status = status == FSCHED_OK ? one : status;
  }
  return status;
}

void fs_cuda_modules_release(fs_cuda_modules *m) {
  for (uint32_t i = 0; i < m->n; i++) {
    if (m->module[i] != NULL) {
      (void)m->device->cuda.api.cuModuleUnload(m->module[i]);
    }
  }
  m->n = 0;
}
