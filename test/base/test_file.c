/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "kit/temp_dir.h"

#include "kit/context.h"

static int entries(void) {
  DIR *d = opendir(".");
  int n = 0;
  for (struct dirent *e; (e = readdir(d)) != NULL;) {
    n += e->d_name[0] != '.' || e->d_name[1] != '\0';
  }
  closedir(d);
  return n - 1; /* without .. */
}

static void expect(const char *path, const char *content) {
  char *text;
  size_t n;
  ck_assert_int_eq(fs_file_read(ctx, path, &text, &n), FSCHED_OK);
  ck_assert_uint_eq(n, strlen(content));
  ck_assert_str_eq(text, content);
  (void)fs_realloc(ctx, text, n + 1, 0);
}

START_TEST(round_trip)
{
  ck_assert_int_eq(fs_file_write(ctx, "a", "hello", 5), FSCHED_OK);
  expect("a", "hello");
  ck_assert_int_eq(fs_file_write(ctx, "a", "", 0), FSCHED_OK);
  expect("a", "");
  ck_assert_int_eq(entries(), 1);
}
END_TEST

START_TEST(large_file)
{
  size_t n = 300000;
  char *block = malloc(n + 1);
  memset(block, 'x', n);
  block[n] = '\0';
  ck_assert_int_eq(fs_file_write(ctx, "big", block, n), FSCHED_OK);
  expect("big", block);
  free(block);
}
END_TEST

START_TEST(keeps_mode_and_link)
{
  ck_assert_int_eq(fs_file_write(ctx, "real", "1", 1), FSCHED_OK);
  ck_assert_int_eq(chmod("real", 0640), 0);
  ck_assert_int_eq(symlink("real", "link"), 0);
  ck_assert_int_eq(fs_file_write(ctx, "link", "2", 1), FSCHED_OK);
  struct stat st;
  ck_assert_int_eq(lstat("link", &st), 0);
  ck_assert(S_ISLNK(st.st_mode));
  ck_assert_int_eq(stat("real", &st), 0);
  ck_assert_int_eq(st.st_mode & 07777, 0640);
  expect("real", "2");
  ck_assert_int_eq(entries(), 2);
}
END_TEST

static bool is_link(const char *path) {
  struct stat st;
  return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

/* A chain of links to a file that does not exist makes that file, and the links stay. */
START_TEST(links_to_what_is_not_there)
{
  char here[4096], absolute[4200];
  ck_assert_int_eq(mkdir("d", 0700), 0);
  ck_assert_int_eq(symlink("d/first", "one"), 0);
  ck_assert_int_eq(symlink("../second", "d/first"), 0);
  for (int round = 1; round <= 2; round++) {
    ck_assert_int_eq(fs_file_write(ctx, "one", round == 1 ? "1" : "2", 1), FSCHED_OK);
    ck_assert(is_link("one") && is_link("d/first") && !is_link("second"));
    expect("second", round == 1 ? "1" : "2");
  }
  ck_assert_ptr_nonnull(getcwd(here, sizeof here));
  (void)snprintf(absolute, sizeof absolute, "%s/third", here);
  ck_assert_int_eq(symlink(absolute, "d/two"), 0);
  ck_assert_int_eq(fs_file_write(ctx, "d/two", "3", 1), FSCHED_OK);
  expect("third", "3");
  ck_assert_int_eq(symlink("gone/x", "three"), 0);
  ck_assert_int_eq(fs_file_write(ctx, "three", "4", 1), FSCHED_SYSTEM);
  ck_assert_int_eq(symlink("ping", "pong"), 0);
  ck_assert_int_eq(symlink("pong", "ping"), 0);
  ck_assert_int_eq(fs_file_write(ctx, "ping", "5", 1), FSCHED_SYSTEM);
  ck_assert(is_link("three") && is_link("ping") && is_link("pong"));
  ck_assert_int_eq(entries(), 7);
}
END_TEST

START_TEST(pipe_is_read_to_its_end)
{
  ck_assert_int_eq(mkfifo("pipe", 0600), 0);
  if (fork() == 0) {
    FILE *f = fopen("pipe", "w");
    for (int i = 0; i < 50000; i++) {
      fputs("line\n", f);
    }
    fclose(f);
    _exit(0);
  }
  char *text;
  size_t n;
  ck_assert_int_eq(fs_file_read(ctx, "pipe", &text, &n), FSCHED_OK);
  ck_assert_uint_eq(n, 250000);
  (void)fs_realloc(ctx, text, n + 1, 0);
}
END_TEST

START_TEST(failures_leave_nothing)
{
  char *text;
  size_t n;
  ck_assert_int_eq(fs_file_read(ctx, "none", &text, &n), FSCHED_SYSTEM);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "file");
  ck_assert_int_eq(fs_file_write(ctx, "no/such/dir", "x", 1), FSCHED_SYSTEM);
  ck_assert_int_eq(mkdir("sub", 0700), 0);
  ck_assert_int_eq(fs_file_write(ctx, "sub", "x", 1), FSCHED_SYSTEM);
  ck_assert_int_eq(fs_file_read(ctx, "sub", &text, &n), FSCHED_SYSTEM);
  ck_assert_int_eq(entries(), 1);
  ck_assert_uint_eq(fsched_diag_errors(ctx), 4);
}
END_TEST

/* The disk is full: the old content stays, and no other file is left. */
START_TEST(failed_write_changes_nothing)
{
  struct rlimit limit = {4, 4};
  ck_assert_int_eq(fs_file_write(ctx, "a", "old", 3), FSCHED_OK);
  (void)signal(SIGXFSZ, SIG_IGN);
  ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
  ck_assert_int_eq(fs_file_write(ctx, "a", "much longer", 11), FSCHED_SYSTEM);
  expect("a", "old");
  ck_assert_int_eq(entries(), 1);
}
END_TEST

START_TEST(device_is_written_in_place)
{
  ck_assert_int_eq(fs_file_write(ctx, "/dev/null", "x", 1), FSCHED_OK);
  ck_assert_int_eq(fs_file_write(ctx, "/dev/full", "x", 1), FSCHED_SYSTEM);
  struct stat st;
  ck_assert_int_eq(stat("/dev/null", &st), 0);
  ck_assert(S_ISCHR(st.st_mode));
}
END_TEST

FS_SUITE(file, s) {
  TCase *t = fs_case(s, fs_test_in_dir);
  FS_TESTS(t, round_trip, large_file, keeps_mode_and_link, links_to_what_is_not_there,
           pipe_is_read_to_its_end, failures_leave_nothing, failed_write_changes_nothing,
           device_is_written_in_place);
}
