/* Nothing is wrong with it: what the others are made of, and what truncated and tampered copies are made from. */
#include "plugin.h"
