/* The first of two editions of one plugin, which take turns. */
#define EDITION 1
#include "../TurnstileInC/turnstile.inc"
