/* SPDX-License-Identifier: Apache-2.0 */
/* The sources of the CPU back end's threads, under other names, with the atomics of
 * model_atomics.h.  Only one test may include this, as it contains definitions. */
#ifndef FS_TEST_LANES_SOURCES_H
#define FS_TEST_LANES_SOURCES_H

#include "exec/cpu/model_atomics.h"

#define fs_timeline_wake model_timeline_wake
#define fs_timeline_wake_parked model_timeline_wake_parked
#define fs_timeline_spin model_timeline_spin
#define fs_timeline_sleep model_timeline_sleep
#define fs_timeline_park model_timeline_park
#define fs_parked_add model_parked_add
#define fs_parked_take model_parked_take
#define fs_cpu_poison model_cpu_poison
#define fs_cpu_park model_cpu_park
#define fs_cpu_park_paced model_cpu_park_paced
#define fs_cpu_begin model_cpu_begin
#define fs_cpu_rest model_cpu_rest
#define fs_cpu_run_lanes model_cpu_run_lanes
#define fs_cpu_go_on model_cpu_go_on
#define fs_cpu_worker model_cpu_worker
#define fs_cpu_barrier_start model_cpu_barrier_start
#define fs_cpu_barrier_end model_cpu_barrier_end
#define fs_cpu_barrier_set model_cpu_barrier_set
#define fs_cpu_await_value model_cpu_await_value
#define fs_cpu_arrive model_cpu_arrive
#define fs_cpu_await_pace model_cpu_await_pace
#define fs_cpu_op_begin model_cpu_op_begin
#define fs_cpu_op_end model_cpu_op_end
#define fs_cpu_op_pace model_cpu_op_pace
#define fs_cpu_op_keep model_cpu_op_keep
#define fs_effect_run model_effect_run
#define fs_effect_give model_effect_give
#define fs_effect_keep model_effect_keep
#include "exec/host/parked.c"
#include "exec/host/timeline.c"
#undef fs_cpu_go_on
#define fs_cpu_go_on model_go_on_alone
#include "exec/cpu/lanes.c"
#undef fs_cpu_go_on
#define fs_cpu_go_on model_cpu_go_on
#include "exec/cpu/worker.c"

#endif
