// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/cache/byte_mask.h"

#include <gtest/gtest.h>

namespace bd {
namespace {

template <class Mask>
class ByteMaskTest : public testing::Test {
public:
    static constexpr unsigned kBytes = Mask::kBytes;
};

template <unsigned kWords>
struct MaskOf {
    using Mask = ByteMask<kWords>;
    static constexpr unsigned kBytes = 64 * kWords;
};
using Sizes = testing::Types<MaskOf<1>, MaskOf<2>, MaskOf<4>>;
TYPED_TEST_SUITE(ByteMaskTest, Sizes);

TYPED_TEST(ByteMaskTest, ANewMaskIsEmpty) {
    const typename TypeParam::Mask mask;
    EXPECT_TRUE(mask.empty());
    EXPECT_EQ(mask.count(), 0u);
}

TYPED_TEST(ByteMaskTest, EveryRangeHasItsBytesAndNoOthers) {
    for (unsigned first = 0; first < TypeParam::kBytes; ++first) {
        for (unsigned size = 1; first + size <= TypeParam::kBytes; ++size) {
            const auto mask = TypeParam::Mask::range(first, size);
            for (unsigned byte = 0; byte < TypeParam::kBytes; ++byte) {
                ASSERT_EQ(mask.test(byte), byte >= first && byte < first + size)
                    << "first " << first << " size " << size << " byte " << byte;
            }
            ASSERT_EQ(mask.count(), size) << "first " << first << " size " << size;
            ASSERT_FALSE(mask.empty());
        }
    }
}

TYPED_TEST(ByteMaskTest, BytesTouchedTwiceCountOnce) {
    auto mask = TypeParam::Mask::range(3, 5);  // 3 4 5 6 7
    mask |= TypeParam::Mask::range(6, 4);      //       6 7 8 9
    EXPECT_EQ(mask, TypeParam::Mask::range(3, 7));
    EXPECT_EQ(mask.count(), 7u);
}

TYPED_TEST(ByteMaskTest, AndKeepsWhatBothHave) {
    const auto both = TypeParam::Mask::range(3, 5) & TypeParam::Mask::range(6, 4);
    EXPECT_EQ(both, TypeParam::Mask::range(6, 2));
    EXPECT_TRUE((TypeParam::Mask::range(0, 3) & TypeParam::Mask::range(3, 3)).empty());
}

TYPED_TEST(ByteMaskTest, MovingDropsWhatLeavesTheMask) {
    const auto limit = static_cast<int>(TypeParam::kBytes);
    auto mask = TypeParam::Mask::range(0, 1);
    mask |= TypeParam::Mask::range(10, 7);
    mask |= TypeParam::Mask::range(TypeParam::kBytes - 1, 1);
    for (int bytes = -limit - 1; bytes <= limit + 1; ++bytes) {
        const auto moved = mask.moved(bytes);
        for (int byte = 0; byte < limit; ++byte) {
            const int from = byte - bytes;
            const bool expected = from >= 0 && from < limit && mask.test(static_cast<unsigned>(from));
            ASSERT_EQ(moved.test(static_cast<unsigned>(byte)), expected)
                << "byte " << byte << " moved by " << bytes;
        }
    }
}

TYPED_TEST(ByteMaskTest, BitsStandForTheBytesFromAPointOn) {
    for (unsigned first = 0; first < TypeParam::kBytes; ++first) {
        for (unsigned size = 1; size <= 64 && first + size <= TypeParam::kBytes; ++size) {
            const auto mask = TypeParam::Mask::of(~std::uint64_t{0} >> (64 - size), first, size);
            ASSERT_EQ(mask, TypeParam::Mask::range(first, size)) << "first " << first << " size " << size;
        }
    }
}

}  // namespace
}  // namespace bd
