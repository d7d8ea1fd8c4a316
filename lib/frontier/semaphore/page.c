/* SPDX-License-Identifier: Apache-2.0 */
/* The page: a header, and a ring of slots, one for each of the last signals.
 *
 *     value, failure, end | turn, sleepers | ticket, amended, lossy | slot, slot, slot ...
 *     slot: sequence, ticket, won, previous, value, count and flags, axis, epoch, axis, epoch ...
 *
 * A signal reads the value, takes a ticket, claims the ticket's slot by making its sequence odd,
 * writes it, and makes the sequence even: a reader who finds the sequence odd or changed leaves the
 * slot.  Only then is the value raised, from `previous` to `value` by compare and swap; the signal
 * whose swap succeeds, the winner, marks its slot with the ticket.  Only marked slots count: the
 * winners' swaps form a chain, so each value has one winner, and no reader learns a loser's
 * frontier.  A winner takes its ticket after it has read the previous winner's value, so winners'
 * values ascend with their tickets: a search for a value goes through the ring from the newest
 * ticket back, and ends at the first winner below it.
 *
 * A later frontier for a reached value is merged into its winner's slot, which is claimed for that.
 * So two such merges at once are serialized, and use no new slot.
 *
 * A reader who is between a swap and its mark, or meets an odd slot that it needs, looks again for
 * some milliseconds and then learns nothing; a writer who needs such a slot gives up after a
 * second.  A late mark of a slot that another signal has taken since does nothing, as marks only
 * rise.  A process that dies while it writes a slot leaves it odd, and the slot is passed over from
 * then on; if all slots are odd, signals come without a frontier.  A process that dies after its
 * swap leaves sleepers asleep: these look by themselves, ten times a second.
 *
 * Words of a slot are written with release and read with acquire order, so that a word of a later
 * writer implies that its odd sequence is seen.  Value, turn and sleepers are sequentially
 * consistent: a sleeper counts itself and then reads the turn, a signal changes the turn and then
 * reads the count, so one sees the other.  A count that a dead sleeper has left behind costs a
 * futile wake-up, no more. */
#include "frontier/semaphore/page.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAGIC 0x31304d4553465346u /* "FSFSEM01" */
#define UNSET UINT64_MAX
#define FAILED ((uint64_t)1 << 32)

/* How often a process looks again: pausing, yielding the processor, then sleeping; writers are more
 * patient than readers. */
enum { PAUSES = 32, YIELDS = 64, READS = 80, WRITES = 1000, NAP_NS = 1000000 };
/* How often a signal tries to raise a value that others keep changing: well-behaved processes
 * change it less often, however many they are. */
enum { RAISES = 4096, MARKS = 64 };
enum { LOOK_NS = 100000000 }; /* the longest sleep */
enum { VERSION = 2, LINE = 64 };
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
  word amended; /* how often */
  word lossy;   /* 1: something could not be attached */
  _Alignas(LINE) word slot[];
};

_Static_assert(sizeof(word) == 8, "shared words are plain");

static size_t slot_words(uint32_t capacity) { return ENTRIES + 2 * (size_t)capacity; }

static size_t page_size(uint32_t capacity, uint32_t slots) {
  return sizeof(fs_page) + slots * slot_words(capacity) * sizeof(word);
}

static uint64_t get(const word *w) { return atomic_load_explicit(w, memory_order_acquire); }
static void put_word(word *w, uint64_t v) { atomic_store_explicit(w, v, memory_order_release); }

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
  put_word(&p->version, VERSION);
  put_word(&p->capacity, h->capacity);
  put_word(&p->slots, h->slots);
  put_word(&p->initial, h->initial);
  put_word(&p->value, h->initial);
  put_word(&p->end, UNSET);
  put_word(&p->magic, MAGIC);
}

fs_status fs_shared_create(fs_shared *h, uint64_t initial, uint32_t capacity, uint32_t slots) {
  assert(capacity > 0 && capacity <= FS_PAGE_MAX_CAPACITY && slots > 0 &&
         slots <= FS_PAGE_MAX_SLOTS);
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

/* Copies the sizes, and checks that all fits: later changes of the header are ignored. */
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
  assert(h->page != NULL);
  int copy = fcntl(h->fd, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) {
    return FSCHED_SYSTEM;
  }
  *fd = copy;
  return FSCHED_OK;
}

