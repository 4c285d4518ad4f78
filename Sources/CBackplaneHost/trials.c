#define _GNU_SOURCE
#include "trials.h"
#include "handshake.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The variable that turns a start of this program into a process for trials, and names the descriptor to use. */
#define VARIABLE "BACKPLANE_TRIALS"
#define CHANNEL 3

extern char **environ;

/* MARK: The host's end */

static bool is_of_program;

/* The program itself is the first object. */
static int find(struct dl_phdr_info *object, size_t size, void *context) {
    const uintptr_t address = (uintptr_t)&bph_can_try;
    (void)size;
    for (int index = 0; index < object->dlpi_phnum; index++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[index];
        const uintptr_t start = object->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && address >= start && address - start < segment->p_memsz) *(bool *)context = true;
    }
    return 1;
}

int32_t bph_can_try(void) { return is_of_program; }

int32_t bph_start_trials(int32_t channel) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    pid_t id = 0;
    size_t count = 0, kept = 0;
    char *arguments[] = {"backplane-trials", NULL};
    while (environ[count]) count++;
    char **variables = calloc(count + 3, sizeof *variables);
    if (!variables) return -ENOMEM;
    for (size_t index = 0; index < count; index++) {
        const bool is_own = strncmp(environ[index], VARIABLE "=", sizeof VARIABLE) == 0;
        if (!is_own && strncmp(environ[index], "SWIFT_BACKTRACE=", 16) != 0) variables[kept++] = environ[index];
    }
    variables[kept++] = VARIABLE "=1";
    variables[kept++] = "SWIFT_BACKTRACE=enable=no";     /* a crash is an expected outcome, which is reported otherwise */
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, channel, CHANNEL);
    for (int number = 0; number < 3; number++) posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0);
#if __GLIBC_PREREQ(2, 34)
    posix_spawn_file_actions_addclosefrom_np(&actions, CHANNEL + 1);
#endif
    posix_spawnattr_init(&attributes);
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);      /* Control-C at the terminal is not for it */
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    const int status = posix_spawn(&id, "/proc/self/exe", &actions, &attributes, arguments, variables);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    free(variables);
    return status == 0 ? id : -status;
}

/* MARK: The child that opens one library */

/* The channel to the host, which a library has no use for: it may close the first few hundred, as daemons do. */
static int channel = CHANNEL;

enum { WAITING, LOADING, REFUSED, ENTERING, READING, ENDING, PASSED };

/* What the child has come to, in memory that it shares with its parent, and the request that it is for. */
static struct progress { _Atomic int stage; uint32_t id; char reason[BPH_TRIAL_TEXT]; } *progress;

/* The next child, which waits for a path: forking takes longer than all the rest of a small library's trial. */
static struct { pid_t id; int order, words; } spare = {-1, -1, -1};

static void set_signals(int how, int number) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(how, &set, NULL);
}

static struct link_map *last_object(void) {
    struct link_map *object = _r_debug.r_map;
    while (object && object->l_next) object = object->l_next;
    return object;
}

/* Runs the destructors of an object, as the loader does at the end of a process. */
static void finish(const struct link_map *object) {
    const ElfW(Dyn) *table = NULL, *size = NULL, *single = NULL;
    for (const ElfW(Dyn) *entry = object->l_ld; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_FINI_ARRAY) table = entry;
        if (entry->d_tag == DT_FINI_ARRAYSZ) size = entry;
        if (entry->d_tag == DT_FINI) single = entry;
    }
    if (table && size) {
        void (**functions)(void) = (void (**)(void))(object->l_addr + table->d_un.d_ptr);
        for (size_t count = size->d_un.d_val / sizeof *functions; count > 0; count--) functions[count - 1]();
    }
    if (single) ((void (*)(void))(object->l_addr + single->d_un.d_ptr))();
}

static void answer(bph_trial_verdict verdict, const char *text, size_t count);

/* Calls the entry function, if there is one, and reads what the host will read of its answer. */
static void describe(void *library, const char *toolchain) {
    bp_answer answer;
    atomic_store(&progress->stage, ENTERING);
    const bph_entry entry = (bph_entry)dlsym(library, "backplane_plugin_entry_v1");
    if (!entry || !bph_enter(entry, toolchain, &answer)) return;
    atomic_store(&progress->stage, READING);
    bph_read_answer(&answer);
}

