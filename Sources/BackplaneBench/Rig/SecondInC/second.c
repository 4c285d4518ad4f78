/* The second of two editions of one plugin, which take turns. */
#define EDITION 2
#include "../TurnstileInC/turnstile.inc"
