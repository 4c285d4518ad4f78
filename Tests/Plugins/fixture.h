/* The common parts of the suite's libraries in C.
 *
 * A test creates a variant of a library by overwriting bytes in a copy of its file: the id, the version and the ABI
 * range in its identity, and its settings (Tests/Fixtures/FixtureLibrary.swift). */
#ifndef FIXTURE_H
#define FIXTURE_H

#include "backplane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(hidden)

extern bp_get_interface get_interface;
extern char settings[2048];

/* The value of a setting of this copy of the library, or NULL. */
const char *setting(const char *name);

/* The first number of this copy's version. */
const char *edition(void);

/* The classes of each file, each list ending with a class without a size. */
extern const bp_component again[], authenticator[], byte_state[], caller[], credentials[], deep[], editions[],
    executor[], filter[], frames[], graph[], number_store[], pharmacy[], pipes[], relay[], routes[], serializer[];
extern const bp_component culprit[], trespasser[];

/* Returns whether a step of the culprit fails; does not return if the step hangs. */
int goes_wrong(const char *step);

#pragma GCC visibility pop

static inline bp_bytes text(const char *literal) {
    const bp_bytes bytes = {(const uint8_t *)literal, strlen(literal)};
    return bytes;
}

/* The first members of the descriptor of a class. */
#define CLASS(its_role, name, its_contract) \
    .size = sizeof(bp_component), .role = its_role, .class_name = BP_TEXT(name), .version = BP_TEXT("1.0.0"), \
    .contract = BP_TEXT(its_contract), .contract_version = BP_TEXT("1.0.0")

/* An instance with its own handle and the handle of its first wire, if any. */
typedef struct handles {
    uint64_t handle, wire;
} handles;

static inline void create_handles(void *type, const bp_creation *creation, bp_created done, void *context) {
    handles *self = malloc(sizeof *self);
    *self = (handles){creation->handle, creation->wire_count ? creation->wires->wire : 0};
    done(context, BP_OK, self, text(""));
}

/* Forwards a call to the same method of the instance's wire. */
static inline void pass_on(
    void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    const handles *self = instance;
    const bp_calls_1 *calls = get_interface(text(BP_CALLS), 1);
    calls->call(self->handle, self->wire, method, input, frame, done, context);
}

#ifdef FIXTURE_ID       /* defined in the file with the library's entry */
BP_IDENTITY(FIXTURE_ID, "1.0.0")

bp_get_interface get_interface;

/* The mark, followed by texts such as `name=value`, each ending with a zero byte, and another zero byte. */
#define MARK "backplane.fixture-settings:"
char settings[2048] = MARK;

/* Volatile, because the compiler cannot see that tests change the bytes. */
static const bp_identity *volatile const identity = &bp_identity_record;
static const char *volatile const own_settings = settings + sizeof MARK;

const char *setting(const char *name) {
    const size_t length = strlen(name);
    for (const char *at = own_settings; *at; at += strlen(at) + 1) {
        if (strncmp(at, name, length) == 0 && at[length] == '=') return at + length + 1;
    }
    return NULL;
}

const char *edition(void) {
    static char number[32];
    snprintf(number, sizeof number, "%.*s", (int)strcspn(identity->version, "."), identity->version);
    return number;
}

/* Returns an answer with the classes of the lists, in the version of this copy. A setting with the name of a class
 * renames the class. */
static inline bp_answer answer_with(const bp_component *const *lists, size_t count, bp_component *components) {
    bp_answer own = {
        .size = sizeof own, .abi = BP_ABI_MAX, .id = text(identity->id), .version = text(identity->version),
        .toolchain = BP_TEXT(__VERSION__), .components = components, .self_check = bp_check_self()};
    for (size_t i = 0; i < count; i++) {
        for (const bp_component *class = lists[i]; class->size; class++) {
            bp_component *component = components + own.component_count++;
            const char *name = setting((const char *)class->class_name.data);
            *component = *class;
            component->version = own.version;
            if (name) component->class_name = text(name);
        }
    }
    return own;
}
#endif

#endif
