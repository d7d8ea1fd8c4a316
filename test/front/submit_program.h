/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs of submits.  Each call is made to a submitter, and to dynamic runs where there
 * are some; it must be refused, without any effect, or accepted, as a plain interpreter says. */
#ifndef FS_TEST_SUBMIT_PROGRAM_H
#define FS_TEST_SUBMIT_PROGRAM_H

#include "front/submit_interpreter.h"

/* The `target` of these programs, as a graph file has it. */
extern const char submit_target_text[];
fsched_builder *submit_target(bool raw);
/* The callables of these programs: "f" and "g", and "h", which takes any two queues of a class. */
enum { CALLABLES = 3, GANG = 2 };
extern const fsched_submit_callable_desc submit_callable[CALLABLES];

/* Begins a program; its texts are released by end_program. */
void begin_program(model_program *p, uint64_t seed, bool raw);
/* With n dynamic runs, in which the same is submitted: from then on all tasks are free of races. */
/* `left`: what the program before has left in imported memory, from which state is; at the end it
 * is this one's. */
void add_mirrors(model_program *p, const model_mirror *mirror, uint32_t n, uint8_t (*left)[ROW]);
/* Submits random tasks until there are many; the graph that is captured.  With dynamic runs an
 * output "seen" then shows what is in all buffers that can be read. */
fsched_graph *random_program(model_program *p);
/* Releases the submitter and the texts, not the graph. */
void end_program(model_program *p);

#endif
