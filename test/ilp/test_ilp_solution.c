/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of solutions in the forms that solvers write, and the exact texts of its errors. */
#include "base/text/diag_format.h"
#include "ilp/model_kit.h"
#include "ilp/solver/decimal.h"

#include "ilp/model_case.h"

enum { X1, X2, LOOSE, LEAST, NEVER, VARS };

static int64_t value[VARS];

static void add_variables(void) {
  static const struct {
    const char *name;
    fs_var_kind kind;
    int64_t low, high;
  } vars[VARS] = {{"x_1", FS_VAR_INTEGER, 0, 9},
                  {"x_2", FS_VAR_BINARY, 0, 1},
                  {"loose", FS_VAR_CONTINUOUS, -100, 100},
                  {"least", FS_VAR_INTEGER, 3, FS_MODEL_INF},
                  {"never", FS_VAR_INTEGER, -FS_MODEL_INF, -2}};
  for (int i = 0; i < VARS; i++) {
    uint32_t id;
    ck_fs(ctx, fs_model_add_var(&own_model, vars[i].kind, vars[i].low, vars[i].high, 1, &id, "%s",
                                vars[i].name));
  }
}

static void values(int64_t x1, int64_t x2, int64_t loose, int64_t least, int64_t never) {
  ck_assert_int_eq(value[X1], x1);
  ck_assert_int_eq(value[X2], x2);
  ck_assert_int_eq(value[LOOSE], loose);
  ck_assert_int_eq(value[LEAST], least);
  ck_assert_int_eq(value[NEVER], never);
}

static void good(const char *text) {
  memset(value, 0x55, sizeof value);
  ck_fs(ctx, fs_solution_read(ctx, &own_model, "a.sol", text, strlen(text), value));
  ck_assert_uint_eq(fsched_diag_count(ctx), 0);
}

/* Checks the reported text, byte for byte. */
static void bad_bytes(const char *text, size_t n, const char *expected) {
  fs_text out;
  ck_assert_int_eq(fs_solution_read(ctx, &own_model, "a.sol", text, n, value), FSCHED_BAD_INPUT);
  fs_text_init(&out, ctx);
  for (uint32_t i = 0; i < fsched_diag_count(ctx); i++) {
    fs_diag_format(fsched_diag_get(ctx, i), false, &out);
  }
  fs_text_add(&out, "", 1);
  ck_assert_msg(!out.failed && strcmp(out.at, expected) == 0, "now:\n%s\nexpected:\n%s", out.at,
                expected);
  fs_text_drop(&out);
  fsched_diag_clear(ctx);
}

static void bad(const char *text, const char *expected) { bad_bytes(text, strlen(text), expected); }

/* ---- forms ---- */

START_TEST(plain)
{
  good("# a comment\n\nx_1 4\n  loose\t-2.5e+1   # of the wind\nx_2 1e+00\r\nnever -7");
  values(4, 1, -25, 3, -7);
  good("x_2 1\r\n");
  values(0, 1, 0, 3, -2); /* variables that are not named are 0, or at the bound next to it */
  good("\xEF\xBB\xBFx_1 4\n");
  values(4, 0, 0, 3, -2);
  good("# Objective value = 7\nx_1 4\n#x_2 1\n");
  values(4, 0, 0, 3, -2);
}
END_TEST

START_TEST(cbc)
{
  good(
      "Optimal - objective value 7.00000000\n"
      "      0 x_1                    2                       1\n"
      "**    2 loose                  0.49999          1e-05\n"
      "      3 least                  1e+05                       0\n");
  values(2, 0, 0, 100000, -2);
  good("Stopped on time - objective value 7.00000000\n      1 x_2  0.9999995  0\n");
  values(0, 1, 0, 3, -2);
  good("Optimal - objective value 0.00000000\n");
  values(0, 0, 0, 3, -2);
}
END_TEST

START_TEST(highs)
{
  static const char text[] =
      "Model status\nOptimal\n\n# Primal solution values\nFeasible\nObjective 7\n"
      "# Columns 5\nx_1 2\nx_2 1\nloose -0\nleast 3\nnever -2.0000004\n"
      "# Rows 2\nr_1 4\nx_1 5\n\n# Dual solution values\nNone\n\n# Basis\nHiGHS v1\nNone\n";
  good(text);
  values(2, 1, 0, 3, -2);
  good(strstr(text, "# Primal"));
  values(2, 1, 0, 3, -2);
  good(strstr(text, "# Columns"));
  values(2, 1, 0, 3, -2);
}
END_TEST

