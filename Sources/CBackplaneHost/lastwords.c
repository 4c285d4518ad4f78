#define _GNU_SOURCE
#include "lastwords.h"
#include "culprit.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const int numbers[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
static struct sigaction before[sizeof numbers / sizeof *numbers];
/* The same: what may be raised by looking at a stack in disorder. */
static sigset_t mistakes;

/* The line, once it is known: written at once, so that nothing of another thread's comes between. */
static char words[2048];
static size_t length;
static atomic_bool is_known;

static void append(const char *text) {
    while (*text && length < sizeof words - 1) words[length++] = *text++;
}

static void append_number(int number) {
    char digits[12], *first = digits + sizeof digits - 1;
    *first = 0;
    do *--first = (char)('0' + number % 10); while (number /= 10);
    append(first);
}

static void find_words(int number, const ucontext_t *context) {
    bph_suspects suspects = {0};
    bph_find_suspects(context, &mistakes, &suspects);
    if (suspects.count == 0) return;
    append("backplane: signal ");
    append_number(number);
    append(suspects.is_certain ? " ends this process, in code of " : " ends this process, probably in code of ");
    for (size_t index = 0; index < suspects.count; index++) {
        if (index > 0) append(", or of ");
        append(suspects.names[index]);
    }
    words[length++] = '\n';
    atomic_store(&is_known, true);
}

static void say_words(void) {
    static atomic_flag is_said = ATOMIC_FLAG_INIT;
    if (!atomic_load(&is_known) || atomic_flag_test_and_set(&is_said)) return;
    (void)!write(STDERR_FILENO, words, length);
}

/* Whoever handled the signal before, as Swift's runtime does that writes what was on the stack. It has the signals blocked that it
 * asked for, and no others: Swift's reads memory that may not be there, on a thread that inherits what is blocked. */
static void hand_on(int number, siginfo_t *info, void *context) {
    for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++) {
        const struct sigaction *other = &before[index];
        if (numbers[index] != number || other->sa_handler == SIG_DFL || other->sa_handler == SIG_IGN) continue;
        sigset_t own, blocked = other->sa_mask;
        if (!(other->sa_flags & SA_NODEFER)) sigaddset(&blocked, number);
        pthread_sigmask(SIG_UNBLOCK, &mistakes, &own);
        pthread_sigmask(SIG_BLOCK, &blocked, NULL);
        if (other->sa_flags & SA_SIGINFO) other->sa_sigaction(number, info, context);
        else other->sa_handler(number);
        pthread_sigmask(SIG_SETMASK, &own, NULL);
    }
}

/* A second, at most: the process ends when the speaker has spoken. */
static void wait_for_the_end(void) {
    const struct timespec pause = {0, 10000000};
    for (int turn = 0; turn < 100; turn++) nanosleep(&pause, NULL);
}

static void speak(int number, siginfo_t *info, void *context) {
    static _Atomic pid_t speaker;
    const pid_t own = (pid_t)syscall(SYS_gettid);
    pid_t other = 0;
    if (atomic_compare_exchange_strong(&speaker, &other, own)) {
        find_words(number, context);
        hand_on(number, info, context);
    } else if (other == own) {
        bph_leave_walk();
    } else {
        wait_for_the_end();
    }
    say_words();
    const struct sigaction standard = {.sa_handler = SIG_DFL};
    sigaction(number, &standard, NULL);
    /* Blocked until this returns; where the fault happens again at once, it is the same signal. */
    syscall(SYS_tgkill, syscall(SYS_getpid), own, number);
}

static void ignore(int number) { (void)number; }

/* Whoever writes to a pipe that nobody reads is told so by `write`. Not SIG_IGN: a program that is started from here would have it too. */
static void survive_closed_pipes(void) {
    struct sigaction current, own = {.sa_handler = ignore, .sa_flags = SA_RESTART};
    sigemptyset(&own.sa_mask);
    if (sigaction(SIGPIPE, NULL, &current) == 0 && !(current.sa_flags & SA_SIGINFO) && current.sa_handler == SIG_DFL) sigaction(SIGPIPE, &own, NULL);
}

void bph_keep_last_words(void) {
    static atomic_flag is_set = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&is_set)) return;
    bph_prepare_walk();
    struct sigaction own = {.sa_sigaction = speak, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&own.sa_mask);
    sigemptyset(&mistakes);
    for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++) sigaddset(&mistakes, numbers[index]);
    for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++) sigaction(numbers[index], &own, &before[index]);
    survive_closed_pipes();
}
