/*
 * lastwords.h: whose code it was, when a signal ends this process.
 *
 * In C, because a signal handler may not allocate, take a lock or run into the Swift runtime. Used by the host alone: no plugin
 * has it.
 */
#ifndef BACKPLANE_LASTWORDS_H
#define BACKPLANE_LASTWORDS_H

#include <stdint.h>

#ifdef __clang__
#pragma clang assume_nonnull begin
#endif

/* From now on a signal that ends this process because of what a thread of it did (SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV,
 * SIGSYS, SIGTRAP) has one line written on standard error, where code of a known library was under way on that thread. Whoever
 * handled the signal before handles it before that. Other threads that the same happens to meanwhile wait for it. A thread whose
 * stack is used up says nothing. SIGPIPE ends this process no longer, unless somebody handles it. */
void bph_keep_last_words(void);

/* What the file at `path` is called there. Never forgotten; the last that was said of a file holds. */
void bph_know_library(const char *path, const char *name);

#ifdef __clang__
#pragma clang assume_nonnull end
#endif

#endif
