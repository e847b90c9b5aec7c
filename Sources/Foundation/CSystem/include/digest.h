// SHA-256 of OpenSSL's libcrypto, whose functions for a state in the caller's memory are marked as
// old and so are not imported into Swift without a warning.

#pragma once

#include <stddef.h>
#include <stdint.h>

/// The state of a hash; a copy of it goes on by itself.
struct digest_sha256 {
    uint32_t state[28];
};

void digest_sha256_init(struct digest_sha256 *hash);

void digest_sha256_update(struct digest_sha256 *hash, const void *bytes, size_t count);

/// Writes the 32 bytes of the hash.
void digest_sha256_final(struct digest_sha256 *hash, uint8_t digest[32]);