/* Sleeping */

uint32_t fs_shared_turn(const fs_shared *h) {
  assert(h->page != NULL);
  return atomic_load(&h->page->turn);
}

void fs_shared_sleep(const fs_shared *h, uint32_t turn, uint64_t timeout_ns) {
  assert(h->page != NULL);
  fs_page *p = h->page;
  atomic_fetch_add(&p->sleepers, 1);
  if (atomic_load(&p->turn) == turn) {
    fs_futex_wait_shared(&p->turn, turn, fs_min(timeout_ns, LOOK_NS));
  }
  atomic_fetch_sub(&p->sleepers, 1);
}

void fs_shared_wake(const fs_shared *h) {
  assert(h->page != NULL);
  fs_page *p = h->page;
  atomic_fetch_add(&p->turn, 1);
  if (atomic_load(&p->sleepers) != 0) {
    fs_futex_wake_all_shared(&p->turn);
  }
}

/* Slots */

/* The fields of a slot except its frontier.  `whole`: it was not being written. */
typedef struct glance {
  uint64_t sequence, ticket, previous, value;
  bool won, whole;
} glance;

static glance glance_at(const word *slot) {
  glance g = {.sequence = get(&slot[SEQUENCE])};
  g.ticket = get(&slot[TICKET]);
  g.won = get(&slot[WON]) == g.ticket;
  g.previous = get(&slot[PREVIOUS]);
  g.value = get(&slot[VALUE]);
  g.whole = g.sequence % 2 == 0 && get(&slot[SEQUENCE]) == g.sequence;
  return g;
}

/* Makes the even sequence odd; false when another process has changed it. */
static bool claim(word *slot, uint64_t sequence) {
  return sequence % 2 == 0 &&
         atomic_compare_exchange_strong(&slot[SEQUENCE], &sequence, sequence + 1);
}

/* Writes the frontier into a claimed slot. */
static void write_frontier(word *slot, const fs_shared_signal *signal) {
  const fsched_frontier *f = &signal->known;
  put_word(&slot[INFO], (uint64_t)f->n << FLAG_BITS | (f->tainted ? TAINTED : 0) |
                            (signal->trusted ? TRUSTED : 0));
  for (uint32_t i = 0; i < f->n; i++) {
    put_word(&slot[ENTRIES + 2 * i], f->entry[i].axis);
    put_word(&slot[ENTRIES + 2 * i + 1], f->entry[i].epoch);
  }
}

static word *slot_of(const fs_shared *h, uint64_t ticket) {
  return h->page->slot + (ticket - 1) % h->slots * slot_words(h->capacity);
}

/* Returns the written slot, or NULL if all are being written.  It is not marked yet; *ticket is its
 * mark. */
static word *write_slot(const fs_shared *h, const fs_shared_signal *signal, uint64_t *ticket) {
  assert(signal->known.n <= h->capacity);
  for (uint32_t tries = 0; tries < h->slots; tries++) {
    *ticket = atomic_fetch_add(&h->page->ticket, 1) + 1;
    word *slot = slot_of(h, *ticket);
    uint64_t sequence = get(&slot[SEQUENCE]);
    if (!claim(slot, sequence)) {
      continue; /* being written, perhaps for ever */
    }
    put_word(&slot[TICKET], *ticket);
    put_word(&slot[WON], 0);
    put_word(&slot[PREVIOUS], signal->previous);
    put_word(&slot[VALUE], signal->value);
    write_frontier(slot, signal);
    put_word(&slot[SEQUENCE], sequence + 2);
    return slot;
  }
  return NULL;
}

/* Marks the slot as the winner's, unless a later signal has taken it. */
static void mark(word *slot, uint64_t ticket) {
  uint64_t won = get(&slot[WON]);
  for (uint32_t i = 0; i < MARKS && won < ticket; i++) {
    if (atomic_compare_exchange_strong(&slot[WON], &won, ticket)) {
      return;
    }
  }
}

