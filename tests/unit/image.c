/*
 * Unit tests of libargus/image.c.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tests/unit/unit.h"

#include <errno.h>
#include <string.h>

#include "libargus/image.h"

static const uint8_t byte;

static int check(int w, int h, int format, ptrdiff_t stride, const uint8_t *data)
{
    ArgusImage im = {data, stride, w, h, format};

    ag_messages_clear();
    return ag_image_check(&im, ag_test_log());
}

/* X3: sizes by number only; no pixel is there. */
static void x3_sizes(void)
{
    CU_ASSERT(ag_image_size_ok(1, 1));
    CU_ASSERT(ag_image_size_ok(20000, 1));
    CU_ASSERT(ag_image_size_ok(1, AG_MAX_PIXELS));
    CU_ASSERT(ag_image_size_ok(13377, 13377));
    CU_ASSERT(!ag_image_size_ok(1, AG_MAX_PIXELS + 1));
    CU_ASSERT(!ag_image_size_ok(46340, 46340));
    CU_ASSERT(!ag_image_size_ok(65536, 65536)); /* 2^32: 0 in 32 bits */
    CU_ASSERT(!ag_image_size_ok(INT32_MAX, INT32_MAX));
    CU_ASSERT(!ag_image_size_ok(0, 5));
    CU_ASSERT(!ag_image_size_ok(5, -1));
}

static void checks(void)
{
    int inval = ARGUS_ERR(EINVAL);

    CU_ASSERT_EQUAL(check(1, 1, ARGUS_RGB24, 3, &byte), 0);
    CU_ASSERT_EQUAL(check(7, 5, ARGUS_RGBA, -28, &byte), 0);
    CU_ASSERT_EQUAL(check(7, 1, ARGUS_RGB24, 0, &byte), 0); /* one row needs no stride */
    CU_ASSERT_STRING_EQUAL(ag_messages(), "");
    CU_ASSERT_EQUAL(ag_image_check(NULL, ag_test_log()), inval);
    CU_ASSERT(ag_message_has("found none"));
    CU_ASSERT_EQUAL(check(1, 1, ARGUS_RGB24, 3, NULL), inval);
    CU_ASSERT(ag_message_has("found none"));
    CU_ASSERT_EQUAL(check(0, 1, ARGUS_RGB24, 3, &byte), inval);
    CU_ASSERT(ag_message_has("found 0x1"));
    CU_ASSERT_EQUAL(check(46340, 46340, ARGUS_RGB24, 3 * 46340, &byte), inval);
    CU_ASSERT(ag_message_has("178956970"));
    CU_ASSERT_EQUAL(check(7, 5, ARGUS_RGB24, 20, &byte), inval);
    CU_ASSERT(ag_message_has("at least 21 bytes, found 20"));
    CU_ASSERT_EQUAL(check(7, 5, ARGUS_GRAY8, -6, &byte), inval);
    CU_ASSERT(ag_message_has("at least 7 bytes, found -6"));
    CU_ASSERT_EQUAL(check(1, 1, 3, 4, &byte), inval);
    CU_ASSERT(ag_message_has("from 0 to 2, found 3"));
    CU_ASSERT_EQUAL(check(1, 1, -1, 4, &byte), inval);
}

static void rows(void)
{
    /* two rows of two pixels and a byte between them */
    static const uint8_t rgb[] = {1, 2, 3, 4, 5, 6, 99, 7, 8, 9, 10, 11, 12};
    static const uint8_t rgba[] = {1, 2, 3, 50, 4, 5, 6, 0, 7, 8, 9, 255, 10, 11, 12, 1};
    static const uint8_t grey[] = {1, 4, 99, 7, 10};
    static const uint8_t up[] = {7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6};
    static const uint8_t three[] = {1, 1, 1, 4, 4, 4, 7, 7, 7, 10, 10, 10};
    uint8_t out[13] = {[12] = 77};
    ArgusImage im = {rgb, 7, 2, 2, ARGUS_RGB24};

    ag_image_rgb(out, &im, 0, 2);
    CU_ASSERT(!memcmp(out, rgb, 6) && !memcmp(out + 6, rgb + 7, 6));
    ag_image_rgb(out, &im, 1, 1);
    CU_ASSERT(!memcmp(out, rgb + 7, 6));
    im.data = rgb + 7; /* bottom-up */
    im.stride = -7;
    ag_image_rgb(out, &im, 0, 2);
    CU_ASSERT(!memcmp(out, up, 12));
    im = (ArgusImage){rgba, 8, 2, 2, ARGUS_RGBA}; /* alpha is not looked at */
    ag_image_rgb(out, &im, 0, 2);
    CU_ASSERT(!memcmp(out, rgb, 6) && !memcmp(out + 6, rgb + 7, 6));
    im = (ArgusImage){grey, 3, 2, 2, ARGUS_GRAY8};
    ag_image_rgb(out, &im, 0, 2);
    CU_ASSERT(!memcmp(out, three, 12));
    CU_ASSERT_EQUAL(out[12], 77);
}

void ag_tests_image(void)
{
    static const AgTest tests[] = {
        {"X3 sizes", x3_sizes},
        {"checks", checks},
        {"rows", rows},
        {NULL, NULL},
    };
    ag_suite("image", tests);
}