START_TEST(scip)
{
  good(
      "solution status: optimal solution found\nobjective value:                    7\n"
      "x_1                                                 2 \t(obj:1)\n"
      "least                                               4 \t(obj:1)\n");
  values(2, 0, 0, 4, -2);
  good("objective value:                    7\nx_2 1 \t(obj:1)\n");
  values(0, 1, 0, 3, -2);
  good("objective value:                    0\n");
  values(0, 0, 0, 3, -2);
}
END_TEST

START_TEST(glpsol)
{
  good(
      "c Problem:    small\nc Rows:       2\nc\ns mip 2 5 o -3\ni 1 2\ni 2 2\n"
      "j 1 2\nj 2 1\nj 3 -1.5\nj 4 3\nj 5 -2\ne o f\nwhatever\n");
  values(2, 1, -2, 3, -2);
  good("s mip 2 5 f -3\nj 4 8\ne o f\n");
  values(0, 0, 0, 8, -2);
}
END_TEST

/* These are solutions of a model without integers, and of one whose integers glpsol was told to
 * ignore. */
START_TEST(glpsol_of_an_lp)
{
  good(
      "c Status:     OPTIMAL\nc\ns bas 2 5 f f -3\ni 1 b 2 0\ni 2 l 2 -1\n"
      "j 1 b 2 0\nj 2 u 1 9\nj 3 s -1.5 8\nj 4 l 3 7\nj 5 b -2 0\ne o f\n");
  values(2, 1, -2, 3, -2);
  good("s ipt 2 5 o -3\ni 1 2 7\nj 1 1.9999999 1e-09\nj 2 1 9\ne o f\n");
  values(2, 1, 0, 3, -2);
}
END_TEST

/* A line "c 5" may begin a file of glpsol, or be the value of a variable c. */
START_TEST(a_variable_named_c)
{
  int64_t c[VARS + 1];
  uint32_t id;
  ck_fs(ctx, fs_model_add_var(&own_model, FS_VAR_INTEGER, 0, 9, 0, &id, "c"));
  ck_fs(ctx, fs_solution_read(ctx, &own_model, "a", "c 5\nx_1 1\n", 10, c));
  ck_assert_int_eq(c[VARS], 5);
  ck_assert_int_eq(c[X1], 1);
  ck_fs(ctx, fs_solution_read(ctx, &own_model, "a", "c 5\n", 4, c));
  ck_assert_int_eq(c[VARS], 5);
}
END_TEST

/* Files have a variable for the objective's constant. */
START_TEST(constant)
{
  bad("objective.constant 1\n",
      "a.sol:1:1: error: the model has no variable 'objective.constant' [solution-variable]\n"
      "    1 | objective.constant 1\n      | ^~~~~~~~~~~~~~~~~~\n");
  own_model.constant = 5;
  good("objective.constant 1\nx_1 3\n");
  values(3, 0, 0, 3, -2);
  good("s mip 2 6 o -3\nj 6 1\nj 1 4\ne o f\n");
  values(4, 0, 0, 3, -2);
  bad("objective.constant 2\n",
      "a.sol:1:20: error: 'objective.constant' is 2; it is at most 1 [solution-value]\n"
      "    1 | objective.constant 2\n      |                    ^\n");
}
END_TEST

START_TEST(tolerance)
{
  good("x_1 3.000001\nloose 2.5\nnever -2.999999\n");
  values(3, 0, 3, 3, -3);
  good("x_1 9.0000009\nloose -2.5\n"); /* nearly within its bounds */
  values(9, 0, -3, 3, -2);
  bad("x_1 3.0000011\n",
      "a.sol:1:5: error: 'x_1' is 3.0000011, but has to be an integer [solution-value]\n"
      "    1 | x_1 3.0000011\n      |     ^~~~~~~~~\n");
  bad("x_1 2.9999989\n",
      "a.sol:1:5: error: 'x_1' is 2.9999989, but has to be an integer [solution-value]\n"
      "    1 | x_1 2.9999989\n      |     ^~~~~~~~~\n");
}
END_TEST