_Noreturn static void open_library(int order, int words, pid_t parent) {
    char message[BPH_TRIAL_PATH + 1 + BPH_TRIAL_TOOLCHAIN + 1];
    const struct rlimit none = {0, 0};
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "bp-trial");
    if (getppid() != parent) _exit(0);
    dup2(words, STDERR_FILENO);
    close(words);
    set_signals(SIG_UNBLOCK, SIGCHLD);
    setrlimit(RLIMIT_CORE, &none);
    size_t count = 0;
    for (ssize_t more; (more = read(order, message + count, sizeof message - 1 - count)) > 0;) count += (size_t)more;
    close(order);
    if (count == 0) _exit(0);
    message[count] = 0;
    const size_t path = strlen(message);
    const struct link_map *before = last_object();
    atomic_store(&progress->stage, LOADING);
    /* As the host loads it. */
    void *library = dlopen(message, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
        const char *reason = dlerror();
        strncpy(progress->reason, reason ? reason : "", sizeof progress->reason - 1);
        atomic_store(&progress->stage, REFUSED);
        _exit(0);
    }
    describe(library, path < count ? message + path + 1 : "");
    atomic_store(&progress->stage, ENDING);
    /* Not `exit`, which would take longer than all the rest: it runs the destructors of all that was there before, too. */
    for (const struct link_map *object = before->l_next; object; object = object->l_next) finish(object);
    /* The end of a process takes time as well, for which the host need not wait. */
    answer((bph_trial_verdict){progress->id, BPH_TRIAL_PASSED, 0, 0}, "", 0);
    atomic_store(&progress->stage, PASSED);
    _exit(0);
}

/* Makes the next child; returns 0, or an error number. */
static int make_spare(void) {
    int order[2], words[2];
    const pid_t parent = getpid();
    if (pipe2(order, O_CLOEXEC) != 0) return errno;
    /* What is printed beyond the pipe's size is lost, and reading it is not awaited. */
    if (pipe2(words, O_CLOEXEC | O_NONBLOCK) != 0) {
        const int number = errno;
        close(order[0]), close(order[1]);
        return number;
    }
    atomic_store(&progress->stage, WAITING);
    memset(progress->reason, 0, sizeof progress->reason);
    const pid_t id = fork();
    const int number = errno;
    if (id == 0) {
        close(order[1]), close(words[0]);
        open_library(order[0], words[1], parent);
    }
    close(order[0]), close(words[1]);
    if (id < 0) {
        close(order[1]), close(words[0]);
        return number;
    }
    setpgid(id, id);
    spare.id = id, spare.order = order[1], spare.words = words[0];
    return 0;
}

/* MARK: The process kept ready */

static int64_t now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Waits for the end of the child, which is a zombie then; returns false after the limit. Ends with the host. */
static bool wait_for_end(int signals, int64_t limit_ms) {
    const int64_t end = now_ms() + limit_ms;
    for (;;) {
        siginfo_t state = {0};
        struct signalfd_siginfo taken;
        if (waitid(P_PID, (id_t)spare.id, &state, WEXITED | WNOHANG | WNOWAIT) == 0 && state.si_pid == spare.id) return true;
        const int64_t left = end - now_ms();
        if (left <= 0) return false;
        struct pollfd entries[] = {{.fd = signals, .events = POLLIN}, {.fd = channel, .events = 0}};
        poll(entries, 2, left > 1000000 ? 1000000 : (int)left);
        if (entries[0].revents) while (read(signals, &taken, sizeof taken) > 0) {}
        if (entries[1].revents & (POLLHUP | POLLERR)) {     /* the verdict is no longer awaited */
            kill(-spare.id, SIGKILL);
            kill(spare.id, SIGKILL);
            _exit(0);
        }
    }
}

/* Returns the verdict on a child that has not answered itself. */
static bph_trial_verdict verdict(bool is_overdue, int status) {
    const int stage = atomic_load(&progress->stage);
    bph_trial_verdict verdict = {.id = progress->id};
    verdict.stage = stage == ENTERING ? BPH_TRIAL_ENTERING : stage == READING ? BPH_TRIAL_READING
        : stage == ENDING ? BPH_TRIAL_ENDING : BPH_TRIAL_LOADING;
    if (is_overdue) {
        verdict.outcome = BPH_TRIAL_OVERDUE;
    } else if (stage == WAITING) {
        verdict.outcome = BPH_TRIAL_NO_CHILD, verdict.number = ECHILD;
    } else if (WIFSIGNALED(status)) {
        verdict.outcome = BPH_TRIAL_SIGNAL, verdict.number = WTERMSIG(status);
    } else if (stage == REFUSED) {
        verdict.outcome = BPH_TRIAL_REFUSED;
    } else {
        verdict.outcome = BPH_TRIAL_EXIT, verdict.number = WEXITSTATUS(status);
    }
    return verdict;
}

