/* SPDX-License-Identifier: Apache-2.0 */
/* Draws barriers in place of waits: a path through a barrier shows an order, so no edge has to. */
#include "draw/dot/picture.h"

void fs_picture_show_barriers(fs_picture *p, uint32_t most) {
  enum { WAIT = 1 << FS_PIC_WAIT };
  if (p->n_barriers > most) {
    p->hidden_barriers = p->n_barriers;
    p->n_barriers = 0;
    p->updates.n = p->awaits.n = 0;
  }
  size_t n = 0;
  for (size_t e = 0; e < p->edge.n; e++) {
    fs_pic_edge edge = p->edge.at[e];
    edge.why &= (uint16_t)(p->n_barriers > 0 ? ~WAIT : ~0);
    if (edge.why != 0) {
      p->edge.at[n++] = edge;
    }
  }
  p->edge.n = n;
}
