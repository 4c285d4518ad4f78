#ifndef BACKPLANE_CONFORMANCES_H
#define BACKPLANE_CONFORMANCES_H

#include <stddef.h>

#pragma clang assume_nonnull begin

/* A type that conforms to a Swift protocol. */
typedef struct bp_conformance {
    const char *_Nullable name;             /* the type's own name; NULL if there is no further type */
    const void *_Nullable type;             /* its metadata; NULL if the type is generic */
    const void *_Nullable witnesses;        /* its witness table; NULL if the type is generic */
} bp_conformance;

/* Returns the next conformance to a protocol that this image declares; `position` begins at 0. It does not use Swift's
 * runtime, whose search covers the whole process. */
bp_conformance bp_next_conformance(const void *protocol, size_t *position);

#pragma clang assume_nonnull end

#endif
