#define _GNU_SOURCE
#include "known.h"
#include "lastwords.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The latest first; nothing is taken out. */
typedef struct library {
    struct library *next;
    const char *path, *name;
} library;
static _Atomic(library *) libraries;

/* A copy in which characters that would end a line or do something to a terminal are written in octal, as /proc/self/maps writes
 * newlines. */
static char *copy_escaped(const char *text, bool is_path) {
    char *copy = malloc(4 * strlen(text) + 1), *next = copy;
    for (; copy && *text; text++) {
        const unsigned char letter = (unsigned char)*text;
        if (is_path ? letter != '\n' : letter >= ' ' && letter != 127) {
            *next++ = *text;
            continue;
        }
        *next++ = '\\';
        for (int shift = 6; shift >= 0; shift -= 3) *next++ = (char)('0' + (letter >> shift & 7));
    }
    if (copy) *next = 0;
    return copy;
}

void bph_know_library(const char *path, const char *name) {
    library *added = malloc(sizeof *added);
    char *own_path = copy_escaped(path, true), *own_name = copy_escaped(name, false);
    if (!added || !own_path || !own_name) {
        free(added);
        free(own_path);
        free(own_name);
        return;
    }
    added->path = own_path;
    added->name = own_name;
    added->next = atomic_load(&libraries);
    while (!atomic_compare_exchange_weak(&libraries, &added->next, added)) {}
}

static const char *name_of(const char *path) {
    for (const library *known = atomic_load(&libraries); known; known = known->next) {
        if (strcmp(known->path, path) == 0) return known->name;
    }
    return NULL;
}

/* Stretches of known code. Kept outside of the stack, of which there may be little. */
static struct {
    uintptr_t start, end;
    const char *name;
} code[512];
static size_t code_count;
/* A path has at most 4,096 characters, each of which may be escaped. */
static char line[4 * 4096 + 128];

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
    code[code_count++].name = name;
}

void bph_find_known_code(void) {
    const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    char letters[512];
    size_t length = 0;
    ssize_t count;
    code_count = 0;
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

const char *bph_name_at(uintptr_t address) {
    for (size_t index = 0; index < code_count; index++) {
        if (address >= code[index].start && address < code[index].end) return code[index].name;
    }
    return NULL;
}
