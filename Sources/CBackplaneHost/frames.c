#define _GNU_SOURCE
#include "frames.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char *(*demangle)(const char *, size_t, char *, size_t *);
static bool (*is_thunk)(const char *);

void bph_find_demangler(void) {
    /* The functions that the runtime has for its own backtraces; names stay as they are in the file without them. */
    *(void **)&demangle = dlsym(RTLD_DEFAULT, "_swift_backtrace_demangle");
    *(void **)&is_thunk = dlsym(RTLD_DEFAULT, "_swift_backtrace_isThunkFunction");
}

struct file { const unsigned char *bytes; size_t size; };
struct part { const unsigned char *bytes; size_t size; };

static struct file map_file(const char *path) {
    struct file file = {0};
    struct stat status;
    const int opened = open(path, O_RDONLY | O_CLOEXEC);
    if (opened < 0) return file;
    if (fstat(opened, &status) == 0 && status.st_size > 0) {
        void *const bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, opened, 0);
        if (bytes != MAP_FAILED) file = (struct file){bytes, (size_t)status.st_size};
    }
    close(opened);
    return file;
}

static struct part part_of(struct file file, uint64_t offset, uint64_t size) {
    if (offset > file.size || size > file.size - offset) return (struct part){0};
    return (struct part){file.bytes + offset, size};
}

/* Returns a section by its number. */
static bool header_of(struct file file, const ElfW(Ehdr) *elf, size_t number, ElfW(Shdr) *header) {
    const struct part part = part_of(file, elf->e_shoff + number * sizeof *header, sizeof *header);
    if (!part.bytes) return false;
    memcpy(header, part.bytes, sizeof *header);
    return true;
}

/* Returns the name of the function that contains an address, or NULL. */
static const char *function_at(struct file file, uintptr_t address) {
    ElfW(Ehdr) elf;
    if (file.size < sizeof elf) return NULL;
    memcpy(&elf, file.bytes, sizeof elf);
    if (elf.e_shentsize != sizeof(ElfW(Shdr))) return NULL;
    const char *name = NULL;
    for (size_t number = 0; number < elf.e_shnum; number++) {
        ElfW(Shdr) symbols, names;
        if (!header_of(file, &elf, number, &symbols)) break;
        if (symbols.sh_type != SHT_SYMTAB && (symbols.sh_type != SHT_DYNSYM || name)) continue;
        if (!header_of(file, &elf, symbols.sh_link, &names)) continue;
        const struct part table = part_of(file, symbols.sh_offset, symbols.sh_size);
        const struct part texts = part_of(file, names.sh_offset, names.sh_size);
        for (size_t at = 0; at + sizeof(ElfW(Sym)) <= table.size; at += sizeof(ElfW(Sym))) {
            ElfW(Sym) symbol;
            memcpy(&symbol, table.bytes + at, sizeof symbol);
            if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
            if (address < symbol.st_value || address - symbol.st_value >= symbol.st_size) continue;
            if (symbol.st_name >= texts.size || !memchr(texts.bytes + symbol.st_name, 0, texts.size - symbol.st_name)) continue;
            name = (const char *)texts.bytes + symbol.st_name;
            break;
        }
    }
    return name && *name ? name : NULL;
}

/* Returns whether a function is what a compiler adds, or the standard library's, specialised for the plugin. */
static bool is_foreign(const char *name) {
    return strncmp(name, "$sS", 3) == 0 || strncmp(name, "$ss", 3) == 0 || (is_thunk && is_thunk(name));
}

/* Writes a line, other bytes than those of a text replaced. */
static void write_line(int to, const char *text) {
    char line[BPH_SYMBOL];
    size_t length = 0;
    while (length < sizeof line - 1 && text[length]) {
        line[length] = (unsigned char)text[length] < ' ' ? ' ' : text[length];
        length++;
    }
    line[length++] = '\n';
    (void)!write(to, line, length);
}

void bph_write_frame(int to, const char *copy, const uintptr_t *offsets, int count) {
    const struct file file = map_file(copy);
    const char *name = NULL;
    if (!file.bytes) return;
    for (int index = 0; index < count; index++) {
        const char *const found = function_at(file, offsets[index]);
        if (found && (!name || !is_foreign(found))) name = found;
        if (name && !is_foreign(name)) break;
    }
    if (!name) return;
    write_line(to, name);
    char *const swift = demangle && strncmp(name, "$s", 2) == 0 ? demangle(name, strlen(name), NULL, NULL) : NULL;
    write_line(to, swift ? swift : name);
}
