#include "backplane.h"
#include "lease.h"

/* Lands in every library that links the Backplane SDK. */
BP_IDENTITY_RECORD("0.1.0", "", "")
