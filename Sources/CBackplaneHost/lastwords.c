#define _GNU_SOURCE
#include "lastwords.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

static const int numbers[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
static struct sigaction before[NSIG];
static atomic_bool is_untraced;

/* A plugin whose id the host has read, because the name of a Swift plugin's first copy does not contain the id. */
struct named { struct named *next; char copy[NAME_MAX + 1], id[256]; };
static struct named *_Atomic all;

void bph_name_plugin(const char *copy, const char *id) {
    const char *slash = strrchr(copy, '/');
    struct named *const named = calloc(1, sizeof *named);
    if (named == NULL) return;
    snprintf(named->copy, sizeof named->copy, "%s", slash ? slash + 1 : copy);
    snprintf(named->id, sizeof named->id, "%s", id);
    for (char *byte = named->id; *byte; byte++) if ((unsigned char)*byte < ' ' || *byte == 127) *byte = '_';
    named->next = atomic_load(&all);
    while (!atomic_compare_exchange_weak(&all, &named->next, named)) {}
}

/* Returns the path of the plugin copy that contains an address, or NULL. */
static const char *copy_at(uintptr_t address) {
#if __GLIBC_PREREQ(2, 35)
    struct dl_find_object found;
    if (_dl_find_object((void *)address, &found) != 0) return NULL;
    const char *const path = found.dlfo_link_map->l_name;
#else
    Dl_info found;          /* dladdr waits for the loader's lock */
    if (!dladdr((void *)address, &found)) return NULL;
    const char *const path = found.dli_fname;
#endif
    const char *name = strrchr(path, '/');
    return name && strstr(name, BPH_GENERATION) ? path : NULL;
}

/* The innermost plugin copy on the stack. */
struct walk { const char *copy; int frames; };

static _Unwind_Reason_Code visit(struct _Unwind_Context *frame, void *context) {
    struct walk *walk = context;
    int is_exact = 0;
    const uintptr_t address = _Unwind_GetIPInfo(frame, &is_exact);
    walk->copy = copy_at(is_exact ? address : address - 1);         /* the address in a caller is behind its call */
    return walk->copy || ++walk->frames == 4096 ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/* Returns whether the system refuses the least memory that malloc requests when the heap cannot grow. */
static bool is_out_of_memory(void) {
    const size_t least = 1 << 20;
    const int number = errno;
    void *const probe = mmap(NULL, least, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (probe != MAP_FAILED) munmap(probe, least);
    errno = number;
    return probe == MAP_FAILED;
}

/* Writes the plugin's id, or the name of its library while that is unknown, and the number of its generation. */
static void name_copy(const char *file, char *text, size_t room) {
    const char *const first = strchr(file, '-'), *const mark = strstr(file, BPH_GENERATION);
    char *rest;
    const long number = strtol(mark + strlen(BPH_GENERATION), &rest, 10);
    for (const struct named *named = atomic_load(&all); named; named = named->next) {
        if (strcmp(named->copy, file) != 0) continue;
        snprintf(text, room, "%s, generation %ld", named->id, number);
        return;
    }
    if (first && first + 1 < mark) snprintf(text, room, "%.*s, generation %ld", (int)(mark - first - 2), first + 1, number);
    else snprintf(text, room, "%s, generation %ld", *rest == '-' ? rest + 1 : rest, number);
}

static const char *name_of(int number) {
    switch (number) {
        case SIGABRT: return "SIGABRT";
        case SIGBUS: return "SIGBUS";
        case SIGFPE: return "SIGFPE";
        case SIGILL: return "SIGILL";
        case SIGSEGV: return "SIGSEGV";
        case SIGSYS: return "SIGSYS";
        default: return "SIGTRAP";
    }
}

/* Returns whether a line was written. */
static bool say(int number, const struct walk *walk) {
    /* The Swift runtime ends a process that gets no memory, whichever code requested it, often without a message. */
    const bool is_full = is_out_of_memory();
    static char line[1024], said[sizeof line + 128], plugin[400];       /* dprintf would allocate */
    if (!walk->copy && !is_full) return false;
    if (walk->copy) {
        const char *const file = strrchr(walk->copy, '/') + 1;
        name_copy(file, plugin, sizeof plugin);
        snprintf(line, sizeof line, ", in code of %s (%.300s)", plugin, file);
    } else {
        *line = 0;
    }
    const int length = snprintf(said, sizeof said, "backplane: signal %d (%s) ends this process%s%s\n", number, name_of(number),
                                is_full ? ", which has no memory left" : "", line);
    (void)!write(STDERR_FILENO, said, (size_t)length);
    return true;
}

void bph_end_untraced(void) { atomic_store(&is_untraced, true); }

/* Ends the process instead of calling the earlier handler, which prints a backtrace. */
static void end_untraced(int number) {
    static const char hint[] = "backplane: with SWIFT_BACKTRACE=enable=yes in the environment, a backtrace follows\n";
    if (before[number].sa_handler == SIG_DFL) return;
    before[number] = (struct sigaction){.sa_handler = SIG_DFL};
    (void)!write(STDERR_FILENO, hint, sizeof hint - 1);
}

static void speak(int number, siginfo_t *info, void *context) {
    static atomic_flag is_spoken = ATOMIC_FLAG_INIT;
    static _Thread_local bool is_walking;
    (void)context;
    if (!atomic_flag_test_and_set(&is_spoken)) {
        sigset_t raised, blocked;
        struct walk walk = {0};
        sigemptyset(&raised);
        for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++) sigaddset(&raised, numbers[index]);
        pthread_sigmask(SIG_UNBLOCK, &raised, &blocked);
        is_walking = true;          /* a damaged stack can lead to unmapped memory, which calls this handler again */
        _Unwind_Backtrace(visit, &walk);
        is_walking = false;
        if (say(number, &walk) && atomic_load(&is_untraced)) end_untraced(number);
        pthread_sigmask(SIG_SETMASK, &blocked, NULL);
    } else if (!is_walking) {
        for (;;) pause();           /* another thread reports, is possibly traced, and ends the process */
    }
    sigaction(number, &before[number], NULL);
    /* A fault recurs when the instruction is repeated; a signal that was sent, or reported after it, does not. */
    if (info->si_code <= 0 || number == SIGTRAP || number == SIGSYS) raise(number);
}

static _Unwind_Reason_Code stay(struct _Unwind_Context *frame, void *nothing) { return (void)frame, (void)nothing, _URC_END_OF_STACK; }
static void ignore(int number) { (void)number; }

void bph_keep_last_words(void) {
    static atomic_flag is_set = ATOMIC_FLAG_INIT;
    const struct sigaction own = {.sa_sigaction = speak, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    /* Not SIG_IGN, which child processes would inherit. */
    const struct sigaction pipe = {.sa_handler = ignore, .sa_flags = SA_RESTART};
    if (atomic_flag_test_and_set(&is_set)) return;
    _Unwind_Backtrace(stay, NULL);      /* it allocates on its first use, which a handler must not */
    for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++) sigaction(numbers[index], &own, &before[numbers[index]]);
    if (sigaction(SIGPIPE, NULL, &before[SIGPIPE]) == 0 && before[SIGPIPE].sa_handler == SIG_DFL) sigaction(SIGPIPE, &pipe, NULL);
}
