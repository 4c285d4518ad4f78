/* The second of two editions of one plugin, which are swapped for each other. */
#define EDITION 2
#include "../turnstile.inc"
