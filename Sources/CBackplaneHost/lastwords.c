#define _GNU_SOURCE
#include "lastwords.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

static const int numbers[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
static struct sigaction before[NSIG];

/* Returns the file name, with plugin and generation, of the plugin copy that contains an address, or NULL. */
static const char *plugin_at(uintptr_t address) {
#if __GLIBC_PREREQ(2, 35)
    struct dl_find_object found;
    const char *path = _dl_find_object((void *)address, &found) == 0 ? found.dlfo_link_map->l_name : "";
#else
    Dl_info found;          /* dladdr waits for the loader's lock */
    const char *path = dladdr((void *)address, &found) ? found.dli_fname : "";
#endif
    const char *name = strrchr(path, '/');
    return name && strstr(name, BPH_GENERATION) ? name + 1 : NULL;
}

struct walk { const char *name; int frames; };

static _Unwind_Reason_Code visit(struct _Unwind_Context *frame, void *context) {
    struct walk *walk = context;
    int is_exact = 0;
    const uintptr_t address = _Unwind_GetIPInfo(frame, &is_exact);
    walk->name = plugin_at(is_exact ? address : address - 1);   /* the address in a caller is behind its call */
    return walk->name || ++walk->frames == 4096 ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/* Returns whether the system refuses the least memory that malloc asks of it where its heap cannot grow. */
static bool is_out_of_memory(void) {
    const size_t least = 1 << 20;
    const int number = errno;
    void *const probe = mmap(NULL, least, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (probe != MAP_FAILED) munmap(probe, least);
    errno = number;
    return probe == MAP_FAILED;
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
        /* The Swift runtime ends a process if it cannot allocate memory, often without a message. */
        const char *reason = is_out_of_memory() ? ", which has no memory left" : "";
        if (walk.name || *reason) {
            char line[512];         /* dprintf would allocate */
            const int length = snprintf(line, sizeof line, "backplane: signal %d ends this process%s%s%.300s\n", number,
                                        reason, walk.name ? ", in code of " : "", walk.name ? walk.name : "");
            (void)!write(STDERR_FILENO, line, (size_t)length);
        }
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