/* ---- what is wrong ---- */

START_TEST(names)
{
  bad("x_1 1\n  x_3 1\n",
      "a.sol:2:3: error: the model has no variable 'x_3' [solution-variable]\n"
      "    2 |   x_3 1\n      |   ^~~\n  hint: did you mean 'x_1'?\n");
  bad("zebra 1\nx_1 4\n x_1 5\n",
      "a.sol:1:1: error: the model has no variable 'zebra' [solution-variable]\n"
      "    1 | zebra 1\n      | ^~~~~\n"
      "a.sol:3:2: error: 'x_1' has a value already, in line 2 [solution-variable]\n"
      "    3 |  x_1 5\n      |  ^~~\n");
  bad("s mip 0 5 o 0\nj 6 1\nj 0 1\nj 1 1\nj 1 2\ne o f\n",
      "a.sol:2:3: error: the model has no column 6; they are 1 to 5 [solution-variable]\n"
      "    2 | j 6 1\n      |   ^\n"
      "a.sol:3:3: error: the model has no column 0; they are 1 to 5 [solution-variable]\n"
      "    3 | j 0 1\n      |   ^\n"
      "a.sol:5:3: error: 'x_1' has a value already, in line 4 [solution-variable]\n"
      "    5 | j 1 2\n      |   ^\n");
}
END_TEST

START_TEST(numbers)
{
  bad("x_1 10\nx_2 -1\nloose inf\nleast 1e300\nnever nan\n",
      "a.sol:1:5: error: 'x_1' is 10; it is at most 9 [solution-value]\n"
      "    1 | x_1 10\n      |     ^~\n"
      "a.sol:2:5: error: 'x_2' is -1; it is at least 0 [solution-value]\n"
      "    2 | x_2 -1\n      |     ^~\n"
      "a.sol:3:7: error: 'loose' is inf, which is too large [solution-value]\n"
      "    3 | loose inf\n      |       ^~~\n"
      "a.sol:4:7: error: 'least' is 1e300, which is too large [solution-value]\n"
      "    4 | least 1e300\n      |       ^~~~~\n"
      "a.sol:5:7: error: 'never' is nan, which is no value [solution-value]\n"
      "    5 | never nan\n      |       ^~~\n");
  bad("x_1 one\n",
      "a.sol:1:5: error: 'one' is no number [solution-syntax]\n"
      "    1 | x_1 one\n      |     ^~~\n");
}
END_TEST

START_TEST(lines)
{
  bad("x_1\nx_2 1 2\n",
      "a.sol:1:4: error: there is no value [solution-syntax]\n"
      "    1 | x_1\n      |    ^\n"
      "a.sol:2:7: error: '2' after the value [solution-syntax]\n"
      "    2 | x_2 1 2\n      |       ^\n");
  bad("", "a.sol: error: there are no values [solution-syntax]\n");
  bad("# nothing\n\n", "a.sol: error: there are no values [solution-syntax]\n");
  bad_bytes("x_1 1\nx_2\0 1\n", 13,
            "a.sol:2:4: error: a NUL byte [solution-syntax]\n    2 | x_2\n      |    ^\n");
  static char text[6000];
  memset(text, ' ', sizeof text);
  text[4000] = 'x';
  ck_assert_int_eq(fs_solution_read(ctx, &own_model, "a.sol", text, sizeof text, value),
                   FSCHED_BAD_INPUT);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "solution-syntax");
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->message,
                   "a line of 6000 bytes; at most 4096 are taken");
  ck_assert_uint_eq(fsched_diag_get(ctx, 0)->line, 1);
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  fsched_diag_clear(ctx);
  memset(text, 'y', 4096);
  ck_assert_int_eq(fs_solution_read(ctx, &own_model, "a.sol", text, 4096, value), FSCHED_BAD_INPUT);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->message, "there is no value");
  fsched_diag_clear(ctx);
}
END_TEST

