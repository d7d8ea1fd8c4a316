/* SPDX-License-Identifier: Apache-2.0 */
/* The panel of a contiguous memory: addresses over time, with address 0 at the bottom and a
 * rectangle for each residency.  The time in which a copy moves its content is hatched like the bar
 * of the copy; the bytes between the content and the aligned size are dotted; free addresses are
 * left empty. */
#include "draw/svg/svg.h"

typedef struct fs_svg_space {
  uint32_t memory;
  fs_cent top, height;
  fs_svg_amounts amounts;
  uint32_t n_boxes;
  fs_svg_box *box;   /* the `id` of a box is its index */
  uint32_t *owner;   /* per box: its residency */
  fs_svg_box *label; /* per box: the part of it for its name, beside hatched parts */
} fs_svg_space;

static fs_cent y_of(const fs_svg_space *m, uint64_t address) {
  return m->height - fs_svg_scale(address, m->amounts.top, m->height);
}

static fs_status collect_boxes(fs_svg *v, fs_svg_space *m) {
  const fs_schedule *s = v->s;
  uint64_t highest = 0;
  const uint32_t *residency = v->memory_res + v->memory_res0[m->memory];
  m->n_boxes = v->memory_res0[m->memory + 1] - v->memory_res0[m->memory];
  for (uint32_t b = 0; b < m->n_boxes; b++) {
    uint32_t r = residency[b];
    highest = fs_max(highest, s->res_address[r] + s->res_size[r]);
  }
  fs_svg_amounts_init(&m->amounts, v->g->target.memory[m->memory].capacity, highest, "extent",
                      true);
  FS_TRY(fs_new(&v->arena, &m->box, m->n_boxes));
  FS_TRY(fs_new(&v->arena, &m->label, m->n_boxes));
  FS_TRY(fs_new(&v->arena, &m->owner, m->n_boxes));
  for (uint32_t b = 0; b < m->n_boxes; b++) {
    uint32_t r = residency[b];
    m->owner[b] = r;
    m->box[b] =
        (fs_svg_box){fs_svg_x(v, s->res_begin[r]), fs_svg_x(v, s->res_end[r]),
                     y_of(m, s->res_address[r] + s->res_size[r]), y_of(m, s->res_address[r]), b};
    m->label[b] = m->box[b];
  }
  return FSCHED_OK;
}

/* Writes "capacity 2 MiB, peak 1 MiB, extent 1.5 MiB, aligned to 64 B, backed by ddr". */
static void details(fs_svg *v, const fs_svg_space *m) {
  const fs_memory *memory = &v->g->target.memory[m->memory];
  fs_text *t = &v->body;
  fs_text_puts(t, "memory, capacity ");
  fs_svg_bytes(t, memory->capacity);
  fs_text_puts(t, ", peak ");
  fs_svg_bytes(t, v->peak[m->memory]);
  fs_text_puts(t, ", extent ");
  fs_svg_bytes(t, m->amounts.used);
  if (memory->align > 1) {
    fs_text_puts(t, ", aligned to ");
    fs_svg_bytes(t, memory->align);
  }
  if (memory->backing != FS_NONE) {
    fs_text_puts(t, ", backed by ");
    fs_svg_name(t, v->g->target.memory[memory->backing].name);
  }
}

static bool is_large(const fs_svg_box *b) {
  return b->x1 - b->x0 >= 3 * FS_PX && b->y1 - b->y0 >= 3 * FS_PX;
}

static const char *owner_name(fs_svg *v, uint32_t r) {
  uint32_t version = v->s->res_version[r];
  return version == FS_NONE ? v->g->op_name[v->s->res_op[r]] : fs_svg_version_name(v, version);
}

/* Writes the tooltip "conv1.0: 4096 B at [0, 4096), 3–7 us". */
static void title(fs_svg *v, fs_text *t, uint32_t r) {
  const fs_schedule *s = v->s;
  fs_text_puts(t, "><title>");
  fs_svg_name(t, owner_name(v, r));
  fs_text_puts(t, s->res_version[r] == FS_NONE ? ": scratch, " : ": ");
  fs_text_u64(t, v->content[r]);
  fs_text_puts(t, " B at [");
  fs_text_u64(t, s->res_address[r]);
  fs_text_puts(t, ", ");
  fs_text_u64(t, s->res_address[r] + s->res_size[r]);
  fs_text_puts(t, "), ");
  fs_svg_interval(t, v, s->res_begin[r], s->res_end[r]);
  fs_text_puts(t, "</title></rect>\n");
}

