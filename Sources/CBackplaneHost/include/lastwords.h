/*
 * lastwords.h: whose code it was, when a signal ends this process.
 *
 * In C, because a signal handler may not allocate, take a lock or run into the Swift runtime. Used by the host alone: no plugin
 * has it.
 */
#ifndef BACKPLANE_LASTWORDS_H
#define BACKPLANE_LASTWORDS_H

/* What stands in the file name of every copy of a plugin, before the number of its generation. */
#define BPH_GENERATION "generation-"

/* From now on a signal that ends this process because of what a thread of it did (SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV,
 * SIGSYS, SIGTRAP) has one line written on standard error at once, where code of a plugin's copy was under way on that thread. Then it
 * is handled by whoever handled it before. Other threads that the same happens to meanwhile wait for that. A thread whose
 * stack is used up says nothing. SIGPIPE ends this process no longer, unless somebody handles it. */
void bph_keep_last_words(void);

#endif
