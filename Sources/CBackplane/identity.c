#include "backplane.h"
#include "lease.h"

#define SDK_VERSION "0.1.0"

/* Lands in every library that links the SDK. */
BP_IDENTITY_RECORD(SDK_VERSION, "", "")

static const bp_field layout[] = BP_LAYOUT;

const char *const bp_sdk_version = SDK_VERSION;
const char *const bp_sdk_toolchain = __VERSION__;
const bp_field *const bp_sdk_layout = layout;
const size_t bp_sdk_layout_count = sizeof layout / sizeof *layout;
