/*
 * names.h: the demangling of symbol names.
 */
#ifndef BACKPLANE_NAMES_H
#define BACKPLANE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __clang__
#pragma clang assume_nonnull begin
#endif

/* Returns a Swift symbol's readable name, to be freed, or NULL for other symbols. Part of the Swift runtime. */
char *_Nullable swift_demangle(const char *name, size_t length, char *_Nullable buffer, size_t *_Nullable size, uint32_t flags);

#ifdef __clang__
#pragma clang assume_nonnull end
#endif

#endif
