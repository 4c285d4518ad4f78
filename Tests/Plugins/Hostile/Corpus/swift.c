/* A plugin that contains Swift code, which is in trap.swift. */
#define IDENTITY static const bp_identity record BP_KEEP = {BP_IDENTITY_MAGIC, sizeof(bp_identity), BP_ABI_MIN, BP_ABI_MAX, 6003, "", "", ID, "1.0.0"};
#ifdef TRAPS
#define WORK hostile_work()
#define BAD_WORK hostile_work()
#endif

__attribute__((visibility("hidden"))) void hostile_work(void);

#include "plugin.h"
