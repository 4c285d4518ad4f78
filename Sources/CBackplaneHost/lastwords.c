#define _GNU_SOURCE
#include "lastwords.h"
#include "sampler.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* The latest first; nothing is taken out. */
typedef struct library {
    struct library *next;
    const char *name;
    size_t length;
    char path[];
} library;
static _Atomic(library *) libraries;

void bph_know_library(const char *path, const char *name) {
    const size_t length = strlen(path);
    library *added = malloc(sizeof *added + length + 1);
    char *copy = strdup(name);
    if (!added || !copy) {
        free(added);
        free(copy);
        return;
    }
    memcpy(added->path, path, length + 1);
    added->length = length;
    added->name = copy;
    added->next = atomic_load(&libraries);
    while (!atomic_compare_exchange_weak(&libraries, &added->next, added)) {}
}

/* What a file is called; NULL: nothing is known of it. */
static const char *name_of(const char *path) {
    for (const library *known = atomic_load(&libraries); known; known = known->next) {
        if (strcmp(known->path, path) == 0) return known->name;
    }
    for (const library *known = atomic_load(&libraries); known; known = known->next) {
        const bool is_folder = known->length > 0 && known->path[known->length - 1] == '/';
        if (is_folder && strncmp(known->path, path, known->length) == 0) return path + known->length;
    }
    return NULL;
}

/* A stretch of known code. Kept outside of the stack, of which there may be little; one thread at a time. */
static struct {
    uintptr_t start, end;
    const char *name;
} code[512];
static size_t code_count;
static char line[4608];
static uintptr_t stack[BPH_STACK_LIMIT / sizeof(uintptr_t)];

static uintptr_t hexadecimal(const char **text) {
    uintptr_t number = 0;
    for (;; (*text)++) {
        const char letter = **text;
        if (letter >= '0' && letter <= '9') number = number << 4 | (uintptr_t)(letter - '0');
        else if (letter >= 'a' && letter <= 'f') number = number << 4 | (uintptr_t)(letter - 'a' + 10);
        else return number;
    }
}

/* "7f5c0000-7f5c1000 r-xp 00002000 fe:01 1234   /folder/1-libHello.so" */
static void read_mapping(const char *text) {
    const char *rest = text;
    const uintptr_t start = hexadecimal(&rest);
    if (*rest++ != '-') return;
    const uintptr_t end = hexadecimal(&rest);
    const char *path = strchr(rest, '/');
    if (strlen(rest) < 5 || rest[3] != 'x' || !path || code_count == sizeof code / sizeof *code) return;
    const char *name = name_of(path);
    if (!name) return;
    code[code_count].start = start;
    code[code_count].end = end;
    /* The name of a file lies in the line, which is written over. */
    static char names[64][128];
    static size_t name_count;
    if (name >= line && name < line + sizeof line && name_count < 64) {
        strncpy(names[name_count], name, sizeof *names - 1);
        name = names[name_count++];
    }
    code[code_count++].name = name;
}

static void read_mappings(void) {
    const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    char letters[512];
    size_t length = 0;
    ssize_t count;
    if (file < 0) return;
    while ((count = read(file, letters, sizeof letters)) > 0) {
        for (ssize_t index = 0; index < count; index++) {
            if (letters[index] != '\n') {
                if (length < sizeof line - 1) line[length++] = letters[index];
                continue;
            }
            line[length] = 0;
            read_mapping(line);
            length = 0;
        }
    }
    close(file);
}

static const char *code_at(uintptr_t address) {
    for (size_t index = 0; index < code_count; index++) {
        if (address >= code[index].start && address < code[index].end) return code[index].name;
    }
    return NULL;
}

static void say(const char *text) { (void)!write(STDERR_FILENO, text, strlen(text)); }

static void say_number(int number) {
    char digits[12], *first = digits + sizeof digits - 1;
    *first = 0;
    do *--first = (char)('0' + number % 10); while (number /= 10);
    say(first);
}

static const int numbers[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
static struct sigaction before[sizeof numbers / sizeof *numbers];

/* What the thread was doing: where it is, and then where it will return to, innermost first. */
static const char *culprit(const ucontext_t *context) {
#if defined(__x86_64__)
    const uintptr_t counter = (uintptr_t)context->uc_mcontext.gregs[REG_RIP], pointer = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    const uintptr_t counter = context->uc_mcontext.pc, pointer = context->uc_mcontext.sp;
#else
    const uintptr_t counter = 0, pointer = 0;
#endif
    read_mappings();
    const char *found = code_at(counter);
    const size_t count = found ? 0 : bph_copy_memory(pointer, stack, sizeof stack) / sizeof *stack;
    for (size_t index = 0; index < count && !found; index++) found = code_at(stack[index]);
    return found;
}

/* Whoever handled the signal before, as Swift's runtime does that writes what was on the stack. */
static void hand_on(int number, siginfo_t *info, void *context) {
    for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++) {
        if (numbers[index] != number) continue;
        const struct sigaction *other = &before[index];
        if (other->sa_flags & SA_SIGINFO) other->sa_sigaction(number, info, context);
        else if (other->sa_handler != SIG_DFL && other->sa_handler != SIG_IGN) other->sa_handler(number);
    }
}

static void speak(int number, siginfo_t *info, void *context) {
    static atomic_flag has_spoken = ATOMIC_FLAG_INIT;
    const char *found = atomic_flag_test_and_set(&has_spoken) ? NULL : culprit(context);
    hand_on(number, info, context);
    if (found) {
        say("backplane: signal ");
        say_number(number);
        say(" ends this process, in code of ");
        say(found);
        say("\n");
    }
    const struct sigaction standard = {.sa_handler = SIG_DFL};
    sigaction(number, &standard, NULL);
    /* Blocked until this returns; where the fault happens again at once, it is the same signal. */
    syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), number);
}

void bph_keep_last_words(void) {
    static atomic_flag is_set = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&is_set)) return;
    struct sigaction own = {.sa_sigaction = speak, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&own.sa_mask);
    for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++) sigaction(numbers[index], &own, &before[index]);
}
