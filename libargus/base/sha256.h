/*
 * SHA-256 (FIPS 180-4), for fingerprints and for the checksums of downloads.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_BASE_SHA256_H
#define AG_BASE_SHA256_H

#include "libargus/base/common.h"

typedef struct AgSha256 {
    uint32_t h[8];
    uint64_t n_byte;         /* taken in so far */
    unsigned char block[64]; /* the part of n_byte that is not hashed yet */
} AgSha256;

void ag_sha256_init(AgSha256 *s);
void ag_sha256_add(AgSha256 *s, const void *data, size_t n);
/* 64 hexadecimal digits and a 0. The object needs init before it is used again. */
void ag_sha256_hex(AgSha256 *s, char out[65]);

#endif /* AG_BASE_SHA256_H */