/* Reads the frontier of the slot as it was at the glance.  False: the slot has been written
 * since. */
static bool read_slot(const fs_shared *h, const word *slot, const glance *g,
                      fs_shared_signal *out) {
  uint64_t info = get(&slot[INFO]);
  uint64_t n = info >> FLAG_BITS;
  out->previous = g->previous;
  out->value = g->value;
  out->trusted = (info & TRUSTED) != 0;
  fsched_frontier *f = &out->known;
  f->tainted = (info & TAINTED) != 0;
  f->n = n <= h->capacity ? (uint32_t)n : 0;
  for (uint32_t i = 0; i < f->n; i++) {
    f->entry[i].axis = get(&slot[ENTRIES + 2 * i]);
    f->entry[i].epoch = get(&slot[ENTRIES + 2 * i + 1]);
  }
  bool same = atomic_load(&slot[SEQUENCE]) == g->sequence;
  if (n > h->capacity || fsched_frontier_validate(f) != FSCHED_OK) { /* invalid content */
    f->n = 0;
    f->tainted = 1;
  }
  return same;
}

/* Waits between two looks.  False: the limit is reached. */
static bool look_again(uint32_t tries, uint32_t limit) {
  if (tries < PAUSES) {
    fs_pause();
  } else if (tries < YIELDS) {
    (void)sched_yield();
  } else { /* the awaited process may have lost its processor */
    (void)nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
  }
  return tries + 1 < limit;
}

/* The winner's slot that serves `value`; NULL: there is none; if *open, one may still appear. */
static word *search(const fs_shared *h, uint64_t value, glance *g, bool *open) {
  uint64_t now = fs_shared_value(h);
  uint64_t newest = atomic_load(&h->page->ticket);
  *open = false;
  for (uint32_t i = 0; i < h->slots && i < newest; i++) {
    word *slot = slot_of(h, newest - i);
    *g = glance_at(slot);
    bool winner = g->whole && g->won;
    if (g->previous < value && value <= g->value && g->value <= now) {
      if (winner) {
        return slot;
      }
      *open = true;
    } else if (winner && g->ticket == newest - i && g->value < value) {
      break; /* and so are all before it */
    }
  }
  return NULL;
}

bool fs_shared_find(const fs_shared *h, uint64_t value, fs_shared_signal *out) {
  assert(out->known.capacity >= h->capacity);
  uint32_t tries = 0;
  do {
    glance g;
    bool open;
    const word *slot = search(h, value, &g, &open);
    if (slot != NULL && read_slot(h, slot, &g, out)) {
      return true;
    }
    if (slot == NULL && !open) {
      return false;
    }
  } while (look_again(tries++, READS));
  return false;
}

void fs_shared_resume(const fs_shared *h, fs_walk *w, bool patient) {
  assert(h->page != NULL);
  uint64_t amended = get(&h->page->amended);
  w->ticket = amended != w->amended ? 0 : w->ticket;
  w->amended = amended;
  w->patient = patient;
}

/* The first winner behind the walk's ticket that is not above `value`.  *open: a slot before it may
 * still become a winner's. */
static bool step_walk(const fs_shared *h, const fs_walk *w, uint64_t value, uint64_t *ticket,
                      bool *open, fs_shared_signal *out) {
  uint64_t newest = atomic_load(&h->page->ticket);
  uint64_t behind = newest < w->ticket ? 0 : fs_min(newest - w->ticket, h->slots);
  *open = false;
  for (; behind > 0; behind--) {
    *ticket = newest - behind + 1;
    const word *slot = slot_of(h, *ticket);
    glance g = glance_at(slot);
    if (g.value > value) {
      continue;
    }
    if (g.whole && g.won && g.ticket == *ticket && read_slot(h, slot, &g, out)) {
      return true;
    }
    *open |= g.previous == w->value && g.value > w->value;
  }
  return false;
}

