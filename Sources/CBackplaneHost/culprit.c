#define _GNU_SOURCE
#include "culprit.h"
#include "known.h"
#include "sampler.h"

#include <setjmp.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

/* The most frames that are walked: a stack in disorder may lead round and round. */
#define FRAME_LIMIT 4096

/* One at a time, and outside of the stack, of which there may be little. */
static struct {
    uintptr_t counter;      /* where the signal came; the handler's own frames lie before it */
    const char *name;
    size_t frames;
    bool has_begun, is_whole;
} walk;
static sigjmp_buf before_walk;
static _Atomic pid_t walker;
static uintptr_t stack[BPH_STACK_LIMIT / sizeof(uintptr_t)];

static _Unwind_Reason_Code visit(struct _Unwind_Context *frame, void *nothing) {
    (void)nothing;
    int is_exact = 0;
    const uintptr_t address = _Unwind_GetIPInfo(frame, &is_exact);
    if (!walk.has_begun) {
        walk.has_begun = is_exact && address == walk.counter;
    } else if (address == 0) {
        walk.is_whole = true;
    } else {
        /* A caller goes on after its call, which may be where the next function begins. */
        walk.name = bph_name_at(is_exact ? address : address - 1);
    }
    return walk.name || ++walk.frames == FRAME_LIMIT ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static _Unwind_Reason_Code stay(struct _Unwind_Context *frame, void *nothing) {
    (void)frame, (void)nothing;
    return _URC_END_OF_STACK;
}

void bph_prepare_walk(void) { _Unwind_Backtrace(stay, NULL); }

void bph_leave_walk(void) {
    if (atomic_load(&walker) == (pid_t)syscall(SYS_gettid)) siglongjmp(before_walk, 1);
}

/* Frame by frame, as the tables say that every compiler writes for exceptions: C keeps no frame pointers. They are found without a
 * lock (glibc 2.35). What lies on a stack in disorder may lead anywhere, and to memory that is not there. */
static void walk_from(uintptr_t counter, const sigset_t *mistakes) {
    walk.counter = counter;
    if (sigsetjmp(before_walk, 1) == 0) {
        sigset_t blocked;
        pthread_sigmask(SIG_UNBLOCK, mistakes, &blocked);
        atomic_store(&walker, (pid_t)syscall(SYS_gettid));
        _Unwind_Backtrace(visit, NULL);
        atomic_store(&walker, 0);
        pthread_sigmask(SIG_SETMASK, &blocked, NULL);
    } else {
        atomic_store(&walker, 0);
    }
}

/* Whether code goes on there after a call: anything else on a stack is no return address. */
static bool follows_call(uintptr_t address) {
#if defined(__x86_64__)
    unsigned char bytes[7];
    if (bph_copy_memory(address - sizeof bytes, bytes, sizeof bytes) != sizeof bytes) return false;
    if (bytes[2] == 0xE8) return true;
    /* Through a register or memory: FF /2, with an index or without, and the distance. */
    for (size_t length = 2; length <= 7; length++) {
        const unsigned char code = bytes[7 - length], mode = bytes[8 - length], kind = mode >> 6, place = mode & 7;
        if (code != 0xFF || (mode >> 3 & 7) != 2) continue;
        const bool has_index = kind != 3 && place == 4;
        const size_t distance = kind == 1 ? 1 : kind == 2 || (kind == 0 && place == 5) ? 4 : 0;
        if (length == 2 + has_index + distance) return true;
    }
    return false;
#elif defined(__aarch64__)
    uint32_t code;
    if (bph_copy_memory(address - sizeof code, &code, sizeof code) != sizeof code) return false;
    return (code & 0xFC000000) == 0x94000000 || (code & 0xFEFFF800) == 0xD63F0000;
#else
    (void)address;
    return true;
#endif
}

/* Whatever looks like a return address. It may be left over from a call that has returned. */
static void search_from(uintptr_t pointer, bph_suspects *suspects) {
    const size_t count = bph_copy_memory(pointer, stack, sizeof stack) / sizeof *stack;
    for (size_t index = 0; index < count && suspects->count < BPH_SUSPECT_LIMIT; index++) {
        const char *name = bph_name_at(stack[index] - 1);
        if (!name || !follows_call(stack[index])) continue;
        bool is_new = true;
        for (size_t other = 0; other < suspects->count; other++) is_new = is_new && strcmp(suspects->names[other], name) != 0;
        if (is_new) suspects->names[suspects->count++] = name;
    }
}

void bph_find_suspects(const ucontext_t *context, const sigset_t *mistakes, bph_suspects *suspects) {
#if defined(__x86_64__)
    const uintptr_t counter = (uintptr_t)context->uc_mcontext.gregs[REG_RIP], pointer = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    const uintptr_t counter = context->uc_mcontext.pc, pointer = context->uc_mcontext.sp;
#else
    const uintptr_t counter = 0, pointer = 0;
#endif
    bph_find_known_code();
    walk.name = bph_name_at(counter);
    if (!walk.name) walk_from(counter, mistakes);
    if (walk.name) {
        suspects->names[0] = walk.name;
        suspects->count = 1;
        suspects->is_certain = true;
    } else if (!walk.is_whole) {
        search_from(pointer, suspects);
    }
}
