/* SPDX-License-Identifier: Apache-2.0 */
/* Finds commands by the names that users give them.  If a text can be read in several ways, the
 * name of an op takes precedence. */
#include "base/names.h"
#include "base/context.h"
#include "draw/explain/explain.h"

static fs_status add_item(fs_explain *e, uint32_t item) {
  for (size_t i = 0; i < e->item.n; i++) {
    if (e->item.at[i] == item) {
      return FSCHED_OK;
    }
  }
  return fs_vec_push(e->ctx, &e->item, item);
}

static uint32_t find_op(const fs_explain *e, const char *name) {
  for (uint32_t op = 0; op < e->s->n_ops; op++) {
    if (strcmp(fs_explain_string(e, e->s->ops[op].name), name) == 0) {
      return op;
    }
  }
  return FS_NONE;
}

static fs_status add_op(fs_explain *e, uint32_t op, bool *found) {
  for (uint32_t i = 0; i < e->s->n_commands; i++) {
    const fs_stream_command *c = &e->s->commands[e->order.order[i]];
    if (fs_command_op(c) == op) {
      *found = true;
      FS_TRY(add_item(e, e->wants.item[e->order.order[i]]));
    }
  }
  return FSCHED_OK;
}

/* Reads a decimal number below 2^32 - 1; FS_NONE: the text is none. */
static uint32_t number_of(const char *text) {
  uint64_t value = 0;
  for (const char *at = text; *at != '\0'; at++) {
    if (*at < '0' || *at > '9' || value > UINT32_MAX / 10) {
      return FS_NONE;
    }
    value = 10 * value + (uint64_t)(*at - '0');
  }
  return *text == '\0' || value >= FS_NONE ? FS_NONE : (uint32_t)value;
}

static bool is_prefix(const char *whole, const char *name, size_t n) {
  return strlen(name) == n && memcmp(whole, name, n) == 0;
}

static uint32_t find_axis(const fs_explain *e, const char *name, size_t n) {
  for (uint32_t a = 0; a < e->s->n_axes; a++) {
    if (is_prefix(name, fs_explain_string(e, e->s->axes[a].name), n)) {
      return a;
    }
  }
  return FS_NONE;
}

static uint32_t epochs_of(const fs_explain *e, uint32_t axis) {
  if (!fs_axis_has_members(e->s->axes[axis].kind)) {
    return e->s->queues[axis].n_commands;
  }
  uint32_t n = 0;
  for (uint32_t c = 0; c < e->s->n_commands; c++) {
    n = e->s->commands[c].gang_axis == axis && e->s->commands[c].gang_epoch > n
            ? e->s->commands[c].gang_epoch
            : n;
  }
  return n;
}

/* Adds the item of a name AXIS:EPOCH. */
static fs_status add_epoch(fs_explain *e, const char *name, bool *found) {
  const char *colon = strrchr(name, ':');
  uint32_t epoch = colon == NULL ? FS_NONE : number_of(colon + 1);
  uint32_t axis = epoch == FS_NONE ? FS_NONE : find_axis(e, name, (size_t)(colon - name));
  if (axis == FS_NONE || epoch == 0 || epoch > epochs_of(e, axis)) {
    return FSCHED_OK;
  }
  *found = true;
  fs_stream_wait w = {axis, epoch};
  return add_item(e, fs_explain_awaited(e, &w));
}

/* The text after the first word, if that is `a` or `b`; otherwise NULL. */
static const char *after_word(const char *name, const char *a, const char *b) {
  const char *const words[] = {a, b};
  for (size_t i = 0; i < 2; i++) {
    size_t n = strlen(words[i]);
    if (strncmp(name, words[i], n) == 0 && name[n] == ' ') {
      return name + n + 1;
    }
  }
  return NULL;
}

/* Whether the name is x or x.2 of this version.  As a buffer may be called x.2 too, such a name can
 * mean both. */
static bool is_version(const fs_explain *e, uint32_t version, const char *name) {
  const fs_stream_version *v = &e->s->versions[version];
  const char *buffer = fs_explain_string(e, e->s->buffers[v->buffer].name);
  if (strcmp(name, buffer) == 0) {
    return true; /* x stands for all versions of the buffer */
  }
  const char *dot = strrchr(name, '.');
  return dot != NULL && is_prefix(name, buffer, (size_t)(dot - name)) &&
         number_of(dot + 1) == v->index;
}

