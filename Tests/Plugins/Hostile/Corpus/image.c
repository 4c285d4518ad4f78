/* Faults of the file itself: its sections, its symbols, its requests to the loader. */
#if defined(NO_IDENTITY)
#define IDENTITY
#elif defined(SHORT_IDENTITY)
#define IDENTITY static const char record[16] BP_KEEP = "BACKPLNE";
#elif defined(WRONG_MARK)
#define IDENTITY static const bp_identity record BP_KEEP = {{'B', 'A', 'C', 'K', 'P', 'A', 'I', 'N'}, sizeof(bp_identity), 0, 0, 0, "", "", ID, "1.0.0"};
#elif defined(FUTURE_ABI)
#define IDENTITY static const bp_identity record BP_KEEP = {BP_IDENTITY_MAGIC, sizeof(bp_identity), 7, 9, 0, "", "", ID, "1.0.0"};
#elif defined(TWO_IDENTITIES)
#define IDENTITY BP_IDENTITY(ID, "1.0.0") \
    static const bp_identity other BP_KEEP = {BP_IDENTITY_MAGIC, sizeof(bp_identity), 0, 0, 0, "", "", "org.backplane.tests.other", "1.0.0"};
#endif

#if defined(HIDDEN_ENTRY)
#define BP_EXPORT __attribute__((visibility("hidden")))
#elif defined(NO_ENTRY)
#define HAS_ENTRY
#endif

#include "plugin.h"

#if defined(EXPORTS_SDK)
/* Names of symbols of the SDK and of the Swift runtime. */
const char bp_sdk_version[] = "0.0.0";
void *swift_retain(void *object) { return object; }
#elif defined(INTERPOSES)
char *getenv(const char *name) {
    (void)name;
    return NULL;
}
#elif defined(CONSTRUCTOR_NEVER)
__attribute__((constructor)) static void greet(void) { linger(NULL); }
#elif defined(CONSTRUCTOR_ABORTS)
__attribute__((constructor)) static void greet(void) { abort(); }
#elif defined(UNRESOLVED)
int defined_nowhere(void);
int needed(void);
__attribute__((visibility("hidden"), used)) int needed(void) { return defined_nowhere(); }
#elif defined(NEEDS_STRANGER)
int stranger(void);
__attribute__((visibility("hidden"), used)) int needed(void) { return stranger(); }
#elif defined(STRANGER)
int stranger(void);
int stranger(void) { return 1; }
#endif
