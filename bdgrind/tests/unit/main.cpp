// SPDX-License-Identifier: GPL-2.0-or-later
//
// Runs the unit tests: prints what fails, and one closing line.

#include <malloc.h>

#include <cstdio>
#include <string_view>

#include <gtest/gtest.h>

namespace {

// Thousands of engines are made and thrown away. What they take by malloc stays with the process, as a page that the
// kernel has to supply again takes 10 us on some virtual machines, where that was a tenth of the time of the oracle's
// tests.
void keep_freed_memory() {
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
}

}  // namespace

int main(int argc, char** argv) {
    keep_freed_memory();
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
