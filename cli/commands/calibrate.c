/* SPDX-License-Identifier: Apache-2.0 */
/* The command fsched calibrate. */
#include <stdlib.h>

#include "base/files/file.h"
#include "base/text/plural.h"
#include "base/text/size_text.h"
#include "cli/common/cli.h"
#include "exec/host/backends.h"
#include "fsched/calibrate.h"
#include "fsched/compile.h"

static fs_status read_bytes(fs_cli *cli, fs_option option, uint64_t least, uint64_t *bytes) {
  const char *text = fs_args_last(&cli->args, option);
  if (text != NULL && (!fs_size_parse(text, UINT64_C(1) << 40, bytes) || *bytes < least)) {
    char shown[FS_SIZE_TEXT];
    return fs_usage(cli->ctx, "sizes are like 4096, 64KiB, 2MiB, 1GiB",
                    "--%s wants a size from %s byte%s to 1 TiB, not '%s'",
                    fs_option_table[option].long_name, fs_size_text(shown, least),
                    fs_plural_s(least), text);
  }
  return FSCHED_OK;
}

static fs_status open_device(fs_cli *cli, fsched_device **out) {
  uint64_t ordinal = 0;
  const char *kind = fs_args_last(&cli->args, FS_OPTION_ON);
  const char *number = fs_args_last(&cli->args, FS_OPTION_DEVICE);
  if (number != NULL && (!fs_parse_u64(number, &ordinal) || ordinal > UINT32_MAX)) {
    return fs_usage(cli->ctx, NULL, "--device wants a number, not '%s'", number);
  }
  const char *name = kind == NULL ? "cpu" : kind;
  const fs_backend_kind *known = fs_backend_kind_of(name); /* NULL for auto */
  if (number != NULL && known != NULL && !known->number) {
    return fs_usage(cli->ctx, "add --on " FS_BACKENDS_NUMBERED "or auto",
                    "--device is for devices with a number, not for --on %s", name);
  }
  fsched_device_options o = {.size = sizeof o,
                             .kind = kind,
                             .ordinal = (uint32_t)ordinal,
                             .driver = getenv("FSCHED_CUDA_DRIVER")};
  return fs_cli_create_device(cli, &o, out);
}

/* Writes a cost in ns. The rate is per 1000 ns, as whole bytes per ns would lose most of a slow
 * one; rate 0 in a target means fixed time only. */
static void put_cost(fs_text *t, const char *what, fsched_copy_cost c) {
  fs_text_printf(t, "%s: {fixed: %llu", what, (unsigned long long)c.fixed_ns);
  if (c.bytes_per_us != 0) {
    fs_text_printf(t, ", rate: %llu, per: 1000", (unsigned long long)c.bytes_per_us);
  }
  fs_text_puts(t, "}");
}

/* Writes a time that was measured, or that it could not be. */
static void put_measured(fs_text *t, const char *what, uint64_t ps) {
  if (ps == 0) {
    fs_text_printf(t, "#   %s: too short to be measured\n", what);
  } else {
    fs_text_printf(t, "#   %s %llu.%03llu ns\n", what, (unsigned long long)(ps / 1000),
                   (unsigned long long)(ps % 1000));
  }
}

/* Whole nanoseconds, rounded. */
static unsigned long long whole_ns(uint64_t ps) { return (unsigned long long)((ps + 500) / 1000); }

/* Writes what a command costs, as far as it was measured: a wait costs what a command that waits
 * takes more than one that does not. */
static void put_launch(fs_text *t, const fsched_calibration *c) {
  if (whole_ns(c->command_ps) != 0) {
    fs_text_printf(t, "launch: %llu\n", whole_ns(c->command_ps));
  }
  if (c->wait_ps > c->command_ps && whole_ns(c->wait_ps - c->command_ps) != 0) {
    fs_text_printf(t, "wait: %llu\n", whole_ns(c->wait_ps - c->command_ps));
  }
}

/* Writes a rate; 0 means that copies of all sizes took the same time. */
static void put_rate(fs_text *t, uint64_t bytes_per_us) {
  if (bytes_per_us == 0) {
    fs_text_puts(t, "at no rate that could be seen");
  } else {
    fs_text_printf(t, "%llu bytes/us", (unsigned long long)bytes_per_us);
  }
}

static void put_both(fs_text *t, const char *what, fsched_copy_cost alone, fsched_copy_cost both) {
  fs_text_printf(t, "#   %s ", what);
  put_rate(t, alone.bytes_per_us);
  fs_text_puts(t, ", ");
  put_rate(t, both.bytes_per_us);
  fs_text_puts(t, " while the other way is busy too\n");
}

/* Writes the cost of a sync, in ns; a sync that takes no time that could be seen is left out. */
static void put_sync_cost(fs_text *t, uint64_t sync_ps) {
  if (sync_ps != 0) {
    fs_text_printf(t, "sync_cost: %llu  # of a full sync, where the target gets 'sync: block'\n",
                   (unsigned long long)fs_max((sync_ps + 500) / 1000, 1));
  }
}

