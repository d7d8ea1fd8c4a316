/* SPDX-License-Identifier: Apache-2.0 */
/* Callables: their kernels become the table of the workers, which is closed when these start. */
#include "base/mem.h"
#include "exec/dynamic/calls/private.h"

/* A function of the application. */
typedef struct found_function {
  fsched_kernel_fn call;
} found_function;

static int call_found(const fs_started_member *member, void *user) {
  return ((const found_function *)user)->call(member->call);
}

static fs_status copy_text(fsched_dynamic *d, const char *text, const char **copy) {
  *copy = fs_arena_strndup(&d->arena, text, strlen(text));
  return *copy == NULL ? FSCHED_SYSTEM : FSCHED_OK;
}

static fs_status use_function(fsched_dynamic *d, fsched_kernel_fn function, fs_task_kernel *out) {
  found_function *f;
  FS_TRY(fs_new(&d->arena, &f, 1));
  f->call = function;
  *out = (fs_task_kernel){.function = call_found, .user = f};
  return FSCHED_OK;
}

static fs_status use_module(fsched_dynamic *d, const char *callable, const fsched_kernel_desc *k,
                            fs_task_kernel *out) {
  static const char *const endings[] = {".so", NULL};
  const fsched_device_options trust = {.size = sizeof trust,
                                       .modules = d->options.modules,
                                       .trust_modules = d->options.trust_modules};
  fs_module_rule rule = fs_module_rule_of(&trust);
  char path[FS_MODULE_PATH];
  FS_TRY(fs_module_file(d->ctx, &rule, callable, k->module, endings, path));
  FS_TRY(copy_text(d, path, &out->module));
  return copy_text(d, k->function, &out->name);
}

static fs_status find_kernel(fsched_dynamic *d, const char *callable, const fsched_kernel_desc *k,
                             fs_task_kernel *out) {
  if (k->module == NULL) {
    return copy_text(d, k->builtin, &out->name);
  }
  fsched_kernel_fn function = d->options.find == NULL
                                  ? NULL
                                  : d->options.find(d->options.find_user, k->module, k->function);
  return function != NULL ? use_function(d, function, out) : use_module(d, callable, k, out);
}

static fs_status copy_shape(fsched_dynamic *d, const fsched_kernel_desc *k,
                            fsched_kernel_call *shape) {
  *shape = (fsched_kernel_call){.shared_bytes = k->shared_bytes, .n_params = k->n_params};
  for (int i = 0; i < 3; i++) {
    shape->grid[i] = k->grid[i] == 0 ? 1 : k->grid[i];
    shape->block[i] = k->block[i] == 0 ? 1 : k->block[i];
  }
  if (k->n_params > 0) {
    char *copy;
    FS_TRY(fs_new(&d->arena, &copy, k->n_params));
    shape->params = memcpy(copy, k->params, k->n_params);
  }
  return FSCHED_OK;
}

static fs_status copy_amounts(fsched_dynamic *d, const fsched_submit_callable_desc *desc,
                              fs_call_callable *c) {
  c->use0 = (uint32_t)d->use.n;
  c->scratch0 = (uint32_t)d->scratch.n;
  for (uint32_t i = 0; i < desc->n_uses; i++) {
    fs_dynamic_amount use = {desc->uses[i].id, desc->uses[i].amount};
    if (use.amount > 0) {
      FS_TRY(fs_vec_push(d->ctx, &d->use, use));
    }
  }
  for (uint32_t i = 0; i < desc->n_scratch; i++) {
    FS_TRY(fs_vec_push(d->ctx, &d->scratch, desc->scratch[i].amount));
  }
  c->n_uses = (uint32_t)d->use.n - c->use0;
  c->n_scratch = desc->n_scratch;
  return FSCHED_OK;
}

fs_status fs_call_add_callable(void *user, const fsched_submit_callable_desc *desc) {
  fsched_dynamic *d = user;
  fsched_kernel_desc k = {.size = sizeof k, .builtin = "mix"};
  if (desc->kernel != NULL) { /* which was checked */
    k = (fsched_kernel_desc){0};
    memcpy(&k, desc->kernel, desc->kernel->size < sizeof k ? desc->kernel->size : sizeof k);
  }
  fs_call_callable c = {.class_ = FS_NONE};
  fs_task_kernel kernel = {.name = NULL};
  FS_TRY(find_kernel(d, desc->name, &k, &kernel));
  const char *on = desc->gang_class != NULL ? desc->gang_class
                   : desc->on == NULL       ? "compute"
                                            : desc->on;
  c.here = kernel.here = kernel.function != NULL && fs_call_of_host(d, on);
  FS_TRY(copy_shape(d, &k, &c.shape));
  FS_TRY(copy_amounts(d, desc, &c));
  FS_TRY(fs_vec_reserve(d->ctx, &d->kernel, d->kernel.n + 1));
  FS_TRY(fs_vec_push(d->ctx, &d->callable, c));
  return fs_vec_push(d->ctx, &d->kernel, kernel);
}

fsched_status fsched_dynamic_callable(fsched_dynamic *d, const fsched_submit_callable_desc *desc,
                                      uint32_t *id) {
  if (d->workers != NULL) {
    return fs_call_error(d, FSCHED_USAGE, CALL, "callables come before the first run is opened");
  }
  return fsched_submit_callable(d->s, desc, id);
}
