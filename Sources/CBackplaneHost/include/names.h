/*
 * names.h: names of functions as people write them.
 */
#ifndef BACKPLANE_NAMES_H
#define BACKPLANE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __clang__
#pragma clang assume_nonnull begin
#endif

/* The Swift runtime's: a symbol's name for people, to be freed; NULL for one that is not Swift's. */
char *_Nullable swift_demangle(const char *name, size_t length, char *_Nullable buffer, size_t *_Nullable size, uint32_t flags);

#ifdef __clang__
#pragma clang assume_nonnull end
#endif

#endif
