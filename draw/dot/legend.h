/* SPDX-License-Identifier: Apache-2.0 */
/* The styles of nodes and edges, and the legend, which explains those that occur.
 *
 * The colours are those of Okabe and Ito, which can be told apart with any colour vision.  Kinds of
 * nodes also differ in shape or shade, and edges that only stand for waits are also dashed. */
#ifndef FS_DOT_LEGEND_H
#define FS_DOT_LEGEND_H

#include "draw/dot/picture.h"

#define BLACK "#000000"
#define GREY "#999999"
#define LIGHT "#C8C8C8"
#define ORANGE "#E69F00"
#define SKY "#56B4E9"
#define GREEN "#009E73"
#define YELLOW "#F0E442"
#define BLUE "#0072B2"
#define VERMILION "#D55E00"
#define PALE_GREEN "#D3EFE4"
#define PALE_ORANGE "#F7E0AE"
#define PALE_SKY "#CFE9F8"
#define PURPLE "#CC79A7"
#define PALE_PURPLE "#F0D9E6"

typedef struct fs_edge_style {
  const char *name, *legend, *color, *style;
  int dashes; /* number of dashes in the legend; 0: a solid line */
} fs_edge_style;

typedef struct fs_node_style {
  const char *name, *legend, *shape, *fill, *peripheries;
} fs_node_style;

/* Indexed by fs_pic_why and by fs_pic_kind. */
extern const fs_edge_style fs_edge_styles[FS_PIC_WHYS];
extern const fs_node_style fs_node_styles[FS_PIC_KINDS];

/* The reason, of a set, that decides how the edge looks.  Requires a reason at least. */
static inline fs_pic_why fs_why_main(uint16_t why) {
  assert(why != 0);
  return (fs_pic_why)__builtin_ctz(why);
}
static inline bool fs_why_has(uint16_t set, fs_pic_why why) { return (set >> why & 1) != 0; }
/* Whether a wait's edge has another reason too: then it has a second line in the colour of
 * waits. */
static inline bool fs_why_double(uint16_t why) {
  return fs_why_has(why, FS_PIC_WAIT) && fs_why_main(why) != FS_PIC_WAIT;
}

/* Writes the legend as a label in HTML, with a row for every kind that occurs. */
void fs_dot_put_legend(const fs_picture *p, fs_text *t);

#endif
