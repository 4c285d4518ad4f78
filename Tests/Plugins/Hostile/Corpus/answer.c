/* Faults in the answer of the entry. */
#include <stdint.h>

#if defined(SIZE_0)
#define AT_ANSWER own.size = 0;
#elif defined(SIZE_HUGE)
#define AT_ANSWER own.size = 0xFFFFFFFF;
#elif defined(ABI_99)
#define AT_ANSWER own.abi = 99;
#elif defined(ABI_NONE)
#define STATUS BP_UNIMPLEMENTED
#elif defined(REFUSES)
#define STATUS 42
#elif defined(NO_SELF_CHECK)
#define AT_ANSWER own.self_check = (bp_self_check){0};
#elif defined(LYING_HASH)
#define AT_ANSWER own.self_check.layout_hash = 1;
#elif defined(OTHER_LAYOUT)
#define AT_ANSWER moved[0] = own.self_check.fields[3]; moved[0].offset += 8; \
    own.self_check.fields = moved; own.self_check.field_count = 1; own.self_check.layout_hash = bp_layout_hash(moved, 1);
#elif defined(NO_TABLE)
#define AT_ANSWER own.self_check.fields = NULL; own.self_check.layout_hash = 1;
#elif defined(NO_ID)
#define AT_ANSWER own.id = text("");
#elif defined(OTHER_ID)
#define AT_ANSWER own.id = text("org.backplane.tests.impostor");
#elif defined(CONTROL_ID)
#define AT_ANSWER own.id = text("org.example\x1B[31m\nname");
#elif defined(NO_VERSION)
#define AT_ANSWER own.version = text("one");
#elif defined(NULL_COMPONENTS)
#define AT_ANSWER own.components = NULL;
#elif defined(HUGE_COUNT)
#define AT_ANSWER own.component_count = SIZE_MAX;
#elif defined(MANY_COMPONENTS)
#define AT_ANSWER own.component_count = 70000;
#elif defined(MISALIGNED_COMPONENTS)
#define AT_ANSWER memcpy(shifted + 1, components, sizeof *components); own.components = (const bp_component *)(shifted + 1);
#elif defined(TINY_STRIDE)
#define AT_ANSWER components[0].size = 4;
#elif defined(ODD_STRIDE)
#define AT_ANSWER components[0].size = sizeof(bp_component) + 4; own.component_count = 2;
#elif defined(SAME_CLASS_TWICE)
#define AT_ANSWER own.component_count = 2;
#elif defined(CONTROL_CLASS)
#define AT_ANSWER components[0].class_name = text("Wor\x1B[2Jker\n");
#elif defined(BAD_UTF8_CLASS)
#define AT_ANSWER components[0].class_name = text("Work\xFF" "er");
#elif defined(LONG_CLASS)
#define AT_ANSWER components[0].class_name.length = 10000000;
#elif defined(NULL_CLASS)
#define AT_ANSWER components[0].class_name.data = NULL;
#elif defined(ROLE_9)
#define AT_ANSWER components[0].role = 9;
#elif defined(NO_CREATE)
#define AT_ANSWER components[0].create = NULL;
#elif defined(NO_CALL)
#define AT_ANSWER components[0].call = NULL;
#elif defined(NULL_METHODS)
#define AT_ANSWER components[0].methods = NULL;
#elif defined(HUGE_METHODS)
#define AT_ANSWER components[0].method_count = SIZE_MAX / 2;
#elif defined(MISALIGNED_METHODS)
#define AT_ANSWER memcpy(shifted + 3, methods, sizeof methods); components[0].methods = (const bp_method *)(shifted + 3);
#elif defined(SAME_METHODS)
#define AT_ANSWER renamed[0] = renamed[1] = methods[0]; components[0].methods = renamed;
#elif defined(NO_OPEN)
#define KIND BP_STREAM
#elif defined(NULL_STATE)
#define AT_ANSWER components[0].state = &empty_state;
#elif defined(MISALIGNED_STATE)
#define AT_ANSWER memcpy(shifted + 1, &sound_state, sizeof sound_state); components[0].state = (const bp_state *)(shifted + 1);
#elif defined(BAD_ANNOTATION)
#define AT_ANSWER components[0].annotation = text("{\"routes\": [");
#elif defined(LONG_ANNOTATION)
#define AT_ANSWER components[0].annotation.length = 300000;
#elif defined(SHIFTY)
/* The first answer has one class, and later answers have another. */
#define AT_ANSWER if (getenv("HOSTILE_SHIFTY")) components[0].class_name = text("Shirker"); setenv("HOSTILE_SHIFTY", "1", 1);
#elif defined(OVERRUN)
/* It fills the whole answer, even if an older host provides only part of the struct. */
#define AT_ANSWER answer->size = sizeof own;
#endif

#include "backplane.h"

static bp_field moved[1];
static bp_method renamed[2];
static uint8_t shifted[1024] __attribute__((aligned(16)));
static void export_state(void *self, uint32_t version, bp_done done, void *context) {
    const bp_bytes none = {NULL, 0};
    (void)self;
    (void)version;
    done(context, BP_OK, none);
}
static void import_state(void *self, uint32_t version, bp_bytes state, bp_done done, void *context) {
    (void)state;
    export_state(self, version, done, context);
}
static const bp_state sound_state = {sizeof(bp_state), 1, BP_TEXT("Work"), 1, 1, 1, 0, export_state, import_state, NULL};
static const bp_state empty_state = {sizeof(bp_state), 1, BP_TEXT("Work"), 1, 1, 1, 0, NULL, NULL, NULL};

#include "plugin.h"

/* The definitions that a variant does not use. */
__attribute__((used)) static const void *const kept[] = {moved, renamed, shifted, &empty_state, &sound_state};
