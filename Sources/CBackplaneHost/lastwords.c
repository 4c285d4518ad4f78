#define _GNU_SOURCE
#include "lastwords.h"
#include "frames.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

static const int numbers[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
static struct sigaction before[NSIG];

/* A plugin whose id the host has read: the name of its copy does not have the id of a first generation in Swift. */
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
static const char *copy_at(uintptr_t address, uintptr_t *base) {
#if __GLIBC_PREREQ(2, 35)
    struct dl_find_object found;
    if (_dl_find_object((void *)address, &found) != 0) return NULL;
    const char *const path = found.dlfo_link_map->l_name;
    *base = found.dlfo_link_map->l_addr;
#else
    Dl_info found;          /* dladdr waits for the loader's lock */
    if (!dladdr((void *)address, &found)) return NULL;
    const char *const path = found.dli_fname;
    *base = (uintptr_t)found.dli_fbase;
#endif
    const char *name = strrchr(path, '/');
    return name && strstr(name, BPH_GENERATION) ? path : NULL;
}

/* The innermost plugin copy on the stack, and the frames of it that follow one another. */
struct walk { const char *copy; uintptr_t offsets[BPH_FRAMES]; int count, frames; };

static _Unwind_Reason_Code visit(struct _Unwind_Context *frame, void *context) {
    struct walk *walk = context;
    int is_exact = 0;
    uintptr_t base = 0;
    const uintptr_t address = _Unwind_GetIPInfo(frame, &is_exact);
    const uintptr_t place = is_exact ? address : address - 1;       /* the address in a caller is behind its call */
    const char *const copy = copy_at(place, &base);
    if (walk->copy && copy != walk->copy) return _URC_END_OF_STACK;
    if (copy) {
        walk->copy = copy;
        walk->offsets[walk->count++] = place - base;
    }
    return walk->count == BPH_FRAMES || ++walk->frames == 4096 ? _URC_END_OF_STACK : _URC_NO_REASON;
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

/* Returns the milliseconds until a time, or 0 once it has passed. */
static int left_until(const struct timespec *end) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const long long left = (end->tv_sec - now.tv_sec) * 1000LL + (end->tv_nsec - now.tv_nsec) / 1000000;
    return left > 0 ? (int)left : 0;
}

/* Reads two lines from a pipe, or what has come when nothing more comes for a while, and returns the number of bytes. */
static size_t read_lines(int from, char *bytes, size_t room, int first, int then) {
    size_t length = 0, lines = 0;
    while (length < room && lines < 2) {
        struct pollfd poll_for = {.fd = from, .events = POLLIN};
        struct timespec end;
        int ready;
        clock_gettime(CLOCK_MONOTONIC, &end);
        end.tv_sec += (length ? then : first) / 1000;
        do ready = poll(&poll_for, 1, left_until(&end)); while (ready < 0 && errno == EINTR && left_until(&end) > 0);
        if (ready != 1) break;
        const ssize_t got = read(from, bytes + length, room - length);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        for (size_t at = length; at < length + (size_t)got; at++) lines += bytes[at] == '\n';
        length += (size_t)got;
    }
    return length;
}

/* Finds the name of the frame's function in a child process, since the search may meet a lock that this process holds,
 * or fall itself. The child sends the name twice, as it is in the file and as it is written in Swift. */
static void name_frame(const struct walk *walk, char *name, size_t room) {
#if __GLIBC_PREREQ(2, 34)
    static char sent[2 * BPH_SYMBOL];       /* one thread reports, possibly on a small stack */
    int ends[2];
    *name = 0;
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    const pid_t child = _Fork();        /* runs no handler of `pthread_atfork` */
    if (child == 0) {
        const struct rlimit none = {0, 0};
        const struct sigaction usual = {.sa_handler = SIG_DFL};
        setrlimit(RLIMIT_CORE, &none);
        for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++) sigaction(numbers[index], &usual, NULL);
        bph_write_frame(ends[1], walk->copy, walk->offsets, walk->count);
        _exit(0);
    }
    close(ends[1]);
    if (child > 0) {
        const size_t length = read_lines(ends[0], sent, sizeof sent - 1, 10000, 5000);
        kill(child, SIGKILL);
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
        sent[length] = 0;
        char *const second = strchr(sent, '\n');
        if (second) {
            char *const end = strchr(second + 1, '\n');
            *second = 0;
            if (end) *end = 0;
            snprintf(name, room, "%s", end && second[1] ? second + 1 : sent);
        }
    }
    close(ends[0]);
#else
    (void)walk, (void)room;
    *name = 0;
#endif
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

static void say(int number, const struct walk *walk) {
    /* The Swift runtime ends a process that gets no memory, whoever asked for it, and often without a word. */
    const bool is_full = is_out_of_memory();
    static char line[2048], said[sizeof line + 128], plugin[400], frame[BPH_SYMBOL];    /* dprintf would allocate */
    if (!walk->copy && !is_full) return;
    if (walk->copy) {
        const char *const file = strrchr(walk->copy, '/') + 1;
        name_copy(file, plugin, sizeof plugin);
        name_frame(walk, frame, sizeof frame);
        snprintf(line, sizeof line, "%s%s%s%s (%.300s)", ", in ", frame, *frame ? " of " : "code of ", plugin, file);
    } else {
        *line = 0;
    }
    const int length = snprintf(said, sizeof said, "backplane: signal %d (%s) ends this process%s%s\n", number, name_of(number),
                                is_full ? ", which has no memory left" : "", line);
    (void)!write(STDERR_FILENO, said, (size_t)length);
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
        say(number, &walk);
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
    bph_find_demangler();
    for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++) sigaction(numbers[index], &own, &before[numbers[index]]);
    if (sigaction(SIGPIPE, NULL, &before[SIGPIPE]) == 0 && before[SIGPIPE].sa_handler == SIG_DFL) sigaction(SIGPIPE, &pipe, NULL);
}
