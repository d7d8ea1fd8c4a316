/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the driver, declared here independently, as CUDA documents them: the driver and
 * its device, memory, streams and events. */
#include <stdio.h>
#include <string.h>

#include "fake_cuda/fake_call.h"

/* ---- driver, device, context */

static result cuInit(unsigned flags) {
  CALL(false, false);
  TRY;
  fake.initialized = flags == 0;
  END(fake.controls.devices == 0 ? NO_DEVICE : OK);
}

static result cuDriverGetVersion(int *version) {
  CALL(false, false);
  TRY;
  *version = fake.controls.version;
  END(OK);
}

static const struct {
  result error;
  const char *name, *text;
} errors[] = {{OK, "CUDA_SUCCESS", "no error"},
              {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
              {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
              {INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
              {NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
              {ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access"},
              {LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
              {UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"}};

static result error_text(result error, const char **out, bool name) {
  for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
    if (errors[i].error == error) {
      *out = name ? errors[i].name : errors[i].text;
      return OK;
    }
  }
  *out = NULL;
  return INVALID_VALUE;
}

static result cuGetErrorName(result error, const char **out) {
  CALL(false, false);
  TRY;
  END(error_text(error, out, true));
}

static result cuGetErrorString(result error, const char **out) {
  CALL(false, false);
  TRY;
  END(error_text(error, out, false));
}

static result cuDeviceGetCount(int *count) {
  CALL(false, false);
  TRY;
  *count = fake.controls.devices;
  END(OK);
}

static result cuDeviceGet(int *device, int ordinal) {
  CALL(false, false);
  TRY;
  *device = ordinal;
  END(ordinal < fake.controls.devices ? OK : INVALID_VALUE);
}

static result cuDeviceGetName(char *name, int length, int device) {
  CALL(false, false);
  TRY;
  (void)snprintf(name, (size_t)length, "Fake device %d", device);
  END(OK);
}

static result cuDeviceGetAttribute(int *value, unsigned attribute, int device) {
  static const int values[][2] = {{1, 1024},  {2, 1024},  {3, 1024},    {4, 64}, {5, 2147483647},
                                  {6, 65535}, {7, 65535}, {16, 132},    {40, 3}, {41, 1},
                                  {75, 9},    {76, 0},    {97, 232448}, {122, 1}};
  (void)device;
  CALL(false, false);
  TRY;
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    if ((unsigned)values[i][0] == attribute) {
      *value = values[i][1];
      END(OK);
    }
  }
  note_fault("%s: unknown attribute %u", __func__, attribute);
  END(INVALID_VALUE);
}

static result cuDevicePrimaryCtxRetain(void **context, int device) {
  (void)device;
  CALL(false, false);
  TRY;
  fake.retained++;
  *context = &the_context;
  END(OK);
}

static result cuDevicePrimaryCtxRelease(int device) {
  (void)device;
  CALL(false, false);
  if (fake.retained == 0) {
    note_fault("%s: it is not retained", __func__);
    END(INVALID_CONTEXT);
  }
  if (fake.retained == 1) {
    wait_for_hanging(__func__);
  }
  fake.retained--;
  END(failed);
}

static result cuCtxPushCurrent(void *context) {
  CALL(false, false);
  TRY;
  if (context != &the_context || fake.retained == 0) {
    note_fault("%s: the context is gone", __func__);
    END(INVALID_CONTEXT);
  }
  (void)move_context(1);
  END(OK);
}

static result cuCtxPopCurrent(void **context) {
  CALL(false, false);
  if (!move_context(-1)) {
    note_fault("%s: no context is current", __func__);
    END(INVALID_CONTEXT);
  }
  *context = &the_context;
  END(failed);
}

/* ---- memory */

static result cuMemGetInfo(size_t *available, size_t *total) {
  CALL(true, false);
  TRY;
  *available = fake.controls.memory - fake.used;
  *total = fake.controls.memory;
  END(OK);
}

static result cuMemAlloc(address *out, size_t size) {
  CALL(true, false);
  TRY;
  wait_for_hanging(NULL);
  memory *m = size == 0 ? NULL : memory_new(KIND_MEMORY, size);
  if (m == NULL) {
    END(size == 0 ? INVALID_VALUE : OUT_OF_MEMORY);
  }
  *out = m->address;
  END(OK);
}

static result free_memory(object_kind kind, uint64_t where, const char *call, result failed) {
  memory *m = memory_at(kind, where);
  if (m == NULL) {
    note_fault("%s: there is no memory", call);
    return INVALID_VALUE;
  }
  (void)run_until(NULL, 0, NULL); /* as the driver does */
  if (!memory_drop(m)) {
    note_fault("%s: something has written beyond the memory", call);
  }
  return failed == OK ? fake.sticky : failed;
}

static result cuMemFree(address where) {
  CALL(true, false);
  END(free_memory(KIND_MEMORY, where, __func__, failed));
}

static result cuMemHostAlloc(void **out, size_t size, unsigned flags) {
  (void)flags;
  CALL(true, false);
  TRY;
  wait_for_hanging(NULL);
  if (size == 0) {
    END(INVALID_VALUE);
  }
  *out = (void *)(uintptr_t)memory_new(KIND_HOST, size)->address;
  END(OK);
}

static result cuMemFreeHost(void *where) {
  CALL(true, false);
  END(free_memory(KIND_HOST, (uint64_t)(uintptr_t)where, __func__, failed));
}

static result cuMemcpyAsync(address to, address from, size_t size, void *handle) {
  CALL(true, true);
  TRY;
  OBJECT(stream, s, handle, KIND_STREAM)
  stream_push(s, &(command){.kind = RUN_COPY, .to = to, .from = from, .size = size});
  END(OK);
}

/* ---- streams and events */

static result cuStreamCreate(void **out, unsigned flags) {
  CALL(true, false);
  TRY;
  if (flags != 1) {
    note_fault("%s: the stream waits for the default stream", __func__);
  }
  stream *s = new_object(KIND_STREAM, sizeof *s);
  s->number = fake.n_streams++;
  *out = s;
  END(OK);
}

/* Commands in the stream still run; here they do so at once. */
static result cuStreamDestroy(void *handle) {
  CALL(true, false);
  OBJECT(stream, s, handle, KIND_STREAM)
  (void)run_until(NULL, 0, s);
  s->base.live = false;
  s->n = s->done = 0;
  END(failed);
}

static result cuStreamWaitEvent(void *stream_handle, void *event_handle, unsigned flags) {
  (void)flags;
  CALL(true, true);
  TRY;
  OBJECT(stream, s, stream_handle, KIND_STREAM)
  OBJECT(event, e, event_handle, KIND_EVENT)
  if (e->recorded == 0) {
    note_fault("%s: the event was never recorded, so nothing is waited for", __func__);
  }
  stream_push(s, &(command){.kind = RUN_WAIT, .event = e, .ticket = e->recorded});
  END(OK);
}

/* The word lies in memory of the host or of the device, and is aligned. */
static result push_word(stream *s, command_kind kind, address where, uint64_t value, unsigned flags,
                        const char *call) {
  uint8_t *word = where % sizeof value == 0 ? memory_bytes(where, sizeof value) : NULL;
  if (word == NULL || flags != 0) {
    note_fault("%s: no word there, or flags", call);
    return INVALID_VALUE;
  }
  stream_push(s, &(command){.kind = kind, .word = (uint64_t *)(void *)word, .value = value});
  return OK;
}

static result cuStreamWaitValue64(void *handle, address where, uint64_t value, unsigned flags) {
  CALL(true, true);
  TRY;
  OBJECT(stream, s, handle, KIND_STREAM)
  END(push_word(s, RUN_AWAIT_WORD, where, value, flags, __func__));
}

static result cuStreamWriteValue64(void *handle, address where, uint64_t value, unsigned flags) {
  CALL(true, true);
  TRY;
  OBJECT(stream, s, handle, KIND_STREAM)
  END(push_word(s, RUN_WRITE_WORD, where, value, flags, __func__));
}

static result cuLaunchHostFunc(void *handle, void (*host)(void *user), void *user) {
  CALL(true, true);
  TRY;
  OBJECT(stream, s, handle, KIND_STREAM)
  if (host == NULL) {
    END(INVALID_VALUE);
  }
  await_room(s);
  stream_push(s, &(command){.kind = RUN_HOST, .host = host, .user = user});
  END(OK);
}

static result cuStreamSynchronize(void *handle) {
  CALL(true, true);
  TRY;
  OBJECT(stream, s, handle, KIND_STREAM)
  END(run_until(NULL, 0, s));
}

static result cuStreamQuery(void *handle) {
  CALL(true, true);
  TRY;
  OBJECT(stream, s, handle, KIND_STREAM)
  run_some();
  END(fake.sticky != OK ? fake.sticky : s->done < s->n ? NOT_READY : OK);
}

static result cuEventCreate(void **out, unsigned flags) {
  CALL(true, false);
  TRY;
  event *e = new_object(KIND_EVENT, sizeof *e);
  e->timed = (flags & 2) == 0;
  *out = e;
  END(OK);
}

static result cuEventDestroy(void *handle) {
  CALL(true, false);
  OBJECT(event, e, handle, KIND_EVENT)
  if (fake.sticky == OK) { /* those who wait for it still use it */
    (void)run_until(e, e->recorded, NULL);
  }
  for (object *o = fake.objects; o != NULL; o = o->next) {
    const stream *s = (const stream *)o;
    for (size_t i = 0; o->kind == KIND_STREAM && i < s->n - s->done; i++) {
      command *c = &s->at[s->done + i];
      if (c->event == e && c->kind == RUN_WAIT) {
        c->ticket = 0;
      }
    }
  }
  e->base.live = false;
  END(failed);
}

static result cuEventRecord(void *event_handle, void *stream_handle) {
  CALL(true, true);
  TRY;
  OBJECT(event, e, event_handle, KIND_EVENT)
  OBJECT(stream, s, stream_handle, KIND_STREAM)
  if (e->completed < e->recorded && fake.sticky == OK) {
    note_fault("%s: the event is on its way, so nobody could tell which of its records is over",
               __func__);
  }
  stream_push(s, &(command){.kind = RUN_RECORD, .event = e, .ticket = ++e->recorded});
  END(OK);
}

static result check_recorded(const event *e, const char *call) {
  if (e->recorded == 0) {
    note_fault("%s: the event was never recorded", call);
  }
  return OK;
}

static result cuEventQuery(void *handle) {
  CALL(true, true);
  TRY;
  OBJECT(event, e, handle, KIND_EVENT)
  (void)check_recorded(e, __func__);
  run_some();
  END(fake.sticky != OK ? fake.sticky : e->completed < e->recorded ? NOT_READY : OK);
}

static result cuEventSynchronize(void *handle) {
  CALL(true, true);
  TRY;
  OBJECT(event, e, handle, KIND_EVENT)
  (void)check_recorded(e, __func__);
  END(run_until(e, e->recorded, NULL));
}

static result cuEventElapsedTime(float *milliseconds, void *begin_handle, void *end_handle) {
  CALL(true, true);
  TRY;
  OBJECT(event, from, begin_handle, KIND_EVENT)
  OBJECT(event, to, end_handle, KIND_EVENT)
  if (!from->timed || !to->timed || from->recorded == 0 || to->recorded == 0) {
    note_fault("%s: an event without a time", __func__);
    END(INVALID_HANDLE);
  }
  if (from->completed < from->recorded || to->completed < to->recorded) {
    END(NOT_READY);
  }
  *milliseconds = (float)((double)((int64_t)to->time - (int64_t)from->time) / 1e6);
  END(OK);
}

const driver_function plain_functions[] = {
    F(cuInit, 2000),
    F(cuDriverGetVersion, 2020),
    F(cuGetErrorName, 6000),
    F(cuGetErrorString, 6000),
    F(cuDeviceGetCount, 2000),
    F(cuDeviceGet, 2000),
    F(cuDeviceGetName, 2000),
    F(cuDeviceGetAttribute, 2000),
    F(cuDevicePrimaryCtxRetain, 7000),
    F(cuDevicePrimaryCtxRelease, 11000),
    F(cuCtxPushCurrent, 4000),
    F(cuCtxPopCurrent, 4000),
    F(cuMemGetInfo, 3020),
    F(cuMemAlloc, 3020),
    F(cuMemFree, 3020),
    F(cuMemHostAlloc, 2020),
    F(cuMemFreeHost, 2000),
    F(cuMemcpyAsync, 4000),
    F(cuStreamCreate, 2000),
    F(cuStreamDestroy, 4000),
    F(cuStreamWaitEvent, 3020),
    F(cuStreamWaitValue64, 11070),
    F(cuStreamWriteValue64, 11070),
    F(cuLaunchHostFunc, 10000),
    F(cuStreamSynchronize, 2000),
    F(cuStreamQuery, 2000),
    F(cuEventCreate, 2000),
    F(cuEventDestroy, 4000),
    F(cuEventRecord, 2000),
    F(cuEventQuery, 2000),
    F(cuEventSynchronize, 2000),
    F(cuEventElapsedTime, 2000),
    {NULL, 0, NULL},
};