START_TEST(no_solution)
{
  bad("Infeasible - objective value 0.00000000\n      0 x_1  2  0\n",
      "a.sol:1:1: error: there is no solution in this file: Infeasible [solution-syntax]\n"
      "    1 | Infeasible - objective value 0.00000000\n      | ^~~~~~~~~~\n");
  bad("Stopped on time (no integer solution - continuous used) - objective value 1.5\n",
      "a.sol:1:1: error: there is no solution in this file: "
      "Stopped on time (no integer solution - continuous used) [solution-syntax]\n"
      "    1 | Stopped on time (no integer solution - continuous used) - objective value 1.5\n"
      "      | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n");
  bad("Model status\nInfeasible\n\n# Primal solution values\nNone\n",
      "a.sol:2:1: error: there is no solution in this file: Infeasible [solution-syntax]\n"
      "    2 | Infeasible\n      | ^~~~~~~~~~\n");
  bad("Model status\nTime limit reached\n\n# Primal solution values\nNone\n",
      "a.sol:5:1: error: there is no solution in this file: None [solution-syntax]\n"
      "    5 | None\n      | ^~~~\n");
  bad("solution status: infeasible\nno solution available\n",
      "a.sol:1:1: error: there is no solution in this file: solution status: infeasible "
      "[solution-syntax]\n    1 | solution status: infeasible\n"
      "      | ^~~~~~~~~~~~~~~~~~~~~~~~~~~\n");
  bad("solution status: time limit reached\nno solution available\n",
      "a.sol:2:1: error: there is no solution in this file: no solution available "
      "[solution-syntax]\n    2 | no solution available\n      | ^~~~~~~~~~~~~~~~~~~~~\n");
  bad("s mip 2 5 n 0\n",
      "a.sol:1:11: error: there is no solution in this file: none exists [solution-syntax]\n"
      "    1 | s mip 2 5 n 0\n      |           ^\n");
  bad("s mip 2 5 u 0\n",
      "a.sol:1:11: error: there is no solution in this file: none was found [solution-syntax]\n"
      "    1 | s mip 2 5 u 0\n      |           ^\n");
  bad("s bas 2 5 n i 3\n",
      "a.sol:1:11: error: there is no solution in this file: none exists [solution-syntax]\n"
      "    1 | s bas 2 5 n i 3\n      |           ^\n");
  bad("s ipt 2 5 i 3\n",
      "a.sol:1:11: error: there is no solution in this file: none was found [solution-syntax]\n"
      "    1 | s ipt 2 5 i 3\n      |           ^\n");
}
END_TEST

START_TEST(form_errors)
{
  bad("Optimal - objective value 7\n x_1 2 0\n 0 x_2 1 0 0\n 1\n",
      "a.sol:2:2: error: expected the number of a column, its name and its value "
      "[solution-syntax]\n    2 |  x_1 2 0\n      |  ^~~\n"
      "a.sol:3:12: error: '0' after the value [solution-syntax]\n"
      "    3 |  0 x_2 1 0 0\n      |            ^\n"
      "a.sol:4:3: error: there is no name [solution-syntax]\n    4 |  1\n      |   ^\n");
  bad("# Columns 5\nx_1 1\n# Rows 0\n",
      "a.sol:3:1: error: 4 columns are missing here [solution-syntax]\n"
      "    3 | # Rows 0\n      | ^\n");
  bad("# Columns 5\nx_1 1\n",
      "a.sol:3:1: error: 4 columns are missing here [solution-syntax]\n    3 | \n      | ^\n");
  bad("# Columns 4\nx_1 1\n",
      "a.sol:1:11: error: a solution with 4 columns; the model has 5 [solution-syntax]\n"
      "    1 | # Columns 4\n      |           ^\n");
  bad("# Columns\n",
      "a.sol:1:10: error: expected the number of columns [solution-syntax]\n"
      "    1 | # Columns\n      |          ^\n");
  bad("Model status\nOptimal\n", "a.sol: error: there is no line '# Columns' [solution-syntax]\n");
  bad("objective value: 7\nx_1 2 \t(3)\n",
      "a.sol:2:8: error: '(3)' after the value [solution-syntax]\n"
      "    2 | x_1 2 \t(3)\n      |       \t^~~\n");
}
END_TEST

