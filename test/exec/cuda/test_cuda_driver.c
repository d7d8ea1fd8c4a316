/* SPDX-License-Identifier: Apache-2.0 */
/* Opening the CUDA driver: what it needs, what may be missing, and how this is reported. */
#include "base/context.h"
#include "exec/cuda/driver.h"

#include "exec/cuda/cuda_case.h"

static fs_cuda d;
static fs_cuda_reason reason;

static fs_status find(const char *driver, uint32_t ordinal) {
  return fs_cuda_find(&d, &(fs_cuda_where){.driver = driver, .ordinal = ordinal}, &reason);
}

/* Checks that no device is opened, that the reason is given, and that nothing is held. */
static void refused(const fake_cuda_controls *controls, uint32_t ordinal, const char *text) {
  fake.reset(controls);
  ck_assert_int_eq(find(fake.path, ordinal), FSCHED_SYSTEM);
  ck_assert_msg(strstr(reason.text, text) != NULL, "'%s' lacks '%s'", reason.text, text);
  ck_assert_ptr_null(d.library);
  cuda_fake_clean(&fake);
}

START_TEST(a_device_is_found)
{
  ck_assert_int_eq(find(fake.path, 0), FSCHED_OK);
  ck_assert_str_eq(d.name, "Fake device 0");
  ck_assert_int_eq(d.capability, 90);
  ck_assert_int_eq(d.version, 13000);
  ck_assert_str_eq(fake.left(), "1 context");
  ck_assert_int_eq(fs_cuda_enter(ctx, &d), FSCHED_OK);
  fs_cu_address memory;
  ck_assert_uint_eq(d.api.cuMemAlloc(&memory, 100), FS_CU_SUCCESS);
  ck_assert_uint_eq(d.api.cuMemFree(memory), FS_CU_SUCCESS);
  fs_cuda_leave(&d);
  fs_cuda_close(&d);
  fs_cuda_close(&d);
  cuda_fake_clean(&fake);
}
END_TEST

START_TEST(no_device_is_a_reason)
{
  ck_assert_int_eq(find("/nowhere/libcuda.so.1", 0), FSCHED_SYSTEM);
  ck_assert_ptr_nonnull(strstr(reason.text, "no CUDA driver: /nowhere/libcuda.so.1"));
  ck_assert_int_eq(find("libc.so.6", 0), FSCHED_SYSTEM);
  ck_assert_str_eq(reason.text, "the CUDA driver 'libc.so.6' is older than CUDA 12.0");
  refused(&(fake_cuda_controls){.stub = 1}, 0, "is a stub library");
  refused(&(fake_cuda_controls){.devices = -1}, 0, "the CUDA driver finds no device");
  refused(&(fake_cuda_controls){.devices = 2}, 2, "there is no CUDA device 2, they are 0 to 1");
  refused(&(fake_cuda_controls){.version = 11080}, 0, "lacks cuGraphAddKernelNode of CUDA 12.0");
  refused(&(fake_cuda_controls){.lacks = "cuMemAlloc"}, 0, "lacks cuMemAlloc of CUDA 3.2");
  refused(&(fake_cuda_controls){.fail = "cuInit", .fail_at = 1, .fail_with = 999}, 0,
          "cannot be used: cuInit: CUDA_ERROR_UNKNOWN (999): unknown error");
  refused(&(fake_cuda_controls){.fail = "cuDeviceGetCount", .fail_at = 1, .fail_with = 100}, 0,
          "finds no device");
}
END_TEST

/* The function exists from CUDA 12.4 on. */
START_TEST(an_optional_function)
{
  fake.reset(&(fake_cuda_controls){.version = 12000});
  ck_assert_int_eq(find(fake.path, 0), FSCHED_OK);
  ck_assert(d.api.cuFuncLoad == NULL);
  fs_cuda_close(&d);
  fake.reset(&(fake_cuda_controls){.version = 12040});
  ck_assert_int_eq(find(fake.path, 0), FSCHED_OK);
  ck_assert(d.api.cuFuncLoad != NULL);
  fs_cuda_close(&d);
}
END_TEST

START_TEST(opening_reports)
{
  fake.reset(&(fake_cuda_controls){.devices = -1});
  ck_assert_int_eq(fs_cuda_open(ctx, &d, &(fs_cuda_where){.driver = fake.path}), FSCHED_SYSTEM);
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "device");
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->message, "the CUDA driver finds no device");
}
END_TEST

START_TEST(failures_have_names)
{
  ck_assert_int_eq(find(fake.path, 0), FSCHED_OK);
  ck_assert_int_eq(fs_cuda_fail(ctx, &d, "cuMemAlloc", FS_CU_OUT_OF_MEMORY), FSCHED_SYSTEM);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "device");
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->message,
                   "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory");
  char text[100];
  fs_cuda_describe(&d, "cuX", 12345, text, sizeof text);
  ck_assert_str_eq(text, "cuX: an error without a name (12345): unknown to the driver");
  fs_cuda_close(&d);
}
END_TEST

/* Whichever call fails during opening, there is a reason, and nothing is left. */
START_TEST(every_call_of_opening_fails)
{
  ck_assert_int_eq(find(fake.path, 0), FSCHED_OK);
  uint64_t calls = fake.calls("*");
  fs_cuda_close(&d);
  ck_assert_uint_gt(calls, 5);
  for (uint64_t n = 1; n <= calls; n++) {
    refused(&(fake_cuda_controls){.fail = "*", .fail_at = n, .fail_with = 999}, 0,
            "CUDA_ERROR_UNKNOWN (999)");
  }
}
END_TEST

FS_SUITE(cuda_driver, s) {
  TCase *t = fs_case(s, fs_test_context);
  fs_test_fake_cuda(t);
  FS_TESTS(t, a_device_is_found, no_device_is_a_reason, an_optional_function, opening_reports,
           failures_have_names, every_call_of_opening_fails);
}
