#include "json.h"

#include <string.h>

typedef struct { const uint8_t *at, *end; } reader;

static bool value(reader *r, int depth);

static void space(reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')) r->at++;
}

static bool take(reader *r, uint8_t byte) {
    if (r->at == r->end || *r->at != byte) return false;
    r->at++;
    return true;
}

static bool word(reader *r, const char *literal) {
    size_t length = strlen(literal);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, literal, length) != 0) return false;
    r->at += length;
    return true;
}

static bool digits(reader *r) {
    const uint8_t *start = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9') r->at++;
    return r->at > start;
}

static bool number(reader *r) {
    take(r, '-');
    if (!take(r, '0') && !digits(r)) return false;
    if (take(r, '.') && !digits(r)) return false;
    if (take(r, 'e') || take(r, 'E')) {
        if (!take(r, '+')) take(r, '-');
        return digits(r);
    }
    return true;
}

static bool hex4(reader *r) {
    for (int i = 0; i < 4; i++, r->at++)
        if (r->at == r->end || !memchr("0123456789abcdefABCDEF", *r->at, 22)) return false;
    return true;
}

/* Reads the rest of the UTF-8 sequence that begins with `first` (Unicode, table 3-7). */
static bool continued(reader *r, uint8_t first) {
    uint8_t low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80, high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (first < 0xC2 || first > 0xF4) return false;
    for (int left = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1; left > 0; left--, low = 0x80, high = 0xBF, r->at++)
        if (r->at == r->end || *r->at < low || *r->at > high) return false;
    return true;
}

static bool string(reader *r) {
    if (!take(r, '"')) return false;
    while (r->at < r->end && *r->at >= 0x20) {
        uint8_t byte = *r->at++;
        if (byte == '"') return true;
        if (byte >= 0x80 && !continued(r, byte)) return false;
        if (byte != '\\') continue;
        if (r->at == r->end) return false;
        byte = *r->at++;
        if (byte == 'u' ? !hex4(r) : !memchr("\"\\/bfnrt", byte, 8)) return false;
    }
    return false;
}

/* Reads an array or, if `named`, an object, up to and including `close`. */
static bool list(reader *r, uint8_t close, bool named, int depth) {
    r->at++;
    space(r);
    if (take(r, close)) return true;
    do {
        space(r);
        if (named) {
            if (!string(r)) return false;
            space(r);
            if (!take(r, ':')) return false;
        }
        if (!value(r, depth - 1)) return false;
        space(r);
    } while (take(r, ','));
    return take(r, close);
}

static bool value(reader *r, int depth) {
    space(r);
    if (r->at == r->end || depth == 0) return false;
    switch (*r->at) {
    case '{': return list(r, '}', true, depth);
    case '[': return list(r, ']', false, depth);
    case '"': return string(r);
    case 't': return word(r, "true");
    case 'f': return word(r, "false");
    case 'n': return word(r, "null");
    default: return number(r);
    }
}

bool json_is_valid(const uint8_t *bytes, size_t length) {
    if (!bytes) return false;
    reader r = {bytes, bytes + length};
    if (!value(&r, 512)) return false;
    space(&r);
    return r.at == r.end;
}
