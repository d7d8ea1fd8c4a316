/* SPDX-License-Identifier: Apache-2.0 */
/* Shaving (Carlier and Pinson 1994; Martin and Shmoys 1996): a piece at the early end of an item's
 * window is cut off if the rules refute that the item starts in it; the same is done at the late
 * end, and for the two orders of a pair that cannot run at once.  Pieces of half a window are tried
 * first, then smaller ones. */
#include "problem/windows/private.h"

static void save(const fs_windows *w, fs_tick *est, fs_tick *lct) {
  memcpy(est, w->est, w->n * sizeof *est);
  memcpy(lct, w->lct, w->n * sizeof *lct);
}

static void restore(fs_windows *w, const fs_tick *est, const fs_tick *lct) {
  memcpy(w->est, est, w->n * sizeof *est);
  memcpy(w->lct, lct, w->n * sizeof *lct);
  w->failed = false;
}

/* Is there no schedule where i starts in [first, last]? */
static bool refuted(fs_windows *w, uint32_t i, fs_tick first, fs_tick last) {
  save(w, w->before, w->after);
  fs_windows_raise(w, i, first);
  fs_windows_lower(w, i, last + w->p->time[i]);
  bool possible = !w->failed && fs_windows_propagate(w, true);
  restore(w, w->before, w->after);
  return !possible;
}

static bool cut_early(fs_windows *w, uint32_t i) {
  bool any = false;
  fs_tick piece = (fs_latest_start(w, i) - w->est[i]) / 2;
  while (w->est[i] < fs_latest_start(w, i) && !fs_windows_tired(w)) {
    piece = fs_min(piece, fs_latest_start(w, i) - w->est[i] - 1);
    if (refuted(w, i, w->est[i], w->est[i] + piece)) {
      w->est[i] += piece + 1;
      any = true;
    } else if (piece == 0) {
      break;
    } else {
      piece /= 2;
    }
  }
  return any;
}

static bool cut_late(fs_windows *w, uint32_t i) {
  bool any = false;
  fs_tick piece = (fs_latest_start(w, i) - w->est[i]) / 2;
  while (w->est[i] < fs_latest_start(w, i) && !fs_windows_tired(w)) {
    fs_tick last = fs_latest_start(w, i);
    piece = fs_min(piece, last - w->est[i] - 1);
    if (refuted(w, i, last - piece, last)) {
      w->lct[i] -= piece + 1;
      any = true;
    } else if (piece == 0) {
      break;
    } else {
      piece /= 2;
    }
  }
  return any;
}

bool fs_windows_shave(fs_windows *w) {
  bool any = true;
  while (any && !fs_windows_tired(w)) {
    any = false;
    for (uint32_t i = 0; i < w->n && !fs_windows_tired(w); i++) {
      bool cut = cut_early(w, i);
      cut = cut_late(w, i) || cut;
      any = any || cut;
      if (cut && !fs_windows_propagate(w, true)) {
        return false;
      }
    }
  }
  return true;
}