/* Sends a verdict; ends if the host is gone. */
static void answer(bph_trial_verdict verdict, const char *text, size_t count) {
    char message[sizeof verdict + BPH_TRIAL_TEXT];
    memcpy(message, &verdict, sizeof verdict);
    memcpy(message + sizeof verdict, text, count);
    if (send(channel, message, sizeof verdict + count, MSG_NOSIGNAL) < 0) _exit(0);
}

/* Has the waiting child open the library that a message names, and says what became of it. */
static void try_library(bph_trial_request request, const char *library, size_t count, int signals) {
    static char text[1 << 16];
    siginfo_t state = {0};
    /* Somebody may have killed the child while it waited. */
    if (spare.id > 0 && waitid(P_PID, (id_t)spare.id, &state, WEXITED | WNOHANG) == 0 && state.si_pid == spare.id) {
        close(spare.order), close(spare.words);
        spare.id = -1;
    }
    int number = spare.id < 0 ? make_spare() : 0, status = 0;
    if (number != 0) return answer((bph_trial_verdict){request.id, BPH_TRIAL_NO_CHILD, number, 0}, "", 0);
    progress->id = request.id;
    signal(SIGPIPE, SIG_IGN);
    const ssize_t told = write(spare.order, library, count);
    signal(SIGPIPE, SIG_DFL);
    close(spare.order);
    const bool is_overdue = told == (ssize_t)count && !wait_for_end(signals, request.limit_ms);
    /* The child is not reaped yet, so that its number is not another's, nor that of its group. */
    kill(-spare.id, SIGKILL);
    kill(spare.id, SIGKILL);
    while (waitpid(spare.id, &status, 0) < 0 && errno == EINTR) {}
    const bph_trial_verdict end = verdict(is_overdue, status);
    size_t printed = 0;
    for (ssize_t more; printed < sizeof text && (more = read(spare.words, text + printed, sizeof text - printed)) > 0;) {
        printed += (size_t)more;
    }
    close(spare.words);
    spare.id = -1;
    if (atomic_load(&progress->stage) == PASSED) {
        make_spare();
        return;
    }
    const size_t shown = printed < BPH_TRIAL_TEXT ? printed : BPH_TRIAL_TEXT;
    if (end.outcome == BPH_TRIAL_REFUSED) {
        answer(end, progress->reason, strnlen(progress->reason, sizeof progress->reason));
    } else {
        answer(end, text + (printed - shown), shown);
    }
    make_spare();
}

_Noreturn static void serve(void) {
    prctl(PR_SET_NAME, "bp-trials");
    const int high = fcntl(CHANNEL, F_DUPFD_CLOEXEC, 500);
    if (high > 0) close(CHANNEL), channel = high;
    set_signals(SIG_BLOCK, SIGCHLD);
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    const int signals = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (signals < 0 || progress == MAP_FAILED) _exit(1);
    make_spare();
    answer((bph_trial_verdict){0, BPH_TRIAL_READY, 0, 0}, "", 0);
    for (;;) {
        char message[sizeof(bph_trial_request) + BPH_TRIAL_PATH + 1 + BPH_TRIAL_TOOLCHAIN];
        bph_trial_request request;
        const ssize_t count = recv(channel, message, sizeof message, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count <= (ssize_t)sizeof request) _exit(0);
        memcpy(&request, message, sizeof request);
        try_library(request, message + sizeof request, (size_t)count - sizeof request, signals);
    }
}

/* Runs before the program's own constructors and its `main`. */
__attribute__((constructor(101))) static void begin(void) {
    dl_iterate_phdr(find, &is_of_program);
    if (!is_of_program || !getenv(VARIABLE)) return;
    unsetenv(VARIABLE);
    int kind = 0;
    socklen_t size = sizeof kind;
    if (getsockopt(CHANNEL, SOL_SOCKET, SO_TYPE, &kind, &size) == 0 && kind == SOCK_SEQPACKET) serve();
}
