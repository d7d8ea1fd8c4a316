/* SPDX-License-Identifier: Apache-2.0 */
/* How tests talk to the fake CUDA driver: by dlsym on the library that they have opened.
 *
 * The driver runs on the processor.  Nothing that was put into a stream happens before someone
 * synchronises with it, and then in an order that the seed gives and that only streams, events and
 * graphs restrict, so an ordering that was forgotten shows.  Queries do a few steps and then say
 * how far things are.  A stream waits for a word until someone writes it, if need be for ever. What
 * a caller may not do is noted as a fault, the first one in words.
 *
 * A kernel that hangs has begun and does not end before it is released.  Meanwhile whatever waits
 * for it blocks: to synchronise or to free is a fault then, as the real driver would wait for ever,
 * and so is ending the process by exit; calls that allocate memory or load code block without a
 * fault.  Functions of the host are called while a caller makes things move, in its thread, and may
 * not call the driver, which ends the process.  The name of all of them is "host".
 *
 * For programs, the environment has FAKE_CUDA="key=value,..." with the keys seed, devices, version,
 * stub, fail=FUNCTION:N:ERROR, execution=N:ERROR, lacks=FUNCTION, hang=KERNEL:N; and
 * FAKE_CUDA_REPORT=FILE, into which the driver writes, when the program ends, what was left and
 * what was wrong, or nothing if all is well. */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <stdint.h>

typedef struct fake_cuda_controls {
  uint64_t seed;
  int devices;             /* default 1 */
  int version;             /* default 13000 */
  int stub;                /* every call returns error 34 */
  const char *fail;        /* a function, or "*" for all; NULL: none */
  uint64_t fail_at;        /* which of its calls fails, from 1 */
  unsigned fail_with;      /* the error that it returns */
  uint64_t execution_at;   /* which executed command fails, from 1; 0: none */
  unsigned execution_with; /* the error; from then on all calls that can see it return it */
  int text;                /* run all built-in kernels as text */
  const char *lacks;       /* a function that the driver does not have */
  uint64_t memory;         /* bytes of the device; default 2^32 */
  const char *hang;        /* a kernel that hangs; NULL: none */
  uint64_t hang_at;        /* from which of its executions on it hangs, from 1 */
  uint64_t depth;          /* commands that a stream takes before a launch waits; 0: any number */
  uint64_t channels;       /* streams share so many channels, each in the order of calls; 0: none
                            * is shared */
  int log;                 /* keep a log of what is put into streams */
} fake_cuda_controls;

/* A kernel, a function of the host, a record of an event or a wait for one, as it was put into a
 * stream. */
enum { FAKE_CUDA_LAUNCH, FAKE_CUDA_RECORD, FAKE_CUDA_WAIT, FAKE_CUDA_HOST };
typedef struct fake_cuda_entry {
  int kind;
  const void *stream, *event; /* the event of a record or wait */
  uint64_t seed;              /* of a built-in mix: that of its call; else 0 */
  uint64_t before;            /* commands executed before */
  uint64_t executed;          /* which executed command it is, from 1; 0: it is not executed yet */
} fake_cuda_entry;

/* Forgets everything, and begins with these controls. */
typedef void fake_cuda_reset_fn(const fake_cuda_controls *controls);
/* Returns the number of calls so far, of the function, or of all for "*". */
typedef uint64_t fake_cuda_calls_fn(const char *function);
/* Returns the number of commands executed so far. */
typedef uint64_t fake_cuda_executed_fn(void);
/* Returns the first fault, or "" when there is none. */
typedef const char *fake_cuda_fault_fn(void);
/* Ends all kernels that hang; no kernel hangs after this. */
typedef void fake_cuda_let_go_fn(void);
/* Returns the number of kernels that hang now. */
typedef uint64_t fake_cuda_hanging_fn(void);
/* Returns the i-th entry of the log, in the order in which they were put into streams, or NULL past
 * the last one.  It lasts until the next reset. */
typedef const fake_cuda_entry *fake_cuda_log_fn(uint64_t i);
/* Describes what is not freed yet; "" when everything is. */
typedef const char *fake_cuda_left_fn(void);
/* Returns the name of the i-th function, or NULL past the last one. */
typedef const char *fake_cuda_function_fn(uint32_t i);

#endif
