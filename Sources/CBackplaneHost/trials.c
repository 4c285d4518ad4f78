#define _GNU_SOURCE
#include "trials.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The variable that makes a start of this program a trial: the id of the requesting process, and the library's path. */
#define VARIABLE "BACKPLANE_TRIAL"
#define PROGRESS 3

extern char **environ;

/* MARK: The host */

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

static int spawn(char **variables, int progress, int printed, pid_t *id) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    char *arguments[] = {"backplane-trial", NULL};
    posix_spawn_file_actions_init(&actions);
    for (int number = 0; number < 2; number++) posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&actions, printed, STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&actions, progress, PROGRESS);
#if __GLIBC_PREREQ(2, 34)
    posix_spawn_file_actions_addclosefrom_np(&actions, PROGRESS + 1);
#endif
    posix_spawnattr_init(&attributes);
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);      /* Control-C at the terminal is not for it */
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    const int status = posix_spawn(id, "/proc/self/exe", &actions, &attributes, arguments, variables);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return status;
}

/* Makes a pipe whose writing end is beyond the numbers that it gets in the child. */
static int make_pipe(int ends[2]) {
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return errno;
    const int low = ends[1], high = fcntl(low, F_DUPFD_CLOEXEC, PROGRESS + 1), number = errno;
    close(low);
    ends[1] = high;
    if (high >= 0) return 0;
    close(ends[0]);
    return number;
}

int32_t bph_start_trial(const char *path, bph_trial *trial) {
    size_t count = 0, kept = 0;
    char *request = NULL;
    int progress[2], printed[2];
    pid_t id = 0;
    while (environ[count]) count++;
    char **const variables = calloc(count + 3, sizeof *variables);
    if (!variables || asprintf(&request, VARIABLE "=%d %s", getpid(), path) < 0) return free(variables), ENOMEM;
    for (size_t index = 0; index < count; index++) {
        if (strncmp(environ[index], "SWIFT_BACKTRACE=", 16) != 0) variables[kept++] = environ[index];
    }
    variables[kept++] = request;
    variables[kept++] = "SWIFT_BACKTRACE=enable=no";     /* a crash is an expected outcome, which is reported otherwise */
    int status = make_pipe(progress);
    if (status == 0) {
        status = make_pipe(printed);
        if (status == 0) {
            status = spawn(variables, progress[1], printed[1], &id);
            close(printed[1]);
            if (status != 0) close(printed[0]);
        }
        close(progress[1]);
        if (status != 0) close(progress[0]);
    }
    free(request);
    free(variables);
    if (status == 0) *trial = (bph_trial){id, progress[0], printed[0]};
    return status;
}

static bool has_ended(pid_t id) {
    siginfo_t state = {0};
    const int status = waitid(P_PID, (id_t)id, &state, WEXITED | WNOHANG | WNOWAIT);
    /* Where SIGCHLD is ignored, nothing is left of a child that has ended. */
    return status == 0 ? state.si_pid == id : errno == ECHILD;
}

int32_t bph_wait_for_trial(const bph_trial *trial, int32_t milliseconds) {
    struct pollfd entry = {.fd = trial->progress};      /* says when the other end is closed, as at the end of the process */
    if (has_ended(trial->id)) return 1;
    if (poll(&entry, 1, milliseconds) > 0) usleep(1000);
    return has_ended(trial->id);
}

int32_t bph_end_trial(const bph_trial *trial) {
    int status = 0;
    /* The process is not reaped yet, so no other process or group can have its number. */
    kill(-trial->id, SIGKILL);
    kill(trial->id, SIGKILL);
    while (waitpid(trial->id, &status, 0) < 0 && errno == EINTR) {}
    return status;
}

/* MARK: The process of a trial */

/* Runs before `main`. It has no priority, so it runs after the constructors that Swift's runtime needs. */
__attribute__((constructor)) static void begin(void) {
    struct stat status;
    const struct rlimit none = {0, 0};
    dl_iterate_phdr(find, &is_of_program);
    const char *const value = getenv(VARIABLE);
    if (!is_of_program || !value) return;
    char *const request = strdup(value), *path;
    unsetenv(VARIABLE);
    if (!request || fstat(PROGRESS, &status) != 0 || !S_ISFIFO(status.st_mode)) return;
    const long host = strtol(request, &path, 10);
    if (*path != ' ') return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != host) _exit(0);
    prctl(PR_SET_NAME, "bp-trial");
    setrlimit(RLIMIT_CORE, &none);
    /* A library may close the first few hundred descriptors, as daemons do. */
    const int high = fcntl(PROGRESS, F_DUPFD_CLOEXEC, 500);
    if (high > 0) close(PROGRESS);
    bph_try_library(path + 1, high > 0 ? high : PROGRESS);
    exit(0);
}
