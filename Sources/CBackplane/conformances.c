#include "conformances.h"

#include <stdint.h>

/* The layouts follow Swift's ABI (swift/ABI/Metadata.h and MetadataValues.h). A pointer is stored as the distance from
 * its own place. */
typedef struct { int32_t protocol, type, witnesses; uint32_t flags; } conformance;
typedef struct { uint32_t flags; int32_t parent, name, metadata; } type_descriptor;
typedef struct { const void *metadata; size_t state; } metadata_response;
typedef __attribute__((swiftcall)) metadata_response (*metadata_accessor)(size_t request);

enum { is_generic = 1 << 7, kind_of_type = 7 << 3, direct_type = 0 << 3, indirect_type = 1 << 3 };

/* The bounds of the section in which the compiler lists the conformances. The symbols are hidden, so the linker defines
 * them for each image. */
#define HIDDEN __attribute__((visibility("hidden")))
extern const int32_t __start_swift5_protocol_conformances[] HIDDEN, __stop_swift5_protocol_conformances[] HIDDEN;

static const void *follow(const int32_t *place) { return (const char *)place + *place; }

static const void *protocol_of(const conformance *each) {
    const char *target = (const char *)&each->protocol + (each->protocol & ~1);
    return each->protocol & 1 ? *(const void *const *)target : target;
}

static const type_descriptor *type_of(const conformance *each) {
    switch (each->flags & kind_of_type) {
    case direct_type: return follow(&each->type);
    case indirect_type: return *(const type_descriptor *const *)follow(&each->type);
    default: return NULL;
    }
}

/* Hidden as well, so that another library's function cannot replace it. */
HIDDEN bp_conformance bp_next_conformance(const void *protocol, size_t *position) {
    while (__start_swift5_protocol_conformances + *position < __stop_swift5_protocol_conformances) {
        const conformance *each = follow(__start_swift5_protocol_conformances + (*position)++);
        const type_descriptor *type = protocol_of(each) == protocol ? type_of(each) : NULL;
        if (!type) continue;
        const char *name = follow(&type->name);
        if (type->flags & is_generic) return (bp_conformance){name, NULL, NULL};
        const metadata_accessor accessor = (metadata_accessor)follow(&type->metadata);
        return (bp_conformance){name, accessor(0).metadata, follow(&each->witnesses)};
    }
    return (bp_conformance){NULL, NULL, NULL};
}
