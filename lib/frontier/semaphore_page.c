/* SPDX-License-Identifier: Apache-2.0 */
/* The page: a header, and a ring of slots, one for each of the last signals.
 *
 *     value, failure, end | turn, sleepers | ticket | slot, slot, slot ...
 *     slot: sequence, ticket, won, previous, value, count and flags, axis, epoch, axis, epoch ...
 *
 * A signal takes a ticket, claims the slot by making its sequence odd, writes it, and makes the
 * sequence even: a reader who finds the sequence odd or changed leaves the slot.  Only then is the
 * value raised, from `previous` to `value` by compare and swap; the one whose swap succeeds marks
 * its slot with the ticket as the winner's.  Only such slots count: the swaps of winners follow one
 * upon the other, so for each value there is one, and what a loser wrote is never learnt.  A reader
 * who is between the swap and the mark looks again a few times and then learns nothing; no reader
 * ever waits for a writer.  A late mark of a slot that another signal has taken since is not that
 * signal's ticket.  A process that dies while it writes a slot leaves it odd, and the slot is
 * passed over from then on; if all are, signals come without frontier.
 *
 * Words of a slot are written with release and read with acquire order, so that a word of a later
 * writer implies that its odd sequence is seen.  Value, turn and sleepers are sequentially
 * consistent: a sleeper counts itself and then reads the turn, a signal changes the turn and then
 * reads the count, so one sees the other.  A count that a dead sleeper has left behind costs a
 * futile wake-up, no more. */
#include "semaphore_page.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC 0x31304d4553465346u /* "FSFSEM01" */
#define UNSET UINT64_MAX
#define FAILED ((uint64_t)1 << 32)

enum { VERSION = 1, TRIES = 64, LINE = 64 };
enum { SEQUENCE, TICKET, WON, PREVIOUS, VALUE, INFO, ENTRIES };
enum { TAINTED = 1, TRUSTED = 2, FLAG_BITS = 2 };

typedef _Atomic uint64_t word;

struct fs_page {
  word magic, version, capacity, slots, initial;
  _Alignas(LINE) word value;
  word failure; /* 0, or FAILED and the cause */
  word end;     /* the value at the failure; UNSET before */
  _Alignas(LINE) _Atomic uint32_t turn;
  _Atomic uint32_t sleepers;
  _Alignas(LINE) word ticket;
  _Alignas(LINE) word slot[];
};

_Static_assert(sizeof(word) == 8, "shared words are plain");

static size_t slot_words(uint32_t capacity) { return ENTRIES + 2 * (size_t)capacity; }

static size_t page_size(uint32_t capacity, uint32_t slots) {
  return sizeof(fs_page) + slots * slot_words(capacity) * sizeof(word);
}

static word *slot_at(const fs_shared *h, uint32_t i) {
  return h->page->slot + i * slot_words(h->capacity);
}

static uint64_t get(const word *w) { return atomic_load_explicit(w, memory_order_acquire); }
static void put(word *w, uint64_t v) { atomic_store_explicit(w, v, memory_order_release); }

/* Mapping */

static fs_status map(fs_shared *h, int fd) {
  h->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (h->fd < 0) {
    return FSCHED_SYSTEM;
  }
  void *at = mmap(NULL, h->size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, h->fd, 0);
  if (at == MAP_FAILED) {
    (void)close(h->fd);
    return FSCHED_SYSTEM;
  }
  h->page = at;
  return FSCHED_OK;
}

static void format(const fs_shared *h) {
  fs_page *p = h->page;
  put(&p->version, VERSION);
  put(&p->capacity, h->capacity);
  put(&p->slots, h->slots);
  put(&p->initial, h->initial);
  put(&p->value, h->initial);
  put(&p->end, UNSET);
  put(&p->magic, MAGIC);
}

fs_status fs_shared_create(fs_shared *h, uint64_t initial, uint32_t capacity, uint32_t slots) {
  *h = (fs_shared){.capacity = capacity,
                   .slots = slots,
                   .initial = initial,
                   .size_bytes = page_size(capacity, slots)};
  int fd = memfd_create("fsched-semaphore", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) {
    return FSCHED_SYSTEM;
  }
  bool made = ftruncate(fd, (off_t)h->size_bytes) == 0 &&
              fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
  fs_status status = made ? map(h, fd) : FSCHED_SYSTEM;
  (void)close(fd);
  if (status == FSCHED_OK) {
    format(h);
  }
  return status;
}

