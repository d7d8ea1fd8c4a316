/* SPDX-License-Identifier: Apache-2.0 */
/* Linked with all of the program, this makes it behave as if it were within a program that uses the
 * locale of its user: before main, the locale of the environment is set.  What fsched writes must
 * not depend on that; the test of determinism compares.  The program ends with status 99 when there
 * is no such locale, or when that locale writes fractions as C does, so that nothing would be
 * tested. */
#include <locale.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void use_locale(void) {
  if (setlocale(LC_ALL, "") == NULL || strcmp(localeconv()->decimal_point, ",") != 0 ||
      strcmp(localeconv()->thousands_sep, "") == 0) {
    _exit(99);
  }
}
