/* The first of two editions of one plugin, which are swapped for each other. */
#define EDITION 1
#include "../turnstile.inc"