/* Copies the sizes, and checks that all fits: what the page says later does not count. */
static bool check_header(fs_shared *h) {
  const fs_page *p = h->page;
  uint64_t capacity = get(&p->capacity);
  uint64_t slots = get(&p->slots);
  if (get(&p->magic) != MAGIC || get(&p->version) != VERSION || capacity < 1 ||
      capacity > FS_PAGE_MAX_CAPACITY || slots < 1 || slots > FS_PAGE_MAX_SLOTS) {
    return false;
  }
  h->capacity = (uint32_t)capacity;
  h->slots = (uint32_t)slots;
  h->initial = get(&p->initial);
  return page_size(h->capacity, h->slots) == h->size_bytes;
}

fs_status fs_shared_open(fs_shared *h, int fd) {
  *h = (fs_shared){.fd = -1};
  struct stat st;
  int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(fd, &st) != 0 ||
      st.st_size < (off_t)sizeof(fs_page)) {
    return FSCHED_BAD_INPUT;
  }
  h->size_bytes = (size_t)st.st_size;
  FS_TRY(map(h, fd));
  if (!check_header(h)) {
    fs_shared_close(h);
    return FSCHED_BAD_INPUT;
  }
  return FSCHED_OK;
}

void fs_shared_close(fs_shared *h) {
  if (h->page != NULL) {
    (void)munmap(h->page, h->size_bytes);
    (void)close(h->fd);
    h->page = NULL;
  }
}

fs_status fs_shared_dup(const fs_shared *h, int *fd) {
  int copy = fcntl(h->fd, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) {
    return FSCHED_SYSTEM;
  }
  *fd = copy;
  return FSCHED_OK;
}

/* Sleeping */

uint32_t fs_shared_turn(const fs_shared *h) { return atomic_load(&h->page->turn); }

void fs_shared_sleep(const fs_shared *h, uint32_t turn, uint64_t timeout_ns) {
  fs_page *p = h->page;
  atomic_fetch_add(&p->sleepers, 1);
  if (atomic_load(&p->turn) == turn) {
    fs_futex_wait_shared(&p->turn, turn, timeout_ns);
  }
  atomic_fetch_sub(&p->sleepers, 1);
}

void fs_shared_wake(const fs_shared *h) {
  fs_page *p = h->page;
  atomic_fetch_add(&p->turn, 1);
  if (atomic_load(&p->sleepers) != 0) {
    fs_futex_wake_all_shared(&p->turn);
  }
}

/* Slots */

/* Makes the slot's sequence odd; the odd number, or 0: it is being written, perhaps for ever. */
static uint64_t claim(word *slot) {
  uint64_t sequence = get(&slot[SEQUENCE]);
  bool mine =
      sequence % 2 == 0 && atomic_compare_exchange_strong(&slot[SEQUENCE], &sequence, sequence + 1);
  return mine ? sequence + 1 : 0;
}

/* The slot, or NULL: all are being written.  Not yet the winner's; *ticket is its mark. */
static word *write_slot(const fs_shared *h, const fs_shared_signal *signal, uint64_t *ticket_out) {
  const fsched_frontier *f = &signal->known;
  assert(f->n <= h->capacity);
  for (uint32_t tries = 0; tries < h->slots; tries++) {
    uint64_t ticket = atomic_fetch_add(&h->page->ticket, 1) + 1;
    word *slot = slot_at(h, (uint32_t)((ticket - 1) % h->slots));
    uint64_t sequence = claim(slot);
    if (sequence == 0) {
      continue;
    }
    put(&slot[TICKET], ticket);
    put(&slot[PREVIOUS], signal->previous);
    put(&slot[VALUE], signal->value);
    put(&slot[INFO],
        (uint64_t)f->n << FLAG_BITS | (f->tainted ? TAINTED : 0) | (signal->trusted ? TRUSTED : 0));
    for (uint32_t i = 0; i < f->n; i++) {
      put(&slot[ENTRIES + 2 * i], f->entry[i].axis);
      put(&slot[ENTRIES + 2 * i + 1], f->entry[i].epoch);
    }
    put(&slot[SEQUENCE], sequence + 1);
    *ticket_out = ticket;
    return slot;
  }
  return NULL;
}

typedef struct choice {
  const word *slot; /* NULL: none yet */
  uint64_t value, ticket;
  bool open; /* there is one that may come to be the winner's */
} choice;

/* Takes the slot when it serves `value`, and better than what was chosen: the least value that was
 * signalled, of two for one value the newer. */
