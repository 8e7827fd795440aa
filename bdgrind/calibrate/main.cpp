// SPDX-License-Identifier: GPL-2.0-or-later
//
// bd_calibrate: what the misses and instructions of this machine take, as a machine file (docs/machines.md).

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/code.h"
#include "calibrate/cores.h"
#include "calibrate/lines.h"
#include "calibrate/processor.h"
#include "calibrate/rounds.h"

namespace bd::calibrate {
namespace {

constexpr int kFailed = 2;
constexpr std::size_t kLine = 64;
constexpr std::size_t kPage = 4096;
constexpr double kClearlyLonger = 1.2;
constexpr int kRounds = 9;  // of a measurement, one after the other
constexpr std::size_t kMostMemory = std::size_t{512} << 20;

constexpr char kHelp[] =
    "usage: bd_calibrate [options]\n"
    "\n"
    "Measures the cost of cache misses and instructions on this machine, in about half a minute,\n"
    "and writes it as a machine file, for bd_annotate --machine-file=FILE.\n"
    "\n"
    "options:\n"
    "  -o FILE, --output=FILE   write the machine file there [standard output]\n"
    "  --passes=N               rounds of measurement, 1 to 100: more if the machine is busy [5]\n"
    "  -h, --help               print this and exit\n"
    "  --version                print the version and exit\n";

struct Options {
    std::string output;
    int passes = 5;
};

struct Point {
    Order order;
    std::size_t bytes;
    std::unique_ptr<Measurement> measurement;
};

const char* name_of(Order order) {
    switch (order) {
        case Order::kInOrder:
            return "in-order";
        case Order::kStride:
            return "stride";
        case Order::kColumn:
            return "column";
        case Order::kIndependent:
            return "independent";
        case Order::kNearby:
            return "nearby";
        case Order::kChain:
            return "chain";
        case Order::kWrite:
            return "write";
    }
    return "";
}

constexpr Order kOrders[] = {Order::kInOrder,     Order::kStride, Order::kColumn, Order::kWrite,
                             Order::kIndependent, Order::kNearby, Order::kChain};

// Half of L1; half of each further level, or double the one before; what fills the last one; and memory.
std::vector<std::size_t> sizes_of(const std::vector<CacheLevel>& levels, std::size_t memory) {
    std::vector<std::size_t> found{levels.front().bytes / 2};
    for (std::size_t i = 1; i < levels.size(); ++i) {
        const std::size_t before = levels[i - 1].bytes;
        const std::size_t bytes = levels[i].bytes;
        if (i > 1) found.push_back(2 * before);
        found.push_back(i + 1 == levels.size() ? bytes / 4 : bytes / 2);
        if (i + 1 == levels.size()) found.insert(found.end(), {bytes / 2, bytes});
    }
    found.push_back(memory);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

void print_spread(std::FILE* file, const Spread& spread) {
    std::fprintf(file, " %.3f %.3f %.3f\n", spread.value, spread.least, spread.median);
}

void print_figure(std::FILE* file, const char* name, const char* unit, const Spread& spread) {
    std::fprintf(file, "figure: %s %s", name, unit);
    print_spread(file, spread);
}

Spread scaled(const Spread& spread, const std::function<double(double)>& of) {
    Spread found{of(spread.value), of(spread.least), of(spread.median)};
    if (found.least > found.median) std::swap(found.least, found.median);
    return found;
}

class Calibration {
public:
    explicit Calibration(const Processor& processor)
        : processor_(processor), levels_(processor.data), buffer_(memory_size()) {
        if (levels_.empty()) {
            throw Failure("neither the kernel nor the table of processors says which caches this machine has");
        }
        line_ = levels_.front().line != 0 ? levels_.front().line : kLine;
        for (const std::size_t bytes : sizes_of(levels_, buffer_.size())) {
            for (const Order order : kOrders) points_.push_back({order, bytes, lines_in(order, buffer_, bytes, line_)});
        }
        for (const Loop loop : {Loop::kFree, Loop::kPlain, Loop::kChained}) loops_.push_back(instructions_of(loop));
        for (const bool at_random : {false, true}) branches_.push_back(branches(at_random));
        for (std::size_t pages = 32; pages <= most_pages(); pages += pages / 2) {
            walks_.push_back({pages, pages_in(buffer_, pages, false, line_), pages_in(buffer_, pages, true, line_)});
        }
        for (const int distance : distances_of_loads()) {
            windows_.push_back({distance, distant_loads(buffer_, distance, line_)});
        }
    }

    void pass() {
        for (auto& point : points_) point.measurement->measure(kRounds);
        for (auto& loop : loops_) loop->measure(kRounds);
        for (auto& branch : branches_) branch->measure(kRounds);
        for (auto& walk : walks_) {
            walk.spread_out->measure(kRounds);
            walk.packed->measure(kRounds);
        }
        for (auto& window : windows_) window.measurement->measure(kRounds);
        if (transfers_) transfers_->measure(kRounds);
    }

    void print(std::FILE* file) const {
        char day[32] = "unknown";
        const std::time_t time = std::time(nullptr);
        std::tm local{};
        if (gmtime_r(&time, &local) != nullptr) std::strftime(day, sizeof day, "%Y-%m-%d", &local);
        std::fprintf(file, "machine: 1\nname: %s\nprocessor: %s\n", short_name(processor_).c_str(),
                     processor_.name.c_str());
        if (!processor_.model.empty()) std::fprintf(file, "model: %s\n", processor_.model.c_str());
        std::fprintf(file, "measured: %s by bd_calibrate %s\n", day, PACKAGE_VERSION);
        if (!processor_.preset.empty()) {
            std::fprintf(file, "# the kernel describes no caches: those of %s\n", processor_.preset.c_str());
        }
        for (const CacheLevel& level : levels_) {
            std::fprintf(file, "cache: L%d %zu %zu %zu\n", level.level, level.bytes, level.line, level.ways);
        }
        std::fprintf(file, "# each figure, the least and the median of its rounds\n");
        print_figure(file, "instruction", "ns", loops_[1]->spread());
        print_figure(file, "instruction-free", "ns", loops_[0]->spread());
        print_figure(file, "instruction-chained", "ns", loops_[2]->spread());
        const double straight = branches_[0]->spread().value;
        print_figure(file, "misprediction", "ns", scaled(branches_[1]->spread(), [&](double round) {
                         return std::max(2 * (round - straight), 0.0);
                     }));
        print_walks(file);
        print_window(file);
        print_bandwidth(file);
        if (transfers_) print_figure(file, "transfer", "ns", transfers_->spread());
        std::fprintf(file, "# nanoseconds for a line that lies behind so many bytes of others\n");
        for (const Point& point : points_) {
            std::fprintf(file, "line: %s %zu", name_of(point.order), point.bytes);
            print_spread(file, point.measurement->spread());
        }
    }

private:
    struct Walk {
        std::size_t pages;
        std::unique_ptr<Measurement> spread_out;
        std::unique_ptr<Measurement> packed;

        double time() const { return std::max(spread_out->spread().value - packed->spread().value, 0.0); }
    };

    struct Window {
        int instructions;
        std::unique_ptr<Measurement> measurement;
    };

    // Several times the last level, if there is that much memory to spare.
    std::size_t memory_size() const {
        const std::size_t last = levels_.empty() ? 0 : levels_.back().bytes;
        const std::size_t wanted = std::clamp(8 * last, std::size_t{64} << 20, std::max(kMostMemory, 2 * last));
        const std::size_t there = available_memory();
        if (there != 0 && there / 2 < wanted) {
            throw Failure("there is not enough memory for a buffer larger than the caches");
        }
        return wanted;
    }

    // As many as half of the level behind the first has room for a line of, so that it is no misses that are measured.
    std::size_t most_pages() const {
        return std::min(levels_[std::min<std::size_t>(1, levels_.size() - 1)].bytes / 2 / line_,
                        buffer_.size() / kPage);
    }

    const Measurement& at(Order order, std::size_t bytes) const {
        for (const Point& point : points_) {
            if (point.order == order && point.bytes == bytes) return *point.measurement;
        }
        throw Failure("a measurement is missing");
    }

    // The walk of many pages, and up to how many pages less than a sixth of it is seen.
    void print_walks(std::FILE* file) const {
        if (walks_.empty()) return;
        const Walk& most = walks_.back();
        print_figure(file, "page-walk", "ns", scaled(most.spread_out->spread(), [&](double round) {
                         return std::max(round - most.packed->spread().value, 0.0);
                     }));
        std::size_t pages = walks_.front().pages;
        for (const Walk& walk : walks_) {
            if (walk.time() < most.time() / 6) pages = walk.pages;
        }
        std::fprintf(file, "figure: translations pages %zu %zu %zu\n", pages, pages, pages);
    }

    // The distance behind which two loads take so much longer than behind any other: the first load has left no room
    // for the second. No fixed ratio: how much longer depends on how many of the loads happen to hit the last cache.
    // Where none takes much longer, the window is larger than all of them.
    void print_window(std::FILE* file) const {
        int found = windows_.back().instructions;
        double most = kClearlyLonger;
        for (std::size_t i = 0; i + 1 < windows_.size(); ++i) {
            const double here = windows_[i].measurement->spread().value;
            const double next = windows_[i + 1].measurement->spread().value;
            if (next > most * here) {
                most = next / here;
                found = windows_[i].instructions;
            }
        }
        std::fprintf(file, "figure: window instructions %d %d %d\n", found, found, found);
    }

    void print_bandwidth(std::FILE* file) const {
        for (const auto& [name, order] : {std::pair{"read", Order::kInOrder}, std::pair{"write", Order::kWrite}}) {
            const Spread spread = at(order, buffer_.size()).spread();
            print_figure(file, (std::string(name) + "-bandwidth").c_str(), "GB/s",
                         scaled(spread, [&](double round) { return static_cast<double>(line_) / round; }));
        }
    }

    const Processor& processor_;
    const std::vector<CacheLevel>& levels_;
    Buffer buffer_;
    std::size_t line_ = kLine;
    std::vector<Point> points_;
    std::vector<std::unique_ptr<Measurement>> loops_;
    std::vector<std::unique_ptr<Measurement>> branches_;
    std::vector<Walk> walks_;
    std::vector<Window> windows_;
    std::unique_ptr<Measurement> transfers_ = transfers();  // null: there is only one core
};

// Throws Failure for what is not understood.
Options parsed(const std::vector<std::string_view>& words) {
    Options options;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i];
        if (word == "-o" && i + 1 < words.size()) {
            options.output = words[++i];
        } else if (word.starts_with("--output=") && word.size() > 9) {
            options.output = word.substr(9);
        } else if (word.starts_with("--passes=")) {
            const std::string number(word.substr(9));
            const bool is_number =
                !number.empty() && number.size() <= 3 && number.find_first_not_of("0123456789") == std::string::npos;
            options.passes = is_number ? std::stoi(number) : 0;
            if (options.passes < 1 || options.passes > 100) throw Failure("--passes must be a number from 1 to 100");
        } else {
            throw Failure(std::string(word) + " is not an option (see --help)");
        }
    }
    return options;
}

// Whether it can be written is to be known before all is measured; what is there stays until then.
void check_writable(const std::string& path) {
    if (path.empty()) return;
    std::FILE* const file = std::fopen(path.c_str(), "a");
    if (file == nullptr) throw Failure(path + " cannot be written: " + std::strerror(errno));
    std::fclose(file);
}

void write(const Calibration& calibration, const std::string& path) {
    if (path.empty()) {
        calibration.print(stdout);
        if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) throw Failure("standard output cannot be written");
        return;
    }
    std::FILE* const file = std::fopen(path.c_str(), "w");
    if (file == nullptr) throw Failure(path + " cannot be written: " + std::strerror(errno));
    calibration.print(file);
    const bool failed = std::ferror(file) != 0;
    if (std::fclose(file) != 0 || failed) throw Failure(path + " cannot be written: " + std::strerror(errno));
}

int run(const std::vector<std::string_view>& words) {
    for (const std::string_view word : words) {
        if (word == "-h" || word == "--help") return std::fputs(kHelp, stdout) < 0 ? kFailed : 0;
        if (word == "--version") return std::printf("bd_calibrate %s\n", PACKAGE_VERSION) < 0 ? kFailed : 0;
    }
    const Options options = parsed(words);
    check_clock();
    check_writable(options.output);
    const Processor processor = this_processor();
    Calibration calibration(processor);
    for (int pass = 0; pass < options.passes; ++pass) calibration.pass();
    write(calibration, options.output);
    return 0;
}

}  // namespace
}  // namespace bd::calibrate

int main(int argc, char** argv) {
    try {
        return bd::calibrate::run({argv + 1, argv + argc});
    } catch (const std::bad_alloc&) {
        std::fputs("bd_calibrate: there is not enough memory\n", stderr);
    } catch (const bd::calibrate::Failure& failure) {
        std::fprintf(stderr, "bd_calibrate: %s\n", failure.what());
    }
    return bd::calibrate::kFailed;
}
