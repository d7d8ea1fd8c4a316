/* SPDX-License-Identifier: Apache-2.0 */
/* The words of the tables in kinds.h, and the proof that each member of a public enumeration has a
 * row: a switch over the rows that lacks a member does not compile. */
#include "model/kinds.h"

#define WORD(id, word, ...) word,

const char *const fs_words_sync[] = {FS_SYNC_KINDS(WORD)};
const char *const fs_words_entry[] = {FS_COMMAND_KINDS(WORD) FS_SIDE_ENTRIES(WORD)};
const char *const fs_words_copy[] = {FS_COPY_KINDS(WORD)};
const char *const fs_words_why[] = {FS_WHYS(WORD)};
const char *const fs_words_scope[] = {FS_SCOPES(WORD)};
const char *const fs_words_axis[] = {FS_AXIS_KINDS(WORD)};
const char *const fs_words_hazards[] = {FS_HAZARDS(WORD)};
const char *const fs_words_placement[] = {FS_PLACEMENTS(WORD)};
const char *const fs_words_io[] = {FS_IOS(WORD)};
const char *const fs_words_tag[] = {FS_TAGS(WORD)};
const char *const fs_words_loop_limit[] = {FS_LOOP_LIMITS(WORD)};

#define WHAT(id, word, what, ...) what,
const char *const fs_words_target[] = {FS_COMMAND_KINDS(WHAT)};

const char *const fs_words_spill[] = {FS_COPY_KINDS(FS_SPILL_WORD_)};
const char *const fs_words_schedule_status[] = {FS_SCHEDULE_STATUSES(WORD)};

const char *const fs_words_mode[] = {"none", "r", "w", "rw"};
const char *const fs_words_stop[] = {"full", "count"};

/* The rows of public enumerations are in the order of their members. */
#define IN_ORDER(prefix, id) \
  _Static_assert((int)ROW_##prefix##id == (int)prefix##id, "rows are in the order of the header");

#define ROW_OF(id, ...) ROW_FSCHED_SYNC_##id = FS_SYNC_##id,
#define ORDER_OF(id, ...) IN_ORDER(FSCHED_SYNC_, id)
#define CASE_OF(id, ...) case FSCHED_SYNC_##id:
enum { FS_SYNC_KINDS(ROW_OF) };
FS_SYNC_KINDS(ORDER_OF)
bool fs_sync_known(unsigned sync) {
  switch ((fsched_sync)sync) { FS_SYNC_KINDS(CASE_OF) return true; }
  return false;
}
#undef ROW_OF
#undef ORDER_OF
#undef CASE_OF

#define ROW_OF(id, ...) ROW_FSCHED_HAZARDS_##id,
#define ORDER_OF(id, ...) IN_ORDER(FSCHED_HAZARDS_, id)
#define CASE_OF(id, ...) case FSCHED_HAZARDS_##id:
enum { FS_HAZARDS(ROW_OF) };
FS_HAZARDS(ORDER_OF)
bool fs_hazards_known(unsigned hazards) {
  switch ((fsched_hazards)hazards) { FS_HAZARDS(CASE_OF) return true; }
  return false;
}
#undef ROW_OF
#undef ORDER_OF
#undef CASE_OF

#define ROW_OF(id, ...) ROW_FSCHED_##id,
#define ORDER_OF(id, ...) IN_ORDER(FSCHED_, id)
#define CASE_OF(id, ...) case FSCHED_##id:
enum { FS_PLACEMENTS(ROW_OF) };
FS_PLACEMENTS(ORDER_OF)
bool fs_placement_known(unsigned placement) {
  switch ((fsched_placement)placement) { FS_PLACEMENTS(CASE_OF) return true; }
  return false;
}
#undef ROW_OF
#undef ORDER_OF
#undef CASE_OF

#define ROW_OF(id, ...) ROW_FSCHED_IO_##id,
#define ORDER_OF(id, ...) IN_ORDER(FSCHED_IO_, id)
#define CASE_OF(id, ...) case FSCHED_IO_##id:
enum { FS_IOS(ROW_OF) };
FS_IOS(ORDER_OF)
bool fs_io_known(unsigned io) {
  switch ((fsched_io)io) { FS_IOS(CASE_OF) return true; }
  return false;
}
#undef ROW_OF
#undef ORDER_OF
#undef CASE_OF

#define ROW_OF(id, ...) ROW_FSCHED_##id,
#define ORDER_OF(id, ...) IN_ORDER(FSCHED_, id)
#define CASE_OF(id, ...) case FSCHED_##id:
enum { FS_TAGS(ROW_OF) };
FS_TAGS(ORDER_OF)
bool fs_tag_known(unsigned tag) {
  switch ((fsched_tag)tag) { FS_TAGS(CASE_OF) return true; }
  return false;
}
#undef ROW_OF
#undef ORDER_OF
#undef CASE_OF

#define ROW_OF(id, ...) ROW_FSCHED_EVICT_##id,
#define ORDER_OF(id, ...) IN_ORDER(FSCHED_EVICT_, id)
#define CASE_OF(id, ...) case FSCHED_EVICT_##id:
enum { FS_EVICTS(ROW_OF) };
FS_EVICTS(ORDER_OF)
bool fs_evict_known(unsigned evict) {
  switch ((fsched_evict)evict) { FS_EVICTS(CASE_OF) return true; }
  return false;
}
#undef ROW_OF
#undef ORDER_OF
#undef CASE_OF

#define ROW_OF(id, ...) ROW_FSCHED_REFINE_##id,
#define ORDER_OF(id, ...) IN_ORDER(FSCHED_REFINE_, id)
#define CASE_OF(id, ...) case FSCHED_REFINE_##id:
enum { FS_REFINES(ROW_OF) };
FS_REFINES(ORDER_OF)
bool fs_refine_known(unsigned refine) {
  switch ((fsched_refine)refine) { FS_REFINES(CASE_OF) return true; }
  return false;
}
#undef ROW_OF
#undef ORDER_OF
#undef CASE_OF

#define ROW_OF(id, ...) ROW_FSCHED_BARRIERS_##id,
#define ORDER_OF(id, ...) IN_ORDER(FSCHED_BARRIERS_, id)
#define CASE_OF(id, ...) case FSCHED_BARRIERS_##id:
enum { FS_BARRIER_METHODS(ROW_OF) };
FS_BARRIER_METHODS(ORDER_OF)
bool fs_barrier_method_known(unsigned barrier_method) {
  switch ((fsched_barrier_method)barrier_method) { FS_BARRIER_METHODS(CASE_OF) return true; }
  return false;
}
#undef ROW_OF
#undef ORDER_OF
#undef CASE_OF
