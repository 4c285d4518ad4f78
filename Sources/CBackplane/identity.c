#include "backplane.h"
#include "lease.h"

#define SDK_VERSION "0.1.0"

/* Becomes part of every library that links the SDK. */
BP_IDENTITY_RECORD(SDK_VERSION, "", "")

const char *const bp_sdk_version = SDK_VERSION;
const char *const bp_sdk_toolchain = __VERSION__;
