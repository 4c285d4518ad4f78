#define _GNU_SOURCE
#include "sampler.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/* ThreadSanitizer hands signals over when it sees fit, not where the thread is. */
#if __has_feature(thread_sanitizer) || !(defined(__x86_64__) || defined(__aarch64__))
#define CAN_SAMPLE 0
#else
#define CAN_SAMPLE 1
#endif

_Static_assert(SIGPROF == BPH_SIGNAL, "the number of SIGPROF");

#define PAGE 4096u

size_t bph_copy_memory(uintptr_t address, void *to, size_t count) {
    /* A part of the memory for every page, since a part is copied as a whole or not at all. */
    struct iovec local = {to, count}, remote[BPH_STACK_LIMIT / PAGE + 1];
    size_t parts = 0, left = count < BPH_STACK_LIMIT ? count : BPH_STACK_LIMIT;
    while (left > 0) {
        size_t size = PAGE - address % PAGE;
        if (size > left) size = left;
        remote[parts++] = (struct iovec){(void *)address, size};
        address += size;
        left -= size;
    }
    long copied = syscall(SYS_process_vm_readv, syscall(SYS_getpid), &local, 1ul, remote, parts, 0ul);
    return copied > 0 ? (size_t)copied : 0;
}

#if CAN_SAMPLE

/* Whom the one sample belongs to: the number of the thread that is to write it, or one of these. */
enum { NOBODY = 0, WRITING = -1, WRITTEN = -2 };
static _Atomic int32_t turn = NOBODY;
static atomic_flag is_sampling = ATOMIC_FLAG_INIT;
static struct {
    bph_registers registers;
    size_t wanted, count;
    char stack[BPH_STACK_LIMIT];
} sample;

/* Runs on the thread that is looked at, wherever that is: only system calls and memory that is there for it. */
__attribute__((no_sanitize("address"))) static void write_sample(int number, siginfo_t *info, void *context) {
    int error = errno;
    int32_t expected = (int32_t)syscall(SYS_gettid);
    if (info->si_code != SI_TKILL || info->si_pid != (pid_t)syscall(SYS_getpid)) {
        /* Not ours: what it would have done without this handler, once this returns. */
        struct sigaction standard = {.sa_handler = SIG_DFL};
        sigaction(number, &standard, NULL);
        syscall(SYS_tgkill, syscall(SYS_getpid), expected, number);
        return;
    }
    /* One that comes late finds that it is nobody's turn. */
    if (atomic_compare_exchange_strong(&turn, &expected, WRITING)) {
        const mcontext_t *machine = &((const ucontext_t *)context)->uc_mcontext;
#if defined(__x86_64__)
        sample.registers = (bph_registers){
            (uintptr_t)machine->gregs[REG_RIP], (uintptr_t)machine->gregs[REG_RSP], (uintptr_t)machine->gregs[REG_RBP]};
#else
        sample.registers = (bph_registers){machine->pc, machine->sp, machine->regs[29]};
#endif
        sample.count = bph_copy_memory(sample.registers.stack_pointer, sample.stack, sample.wanted);
        atomic_store(&turn, WRITTEN);
    }
    errno = error;
}

/* Whether the signal is ours to send, the handler being set now if nobody has set one. */
static bool has_handler(void) {
    struct sigaction current;
    if (sigaction(SIGPROF, NULL, &current) != 0) return false;
    if (current.sa_flags & SA_SIGINFO) return current.sa_sigaction == write_sample;
    if (current.sa_handler != SIG_DFL) return false;
    struct sigaction own = {.sa_sigaction = write_sample, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    sigfillset(&own.sa_mask);
    return sigaction(SIGPROF, &own, NULL) == 0;
}

static void wait_for_turn(int32_t wanted, int32_t limit_ms) {
    const struct timespec pause = {0, 100000};
    for (int32_t waited = 0; waited < 10 * limit_ms && atomic_load(&turn) != wanted; waited++) nanosleep(&pause, NULL);
}

int32_t bph_sample_running(int32_t thread, int32_t limit_ms, bph_registers *registers, void *stack, size_t *count) {
    if (atomic_flag_test_and_set(&is_sampling)) return BPH_UNAVAILABLE;
    int32_t result = BPH_UNAVAILABLE;
    if (has_handler()) {
        sample.wanted = *count < BPH_STACK_LIMIT ? *count : BPH_STACK_LIMIT;
        atomic_store(&turn, thread);
        bool is_sent = syscall(SYS_tgkill, syscall(SYS_getpid), thread, SIGPROF) == 0;
        if (is_sent) wait_for_turn(WRITTEN, limit_ms);
        int32_t expected = thread;
        if (atomic_compare_exchange_strong(&turn, &expected, NOBODY)) {
            result = BPH_LATE;
        } else {
            /* It writes, or has written. One that never ends keeps the sample: there is no second one. */
            wait_for_turn(WRITTEN, limit_ms);
            if (atomic_load(&turn) != WRITTEN) return BPH_LATE;
            *registers = sample.registers;
            *count = sample.count;
            memcpy(stack, sample.stack, sample.count);
            atomic_store(&turn, NOBODY);
            result = BPH_SAMPLED;
        }
    }
    atomic_flag_clear(&is_sampling);
    return result;
}

#else

int32_t bph_sample_running(int32_t thread, int32_t limit_ms, bph_registers *registers, void *stack, size_t *count) {
    (void)thread, (void)limit_ms, (void)registers, (void)stack, (void)count;
    return BPH_UNAVAILABLE;
}

#endif
