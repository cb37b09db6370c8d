/*
 * SHA-256 as FIPS 180-4 defines it, plain C.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/base/sha256.h"

#include <string.h>

/* First 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotr(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static void hash_block(uint32_t state[8], const unsigned char *p)
{
    uint32_t w[64], v[8];

    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 |
               (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (rotr(a, 7) ^ rotr(a, 18) ^ a >> 3) + w[i - 7] +
               (rotr(b, 17) ^ rotr(b, 19) ^ b >> 10);
    }
    memcpy(v, state, sizeof(v));
    for (int i = 0; i < 64; i++) {
        uint32_t e = v[4], a = v[0];
        uint32_t t1 = v[7] + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & v[5]) ^ (~e & v[6])) +
                      round_k[i] + w[i];
        uint32_t t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) +
                      ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof(*v));
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        state[i] += v[i];
}

void ag_sha256_init(AgSha256 *s)
{
    *s = (AgSha256){.h = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
                          0x1f83d9ab, 0x5be0cd19}};
}

void ag_sha256_add(AgSha256 *s, const void *data, size_t n)
{
    const unsigned char *p = data;
    size_t have = s->n_byte % 64;

    s->n_byte += n;
    while (n) {
        if (!have && n >= 64) {
            hash_block(s->h, p);
            p += 64;
            n -= 64;
            continue;
        }
        size_t take = AG_MIN(n, 64 - have);
        memcpy(s->block + have, p, take);
        p += take;
        n -= take;
        have += take;
        if (have == 64) {
            hash_block(s->h, s->block);
            have = 0;
        }
    }
}

void ag_sha256_hex(AgSha256 *s, char out[65])
{
    static const char digit[] = "0123456789abcdef";
    static const unsigned char pad[64] = {0x80};
    uint64_t n_bit = s->n_byte * 8;
    unsigned char length[8];

    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)(n_bit >> (56 - 8 * i));
    ag_sha256_add(s, pad, 1 + (119 - s->n_byte % 64) % 64);
    ag_sha256_add(s, length, 8);
    for (int i = 0; i < 64; i++)
        out[i] = digit[s->h[i / 8] >> (28 - i % 8 * 4) & 15];
    out[64] = 0;
}
