// SPDX-License-Identifier: GPL-2.0-or-later
//
// Runs the unit tests: prints what fails, and one closing line.

#include <cstdio>
#include <string_view>

#include <gtest/gtest.h>

int main(int argc, char** argv) {
    GTEST_FLAG_SET(brief, true);
    testing::InitGoogleTest(&argc, argv);
    const int status = RUN_ALL_TESTS();
    const auto& run = *testing::UnitTest::GetInstance();
    std::string_view name = argv[0];
    name.remove_prefix(name.rfind('/') + 1);
    std::printf("%s: %d passed, %d failed, %d skipped\n", name.data(), run.successful_test_count(),
                run.failed_test_count(), run.skipped_test_count());
    return status;
}
