#define OPENSSL_SUPPRESS_DEPRECATED

#include "digest.h"

#include <openssl/sha.h>

_Static_assert(sizeof(SHA256_CTX) <= sizeof(struct digest_sha256), "OpenSSL's state fits");

void digest_sha256_init(struct digest_sha256 *hash) { SHA256_Init((SHA256_CTX *)hash); }

void digest_sha256_update(struct digest_sha256 *hash, const void *bytes, size_t count) {
    SHA256_Update((SHA256_CTX *)hash, bytes, count);
}

void digest_sha256_final(struct digest_sha256 *hash, uint8_t digest[32]) {
    SHA256_Final(digest, (SHA256_CTX *)hash);
}
