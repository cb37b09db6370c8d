/*
 * argus-tiny as read-only data, found through -Wa,-I. The table that names these
 * is in source.c.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
    .section .rodata

#define FILE(sym, file)                     \
    .globl ag_tiny_##sym;                   \
    .hidden ag_tiny_##sym;                  \
    .balign 64;                             \
ag_tiny_##sym:                              \
    .incbin file;                           \
    .globl ag_tiny_##sym##_end;             \
    .hidden ag_tiny_##sym##_end;            \
ag_tiny_##sym##_end:                        \
    .byte 0;

FILE(config, "config.json")
FILE(generation, "generation_config.json")
FILE(preprocessor, "preprocessor_config.json")
FILE(tokenizer, "tokenizer.json")
FILE(weights, "model.safetensors")

    .section .note.GNU-stack, "", %progbits
