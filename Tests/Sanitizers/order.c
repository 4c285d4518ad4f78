// Tells ThreadSanitizer what the toolchain's libraries order, which are not instrumented. Preloaded by `make test-sanitizers`, so that
// these functions stand before the libraries'.
//
// It sees a `Mutex` that nobody waits for, since that is compiled into whoever locks, and not one that somebody does. It sees a task
// that waits for its continuation, through the executor that runs it again, and not one that was resumed before it had suspended.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

// Not there in a program that is not instrumented, such as a compiler that a test starts.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

static void acquire(void *address) { if (__tsan_acquire) __tsan_acquire(address); }
static void release(void *address) { if (__tsan_release) __tsan_release(address); }

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))
#define MUTEX(name) "$s15Synchronization12_MutexHandleV" name
#define NEXT(function, name) \
    static function *next; \
    if (!next) next = (function *)dlsym(RTLD_NEXT, name)

typedef SWIFT void locks(uint32_t thread, SELF void *mutex);
typedef SWIFT bool tries(SELF void *mutex);
typedef SWIFT void unlocks(SELF void *mutex);

SWIFT void lock_slow(uint32_t thread, SELF void *mutex) __asm__(MUTEX("9_lockSlowyys6UInt32VF"));
SWIFT void lock_slow(uint32_t thread, SELF void *mutex) {
    NEXT(locks, MUTEX("9_lockSlowyys6UInt32VF"));
    next(thread, mutex);
    acquire(mutex);
}

SWIFT bool try_lock_slow(SELF void *mutex) __asm__(MUTEX("12_tryLockSlowSbyF"));
SWIFT bool try_lock_slow(SELF void *mutex) {
    NEXT(tries, MUTEX("12_tryLockSlowSbyF"));
    bool is_locked = next(mutex);
    if (is_locked) acquire(mutex);
    return is_locked;
}

SWIFT void unlock_slow(SELF void *mutex) __asm__(MUTEX("11_unlockSlowyyF"));
SWIFT void unlock_slow(SELF void *mutex) {
    release(mutex);
    NEXT(unlocks, MUTEX("11_unlockSlowyyF"));
    next(mutex);
}

#define ASYNC __attribute__((swiftasynccall))

SWIFT void *swift_task_getCurrent(void);

typedef SWIFT void resumes(void *task);
typedef SWIFT void fails(void *task, void *error);
struct continuation;
typedef ASYNC void awaits(struct continuation *continuation);
typedef ASYNC void goes_on(__attribute__((swift_async_context)) struct continuation *continuation);

// What swift_continuation_await reads of one: compiled code writes `resume` before each wait, so its place is part of the ABI.
struct continuation {
    void *parent;
    goes_on *resume;
    uintptr_t flags;
};
enum { SWITCHES_EXECUTOR = 1 << 1 };

SWIFT void swift_continuation_resume(void *task) {
    release(task);
    NEXT(resumes, "swift_continuation_resume");
    next(task);
}

SWIFT void swift_continuation_throwingResume(void *task) {
    release(task);
    NEXT(resumes, "swift_continuation_throwingResume");
    next(task);
}

SWIFT void swift_continuation_throwingResumeWithError(void *task, void *error) {
    release(task);
    NEXT(fails, "swift_continuation_throwingResumeWithError");
    next(task, error);
}

// Who resumes a continuation reads from it where the answer goes, and then calls swift_continuation_resume, the last to touch it. A task that
// need not suspend goes on at once, and may put its next continuation in the same place. That is after the read, yet nothing orders the two
// but the state of the continuation that both functions exchange: a task that acquires before swift_continuation_await misses who resumes
// it between that and the exchange.
//
// So it acquires in `resume`, where it goes on, at once and on the same thread, if it did not suspend. If it did, it goes on in what
// swift_continuation_init took from there.
static _Thread_local goes_on *resume;

ASYNC static void resumed_early(__attribute__((swift_async_context)) struct continuation *continuation) {
    acquire(swift_task_getCurrent());
    __attribute__((musttail)) return resume(continuation);
}

ASYNC void swift_continuation_await(struct continuation *continuation) {
    // One that first switches executors, which the compiler does not ask for, may go on in another thread, and is seen through the executor.
    if (!(continuation->flags & SWITCHES_EXECUTOR)) {
        resume = continuation->resume;
        continuation->resume = resumed_early;
    }
    NEXT(awaits, "swift_continuation_await");
    __attribute__((musttail)) return next(continuation);
}
