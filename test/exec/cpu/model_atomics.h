/* SPDX-License-Identifier: Apache-2.0 */
/* Atomics, locks, futexes and the clock for sources that are explored (explore.h), in place of the
 * machine's.  Include this before those sources, and behind the system's headers.  Each place of a
 * source that uses one of these is a site, known by its function and by what it names. */
#ifndef FS_TEST_MODEL_ATOMICS_H
#define FS_TEST_MODEL_ATOMICS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each of these is a step of the thread that calls it.  `weak` says that the order is less than
 * sequentially consistent. */
uint64_t model_load(const char *site, const volatile void *at, size_t size);
void model_store(const char *site, volatile void *at, size_t size, uint64_t value, bool weak);
/* Returns the old value; `change` makes the new one from it and the operand. */
typedef enum model_change { MODEL_ADD, MODEL_SUB, MODEL_SWAP } model_change;
uint64_t model_modify(const char *site, volatile void *at, size_t size, model_change change,
                      uint64_t operand);
bool model_exchange(const char *site, volatile void *at, size_t size, void *expected,
                    uint64_t desired);
void model_lock(pthread_mutex_t *lock);
void model_unlock(pthread_mutex_t *lock);
void model_futex_wait(const _Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns);
void model_futex_wake_all(const _Atomic uint32_t *word);
uint64_t model_now_ns(void);

#define MODEL_VALUE(at) __typeof__((void)0, *(at))
#define MODEL_SITE(at) model_site(__func__, #at)
#define MODEL_WORD(value) ((uint64_t)(uintptr_t)(value))
/* Returns "function: expression", the same pointer for the same site. */
const char *model_site(const char *function, const char *expression);

#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_fetch_add
#undef atomic_fetch_sub
#undef atomic_exchange
#undef atomic_compare_exchange_weak
#undef atomic_compare_exchange_strong
#define atomic_load(at)                                                                \
  ((MODEL_VALUE(at))(uintptr_t)model_load(MODEL_SITE(at), (const volatile void *)(at), \
                                          sizeof *(at)))
#define atomic_load_explicit(at, order) ((void)(order), atomic_load(at))
#define atomic_store_explicit(at, value, order)                                       \
  model_store(MODEL_SITE(at), (volatile void *)(at), sizeof *(at), MODEL_WORD(value), \
              (order) != memory_order_seq_cst)
#define atomic_store(at, value) atomic_store_explicit(at, value, memory_order_seq_cst)
#define MODEL_MODIFY(at, change, operand) \
  model_modify(MODEL_SITE(at), (volatile void *)(at), sizeof *(at), (change), MODEL_WORD(operand))
#define atomic_fetch_add(at, n) MODEL_MODIFY(at, MODEL_ADD, n)
#define atomic_fetch_sub(at, n) MODEL_MODIFY(at, MODEL_SUB, n)
#define atomic_exchange(at, value) ((MODEL_VALUE(at))(uintptr_t)MODEL_MODIFY(at, MODEL_SWAP, value))
#define atomic_compare_exchange_strong(at, expected, desired)                             \
  model_exchange(MODEL_SITE(at), (volatile void *)(at), sizeof *(at), (void *)(expected), \
                 MODEL_WORD(desired))
#define atomic_compare_exchange_weak(at, expected, desired) \
  atomic_compare_exchange_strong(at, expected, desired)
#define pthread_mutex_lock model_lock
#define pthread_mutex_unlock model_unlock
#define fs_futex_wait model_futex_wait
#define fs_futex_wake_all model_futex_wake_all
#define fs_now_ns model_now_ns

#endif
