/* SPDX-License-Identifier: Apache-2.0 */
/* A box at least a grain wide and a grain high is a piece of its own.  Narrower ones are put into
 * columns of four grains by their left edges; each column is walked from top to bottom, and boxes
 * that touch, or nearly so (less than a grain apart), become one piece:
 *
 *      |   ||  |   |         |   ##  |   |
 *      |   || ||   |   -->   |   ##### <- one piece, the bounding box of four
 *      |      ||   |         |      ##   |
 *
 * Boxes that are wide enough but too low are treated likewise in rows.  If there are still too many
 * pieces, the grain, at first half a pixel, is doubled.  This ends, as with a grain as large as the
 * panel everything is narrow and in one column. */
#include "draw/svg/pieces.h"

#include "base/radix.h"

enum { FIRST_GRAIN = FS_PX / 2, CELL = 4 };
/* Sort keys consist of the cell (a column or row), the place in it, and the box's index.
 * Coordinates are below 2^20, and a cell is 200 wide or more. */
enum { INDEX_BITS = 31, PLACE_BITS = 20 };

typedef struct fs_merger {
  const fs_svg_box *box;
  uint32_t n;
  uint64_t *key, *scratch;
  uint32_t n_members;
  fs_svg_pieces *out;
} fs_merger;

static bool cells_fit(const fs_merger *m) { return m->out->n < FS_SVG_PIECES_MOST; }

static uint64_t area(const fs_svg_box *b) {
  return (uint64_t)(b->x1 - b->x0) * (uint64_t)(b->y1 - b->y0);
}

/* Begins a piece with one box; returns false if there is no room for another piece. */
static bool begin_piece(fs_merger *m, uint32_t index) {
  if (!cells_fit(m)) {
    return false;
  }
  m->out->piece[m->out->n++] = (fs_svg_piece){m->box[index], m->n_members, 1};
  m->out->member[m->n_members++] = m->box[index].id;
  return true;
}

static void extend_piece(fs_merger *m, uint32_t index, uint64_t *largest) {
  fs_svg_piece *p = &m->out->piece[m->out->n - 1];
  const fs_svg_box *b = &m->box[index];
  p->box.x0 = b->x0 < p->box.x0 ? b->x0 : p->box.x0;
  p->box.x1 = b->x1 > p->box.x1 ? b->x1 : p->box.x1;
  p->box.y0 = b->y0 < p->box.y0 ? b->y0 : p->box.y0;
  p->box.y1 = b->y1 > p->box.y1 ? b->y1 : p->box.y1;
  if (area(b) > *largest) {
    *largest = area(b);
    p->box.id = b->id;
  }
  p->n++;
  m->out->member[m->n_members++] = b->id;
}

/* Merges the boxes of the sorted keys, cell by cell.  `narrow`: cells are columns, and places are
 * y.  Returns false if there is no room for another piece. */
static bool sweep_keys(fs_merger *m, uint32_t n_keys, bool narrow) {
  const uint64_t mask = ((uint64_t)1 << INDEX_BITS) - 1;
  fs_cent gap = narrow ? m->out->grain_y : m->out->grain_x;
  uint64_t largest = 0;
  for (uint32_t k = 0; k < n_keys; k++) {
    uint32_t index = (uint32_t)(m->key[k] & mask);
    const fs_svg_box *b = &m->box[index];
    bool joins = false;
    if (k > 0 &&
        m->key[k] >> (INDEX_BITS + PLACE_BITS) == m->key[k - 1] >> (INDEX_BITS + PLACE_BITS)) {
      const fs_svg_box *p = &m->out->piece[m->out->n - 1].box;
      joins = narrow ? b->y0 - p->y1 < gap : b->x0 - p->x1 < gap;
    }
    if (joins) {
      extend_piece(m, index, &largest);
    } else if (begin_piece(m, index)) {
      largest = area(b);
    } else {
      return false;
    }
  }
  return true;
}

static bool merge_small(fs_merger *m, bool narrow) {
  uint32_t n_keys = 0;
  for (uint32_t i = 0; i < m->n; i++) {
    const fs_svg_box *b = &m->box[i];
    bool is_narrow = b->x1 - b->x0 < m->out->grain_x, is_low = b->y1 - b->y0 < m->out->grain_y;
    if (narrow ? is_narrow : !is_narrow && is_low) {
      fs_cent cell = narrow ? b->x0 / (CELL * m->out->grain_x) : b->y0 / (CELL * m->out->grain_y);
      fs_cent place = narrow ? b->y0 : b->x0;
      m->key[n_keys++] =
          (uint64_t)cell << (PLACE_BITS + INDEX_BITS) | (uint64_t)place << INDEX_BITS | i;
    }
  }
  fs_radix_sort(m->key, m->scratch, n_keys);
  return sweep_keys(m, n_keys, narrow);
}

/* Makes pieces with the current grains; returns false if there would be too many. */
static bool try_grain(fs_merger *m) {
  m->out->n = m->n_members = 0;
  for (uint32_t i = 0; i < m->n; i++) {
    const fs_svg_box *b = &m->box[i];
    if (b->x1 - b->x0 >= m->out->grain_x && b->y1 - b->y0 >= m->out->grain_y &&
        !begin_piece(m, i)) {
      return false;
    }
  }
  return merge_small(m, false) && merge_small(m, true);
}

fs_status fs_svg_merge(fs_arena *arena, const fs_svg_box *box, uint32_t n, fs_cent width,
                       bool grow_y, fs_svg_pieces *out) {
  assert((box != NULL || n == 0) && width > 0);
  fs_merger m = {.box = box, .n = n, .out = out};
  *out = (fs_svg_pieces){.grain_x = FIRST_GRAIN, .grain_y = FIRST_GRAIN};
  FS_TRY(fs_new(arena, &m.key, n));
  FS_TRY(fs_new(arena, &m.scratch, n));
  FS_TRY(fs_new(arena, &out->piece, fs_min(n, FS_SVG_PIECES_MOST)));
  FS_TRY(fs_new(arena, &out->member, n));
  while (!try_grain(&m)) {
    if (grow_y || out->grain_x > width) {
      out->grain_y *= 2;
    }
    if (out->grain_x <= width) {
      out->grain_x *= 2;
    }
  }
  return FSCHED_OK;
}