START_TEST(glpsol_errors)
{
  bad("s bas 2 5 f f 0\nj 1 b\nj 2 b 1 0 0\nj 3 b 1 0\ne o f\n",
      "a.sol:2:6: error: there is no value [solution-syntax]\n"
      "    2 | j 1 b\n      |      ^\n"
      "a.sol:3:11: error: '0' after the value [solution-syntax]\n"
      "    3 | j 2 b 1 0 0\n      |           ^\n");
  bad("s ipt 2 5 o 0\nj 1 2.5 0\nj 2 1 0 0\ne o f\n",
      "a.sol:2:5: error: 'x_1' is 2.5, but has to be an integer [solution-value]\n"
      "    2 | j 1 2.5 0\n      |     ^~~\n"
      "a.sol:3:9: error: '0' after the value [solution-syntax]\n"
      "    3 | j 2 1 0 0\n      |         ^\n");
  bad("s bas 2 5 o f 0\n",
      "a.sol:1:11: error: expected the status 'f', 'i', 'n' or 'u' [solution-syntax]\n"
      "    1 | s bas 2 5 o f 0\n      |           ^\n");
  bad("s mip 2 4 o 0\n",
      "a.sol:1:9: error: a solution with 4 columns; the model has 5 [solution-syntax]\n"
      "    1 | s mip 2 4 o 0\n      |         ^\n");
  bad("s mip 2 5\n",
      "a.sol:1:10: error: expected the status 'o', 'f', 'n' or 'u' [solution-syntax]\n"
      "    1 | s mip 2 5\n      |          ^\n");
  bad("s mip 2 5 o 0\nj\nj 1\nj 1 2 3\nx_1 2\ne o f\n",
      "a.sol:2:2: error: expected the number of a column [solution-syntax]\n"
      "    2 | j\n      |  ^\n"
      "a.sol:3:4: error: there is no value [solution-syntax]\n"
      "    3 | j 1\n      |    ^\n"
      "a.sol:4:7: error: '3' after the value [solution-syntax]\n"
      "    4 | j 1 2 3\n      |       ^\n"
      "a.sol:5:1: error: expected a line that begins with 'i', 'j' or 'e o f' [solution-syntax]\n"
      "    5 | x_1 2\n      | ^~~\n");
  bad("s mip 2 5 o 0\nj 1 2\n",
      "a.sol:3:1: error: the file is cut off: there is no line 'e o f' [solution-syntax]\n"
      "    3 | \n      | ^\n");
}
END_TEST

START_TEST(many_errors)
{
  fs_text t;
  fs_text_init(&t, ctx);
  for (int i = 0; i < 50; i++) {
    fs_text_printf(&t, "wrong_%d 1\n", i);
  }
  ck_assert_int_eq(fs_solution_read(ctx, &own_model, "a.sol", t.at, t.n, value), FSCHED_BAD_INPUT);
  ck_assert_uint_eq(fsched_diag_errors(ctx), 50);
  ck_assert_uint_le(fsched_diag_count(ctx), 21);
  fs_text_drop(&t);
}
END_TEST

/* ---- numbers ---- */

typedef struct number {
  const char *text;
  fs_decimal_kind kind;
  int64_t nearest, ceiling;
  bool whole;
} number;

