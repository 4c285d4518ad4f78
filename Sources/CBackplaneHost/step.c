#define _GNU_SOURCE
#include "watch.h"

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

/* ThreadSanitizer hands signals over when it sees fit, not after every instruction. */
#if defined(__x86_64__) && !__has_feature(thread_sanitizer)

enum { TRAP_FLAG = 0x100 };

/* A way through a function, a step at a time. */
static struct {
    uintptr_t function;
    uint64_t limit;             /* of steps */
    bph_count *count;
    uint64_t steps;
    const uint8_t *next;        /* the instruction that comes next */
    bool is_inside, next_is_call;
    greg_t return_address, return_stack;
} way;

static bool is_system_call(const uint8_t *code) { return code[0] == 0x0F && code[1] == 0x05; }

/* Whether an instruction has a prefix by which it may repeat itself. */
static bool repeats(const uint8_t *code) {
    while (*code == 0x66 || *code == 0x67) code++;
    return *code == 0xF2 || *code == 0xF3;
}

/* With SIGTRAP blocked or unheard the next trap would end the process, and what is new would start with the trap on. */
static bool needs_freedom(greg_t number) {
    switch (number) {
    case SYS_rt_sigprocmask: case SYS_rt_sigaction: case SYS_rt_sigreturn: case SYS_clone: case SYS_fork: case SYS_vfork: case SYS_execve:
    case SYS_execveat: case SYS_exit: case SYS_exit_group:
#ifdef SYS_clone3
    case SYS_clone3:
#endif
        return true;
    default:
        return false;
    }
}

static void end_counting(greg_t *machine, bph_counted how, int32_t before_call) {
    machine[REG_EFL] &= ~TRAP_FLAG;
    way.count->how = how;
    way.count->before_call = before_call;
}

static void take_step(int signal_number, siginfo_t *info, void *context) {
    greg_t *machine = ((ucontext_t *)context)->uc_mcontext.gregs;
    const uint8_t *next = (const uint8_t *)machine[REG_RIP];
    (void)signal_number;
    (void)info;
    if (way.is_inside) {
        way.steps++;
        /* The kernel returns from a system call without a trap: the next instruction is over as well when it comes. */
        if (way.next_is_call && next != way.next + 2) way.count->instructions++;
        if (next != way.next || !repeats(next)) way.count->instructions++;
        if (machine[REG_RIP] == way.return_address && machine[REG_RSP] == way.return_stack) {
            end_counting(machine, BPH_COUNTED, -1);
            return;
        }
    } else {
        if ((uintptr_t)next != way.function) return;
        way.is_inside = true;
        way.return_address = *(const greg_t *)machine[REG_RSP];
        way.return_stack = machine[REG_RSP] + (greg_t)sizeof(greg_t);
    }
    way.next = next;
    way.next_is_call = is_system_call(next);
    if (way.next_is_call && needs_freedom(machine[REG_RAX])) end_counting(machine, BPH_COUNTED_IN_PART, (int32_t)machine[REG_RAX]);
    else if (way.steps >= way.limit) end_counting(machine, BPH_COUNTED_IN_PART, -1);
}

void bph_step(void (*body)(void *), void *context, uintptr_t function, uint64_t limit, bph_count *count) {
    struct sigaction own, before;
    sigset_t trap, mask;
    memset(&own, 0, sizeof own);
    own.sa_sigaction = take_step;
    own.sa_flags = SA_SIGINFO;
    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    memset(&way, 0, sizeof way);
    way.function = function;
    way.limit = limit;
    way.count = count;
    *count = (bph_count){0, BPH_NOT_COUNTED, -1};
    pthread_sigmask(SIG_UNBLOCK, &trap, &mask);
    sigaction(SIGTRAP, &own, &before);
    /* The flags are pushed below what a function may keep under its stack pointer. */
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\torl %0, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp" : : "i"(TRAP_FLAG) : "memory", "cc");
    body(context);
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\tandl %0, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp" : : "i"(~TRAP_FLAG) : "memory", "cc");
    sigaction(SIGTRAP, &before, NULL);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

#else

void bph_step(void (*body)(void *), void *context, uintptr_t function, uint64_t limit, bph_count *count) {
    (void)function;
    (void)limit;
    *count = (bph_count){0, BPH_NOT_COUNTED, -1};
    body(context);
}

#endif
