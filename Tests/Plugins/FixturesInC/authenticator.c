/* An authenticator: signs the head and the body's digest of each request with HMAC (RFC 2104) and SHA-256 (FIPS 180-4).
 * The key is the value `key` of the credential. */
#include "../fixture.h"

#include <stdbool.h>

enum { DIGESTS, PREPARE, ANSWER };
static const bp_method methods[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("digests")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("prepare")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("answer")},
};

/* SHA-256 of a short text in memory. */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
    0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
    0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
    0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2,
};

static uint32_t rotated(uint32_t word, unsigned count) { return word >> count | word << (32 - count); }

static void compress(uint32_t state[8], const uint8_t block[64]) {
    uint32_t words[64], s[8];
    for (size_t i = 0; i < 16; i++)
        words[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8
                 | block[4 * i + 3];
    for (size_t i = 16; i < 64; i++) {
        const uint32_t a = words[i - 15], b = words[i - 2];
        words[i] = words[i - 16] + (rotated(a, 7) ^ rotated(a, 18) ^ a >> 3) + words[i - 7]
                 + (rotated(b, 17) ^ rotated(b, 19) ^ b >> 10);
    }
    memcpy(s, state, sizeof s);
    for (size_t i = 0; i < 64; i++) {
        const uint32_t first = s[7] + (rotated(s[4], 6) ^ rotated(s[4], 11) ^ rotated(s[4], 25))
                             + ((s[4] & s[5]) ^ (~s[4] & s[6])) + round_constants[i] + words[i];
        const uint32_t second = (rotated(s[0], 2) ^ rotated(s[0], 13) ^ rotated(s[0], 22))
                              + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += first;
        s[0] = first + second;
    }
    for (size_t i = 0; i < 8; i++) state[i] += s[i];
}

typedef struct { uint8_t bytes[32]; } digest;

static digest sha256(const uint8_t *bytes, size_t length) {
    uint32_t state[8] = {
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const size_t blocks = (length + 8) / 64 + 1;
    digest result;
    for (size_t b = 0; b < blocks; b++) {
        uint8_t block[64] = {0};
        for (size_t i = 0; i < 64; i++) {
            const size_t at = 64 * b + i;
            if (at < length) block[i] = bytes[at];
            if (at == length) block[i] = 0x80;
        }
        if (b == blocks - 1)
            for (size_t i = 0; i < 8; i++) block[56 + i] = (uint8_t)((uint64_t)length * 8 >> (56 - 8 * i));
        compress(state, block);
    }
    for (size_t i = 0; i < 32; i++) result.bytes[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
    return result;
}

static digest hmac(const char *key, const char *message) {
    uint8_t inner[64 + 4096], outer[64 + 32];
    const size_t length = strlen(message);
    digest own;
    memset(inner, 0, 64);
    memcpy(inner, key, strlen(key));        /* the key has at most 64 bytes */
    memcpy(outer, inner, 64);
    for (size_t i = 0; i < 64; i++) inner[i] ^= 0x36, outer[i] ^= 0x5c;
    memcpy(inner + 64, message, length);
    own = sha256(inner, 64 + length);
    memcpy(outer + 64, own.bytes, sizeof own.bytes);
    return sha256(outer, sizeof outer);
}

/* Copies the first string member with a name, with the escapes that the host writes in URLs and keys. */
static bool member(bp_bytes json, const char *name, char *value, size_t size) {
    char key[64];
    const int length = snprintf(key, sizeof key, "\"%s\":\"", name);
    for (size_t i = 0; i + (size_t)length <= json.length; i++) {
        size_t count = 0;
        if (memcmp(json.data + i, key, (size_t)length) != 0) continue;
        for (i += (size_t)length; i < json.length && json.data[i] != '"' && count + 1 < size; i++) {
            if (json.data[i] == '\\' && ++i == json.length) return false;
            value[count++] = (char)json.data[i];
        }
        value[count] = 0;
        return true;
    }
    return false;
}

static void serve(
    void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    char verb[32], url[2048], body[65], key[65], message[4096], answer[256], *end = answer;
    switch (method) {
    case DIGESTS: done(context, BP_OK, text("true")); return;
    case ANSWER: done(context, BP_OK, text("[]")); return;     /* a refused signature would be refused again */
    }
    if (!member(input, "method", verb, sizeof verb) || !member(input, "url", url, sizeof url)
        || !member(input, "digest", body, sizeof body) || !member(input, "key", key, sizeof key)) {
        done(context, BP_ERROR,
            text("{\"code\": \"seal.keyless\", \"message\": \"the credential has no value `key`\"}"));
        return;
    }
    snprintf(message, sizeof message, "%s\n%s\n%s", verb, url, body);
    const digest signature = hmac(key, message);
    end += sprintf(end, "[[\"Authorization\", \"HMAC ");
    for (size_t i = 0; i < sizeof signature.bytes; i++) end += sprintf(end, "%02x", signature.bytes[i]);
    sprintf(end, "\"]]");
    done(context, BP_OK, text(answer));
}

const bp_component authenticator[] = {
    {CLASS(BP_MANAGER, "AuthenticatorInC", "Authenticating"), .methods = methods, .method_count = 3,
     .create = create_handles, .release = free, .call = serve},
    {0},
};