static const number decimals[] = {
    {"0", FS_DECIMAL_FINITE, 0, 0, true},
    {"-0", FS_DECIMAL_FINITE, 0, 0, true},
    {"+7", FS_DECIMAL_FINITE, 7, 7, true},
    {"-12.", FS_DECIMAL_FINITE, -12, -12, true},
    {".5", FS_DECIMAL_FINITE, 1, 1, false},
    {"-.5", FS_DECIMAL_FINITE, -1, 0, false},
    {"2.25", FS_DECIMAL_FINITE, 2, 3, false},
    {"-2.25", FS_DECIMAL_FINITE, -2, -2, false},
    {"-2.75", FS_DECIMAL_FINITE, -3, -2, false},
    {"2.0000009", FS_DECIMAL_FINITE, 2, 2, true},
    {"2.000001", FS_DECIMAL_FINITE, 2, 2, true},
    {"2.00000100001", FS_DECIMAL_FINITE, 2, 3, false},
    {"1.999999", FS_DECIMAL_FINITE, 2, 2, true},
    {"1.99999899", FS_DECIMAL_FINITE, 2, 2, false},
    {"-1.9999995", FS_DECIMAL_FINITE, -2, -2, true},
    {"1e+00", FS_DECIMAL_FINITE, 1, 1, true},
    {"1E3", FS_DECIMAL_FINITE, 1000, 1000, true},
    {"12345e-2", FS_DECIMAL_FINITE, 123, 124, false},
    {"0.00012e5", FS_DECIMAL_FINITE, 12, 12, true},
    {"1e-7", FS_DECIMAL_FINITE, 0, 0, true},
    {"1e-5", FS_DECIMAL_FINITE, 0, 1, false},
    {"1e-99999999999999999999", FS_DECIMAL_FINITE, 0, 0, true},
    {"0e99999999999999999999", FS_DECIMAL_FINITE, 0, 0, true},
    {"00000000000000000000000000000012.00000000000000000000000000", FS_DECIMAL_FINITE, 12, 12,
     true},
    {"4611686018427387904", FS_DECIMAL_FINITE, FS_DECIMAL_MOST, FS_DECIMAL_MOST, true},
    {"4611686018427387905", FS_DECIMAL_HUGE, FS_DECIMAL_MOST, FS_DECIMAL_MOST, false},
    {"-1e19", FS_DECIMAL_HUGE, -FS_DECIMAL_MOST, -FS_DECIMAL_MOST, false},
    {"1e99999999999999999999", FS_DECIMAL_HUGE, FS_DECIMAL_MOST, FS_DECIMAL_MOST, false},
    {"99999999999999999999", FS_DECIMAL_HUGE, FS_DECIMAL_MOST, FS_DECIMAL_MOST, false},
    {"inf", FS_DECIMAL_HUGE, FS_DECIMAL_MOST, FS_DECIMAL_MOST, false},
    {"-Infinity", FS_DECIMAL_HUGE, -FS_DECIMAL_MOST, -FS_DECIMAL_MOST, false},
    {"NaN", FS_DECIMAL_NAN, 0, 0, false},
    {"", FS_DECIMAL_NONE, 0, 0, false},
    {"-", FS_DECIMAL_NONE, 0, 0, false},
    {".", FS_DECIMAL_NONE, 0, 0, false},
    {"1.2.3", FS_DECIMAL_NONE, 0, 0, false},
    {"1,5", FS_DECIMAL_NONE, 0, 0, false},
    {"1e", FS_DECIMAL_NONE, 0, 0, false},
    {"1e+", FS_DECIMAL_NONE, 0, 0, false},
    {"e5", FS_DECIMAL_NONE, 0, 0, false},
    {"0x10", FS_DECIMAL_NONE, 0, 0, false},
    {"1 ", FS_DECIMAL_NONE, 0, 0, false},
    {"--1", FS_DECIMAL_NONE, 0, 0, false},
    {"in", FS_DECIMAL_NONE, 0, 0, false},
    {"infinite", FS_DECIMAL_NONE, 0, 0, false},
};

START_TEST(decimal_numbers)
{
  for (size_t i = 0; i < sizeof decimals / sizeof *decimals; i++) {
    const number *d = &decimals[i];
    fs_decimal n = fs_decimal_parse(d->text, strlen(d->text));
    ck_assert_msg(n.kind == d->kind && n.nearest == d->nearest && n.ceiling == d->ceiling &&
                      n.whole == d->whole,
                  "'%s': kind %d, nearest %lld, ceiling %lld, whole %d", d->text, (int)n.kind,
                  (long long)n.nearest, (long long)n.ceiling, n.whole);
  }
}
END_TEST

