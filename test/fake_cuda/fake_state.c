/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cuda/fake_call.h"

state fake;

void note_fault(const char *format, ...) {
  if (fake.fault[0] == '\0') {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(fake.fault, sizeof fake.fault, format, args);
    va_end(args);
  }
}

uint64_t draw(uint64_t n) {
  fake.seed = fake.seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
  uint64_t x = fake.seed ^ fake.seed >> 29;
  return (x * UINT64_C(0xBF58476D1CE4E5B9) >> 32) % n;
}

void *new_object(object_kind kind, size_t size) {
  object *o = calloc(1, size);
  o->kind = kind;
  o->live = true;
  o->next = fake.objects;
  fake.objects = o;
  return o;
}

static const char *const kind_names[KINDS] = {
    "module", "function",         "stream",        "event",       "graph",
    "node",   "executable graph", "device memory", "host memory", "context"};

void *check_object(void *handle, object_kind kind, const char *call) {
  if (handle != NULL && fake.found[kind] == handle && fake.found[kind]->live) {
    return handle;
  }
  for (object *o = fake.objects; o != NULL; o = o->next) {
    if ((void *)o == handle && o->kind == kind) {
      if (!o->live) {
        note_fault("%s: the %s is gone", call, kind_names[kind]);
      }
      fake.found[kind] = o;
      return o->live ? o : NULL;
    }
  }
  note_fault("%s: no %s", call, kind_names[kind]);
  return NULL;
}

static void free_object(object *o) {
  switch (o->kind) {
    case KIND_MODULE:
      ptx_drop(((module *)o)->ptx);
      break;
    case KIND_STREAM:
      for (size_t i = ((stream *)o)->done; i < ((stream *)o)->n; i++) {
        free(((stream *)o)->at[i].nodes);
      }
      free(((stream *)o)->at);
      break;
    case KIND_NODE:
      free(((node *)o)->after);
      break;
    case KIND_GRAPH:
      free(((graph *)o)->node);
      break;
    case KIND_EXECUTABLE:
      executable_drop((executable *)o);
      break;
    case KIND_MEMORY:
    case KIND_HOST:
      free(((memory *)o)->block);
      break;
    default:
      break;
  }
  free(o);
}

/* Objects of a graph or module are freed with it. */
static bool counts_as_left(const object *o) {
  return o->live && o->kind != KIND_FUNCTION && o->kind != KIND_NODE;
}

static const char *left(void) {
  static char text[256];
  size_t n = 0;
  text[0] = '\0';
  for (int k = 0; k < KINDS; k++) {
    uint32_t count = k == KIND_CONTEXT ? fake.retained : 0;
    for (const object *o = fake.objects; o != NULL; o = o->next) {
      count += (int)o->kind == k && counts_as_left(o);
    }
    if (count > 0) {
      n += (size_t)snprintf(text + n, sizeof text - n, "%s%u %s", n > 0 ? ", " : "", count,
                            kind_names[k]);
    }
  }
  return text;
}

static void set_defaults(fake_cuda_controls *c) {
  c->devices = c->devices == 0 ? 1 : c->devices < 0 ? 0 : c->devices;
  c->version = c->version == 0 ? 13000 : c->version;
  c->memory = c->memory == 0 ? UINT64_C(1) << 32 : c->memory;
}

static void forget_all(void) {
  while (fake.objects != NULL) {
    object *next = fake.objects->next;
    free_object(fake.objects);
    fake.objects = next;
  }
  free(fake.counts);
  free(fake.log);
  fake = (state){0};
}

__attribute__((visibility("default"))) void fake_cuda_reset(const fake_cuda_controls *controls) {
  forget_all();
  fake.controls = *controls;
  set_defaults(&fake.controls);
  fake.seed = controls->seed * 2 + 1;
  if (controls->fail != NULL) {
    (void)snprintf(fake.fail, sizeof fake.fail, "%s", controls->fail);
  }
  if (controls->lacks != NULL) {
    (void)snprintf(fake.lacks, sizeof fake.lacks, "%s", controls->lacks);
  }
  if (controls->hang != NULL) {
    (void)snprintf(fake.hang, sizeof fake.hang, "%s", controls->hang);
  }
}

