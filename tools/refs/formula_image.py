# Test pictures made by integer arithmetic, so that no picture file is needed.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
"""The C twin is tests/gen/formula.c; FORMULA is copied into every file of references."""
import hashlib

import numpy as np

FORMULA = """\
All arithmetic is on uint32 with wrap-around; / is integer division.
tri(v)  = m = v & 511; m < 256 ? m : 511 - m
hash(v) = v ^= v >> 15; v *= 0x2C1B3C6D; v ^= v >> 12; v *= 0x297A2D39; v ^= v >> 15
value(x, y, c, s, t) for column x, row y, channel c (0 R, 1 G, 2 B), scene s, time t:
  a = tri(x*(1+c) + y*(2+((s+c)&3)) + 61*s + 9*t)
  b = tri((x*x + y*y*(1+(s+c)%3)) / (64+16*c) + 29*c + 97*s)
  n = hash((x/8)*0x9E3779B1 ^ (y/8)*0x85EBCA77 ^ c*0xC2B2AE3D ^ s*0x27D4EB2F) & 255
  value = (3*a + 3*b + 2*n) / 8
  and value = 255 - value when (x/32 + 2*t) % 7 == s % 7 and (y/32) % 3 != 1
"""


def formula_image(width, height, scene, time=0):
    """uint8 array [height, width, 3]."""
    u = np.uint32
    x = np.arange(width, dtype=u)[None, :, None]
    y = np.arange(height, dtype=u)[:, None, None]
    c = np.arange(3, dtype=u)[None, None, :]
    s, t = u(scene), u(time)

    def tri(v):
        m = v & u(511)
        return np.where(m < 256, m, u(511) - m)

    a = tri(x * (1 + c) + y * (2 + ((s + c) & u(3))) + u(61 * scene + 9 * time))
    b = tri((x * x + y * y * (1 + (s + c) % u(3))) // (64 + 16 * c) + 29 * c + u(97 * scene))
    v = ((x // u(8)) * u(0x9E3779B1) ^ (y // u(8)) * u(0x85EBCA77) ^ c * u(0xC2B2AE3D)
         ^ u(scene * 0x27D4EB2F & 0xFFFFFFFF))
    v = (v ^ (v >> u(15))) * u(0x2C1B3C6D)
    v = (v ^ (v >> u(12))) * u(0x297A2D39)
    n = (v ^ (v >> u(15))) & u(255)
    value = (3 * a + 3 * b + 2 * n) // 8
    flip = ((x // u(32) + 2 * t) % u(7) == s % u(7)) & ((y // u(32)) % u(3) != 1)
    return np.where(flip, 255 - value, value).astype(np.uint8)


def sha256(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
