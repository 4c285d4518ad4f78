#ifndef CLOCK_JSON_H
#define CLOCK_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is this one JSON value (RFC 8259) in UTF-8, nested at most 512 deep, and nothing else? Of this library alone: what a library shows,
 * another one in the process may be taken for. */
__attribute__((visibility("hidden"))) bool json_is_valid(const uint8_t *bytes, size_t length);

#endif
