/* SPDX-License-Identifier: Apache-2.0 */
/* The identity of the process.  A page that the kernel clears in children holds the number of this
 * process.  The first caller, or one that finds the page cleared, writes the time there, which no
 * earlier process can have had.  Without such a page the number is the system's process id. */
#include "base/process.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "fsched/frontier.h"

typedef struct birth_page {
  _Atomic uint64_t birth; /* 0: not set yet */
} birth_page;

/* The only global variables of the library, apart from thread-local ones.  NULL: the page is not
 * made yet; `without`: it cannot be made. */
static _Atomic(birth_page *) page;
static birth_page without;
static fs_ordinals ordinals;

static birth_page *make_page(void) {
  size_t size = (size_t)sysconf(_SC_PAGESIZE);
  void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  bool made = at != MAP_FAILED && madvise(at, size, MADV_WIPEONFORK) == 0;
  if (!made && at != MAP_FAILED) {
    (void)munmap(at, size);
  }
  birth_page *mine = made ? at : &without, *found = NULL;
  if (atomic_compare_exchange_strong(&page, &found, mine)) {
    return mine;
  }
  if (made) { /* another thread was faster */
    (void)munmap(at, size);
  }
  return found;
}

static uint64_t be_born(birth_page *p) {
  uint64_t none = 0, now = fs_now_ns() + 1;
  return atomic_compare_exchange_strong(&p->birth, &none, now) ? now : none;
}

uint64_t fs_process_birth(void) {
  birth_page *p = atomic_load_explicit(&page, memory_order_acquire);
  if (p == NULL) {
    p = make_page();
  }
  if (p == &without) {
    return (uint64_t)getpid();
  }
  uint64_t birth = atomic_load_explicit(&p->birth, memory_order_relaxed);
  return birth != 0 ? birth : be_born(p);
}

void fs_process_without_page(void) { atomic_store(&page, &without); }

fs_ordinals *fs_process_ordinals(void) { return &ordinals; }

bool fs_ordinals_take(fs_ordinals *from, uint64_t n, uint64_t *first) {
  assert(n > 0);
  const uint64_t all = FSCHED_AXIS_MAX_ORDINAL + 1;
  uint64_t next = atomic_load_explicit(&from->next, memory_order_relaxed);
  do {
    if (n > all - next) {
      return false;
    }
  } while (!atomic_compare_exchange_weak(&from->next, &next, next + n));
  *first = next;
  return true;
}
