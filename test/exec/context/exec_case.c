/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/context/exec_case.h"

fsched_device *device;
fsched_semaphore *line, *end, *open_at;
kit_count entered;
static _Atomic int running;
_Atomic int most_running;

static int sum(const fsched_kernel_call *call) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < call->n_args; i++) {
    total += call->args[i].tag == FSCHED_IN ? kit_get(&call->args[i]) : 0;
  }
  kit_put(kit_arg(call, FSCHED_OUT), total);
  return 0;
}

static int negative(const fsched_kernel_call *call) {
  (void)call;
  return -77;
}

static int count(const fsched_kernel_call *call) {
  (void)kit_count_one(&entered);
  return kit_add(call);
}

static int meet(const fsched_kernel_call *call) {
  uint64_t n = kit_count_one(&entered);
  int cause = kit_await(entered.timeline, n + n % 2);
  return cause != FSCHED_CAUSE_NONE ? cause : kit_add(call);
}

static int gate(const fsched_kernel_call *call) {
  int now = atomic_fetch_add(&running, 1) + 1, most = most_running;
  while (now > most && !atomic_compare_exchange_weak(&most_running, &most, now)) {
  }
  (void)kit_count_one(&entered);
  int cause = kit_await(open_at, (uint64_t)kit_value(call));
  atomic_fetch_sub(&running, 1);
  return cause != FSCHED_CAUSE_NONE ? cause : kit_add(call);
}

const kit_kernel kernels[] = {{"add", kit_add},       {"sum", sum},     {"fail", kit_fail},
                              {"negative", negative}, {"count", count}, {"meet", meet},
                              {"gate", gate},         {NULL, NULL}};

static void device_begin(void) {
  fs_test_begin();
  device = kit_device(ctx, kernels);
  line = kit_timeline();
  end = kit_timeline();
  open_at = kit_timeline();
  kit_count_open(&entered);
  running = most_running = 0;
}

static void device_end(void) {
  fsched_device_release(device);
  fsched_semaphore_release(line);
  fsched_semaphore_release(end);
  fsched_semaphore_release(open_at);
  kit_count_close(&entered);
  fs_test_end();
}

void fs_test_device(TCase *t) { tcase_add_checked_fixture(t, device_begin, device_end); }
