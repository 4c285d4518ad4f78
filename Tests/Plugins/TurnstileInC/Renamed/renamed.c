/* The second of the two editions with another name of its class, which fits another manifest only. */
#define EDITION 2
#define VERSION "3.0.0"
#define CLASS_NAME "BarrierManager"
#include "../turnstile.inc"
