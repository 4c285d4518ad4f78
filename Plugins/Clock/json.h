#ifndef CLOCK_JSON_H
#define CLOCK_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns whether the bytes are exactly one JSON value (RFC 8259) in UTF-8, nested at most 512 deep.
 *
 * Hidden, because a symbol that a library exports can be bound to one of the same name in another library. */
__attribute__((visibility("hidden"))) bool json_is_valid(const uint8_t *bytes, size_t length);

#endif