static void padding(fs_svg *v, const fs_svg_space *m, const fs_svg_box *box) {
  uint32_t r = m->owner[box->id];
  if (v->content[r] >= v->s->res_size[r]) {
    return;
  }
  fs_svg_box strip = *box;
  strip.y1 = y_of(m, v->s->res_address[r] + v->content[r]);
  if (strip.y1 - strip.y0 >= FS_PX / 2) {
    v->used[FS_SVG_PADDING] = true;
    fs_svg_rect(v, &v->body, "z", FS_SVG_PLAIN, m->top, strip);
    fs_text_puts(&v->body, " pointer-events=\"none\"/>\n");
  }
}

/* Draws the borders between the slots of a ring. */
static void slots(fs_svg *v, const fs_svg_space *m, const fs_svg_box *box) {
  uint32_t r = m->owner[box->id], version = v->s->res_version[r];
  uint64_t slot = version == FS_NONE ? 0 : v->slot[v->g->version_buffer[version]];
  uint64_t begin = v->s->res_address[r], end = begin + v->s->res_size[r];
  if (slot == 0 || y_of(m, begin) - y_of(m, begin + slot) < 3 * FS_PX) {
    return;
  }
  for (uint64_t at = begin + slot; at < end; at += slot) {
    fs_svg_box line = *box;
    line.y0 = y_of(m, at) - FS_PX / 4;
    line.y1 = line.y0 + FS_PX / 2;
    v->used[FS_SVG_SLOTS] = true;
    fs_svg_rect(v, &v->body, "h1", FS_SVG_PLAIN, m->top, line);
    fs_text_puts(&v->body, " pointer-events=\"none\"/>\n");
  }
}

static void residency(fs_svg *v, fs_svg_space *m, const fs_svg_box *box) {
  uint32_t r = m->owner[box->id];
  bool scratch = v->s->res_version[r] == FS_NONE;
  bool instant = v->s->res_begin[r] == v->s->res_end[r], large = is_large(box);
  v->used[FS_SVG_OP] = true;
  v->used[FS_SVG_GIVEN] |= !scratch && fs_version_given(v->g, v->s->res_version[r]);
  v->used[FS_SVG_SCRATCH] |= scratch;
  v->used[FS_SVG_INSTANT] |= instant;
  fs_text *t = instant ? &v->above : &v->body;
  fs_svg_rect(v, t,
              instant   ? "i"
              : scratch ? "b s"
              : large   ? "b"
                        : "",
              fs_svg_residency_colour(v, r), m->top,
              fs_svg_visible(box, instant, v->right - v->left, m->height));
  title(v, t, r);
  if (large) {
    padding(v, m, box);
    slots(v, m, box);
    v->alone[r] = box->id;
  }
}

static void merged(fs_svg *v, const fs_svg_space *m, const fs_svg_pieces *pieces,
                   const fs_svg_piece *p) {
  fs_tick begin = FS_TICK_NONE, end = 0;
  for (uint32_t i = p->member0; i < p->member0 + p->n; i++) {
    uint32_t r = m->owner[pieces->member[i]];
    begin = fs_min(begin, v->s->res_begin[r]);
    end = fs_max(end, v->s->res_end[r]);
  }
  v->used[FS_SVG_MERGED] = true;
  fs_svg_rect(v, &v->body, "x", fs_svg_residency_colour(v, m->owner[p->box.id]), m->top,
              fs_svg_visible(&p->box, false, v->right - v->left, m->height));
  fs_text_puts(&v->body, "><title>");
  fs_text_u64(&v->body, p->n);
  fs_text_puts(&v->body, " residencies: ");
  fs_svg_interval(&v->body, v, begin, end);
  fs_text_puts(&v->body, "</title></rect>\n");
}

/* Reduces the place for a name to the larger of the two parts beside the hatched part. */
static void make_room(fs_svg_box *label, const fs_svg_box *hatched) {
  if (hatched->x0 >= label->x1 || hatched->x1 <= label->x0) {
    return;
  }
  if (hatched->x0 - label->x0 > label->x1 - hatched->x1) {
    label->x1 = hatched->x0;
  } else {
    label->x0 = hatched->x1 < label->x1 ? hatched->x1 : label->x1;
  }
}