bool fs_shared_next(const fs_shared *h, fs_walk *w, uint64_t value, fs_shared_signal *out,
                    bool *gap) {
  assert(out->known.capacity >= h->capacity);
  uint64_t ticket;
  bool open;
  bool found;
  uint32_t tries = 0;
  do {
    found = step_walk(h, w, value, &ticket, &open, out);
    *gap = found ? out->previous > w->value : w->value < value;
    w->patient = w->patient && (!*gap || !open || look_again(tries++, READS));
  } while (*gap && open && w->patient);
  if (found) {
    w->ticket = ticket;
    w->value = fs_max(w->value, out->value);
  }
  return found;
}

bool fs_shared_lossy(const fs_shared *h) {
  assert(h->page != NULL);
  return get(&h->page->lossy) != 0;
}

/* Raising and failing */

uint64_t fs_shared_value(const fs_shared *h) {
  assert(h->page != NULL);
  return atomic_load(&h->page->value);
}

fs_change fs_shared_raise(const fs_shared *h, const fs_shared_signal *signal) {
  assert(h->page != NULL && signal->known.n <= h->capacity);
  fs_shared_signal s = *signal;
  s.previous = fs_shared_value(h);
  for (uint32_t tries = 0; s.previous < s.value; tries++) {
    if (tries == RAISES) {
      return FS_STUCK;
    }
    uint64_t ticket;
    word *slot = write_slot(h, &s, &ticket);
    if (atomic_compare_exchange_strong(&h->page->value, &s.previous, s.value)) {
      if (slot != NULL) {
        mark(slot, ticket);
      }
      fs_shared_wake(h);
      return FS_CHANGED;
    }
  }
  /* The process that raised it may have died before it could wake sleepers. */
  if (atomic_load(&h->page->sleepers) != 0) {
    fs_shared_wake(h);
  }
  return FS_NO_CHANGE;
}

/* The slot was claimed at the glance's sequence, so it has not been written since. */
static void rewrite(const fs_shared *h, word *slot, glance g, const fs_shared_signal *more,
                    fsched_frontier *room) {
  fs_shared_signal signal = {.known = *room};
  g.sequence++;
  (void)read_slot(h, slot, &g, &signal);
  fsched_frontier_merge(&signal.known, &more->known);
  signal.trusted |= more->trusted;
  write_frontier(slot, &signal);
  put_word(&slot[SEQUENCE], g.sequence + 1);
  (void)atomic_fetch_add(&h->page->amended, 1);
}

fs_change fs_shared_amend(const fs_shared *h, const fs_shared_signal *more, fsched_frontier *room) {
  assert(h->page != NULL && room->capacity >= h->capacity);
  uint32_t tries = 0;
  do {
    glance g;
    bool open;
    word *slot = search(h, more->value, &g, &open);
    if (slot == NULL ? !open : g.value != more->value) {
      put_word(&h->page->lossy, 1);
      return FS_NO_CHANGE;
    }
    if (slot != NULL && claim(slot, g.sequence)) {
      rewrite(h, slot, g, more, room);
      return FS_CHANGED;
    }
  } while (look_again(tries++, WRITES));
  return FS_STUCK;
}

/* The value at the time of the failure.  The first process that sees the failure fixes it, so a
 * value that was found reached before the failure was seen is never above it. */
static uint64_t fix_end(const fs_shared *h) {
  uint64_t end = UNSET;
  uint64_t now = fs_shared_value(h);
  return atomic_compare_exchange_strong(&h->page->end, &end, now) ? now : end;
}

bool fs_shared_fail(const fs_shared *h, fsched_cause cause) {
  assert(h->page != NULL && cause != FSCHED_CAUSE_NONE);
  uint64_t none = 0;
  bool first = atomic_compare_exchange_strong(&h->page->failure, &none, FAILED | (uint32_t)cause);
  (void)fix_end(h);
  if (first) {
    fs_shared_wake(h);
  }
  return first;
}

fsched_cause fs_shared_cause(const fs_shared *h, uint64_t *end) {
  assert(h->page != NULL);
  uint64_t failure = atomic_load(&h->page->failure);
  if (failure == 0) {
    return FSCHED_CAUSE_NONE;
  }
  *end = fix_end(h);
  fsched_cause cause = (fsched_cause)(uint32_t)failure;
  return cause == FSCHED_CAUSE_NONE ? FSCHED_CAUSE_SYSTEM : cause;
}