static void target_text(fs_text *t, const fsched_device *device, uint64_t capacity,
                        const fsched_calibration *c) {
  bool simulates = fs_backend_kind_of(fsched_device_kind(device))->simulates;
  fs_text_printf(t, "# %s by fsched calibrate on %s: %s%s\n", simulates ? "Simulated" : "Measured",
                 fsched_device_kind(device), fsched_device_note(device),
                 simulates ? "; a tick counts as 1 us" : "");
  put_measured(t, "a command behind another on its queue", c->command_ps);
  put_measured(t, "a command that waits for another queue", c->wait_ps);
  put_both(t, "reads", c->read, c->read_both);
  put_both(t, "writes", c->write, c->write_both);
  fs_text_puts(
      t,
      "# Set capacity and queues as they are to be used; name this file as the target of a "
      "graph.\ntime_unit: ns\n");
  if (!simulates) { /* whose commands cost what is planned, and nothing else */
    put_launch(t, c);
  }
  put_sync_cost(t, c->sync_ps);
  fs_text_puts(t,
               "queues:\n  - {name: compute, class: compute}\n"
               "  - {name: copy_in, class: copy}\n  - {name: copy_out, class: copy}\nmemories:\n");
  fs_text_printf(t,
                 "  - name: device\n    capacity: %llu\n    align: 256\n    backing: host\n"
                 "    spill: {on: copy, ",
                 (unsigned long long)capacity);
  put_cost(t, "write", c->write);
  fs_text_puts(t, ", ");
  put_cost(t, "read", c->read);
  fs_text_puts(t, "}\n  - {name: host}\n");
}

/* Adds a figure that was measured; one that was not is null. */
static void json_measured(fs_text *t, const char *key, uint64_t value) {
  fs_text_printf(t, ", \"%s\": ", key);
  if (value == 0) {
    fs_text_puts(t, "null");
  } else {
    fs_text_u64(t, value);
  }
}

static void json_cost(fs_text *t, const char *name, fsched_copy_cost c) {
  fs_text_printf(t, ", \"%s\": {\"fixed_ns\": %llu", name, (unsigned long long)c.fixed_ns);
  json_measured(t, "bytes_per_us", c.bytes_per_us);
  fs_text_puts(t, "}");
}

static void json_text(fs_text *t, const fsched_device *device, const fsched_calibration *c) {
  fs_text_puts(t, "{\"fsched_calibration\": 1, \"on\": ");
  fs_text_json_string(t, fsched_device_kind(device));
  fs_text_puts(t, ", \"device\": ");
  fs_text_json_string(t, fsched_device_note(device));
  bool simulates = fs_backend_kind_of(fsched_device_kind(device))->simulates;
  fs_text_puts(t, simulates ? ", \"simulated\": true" : "");
  json_measured(t, "command_ps", c->command_ps);
  json_measured(t, "wait_ps", c->wait_ps);
  json_cost(t, "read", c->read);
  json_cost(t, "write", c->write);
  json_cost(t, "read_both", c->read_both);
  json_cost(t, "write_both", c->write_both);
  json_measured(t, "sync_ps", c->sync_ps);
  fs_text_puts(t, "}\n");
}

static fs_status write_result(fs_cli *cli, const fsched_device *device, uint64_t capacity,
                              const fsched_calibration *c) {
  const char *output = fs_args_last(&cli->args, FS_OPTION_OUTPUT);
  fs_text t;
  char *text = NULL;
  size_t length = 0;
  fs_text_init(&t, cli->ctx);
  if (fs_cli_json(cli)) {
    json_text(&t, device, c);
  } else {
    target_text(&t, device, capacity, c);
  }
  FS_TRY(fs_text_take(&t, &text, &length));
  fs_status status = fs_file_write(cli->ctx, output == NULL ? "-" : output, text, length);
  fsched_text_free(cli->ctx, text, length);
  return status;
}

fs_status fs_cli_calibrate(fs_cli *cli) {
  enum { LEAST = 128 << 10 };
  uint64_t capacity = UINT64_C(1) << 30;
  fsched_calibrate_options o = {.size = sizeof o};
  fsched_calibration c = {.size = sizeof c};
  fsched_device *device;
  FS_TRY(read_bytes(cli, FS_OPTION_CAPACITY, 1, &capacity));
  FS_TRY(read_bytes(cli, FS_OPTION_LARGEST, LEAST, &o.most_bytes));
  FS_TRY(open_device(cli, &device));
  fs_status status = fsched_calibrate(cli->ctx, device, &o, &c);
  if (status == FSCHED_OK) {
    status = write_result(cli, device, capacity, &c);
  }
  fsched_device_release(device);
  return status;
}