static fs_status add_copies(fs_explain *e, const char *name, fs_copy_kind direction, bool *found) {
  for (uint32_t i = 0; name != NULL && i < e->s->n_commands; i++) {
    const fs_stream_command *c = &e->s->commands[e->order.order[i]];
    if (fs_command_has_version(c) && fs_command_direction(c) == direction &&
        is_version(e, c->target, name)) {
      *found = true;
      FS_TRY(add_item(e, e->order.order[i]));
    }
  }
  return FSCHED_OK;
}

/* Writes a hint for an unknown name: the nearest op; with an epoch the nearest axis, or the epochs
 * that the axis has; otherwise the forms of names. */
static fs_status hint_for(fs_explain *e, const char *name, fs_text *hint) {
  const char *colon = strrchr(name, ':');
  uint32_t epoch = colon == NULL ? FS_NONE : number_of(colon + 1);
  uint32_t axis = epoch == FS_NONE ? FS_NONE : find_axis(e, name, (size_t)(colon - name));
  if (axis != FS_NONE) {
    fs_text_printf(hint, "its epochs are 1 to %u", epochs_of(e, axis));
    return FSCHED_OK;
  }
  if (fs_explain_in_loop(e, name)) {
    fs_text_puts(hint,
                 "write its iterations, of all loops around it, as OP[I][J]; they begin at 0");
    return FSCHED_OK;
  }
  uint32_t n = 0, n_ops = epoch == FS_NONE ? e->s->n_ops : 0;
  uint32_t n_loop_ops = epoch == FS_NONE ? e->s->n_loop_ops : 0;
  uint32_t n_axes = epoch == FS_NONE ? 0 : e->s->n_axes;
  const char **names;
  FS_TRY(fs_new(&e->arena, &names, (size_t)n_ops + n_loop_ops + n_axes));
  for (uint32_t i = 0; i < n_ops; i++) {
    names[n++] = fs_explain_string(e, e->s->ops[i].name);
  }
  for (uint32_t i = 0; i < n_loop_ops; i++) {
    names[n++] = fs_explain_string(e, e->s->loop_ops[i].name);
  }
  for (uint32_t i = 0; i < n_axes; i++) {
    names[n++] = fs_explain_string(e, e->s->axes[i].name);
  }
  const char *wanted =
      fs_arena_strndup(&e->arena, name, epoch == FS_NONE ? strlen(name) : (size_t)(colon - name));
  if (wanted == NULL) {
    return FSCHED_SYSTEM;
  }
  const char *nearest = fs_nearest(wanted, names, n);
  if (nearest != NULL) {
    fs_text_printf(hint, "did you mean '%.80s%s'?", nearest, epoch == FS_NONE ? "" : colon);
  } else {
    fs_text_puts(hint, e->s->n_loops == 0
                           ? "name an op, QUEUE:EPOCH, or 'read BUFFER' or 'write BUFFER'"
                           : "name an op, OP[I] in a loop, QUEUE:EPOCH, or 'read BUFFER' or 'write "
                             "BUFFER'");
  }
  return FSCHED_OK;
}

static fs_status unknown(fs_explain *e, const char *name) {
  fs_text hint;
  fs_text_init(&hint, e->ctx);
  fs_status status = hint_for(e, name, &hint);
  fs_text_add(&hint, "", 1);
  if (status == FSCHED_OK && !hint.failed) {
    fs_report(e->ctx, FSCHED_ERROR, FS_DIAG_UNKNOWN_NAME, FS_NOWHERE, hint.at,
              "the program has no command '%.80s'", name);
  }
  status = hint.failed ? FSCHED_SYSTEM : status;
  fs_text_drop(&hint);
  return status;
}

static fs_status add_name(fs_explain *e, const char *name, bool *found) {
  const char *run = after_word(name, "run", "run");
  uint32_t op = find_op(e, name);
  op = op == FS_NONE && run != NULL ? find_op(e, run) : op;
  if (op != FS_NONE) {
    return add_op(e, op, found);
  }
  FS_TRY(add_epoch(e, name, found));
  FS_TRY(add_copies(e, after_word(name, "write", "spill_write"), FS_SPILL_WRITE, found));
  FS_TRY(add_copies(e, after_word(name, "read", "spill_read"), FS_SPILL_READ, found));
  return *found ? FSCHED_OK : fs_explain_instance(e, name, found);
}

fs_status fs_explain_names(fs_explain *e, const char *const *name, size_t n) {
  assert(name != NULL || n == 0);
  bool all = true;
  for (size_t i = 0; i < n; i++) {
    bool found = false;
    FS_TRY(add_name(e, name[i], &found));
    if (!found) {
      FS_TRY(unknown(e, name[i]));
      all = false;
    }
  }
  return all ? FSCHED_OK : FSCHED_USAGE;
}
