// SPDX-License-Identifier: GPL-2.0-or-later
//
// Runs the unit tests of the mutated engine. In place of unit/main.cpp.
//
//   BD_MUTANT=N     with that mutant; ends with the first failure
//   BD_SEEN=FILE    without any; writes a line for each test: its name, its time in microseconds, and the mutants that
//                   it could notice: numbers, with 'r' if the mutant was reached only, 'x' if there is none

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "mutate.h"

namespace bd::mutation {

constinit unsigned active = 0;
constinit unsigned char* seen = nullptr;

namespace {

constexpr std::size_t kMostMutants = 1u << 16;

class Recorder final : public testing::EmptyTestEventListener {
public:
    explicit Recorder(const char* path) : file_(std::fopen(path, "w")) {
        if (file_ == nullptr) {
            std::perror(path);
            std::exit(2);
        }
        // Shared with the processes that death tests fork.
        seen = static_cast<unsigned char*>(
            mmap(nullptr, kMostMutants, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    }
    ~Recorder() override { std::fclose(file_); }
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

private:
    void OnTestStart(const testing::TestInfo&) override { std::memset(seen, 0, kMostMutants); }
    void OnTestEnd(const testing::TestInfo& test) override {
        const long long time = test.result()->elapsed_time();
        std::fprintf(file_, "%s.%s %lld", test.test_suite_name(), test.name(), time * 1000);
        for (std::size_t id = 1; id < kMostMutants; ++id) {
            if (seen[id] == 0) continue;
            const char* const how = (seen[id] & kChanged) != 0 ? "" : (seen[id] & kImpossible) != 0 ? "x" : "r";
            std::fprintf(file_, " %zu%s", id, how);
        }
        std::fputc('\n', file_);
    }

    std::FILE* file_;
};

class FirstFailureEnds final : public testing::EmptyTestEventListener {
    void OnTestStart(const testing::TestInfo& test) override { test_ = &test; }
    void OnTestPartResult(const testing::TestPartResult& result) override {
        if (!result.failed()) return;
        // (GoogleTest holds a lock here, and may not be asked for the test.)
        if (test_ != nullptr) std::printf("%s.%s\n", test_->test_suite_name(), test_->name());
        std::fflush(stdout);
        _exit(1);
    }

    const testing::TestInfo* test_ = nullptr;
};

}  // namespace
}  // namespace bd::mutation

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    if (const char* const path = std::getenv("BD_SEEN")) {
        listeners.Append(new bd::mutation::Recorder(path));
    } else {
        listeners.Append(new bd::mutation::FirstFailureEnds);
        if (const char* const id = std::getenv("BD_MUTANT")) {
            bd::mutation::active = static_cast<unsigned>(std::strtoul(id, nullptr, 10));
        }
    }
    return RUN_ALL_TESTS();
}
