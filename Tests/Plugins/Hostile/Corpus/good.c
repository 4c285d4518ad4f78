/* A library without faults: the basis of the others, and of truncated and tampered copies. */
#include "plugin.h"