/* Hatches the time in which a copy reads or writes a residency. */
static void hatch(fs_svg *v, const fs_svg_space *m, uint32_t copy, uint32_t r) {
  if (r == FS_NONE || v->s->res_memory[r] != m->memory || v->alone[r] == FS_NONE) {
    return;
  }
  uint32_t item = v->g->n_ops + copy;
  fs_svg_box box = m->box[v->alone[r]];
  fs_cent x0 = fs_svg_x(v, v->s->start[item]), x1 = fs_svg_x(v, v->s->end[item]);
  box.x0 = x0 > box.x0 ? x0 : box.x0;
  box.x1 = x1 < box.x1 ? x1 : box.x1;
  if (box.x1 - box.x0 >= FS_PX / 2) {
    make_room(&m->label[box.id], &box);
    fs_svg_rect(v, &v->body, fs_svg_hatch(v, copy), FS_SVG_PLAIN, m->top, box);
    fs_text_puts(&v->body, " pointer-events=\"none\"/>\n");
  }
}

/* Marks the time in which an output and its input share one place. */
static void in_place(fs_svg *v, const fs_svg_space *m, uint32_t pair) {
  const fs_schedule *s = v->s;
  uint32_t out = s->arg_residency[v->g->inplace_out[pair]];
  uint32_t in = s->arg_residency[v->g->inplace_in[pair]];
  if (in == FS_NONE || s->res_memory[in] != m->memory || v->alone[out] == FS_NONE ||
      v->alone[in] == FS_NONE || s->res_address[out] != s->res_address[in] ||
      s->res_end[in] <= s->res_begin[out]) {
    return;
  }
  fs_svg_box box = m->box[v->alone[out]];
  box.x1 = m->box[v->alone[in]].x1;
  if (box.x1 - box.x0 >= 5 * FS_PX) {
    v->used[FS_SVG_INPLACE] = true;
    make_room(&m->label[v->alone[in]], &box);
    make_room(&m->label[v->alone[out]], &box);
    fs_svg_rect(v, &v->body, "j", FS_SVG_PLAIN, m->top, box);
    fs_text_puts(&v->body, " pointer-events=\"none\"/>\n");
  }
}

static void draw_map(fs_svg *v, fs_svg_space *m, const fs_svg_pieces *pieces) {
  for (uint32_t i = 0; i < pieces->n; i++) {
    const fs_svg_piece *p = &pieces->piece[i];
    if (p->n == 1) {
      residency(v, m, &p->box);
    } else {
      merged(v, m, pieces, p);
    }
  }
  for (uint32_t k = v->memory_copy0[m->memory]; k < v->memory_copy0[m->memory + 1]; k++) {
    uint32_t copy = v->memory_copy[k];
    hatch(v, m, copy, v->s->copy_residency[copy]);
    hatch(v, m, copy, v->s->copy_store[copy]);
  }
  for (uint32_t k = v->memory_pair0[m->memory]; k < v->memory_pair0[m->memory + 1]; k++) {
    in_place(v, m, v->memory_pair[k]);
  }
  for (uint32_t b = 0; b < m->n_boxes; b++) {
    if (v->alone[m->owner[b]] != FS_NONE) {
      bool narrow = m->label[b].x1 - m->label[b].x0 < 24 * FS_PX;
      fs_svg_label(v, narrow ? "l o" : "l", owner_name(v, m->owner[b]), m->top,
                   narrow ? &m->box[b] : &m->label[b]);
    }
  }
}

fs_status fs_svg_map(fs_svg *v, uint32_t memory, fs_cent height) {
  fs_svg_space m = {.memory = memory, .height = height};
  fs_svg_pieces pieces;
  fs_arena_mark mark = fs_arena_set_mark(&v->arena);
  FS_TRY(collect_boxes(v, &m));
  FS_TRY(fs_svg_merge(&v->arena, m.box, m.n_boxes, v->right - v->left, true, &pieces));
  fs_svg_heading(v, v->g->target.memory[memory].name);
  details(v, &m);
  m.top = fs_svg_open(v, true, height);
  draw_map(v, &m, &pieces);
  fs_svg_ruler(v, &m.amounts, m.top, height);
  fs_svg_close(v);
  fs_arena_reset(&v->arena, mark);
  return FSCHED_OK;
}
