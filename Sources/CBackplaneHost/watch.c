#define _GNU_SOURCE
#include "watch.h"

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__) && !__has_feature(thread_sanitizer)

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif
enum { DISPATCH_OFF = 0, DISPATCH_ON = 1 };
enum { ALLOW = 0, BLOCK = 1 };

/* The kernel's structure: a handler installed by libc returns by a system call of libc, which would be dispatched. */
struct kernel_sigaction {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};
#define KERNEL_SA_RESTORER 0x04000000ul

void bph_return_from_signal(void);
__asm__(
    ".text\n.hidden bph_return_from_signal\n.globl bph_return_from_signal\n.type bph_return_from_signal, @function\n"
    "bph_return_from_signal:\n    mov $15, %eax\n    syscall\n    ud2\n.size bph_return_from_signal, . - bph_return_from_signal\n");
enum { RESTORER_SIZE = 9 };

static volatile char selector;
static bph_noted *watched;

static long raw_call(long number, const greg_t *machine) {
    register long r10 __asm__("r10") = machine[REG_R10];
    register long r8 __asm__("r8") = machine[REG_R8];
    register long r9 __asm__("r9") = machine[REG_R9];
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(machine[REG_RDI]), "S"(machine[REG_RSI]), "d"(machine[REG_RDX]), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

/* System calls for memory, clocks, locks and ids. */
static bool is_harmless(int number) {
    switch (number) {
    case SYS_mmap: case SYS_mprotect: case SYS_munmap: case SYS_brk: case SYS_madvise: case SYS_mremap: case SYS_futex:
    case SYS_clock_gettime: case SYS_clock_getres: case SYS_gettimeofday: case SYS_time: case SYS_getrandom: case SYS_sched_yield:
    case SYS_gettid: case SYS_getpid: case SYS_getppid: case SYS_getuid: case SYS_geteuid: case SYS_getgid: case SYS_getegid: case SYS_getresuid:
    case SYS_getresgid: case SYS_getpgrp: case SYS_getpgid: case SYS_getsid: case SYS_getgroups: case SYS_rt_sigprocmask: case SYS_sigaltstack: case SYS_getcpu:
    case SYS_sched_getaffinity: case SYS_sysinfo: case SYS_uname:
#ifdef SYS_membarrier
    case SYS_membarrier:
#endif
        return true;
    default:
        return false;
    }
}

/* System calls that must not be made inside a handler, since they continue or end elsewhere. */
static bool leaves(int number) {
    switch (number) {
    case SYS_clone: case SYS_fork: case SYS_vfork: case SYS_execve: case SYS_exit: case SYS_exit_group: case SYS_rt_sigreturn:
#ifdef SYS_clone3
    case SYS_clone3:
#endif
        return true;
    default:
        return false;
    }
}

/* Without this handler, the next watched call would end the process. */
static bool takes_watch_away(int number, const greg_t *machine) { return number == SYS_rt_sigaction && machine[REG_RDI] == SIGSYS && machine[REG_RSI]; }

static void note_call(int signal_number, siginfo_t *info, void *context) {
    greg_t *machine = ((ucontext_t *)context)->uc_mcontext.gregs;
    const int number = info->si_syscall;
    (void)signal_number;
    selector = ALLOW;
    if (!is_harmless(number)) {
        if (watched->count < BPH_NOTED_LIMIT) watched->calls[watched->count] = number;
        watched->count++;
    }
    if (leaves(number)) {
        machine[REG_RAX] = number;
        machine[REG_RIP] -= 2;      /* repeat the instruction `syscall`, which is no longer watched */
        return;
    }
    machine[REG_RAX] = takes_watch_away(number, machine) ? 0 : raw_call(number, machine);
    selector = BLOCK;
}

int32_t bph_watch_calls(void (*body)(void *), void *context, bph_noted *noted) {
    struct kernel_sigaction own = {note_call, SA_SIGINFO | SA_NODEFER | KERNEL_SA_RESTORER, bph_return_from_signal, 0}, before;
    memset(noted, 0, sizeof *noted);
    watched = noted;
    selector = ALLOW;
    bool can_watch = syscall(SYS_rt_sigaction, SIGSYS, &own, &before, sizeof own.mask) == 0;
    can_watch = can_watch
        && prctl(PR_SET_SYSCALL_USER_DISPATCH, DISPATCH_ON, (unsigned long)bph_return_from_signal, (unsigned long)RESTORER_SIZE, &selector) == 0;
    if (can_watch) selector = BLOCK;
    body(context);
    selector = ALLOW;
    if (can_watch) prctl(PR_SET_SYSCALL_USER_DISPATCH, DISPATCH_OFF, 0ul, 0ul, 0ul);
    syscall(SYS_rt_sigaction, SIGSYS, &before, NULL, sizeof own.mask);
    return can_watch;
}

#else

int32_t bph_watch_calls(void (*body)(void *), void *context, bph_noted *noted) {
    memset(noted, 0, sizeof *noted);
    body(context);
    return 0;
}

#endif