static void consider(choice *c, const word *slot, uint64_t value, uint64_t now) {
  uint64_t signalled = get(&slot[VALUE]);
  uint64_t ticket = get(&slot[TICKET]);
  if (get(&slot[SEQUENCE]) % 2 != 0 || get(&slot[PREVIOUS]) >= value || signalled < value ||
      signalled > now) {
    return;
  }
  if (get(&slot[WON]) != ticket) {
    c->open = true;
    return;
  }
  if (c->slot == NULL || signalled < c->value || (signalled == c->value && ticket > c->ticket)) {
    *c = (choice){slot, signalled, ticket, c->open};
  }
}

/* Reads the slot while it holds the given ticket.  False: it is being overwritten. */
static bool read_slot(const fs_shared *h, const word *slot, uint64_t ticket,
                      fs_shared_signal *out) {
  uint64_t sequence = get(&slot[SEQUENCE]);
  uint64_t info = get(&slot[INFO]);
  uint64_t n = info >> FLAG_BITS;
  out->previous = get(&slot[PREVIOUS]);
  out->value = get(&slot[VALUE]);
  out->trusted = (info & TRUSTED) != 0;
  fsched_frontier *f = &out->known;
  f->tainted = (info & TAINTED) != 0;
  f->n = n <= h->capacity ? (uint32_t)n : 0;
  for (uint32_t i = 0; i < f->n; i++) {
    f->entry[i].axis = get(&slot[ENTRIES + 2 * i]);
    f->entry[i].epoch = get(&slot[ENTRIES + 2 * i + 1]);
  }
  bool same =
      sequence % 2 == 0 && get(&slot[TICKET]) == ticket && atomic_load(&slot[SEQUENCE]) == sequence;
  if (n > h->capacity || fsched_frontier_validate(f) != FSCHED_OK) { /* nonsense */
    f->n = 0;
    f->tainted = 1;
  }
  return same;
}

bool fs_shared_find(const fs_shared *h, uint64_t value, fs_shared_signal *out) {
  assert(out->known.capacity >= h->capacity);
  for (uint32_t tries = 0; tries < TRIES; tries++) {
    uint64_t now = fs_shared_value(h);
    choice c = {0};
    for (uint32_t i = 0; i < h->slots; i++) {
      consider(&c, slot_at(h, i), value, now);
    }
    if (c.slot == NULL) {
      if (!c.open) {
        return false;
      }
      if (tries < TRIES / 2) {
        fs_pause();
      } else {
        (void)sched_yield(); /* it may have lost its processor in between */
      }
      continue;
    }
    if (read_slot(h, c.slot, c.ticket, out) && out->value == c.value && out->previous < value) {
      return true;
    }
  }
  return false;
}

/* Raising and failing */

uint64_t fs_shared_value(const fs_shared *h) { return atomic_load(&h->page->value); }

bool fs_shared_raise(const fs_shared *h, const fs_shared_signal *signal) {
  fs_shared_signal s = *signal;
  s.previous = fs_shared_value(h);
  while (s.previous < s.value) {
    uint64_t ticket;
    word *slot = write_slot(h, &s, &ticket);
    if (atomic_compare_exchange_strong(&h->page->value, &s.previous, s.value)) {
      if (slot != NULL) {
        put(&slot[WON], ticket);
      }
      fs_shared_wake(h);
      return true;
    }
  }
  /* Who raised it may have died before it could wake anybody. */
  if (atomic_load(&h->page->sleepers) != 0) {
    fs_shared_wake(h);
  }
  return false;
}

void fs_shared_amend(const fs_shared *h, const fs_shared_signal *signal) {
  uint64_t ticket;
  word *slot = write_slot(h, signal, &ticket);
  if (slot != NULL) {
    put(&slot[WON], ticket);
  }
}

/* The value at which the failure came.  Whoever sees the failure fixes it, if nobody has; so what
 * was found to be reached before the failure was seen is never above it. */
static uint64_t fix_end(const fs_shared *h) {
  uint64_t end = UNSET;
  uint64_t now = fs_shared_value(h);
  return atomic_compare_exchange_strong(&h->page->end, &end, now) ? now : end;
}

bool fs_shared_fail(const fs_shared *h, fsched_cause cause) {
  uint64_t none = 0;
  bool first = atomic_compare_exchange_strong(&h->page->failure, &none, FAILED | (uint32_t)cause);
  (void)fix_end(h);
  if (first) {
    fs_shared_wake(h);
  }
  return first;
}

fsched_cause fs_shared_cause(const fs_shared *h, uint64_t *end) {
  uint64_t failure = atomic_load(&h->page->failure);
  if (failure == 0) {
    return FSCHED_CAUSE_NONE;
  }
  *end = fix_end(h);
  fsched_cause cause = (fsched_cause)(uint32_t)failure;
  return cause == FSCHED_CAUSE_NONE ? FSCHED_CAUSE_SYSTEM : cause;
}