__attribute__((visibility("default"))) void fake_cuda_let_go(void) {
  pthread_mutex_lock(&fake_lock);
  fake.let_go = true;
  (void)pthread_cond_broadcast(&fake_let_go_now);
  pthread_mutex_unlock(&fake_lock);
}

__attribute__((visibility("default"))) uint64_t fake_cuda_hanging(void) {
  pthread_mutex_lock(&fake_lock);
  uint64_t n = hanging();
  pthread_mutex_unlock(&fake_lock);
  return n;
}

__attribute__((visibility("default"))) const char *fake_cuda_fault(void) {
  pthread_mutex_lock(&fake_lock); /* a thread that was given up may still call once more */
  pthread_mutex_unlock(&fake_lock);
  return fake.fault;
}
__attribute__((visibility("default"))) const char *fake_cuda_left(void) { return left(); }
__attribute__((visibility("default"))) uint64_t fake_cuda_executed(void) { return fake.executed; }

__attribute__((visibility("default"))) const fake_cuda_entry *fake_cuda_log(uint64_t i) {
  return i < fake.n_log ? &fake.log[i] : NULL;
}

/* "key=value,key=a:b:c" */
static void set_from_text(char *text, fake_cuda_controls *c) {
  for (char *rest, *part = strtok_r(text, ",", &rest); part != NULL;
       part = strtok_r(NULL, ",", &rest)) {
    char name[64] = "", which[64] = "";
    unsigned long long a = 0, b = 0;
    if (sscanf(part, "fail=%63[^:]:%llu:%llu", which, &a, &b) == 3) {
      (void)snprintf(fake.fail, sizeof fake.fail, "%s", which);
      c->fail_at = a;
      c->fail_with = (unsigned)b;
    } else if (sscanf(part, "hang=%63[^:]:%llu", which, &a) == 2) {
      (void)snprintf(fake.hang, sizeof fake.hang, "%s", which);
      c->hang_at = a;
    } else if (sscanf(part, "lacks=%63s", which) == 1) {
      (void)snprintf(fake.lacks, sizeof fake.lacks, "%s", which);
    } else if (sscanf(part, "execution=%llu:%llu", &a, &b) == 2) {
      c->execution_at = a;
      c->execution_with = (unsigned)b;
    } else if (sscanf(part, "%63[^=]=%llu", name, &a) == 2) {
      c->seed = strcmp(name, "seed") == 0 ? a : c->seed;
      c->devices = strcmp(name, "devices") == 0 ? a == 0 ? -1 : (int)a : c->devices;
      c->version = strcmp(name, "version") == 0 ? (int)a : c->version;
      c->stub = strcmp(name, "stub") == 0 ? (int)a : c->stub;
      c->memory = strcmp(name, "memory") == 0 ? a : c->memory;
    }
  }
}

__attribute__((constructor)) static void begin(void) {
  fake_cuda_controls none = {0};
  fake_cuda_reset(&none);
  const char *text = getenv("FAKE_CUDA");
  if (text != NULL) {
    char copy[512];
    (void)snprintf(copy, sizeof copy, "%s", text);
    fake_cuda_controls c = {0};
    set_from_text(copy, &c);
    set_defaults(&c);
    fake.controls = c;
    fake.seed = c.seed * 2 + 1;
  }
}

__attribute__((destructor)) static void end(void) {
  const char *file = getenv("FAKE_CUDA_REPORT");
  pthread_mutex_lock(&fake_lock);
  bool hangs = hanging() > 0;
  if (hangs) {
    note_fault("the process ends by exit, which waits for a kernel that hangs");
  }
  if (file != NULL && (fake.fault[0] != '\0' || left()[0] != '\0')) {
    FILE *f = fopen(file, "a");
    if (f != NULL) {
      (void)fprintf(f, "fault: %s\nleft: %s\n", fake.fault, left());
      (void)fclose(f);
    }
  }
  if (!hangs && fake.n_blocked == 0) { /* else a thread that was given up may go on */
    forget_all();
  }
  pthread_mutex_unlock(&fake_lock);
}
