// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/base/geometry.h"

#include <gtest/gtest.h>

namespace bd {
namespace {

TEST(Geometry, SetsLinesAndLineBitsFollowFromTheSizes) {
    const CacheGeometry d1{.size_bytes = 32768, .ways = 8, .line_bytes = 64};
    EXPECT_EQ(d1.sets(), 64u);
    EXPECT_EQ(d1.lines(), 512u);
    EXPECT_EQ(d1.line_bits(), 6u);
}

TEST(Geometry, AnyNumberOfSetsIsLegal) {
    EXPECT_EQ(geometry_error({36 << 20, 12, 64}), nullptr);  // 49152 sets
    EXPECT_EQ(geometry_error({3 * 5 * 16, 5, 16}), nullptr);
    EXPECT_EQ(geometry_error({256, 1, 256}), nullptr);  // a single line
    EXPECT_EQ(geometry_error({64 * 65535, 65535, 64}), nullptr);
    EXPECT_EQ(geometry_error({std::uint64_t{1} << 37, 16, 64}), nullptr);  // 2^31 lines
}

TEST(Geometry, ErrorsNameTheLimitThatIsBroken) {
    EXPECT_STREQ(geometry_error({4096, 4, 8}), "the line size must be 16, 32, 64, 128 or 256 bytes");
    EXPECT_STREQ(geometry_error({4096, 4, 512}), "the line size must be 16, 32, 64, 128 or 256 bytes");
    EXPECT_STREQ(geometry_error({4800, 4, 60}), "the line size must be 16, 32, 64, 128 or 256 bytes");
    EXPECT_STREQ(geometry_error({4096, 0, 64}), "a cache needs at least 1 way");
    EXPECT_STREQ(geometry_error({64 * 65536, 65536, 64}), "a cache can have at most 65535 ways");
    EXPECT_STREQ(geometry_error({0, 1, 64}), "the size must not be 0");
    EXPECT_STREQ(geometry_error({48000, 7, 64}), "the size must be a multiple of ways times line size");
    EXPECT_STREQ(geometry_error({32, 1, 64}), "the size must be a multiple of ways times line size");
    EXPECT_STREQ(geometry_error({std::uint64_t{1} << 38, 16, 64}),
                 "a cache can have at most 2147483648 lines");
}

TEST(Geometry, ParsesThreeNumbers) {
    CacheGeometry geometry{};
    EXPECT_EQ(parse_geometry("49152,12,64", &geometry), nullptr);
    EXPECT_EQ(geometry, (CacheGeometry{49152, 12, 64}));
    // More than 32 bits of size.
    EXPECT_EQ(parse_geometry("8589934592,16,128", &geometry), nullptr);
    EXPECT_EQ(geometry, (CacheGeometry{std::uint64_t{1} << 33, 16, 128}));
    // A form that is right says nothing about the numbers.
    EXPECT_EQ(parse_geometry("48000,7,60", &geometry), nullptr);
    EXPECT_NE(geometry_error(geometry), nullptr);
}

TEST(Geometry, RefusesAnythingElse) {
    for (const char* text : {"",
                             ",",
                             "32768",
                             "32768,8",
                             "32768,8,",
                             "32768,,64",
                             ",8,64",
                             "32768,8,64,",
                             "32768,8,64 ",
                             " 32768,8,64",
                             "32768, 8,64",
                             "32K,8,64",
                             "-32768,8,64",
                             "+32768,8,64",
                             "32768,8,-64",
                             "0x8000,8,64",
                             "32768;8;64",
                             "32768,8,64x",
                             "18446744073709551616,8,64",
                             "32768,4294967296,64",
                             "32768,8,4294967360"}) {
        CacheGeometry geometry{};
        EXPECT_STREQ(parse_geometry(text, &geometry),
                     "it must be three numbers, <size>,<ways>,<line size>, in bytes")
            << '"' << text << '"';
    }
}

TEST(Geometry, ReadsTlbsOfBothLevelsForBothSizesOfPages) {
    TlbGeometries tlbs;
    EXPECT_FALSE(tlbs.any());
    EXPECT_EQ(parse_tlbs("64,4,1536,12", &tlbs), nullptr);
    EXPECT_TRUE(tlbs.any());
    EXPECT_EQ(tlbs.base, (PageTlbs{12, {64, 4}, {64, 4}, {1536, 12}}));
    EXPECT_EQ(tlbs.huge, (PageTlbs{21, {64, 4}, {64, 4}, {1536, 12}}));
    EXPECT_FALSE(tlbs.base.has_i2());
    EXPECT_EQ(parse_tlbs("1,1,65534,65534", &tlbs), nullptr);
    EXPECT_EQ(tlbs.base.d2.sets(), 1u);
}

TEST(Geometry, RefusesTlbsThatCannotBe) {
    TlbGeometries tlbs;
    for (const char* text : {"", "64", "64,4", "64,4,1536", "64,4,1536,", "64,4,1536,12,", "64,4,1536,12 "}) {
        EXPECT_STREQ(parse_tlbs(text, &tlbs),
                     "it must be four numbers, <entries>,<ways> of the first level and of the second")
            << '"' << text << '"';
    }
    for (const char* text : {"0,4,1536,12", "64,0,1536,12", "64,4,0,0"}) {
        EXPECT_STREQ(parse_tlbs(text, &tlbs), "a TLB needs at least 1 entry and 1 way") << text;
    }
    EXPECT_STREQ(parse_tlbs("64,4,65536,4", &tlbs), "a TLB can have at most 65534 entries");
    for (const char* text : {"64,5,1536,12", "64,4,1536,7", "4,8,1536,12"}) {
        EXPECT_STREQ(parse_tlbs(text, &tlbs), "the entries of a TLB must be a multiple of its ways") << text;
    }
    EXPECT_FALSE(tlbs.any());
}

}  // namespace
}  // namespace bd
