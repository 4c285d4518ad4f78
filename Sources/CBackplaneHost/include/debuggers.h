/*
 * debuggers.h: what a process does so that a debugger can attach to it.
 */
#ifndef BACKPLANE_DEBUGGERS_H
#define BACKPLANE_DEBUGGERS_H

/* Lets any process of the same user attach to this one, where Yama (`kernel.yama.ptrace_scope` 1) admits only parents. */
void bph_admit_debuggers(void);

#endif
