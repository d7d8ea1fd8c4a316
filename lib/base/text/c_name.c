/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/c_name.h"

/* The keywords of C up to C23 and of C++ up to C++23, including alternative spellings of
 * operators. */
static const char keywords[] =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t"
    " char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr"
    " constinit continue decltype default delete do double dynamic_cast else enum explicit export"
    " extern false float for friend goto if inline int long main mutable namespace new noexcept not"
    " not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires"
    " restrict return short signed sizeof static static_assert static_cast struct switch template"
    " this thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned"
    " using virtual void volatile wchar_t while xor xor_eq ";

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* An ASCII letter, whatever the locale. */
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static bool is_keyword(const char *name, size_t n) {
  for (const char *p = strstr(keywords, name); p != NULL; p = strstr(p + 1, name)) {
    if (p[-1] == ' ' && p[n] == ' ') {
      return true;
    }
  }
  return false;
}

static bool ends_in(const char *name, size_t n, const char *end) {
  size_t m = strlen(end);
  return n >= m && strcmp(name + n - m, end) == 0;
}

/* Names that <stddef.h> and <stdint.h> define or may come to define, and "__", which C++
 * reserves. */
static bool is_reserved(const char *name, size_t n) {
  static const char *const ends[] = {"_t", "_MAX", "_MIN", "_C", "_WIDTH"};
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
    if (ends_in(name, n, ends[i])) {
      return true;
    }
  }
  return strcmp(name, "NULL") == 0 || strcmp(name, "offsetof") == 0 || strstr(name, "__") != NULL;
}

bool fs_c_name_valid(const char *name) {
  size_t n = strlen(name);
  if (!is_letter(name[0]) || is_reserved(name, n)) {
    return false;
  }
  for (size_t i = 0; i < n; i++) {
    if (!is_letter(name[i]) && !is_digit(name[i]) && name[i] != '_') {
      return false;
    }
  }
  return !is_keyword(name, n);
}

char *fs_c_name_make(fs_arena *arena, const char *text, size_t length, const char *suffix) {
  static const char first[] = "graph_";
  char *out = fs_arena_alloc(arena, sizeof first + length + strlen(suffix));
  if (out == NULL) {
    return NULL;
  }
  size_t n = 0;
  bool gap = false;
  for (size_t i = 0; i < length; i++) {
    if (!is_letter(text[i]) && !is_digit(text[i])) {
      gap = true;
      continue;
    }
    if (n == 0 && is_digit(text[i])) {
      memcpy(out, first, n = sizeof first - 1);
    } else if (n != 0 && gap) {
      out[n++] = '_';
    }
    gap = false;
    out[n++] = text[i];
  }
  if (n == 0) { /* nothing of the text is left */
    memcpy(out, first, n = sizeof first - 2);
  }
  memcpy(out + n, suffix, strlen(suffix) + 1);
  return out;
}