/* Thousandths, in every form with a '.' and an exponent, are compared with integer arithmetic. */
START_TEST(decimals_in_all_forms)
{
  for (int k = -3500; k <= 3500; k++) {
    int magnitude = k < 0 ? -k : k;
    int64_t nearest = (magnitude + 500) / 1000, up = (magnitude + 999) / 1000;
    int64_t ceiling = k < 0 ? -(magnitude / 1000) : up;
    for (int shift = -6; shift <= 6; shift++) {
      char text[64];
      (void)snprintf(text, sizeof text, "%s%de%d", k < 0 ? "-" : "", magnitude, -3);
      if (shift > 0) {
        (void)snprintf(text, sizeof text, "%s0.%0*de%d", k < 0 ? "-" : "", shift + 4, magnitude,
                       shift + 1);
      } else if (shift < 0) {
        (void)snprintf(text, sizeof text, "%s%d%0*de%d", k < 0 ? "-" : "", magnitude, -shift, 0,
                       shift - 3);
      }
      fs_decimal n = fs_decimal_parse(text, strlen(text));
      if (n.kind != FS_DECIMAL_FINITE || n.nearest != (k < 0 ? -nearest : nearest) ||
          n.ceiling != ceiling || n.whole != (magnitude % 1000 == 0)) {
        ck_abort_msg("%s: nearest %lld, ceiling %lld, whole %d", text, (long long)n.nearest,
                     (long long)n.ceiling, n.whole);
      }
    }
  }
}
END_TEST

/* Any bytes lead to a status, and values that are read are within bounds. */
START_TEST(any_bytes)
{
  static const char *const piece[] = {"x_1",
                                      " ",
                                      "\n",
                                      "1",
                                      "s mip 2 5 o 0\n",
                                      "s bas 2 5 f f 0\n",
                                      "j 1 1\n",
                                      "e o f\n",
                                      "#",
                                      "0.5",
                                      "# Columns 5\n",
                                      "loose",
                                      "inf",
                                      "\r\n",
                                      "(obj:1)",
                                      "objective value:",
                                      "x_2 1\n",
                                      "**",
                                      "never ",
                                      "-2",
                                      "Model status\n",
                                      "\t",
                                      "c ",
                                      "e",
                                      "Optimal - objective value\n"};
  fs_rng rng = {11};
  unsigned ok = 0;
  for (int round = 0; round < 20000; round++) {
    char text[256] = "";
    for (uint32_t k = fs_rng_below(&rng, 8); k > 0; k--) {
      (void)strcat(text, piece[fs_rng_below(&rng, sizeof piece / sizeof *piece)]);
    }
    fs_status status = fs_solution_read(ctx, &own_model, "a.sol", text, strlen(text), value);
    ok += status == FSCHED_OK;
    if ((status == FSCHED_OK) != (fsched_diag_errors(ctx) == 0) ||
        (status == FSCHED_OK && fs_model_broken(&own_model, value) != FS_NONE)) {
      ck_abort_msg("status %d: %s", status, text);
    }
    if (round % 100 == 0) { /* this frees the texts that the context keeps */
      fs_model_release(&own_model);
      fs_test_end();
      fs_test_begin();
      fs_model_init(&own_model, ctx, "small");
      add_variables();
    }
    fsched_diag_clear(ctx);
  }
  ck_assert_uint_gt(ok, 100);
}
END_TEST

START_TEST(no_memory)
{
  static const char *const text[] = {"x_1 3\nx_2 1\n", "x_1 3\nx_9 1\n"};
  for (int k = 0; k < 2; k++) {
    for (long n = 0;; n++) {
      fs_budget budget = {.left = 1000};
      fsched_context_options o = {
          .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
      fsched_context *c;
      ck_assert_int_eq(fsched_context_create(&o, &c), FSCHED_OK);
      own_model.ctx = c;
      budget.left = n;
      fs_status status = fs_solution_read(c, &own_model, "a.sol", text[k], strlen(text[k]), value);
      own_model.ctx = ctx;
      bool failed = budget.left < 0;
      ck_assert_int_eq(status, failed ? FSCHED_SYSTEM : k ? FSCHED_BAD_INPUT : FSCHED_OK);
      fsched_context_destroy(c);
      ck_assert_int_eq(budget.blocks, 0);
      if (!failed) {
        ck_assert_int_ge(n, 3);
        break;
      }
    }
  }
}
END_TEST

FS_SUITE(ilp_solution, s) {
  TCase *t = fs_case(s, fs_test_context);
  fs_test_model(t);
  tcase_add_checked_fixture(t, add_variables, NULL);
  FS_TESTS(t, plain, cbc, highs, scip, glpsol, glpsol_of_an_lp, a_variable_named_c, constant,
           tolerance, names, numbers, lines, no_solution, form_errors, glpsol_errors, many_errors,
           decimal_numbers, decimals_in_all_forms, any_bytes, no_memory);
}
