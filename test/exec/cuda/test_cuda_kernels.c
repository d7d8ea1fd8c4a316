/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in kernels of the device: the fake or a real driver runs their text, and the results
 * are compared bit for bit with those of the processor's kernels. */
#include "base/context.h"
#include "exec/cuda/builtin.h"
#include "exec/cuda/cuda_fake.h"
#include "exec/cuda/driver.h"
#include "exec/cuda/kernels/call.h"
#include "exec/cuda/views.h"
#include "exec/host/kernel.h"

#include "kit/context.h"

enum { ROOM = 1 << 16, MOST_ARGS = 140 };

static cuda_fake fake;
static fs_cuda d;
static fs_cu_module module;
static fs_cu_function mix, digest, copy, pace;
static fs_cu_stream stream;
static fs_cu_address device; /* ROOM bytes, then the call, then the digest */
static uint8_t *pinned;      /* a copy of it on the host */
static uint64_t seed;

#define CU(call)                                                                        \
  do {                                                                                  \
    fs_cu_result cu_ = (d.api.call);                                                    \
    if (cu_ != FS_CU_SUCCESS) {                                                         \
      ck_abort_msg("%s: error %u; %s", #call, cu_, cuda_is_real() ? "" : fake.fault()); \
    }                                                                                   \
  } while (0)

enum {
  CALL_BYTES = sizeof(fs_cuda_call) + 2 * MOST_ARGS * (sizeof(fs_cuda_arg) + sizeof(fs_cuda_view)),
  ALL_BYTES = ROOM + CALL_BYTES + 8
};

static fs_cu_function load(const char *name) {
  fs_cu_function f;
  int version;
  CU(cuModuleGetFunction(&f, module, name));
  CU(cuFuncGetAttribute(&version, FS_CU_BINARY_VERSION, f));
  return f;
}

static void set_up(void) {
  fs_cuda_reason reason;
  fs_test_begin();
  fs_cuda_where where = {0};
  if (!cuda_is_real()) {
    cuda_fake_load(&fake);
    fake.reset(&(fake_cuda_controls){.seed = 7, .text = 1});
    where.driver = fake.path;
  }
  ck_assert_msg(fs_cuda_find(&d, &where, &reason) == FSCHED_OK, "%s", reason.text);
  ck_assert_int_eq(fs_cuda_enter(ctx, &d), FSCHED_OK);
  CU(cuModuleLoadDataEx(&module, fs_cuda_builtin_ptx, 0, NULL, NULL));
  mix = load("fsched_mix"), digest = load("fsched_digest"), copy = load("fsched_copy");
  pace = load("fsched_pace");
  CU(cuStreamCreate(&stream, FS_CU_STREAM_NON_BLOCKING));
  CU(cuMemAlloc(&device, ALL_BYTES));
  CU(cuMemHostAlloc((void **)&pinned, ALL_BYTES, 0));
}

static void tear_down(void) {
  CU(cuStreamDestroy(stream));
  CU(cuMemFree(device));
  CU(cuMemFreeHost(pinned));
  CU(cuModuleUnload(module));
  fs_cuda_leave(&d);
  fs_cuda_close(&d);
  fs_test_end();
  if (!cuda_is_real()) {
    cuda_fake_clean(&fake);
  }
}

static uint64_t draw(uint64_t n) {
  seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (seed >> 33) % n;
}

/* One call, on the processor's bytes and on the device's. */
typedef struct call_case {
  uint8_t bytes[ROOM];
  fs_kernel_arg args[MOST_ARGS], scratch[4];
  fsched_kernel_view views[MOST_ARGS];
  fs_kernel_call call;
  uint64_t used;
} call_case;

/* Takes the next unused bytes, at any alignment. */
static uint8_t *take(call_case *c, uint64_t length) {
  uint8_t *at = c->bytes + c->used + draw(20);
  c->used = (uint64_t)(at - c->bytes) + length;
  ck_assert_uint_le(c->used, ROOM);
  return at;
}

static fs_kernel_arg random_arg(call_case *c, uint64_t most) {
  static const uint32_t tags[] = {FSCHED_IN,     FSCHED_IN,    FSCHED_OUT,         FSCHED_INOUT,
                                  FSCHED_NO_DEP, FSCHED_VALUE, FSCHED_OUT_EXISTING};
  fs_kernel_arg a = {.tag = tags[draw(7)]};
  if (a.tag == FSCHED_VALUE) {
    a.value = (int64_t)draw(1000) - 500;
  } else {
    a.length = draw(4) == 0 ? draw(9) : draw(most);
    a.data = take(c, a.length);
  }
  return a;
}

/* Makes an arg a view that begins where the arg does.  One that is written does not overlap itself:
 * each stride is at least as long as what is within it. */
static void make_view(call_case *c, uint32_t arg, bool overlaps, uint64_t most) {
  fsched_kernel_view *v = &c->views[arg];
  uint64_t inner;
  *v = (fsched_kernel_view){.n_dims = 1 + (uint32_t)draw(5), .element = 1 + draw(17)};
  inner = v->element;
  for (uint32_t k = v->n_dims; k-- > 0;) {
    v->shape[k] = 1 + draw(most);
    v->strides[k] = overlaps ? draw(2 * v->element) : inner + (draw(2) == 0 ? 0 : draw(9));
    inner = v->strides[k] * (v->shape[k] - 1) + inner;
  }
  uint64_t span = v->element;
  for (uint32_t k = 0; k < v->n_dims; k++) {
    span += (v->shape[k] - 1) * v->strides[k];
  }
  c->args[arg].length = span;
}

/* About half of the args become views. */
static call_case *with_views(call_case *c, uint64_t most) {
  for (uint32_t i = 0; i < c->call.n_args; i++) {
    fs_kernel_arg *a = &c->args[i];
    if (a->tag != FSCHED_VALUE && draw(2) == 0) {
      make_view(c, i, a->tag == FSCHED_IN && draw(3) == 0, most);
      a->data = take(c, a->length);
    }
  }
  c->call.views = c->views;
  return c;
}

static call_case *new_case(const char *op, uint32_t n_args, uint32_t n_scratch, uint64_t most) {
  call_case *c = malloc(sizeof *c);
  fs_fill_given(op, c->bytes, ROOM);
  c->used = 0;
  memset(c->views, 0, sizeof c->views);
  for (uint32_t i = 0; i < n_args; i++) {
    c->args[i] = random_arg(c, most);
  }
  for (uint32_t i = 0; i < n_scratch; i++) {
    uint64_t length = draw(most);
    c->scratch[i] = (fs_kernel_arg){.data = take(c, length), .length = length};
  }
  c->call = (fs_kernel_call){
      .op = op, .args = c->args, .scratch = c->scratch, .n_args = n_args, .n_scratch = n_scratch};
  return c;
}

static fs_cuda_arg to_device(const call_case *c, const fs_kernel_arg *a) {
  /* An address may be given in either of two ways. */
  uint32_t pooled = a->data != NULL && a->length % 2 == 0;
  uint64_t at = a->data == NULL ? 0 : (uint64_t)((const uint8_t *)a->data - c->bytes);
  return (fs_cuda_arg){.data = pooled ? at : device + at,
                       .pooled = pooled,
                       .length = a->length,
                       .value = (uint64_t)a->value,
                       .reads = fs_tag_reads(a->tag),
                       .writes = fs_tag_writes(a->tag),
                       .has_value = a->tag == FSCHED_VALUE};
}

/* Writes the records of views behind everything else, from a stream that has these views. */
static void views_to_device(const call_case *c, fs_cuda_call *call) {
  static fs_stream_view view[MOST_ARGS];
  static fs_stream_arg arg[MOST_ARGS];
  fs_cuda_arg *args = (fs_cuda_arg *)(call + 1);
  fs_stream s = {.n_args = call->n_args, .args = arg, .views = view};
  for (uint32_t i = 0; i < call->n_args; i++) {
    const fsched_kernel_view *v = &c->views[i];
    arg[i] = (fs_stream_arg){.has_at = v->n_dims > 0};
    if (v->n_dims > 0) {
      fs_stream_view *to = &view[s.n_views++];
      *to = (fs_stream_view){.element = v->element, .arg = i, .n_dims = v->n_dims};
      memcpy(to->shape, v->shape, sizeof to->shape);
      memcpy(to->stride, v->strides, sizeof to->stride);
    }
  }
  fs_cuda_call_views(&s, (fs_cuda_args){0, call->n_args, false}, call,
                     (fs_cuda_view *)(void *)(args + call->n_args + call->n_scratch));
}

static void launch(fs_cu_function f) {
  fs_cu_address call = device + ROOM;
  void *params[] = {&call, &device};
  CU(cuLaunchKernel(f, 1, 1, 1, FS_CUDA_BLOCK, 1, 1, 0, stream, params, NULL));
}

/* Runs the kernel and then the digest on the device, then on the processor, and compares. */
static void check_case(call_case *c, fs_builtin kernel, fs_cu_function f) {
  fs_cuda_call *call = (fs_cuda_call *)(void *)(pinned + ROOM);
  fs_cuda_arg *args = (fs_cuda_arg *)(call + 1);
  memcpy(pinned, c->bytes, ROOM);
  *call = (fs_cuda_call){.seed = fs_kernel_seed(c->call.op, NULL, 0),
                         .digest = device + ROOM + CALL_BYTES,
                         .n_args = c->call.n_args,
                         .n_scratch = c->call.n_scratch,
                         .kernel = kernel};
  for (uint32_t i = 0; i < c->call.n_args; i++) {
    args[i] = to_device(c, &c->args[i]);
  }
  for (uint32_t i = 0; i < c->call.n_scratch; i++) {
    args[c->call.n_args + i] = to_device(c, &c->scratch[i]);
  }
  views_to_device(c, call);
  CU(cuMemcpyAsync(device, (fs_cu_address)(uintptr_t)pinned, ALL_BYTES, stream));
  launch(f);
  launch(digest);
  CU(cuMemcpyAsync((fs_cu_address)(uintptr_t)pinned, device, ALL_BYTES, stream));
  CU(cuStreamSynchronize(stream));
  fs_builtin_run(kernel, &c->call);
  for (uint32_t i = 0; i < ROOM; i++) {
    if (pinned[i] != c->bytes[i]) {
      ck_abort_msg("args %u, length %llu: byte %u differs", c->call.n_args,
                   (unsigned long long)c->args[0].length, i);
    }
  }
  uint64_t got;
  memcpy(&got, pinned + ROOM + CALL_BYTES, sizeof got);
  ck_assert_uint_eq(got, fs_builtin_digest(kernel, &c->call));
  free(c);
}

START_TEST(mix_is_the_same)
{
  seed = (uint64_t)_i;
  for (uint32_t round = 0; round < 25; round++) {
    check_case(new_case("op", (uint32_t)draw(7), (uint32_t)draw(3), round % 5 == 0 ? 3000 : 100),
               FS_BUILTIN_MIX, mix);
  }
}
END_TEST

/* There are more args than are hashed at once, or none. */
START_TEST(many_args)
{
  seed = (uint64_t)_i;
  check_case(new_case("many", MOST_ARGS, 4, 60), FS_BUILTIN_MIX, mix);
  check_case(new_case("", 0, 0, 1), FS_BUILTIN_MIX, mix);
}
END_TEST

/* These are all lengths around those at which the loops of the hash begin. */
START_TEST(lengths_of_a_hash)
{
  for (uint32_t length = 0; length < 600; length += length < 80 ? 1 : 13) {
    call_case *c = new_case("op", 0, 0, 1);
    c->args[0] = (fs_kernel_arg){.data = take(c, length), .length = length, .tag = FSCHED_IN};
    c->args[1] = (fs_kernel_arg){.data = take(c, 17), .length = 17, .tag = FSCHED_OUT};
    c->call.n_args = 2;
    check_case(c, FS_BUILTIN_MIX, mix);
  }
}
END_TEST

/* The output lies in its input's place. */
START_TEST(mix_in_place)
{
  for (uint32_t length = 1; length < 2000; length += 333) {
    call_case *c = new_case("op", 0, 0, 1);
    c->args[0] = (fs_kernel_arg){.data = take(c, length), .length = length, .tag = FSCHED_IN};
    c->args[1] = c->args[0];
    c->args[1].tag = FSCHED_OUT;
    c->call.n_args = 2;
    check_case(c, FS_BUILTIN_MIX, mix);
  }
}
END_TEST

/* The copy is shorter or longer, and the ranges are apart or overlap in either direction. */
START_TEST(copy_is_the_same)
{
  seed = (uint64_t)_i;
  for (uint32_t round = 0; round < 40; round++) {
    call_case *c = new_case("op", 0, 0, 1);
    uint8_t *base = take(c, 6000);
    uint64_t near = round % 2 == 0 ? draw(40) : 8 * draw(400);
    uint8_t *low = base + draw(9), *high = low + near;
    bool up = draw(2) == 0;
    c->args[0] = (fs_kernel_arg){.data = up ? low : high, .length = draw(2500), .tag = FSCHED_IN};
    c->args[1] = (fs_kernel_arg){.data = up ? high : low, .length = draw(2500), .tag = FSCHED_OUT};
    c->call.n_args = 2;
    check_case(c, FS_BUILTIN_COPY, copy);
  }
}
END_TEST

/* Views of every shape, beside ranges; the bytes between the elements stay. */
START_TEST(mix_of_views)
{
  seed = (uint64_t)_i;
  for (uint32_t round = 0; round < 12; round++) {
    check_case(
        with_views(new_case("op", 1 + (uint32_t)draw(6), (uint32_t)draw(3), 100), 2 + round % 3),
        FS_BUILTIN_MIX, mix);
  }
  check_case(with_views(new_case("many", 100, 1, 40), 2), FS_BUILTIN_MIX, mix);
}
END_TEST

/* More words than are gathered at once. */
START_TEST(long_view)
{
  call_case *c = new_case("op", 0, 0, 1);
  c->call.n_args = 2;
  c->call.views = c->views;
  for (uint32_t i = 0; i < 2; i++) {
    c->views[i] =
        (fsched_kernel_view){.n_dims = 2, .element = 3, .shape = {700 + i, 2}, .strides = {11, 4}};
    c->args[i] =
        (fs_kernel_arg){.length = (699 + i) * 11 + 7, .tag = i == 0 ? FSCHED_IN : FSCHED_INOUT};
    c->args[i].data = take(c, c->args[i].length);
  }
  check_case(c, FS_BUILTIN_MIX, mix);
}
END_TEST

/* Between views, and between a view and a range; one side may be longer.  Sometimes both begin
 * nearly at the same place, so that they overlap. */
START_TEST(copy_of_views)
{
  seed = (uint64_t)_i;
  for (uint32_t round = 0; round < 30; round++) {
    call_case *c = new_case("op", 0, 0, 1);
    bool near = round % 3 == 0;
    c->args[0] = (fs_kernel_arg){.length = draw(200), .tag = FSCHED_IN};
    c->args[1] = (fs_kernel_arg){.length = draw(200), .tag = FSCHED_OUT};
    c->call.n_args = 2;
    c->call.views = c->views;
    for (uint32_t i = 0; i < 2; i++) {
      if (round % 4 != 1 + i) {
        make_view(c, i, i == 0 && draw(3) == 0, 3);
      }
    }
    c->args[0].data = take(c, c->args[0].length);
    c->args[1].data = near ? (uint8_t *)c->args[0].data + draw(40) : take(c, c->args[1].length);
    check_case(c, FS_BUILTIN_COPY, copy);
  }
}
END_TEST

START_TEST(pace_takes_its_time)
{
  fs_cu_event begin, end;
  uint64_t ns = 3000000;
  void *params[] = {&ns};
  float milliseconds;
  CU(cuEventCreate(&begin, 0));
  CU(cuEventCreate(&end, 0));
  CU(cuEventRecord(begin, stream));
  CU(cuLaunchKernel(pace, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
  CU(cuEventRecord(end, stream));
  CU(cuEventSynchronize(end));
  CU(cuEventElapsedTime(&milliseconds, begin, end));
  ck_assert(milliseconds >= 2.99f);
  CU(cuEventDestroy(begin));
  CU(cuEventDestroy(end));
}
END_TEST

/* The text that is built in equals the file beside its source. */
START_TEST(text_is_that_of_the_file)
{
  FILE *f = fopen("exec/cuda/kernels/builtin.ptx", "rb");
  ck_assert_ptr_nonnull(f);
  size_t n = strlen(fs_cuda_builtin_ptx);
  char *text = malloc(n + 2);
  ck_assert_uint_eq(fread(text, 1, n + 2, f), n);
  ck_assert(memcmp(text, fs_cuda_builtin_ptx, n) == 0);
  free(text);
  (void)fclose(f);
}
END_TEST

FS_SUITE(cuda_kernels, s) {
  TCase *t = fs_case(s, NULL);
  tcase_add_checked_fixture(t, set_up, tear_down);
  FS_LOOPS(t, 0, 4, mix_is_the_same, mix_of_views, copy_of_views);
  FS_LOOPS(t, 0, 2, many_args, copy_is_the_same);
  FS_TESTS(t, long_view, lengths_of_a_hash, mix_in_place, pace_takes_its_time,
           text_is_that_of_the_file);
}
