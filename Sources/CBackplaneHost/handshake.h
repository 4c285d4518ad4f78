/*
 * handshake.h: the handshake with a plugin in a trial.
 */
#ifndef BACKPLANE_HANDSHAKE_H
#define BACKPLANE_HANDSHAKE_H

#include "lease.h"

#include <stdbool.h>

typedef int32_t (*bph_entry)(const bp_offer *, bp_answer *);

/* Calls a plugin's entry function with the offer of a host whose services do nothing. Returns whether there is an
 * answer that the host would read. */
bool bph_enter(bph_entry entry, const char *toolchain, bp_answer *answer);

/* Reads the memory that the host reads of an answer before it wires a component: texts, descriptors, and the layouts of
 * contracts. What cannot be read ends the process. */
void bph_read_answer(const bp_answer *answer);

#endif
