/*
 * culprit.h: whose code a thread was in. Of the last words alone.
 */
#ifndef BACKPLANE_CULPRIT_H
#define BACKPLANE_CULPRIT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <ucontext.h>

#define BPH_SUSPECT_LIMIT 4

/* Known libraries whose code may have been under way, the innermost first. */
typedef struct bph_suspects {
    size_t count;
    bool is_certain;        /* there is one, and frame after frame led to it */
    const char *names[BPH_SUSPECT_LIMIT];
} bph_suspects;

/* Does once what must not be done in a signal handler. */
void bph_prepare_walk(void);

/* Whose code the thread was in that a signal interrupted there: for its handler, on that thread; one thread at a time.
 * `mistakes` are the signals that walking along its stack may raise. */
void bph_find_suspects(const ucontext_t *context, const sigset_t *mistakes, bph_suspects *suspects);

/* For the handler of such a signal: where it was the walk that raised it, goes back to before the walk, and does not return. */
void bph_leave_walk(void);

#endif
