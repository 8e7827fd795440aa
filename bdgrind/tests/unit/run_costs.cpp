// SPDX-License-Identifier: GPL-2.0-or-later

#include "run_costs.h"

#include <cstddef>
#include <ostream>
#include <sstream>
#include <tuple>

namespace bd::test {
namespace {

std::ostream& operator<<(std::ostream& out, const ContextKey& context) {
    out << context.function;
    if (context.level > 1) out << '\'' << context.level;
    for (const unsigned caller : context.callers) out << '\'' << caller;
    return out;
}

void print(std::ostream& out, const InstructionKey& key) {
    out << "self cost of block " << key.block << " instruction " << key.instruction << " in context "
        << key.context;
}

void print(std::ostream& out, const char* what) {
    out << what;
}

void print(std::ostream& out, const ArcKey& key) {
    out << "arc from block " << key.block << " exit " << key.exit << " in context " << key.context
        << " to block " << key.callee_block << " in context " << key.callee_context;
}

void print(std::ostream& out, const JumpKey& key) {
    out << "jump from block " << key.block << " exit " << key.exit << " in context " << key.context << " to block "
        << key.target_block;
}

void print(std::ostream& out, const ObjectKey& key) {
    out << key.group << ", ";
    print(out, key.instruction);
}

void print(std::ostream& out, const DistanceKey& key) {
    out << "distances of bucket " << key.bucket << ", ";
    print(out, key.instruction);
}

void print(std::ostream& out, const ObjectDistanceKey& key) {
    out << "distances of bucket " << key.bucket << ", " << key.group;
}

void print(std::ostream& out, const InclusiveDistanceKey& key) {
    out << "distances of bucket " << key.bucket << ", context " << key.function;
    if (key.callee) out << " in calls of " << *key.callee;
}

void print(std::ostream& out, const PatternKey& key) {
    out << "pattern of " << key.group << " at " << key.offset << ' ' << key.used << ", ";
    print(out, key.loaded_by);
}

void print(std::ostream& out, const PathKey& key) {
    out << "path of " << (key.is_handler ? "a handler of " + std::to_string(key.signal) + " in " : "") << "thread "
        << key.thread;
    for (const PathStep& step : key.steps) {
        out << ", " << step.context;
        if (step.site != 0) out << " from " << step.site;
    }
}

void print(std::ostream& out, const std::optional<InstructionKey>& key) {
    if (key) {
        out << "block " << key->block << " instruction " << key->instruction << " in context " << key->context;
    } else {
        out << "none";
    }
}

void print(std::ostream& out, const ReuseKey& key) {
    out << key.cause << " by ";
    print(out, std::optional(key.missed));
    out << " after ";
    print(out, key.loaded_by);
    out << " and ";
    print(out, key.evicted_by);
    if (!key.scope) return;
    out << ", carried by context " << key.scope->context;
    if (key.scope->loop) out << " loop at " << *key.scope->loop;
}

constexpr int kMostLines = 12;

void print(std::ostream& out, std::size_t core) {
    out << "core " << core;
}

class Differences {
public:
    explicit Differences(const EventSet& events) : events_(events) {}

    template <class Key>
    void compare(const Key& key, const Counts& expected, const Counts& actual) {
        for (std::size_t i = 0; i < events_.width(); ++i) {
            if (!events_.has(static_cast<Event>(i))) continue;
            if (expected[i] != actual[i]) report(key, kEvents[i].name, expected[i], actual[i]);
        }
    }
    template <class Key>
    void report(const Key& key, const char* what, std::uint64_t expected, std::uint64_t actual) {
        if (++count_ > kMostLines) return;
        print(text_, key);
        text_ << ": " << what << " expected " << expected << ", is " << actual << '\n';
    }
    std::string text() const {
        if (count_ <= kMostLines) return text_.str();
        return text_.str() + "... " + std::to_string(count_) + " differences\n";
    }

private:
    const EventSet& events_;
    std::ostringstream text_;
    int count_ = 0;
};

// Calls compare(key, expected, actual) for what is in either map.
template <class Map, class Compare>
void for_each_pair(const Map& expected, const Map& actual, Compare compare) {
    const typename Map::mapped_type none{};
    for (const auto& [key, value] : expected) {
        const auto found = actual.find(key);
        compare(key, value, found == actual.end() ? none : found->second);
    }
    for (const auto& [key, value] : actual) {
        if (!expected.contains(key)) compare(key, none, value);
    }
}

// What is expected of blocks that are looked at in part, where `actual` tells which part: of each page of blocks of one
// size and group all or nothing, and all of the first page.
void compare_large(const RunCosts& expected, const RunCosts& actual, std::map<PatternKey, std::uint64_t>& patterns,
                   Differences& result) {
    constexpr std::uint64_t kPage = 4096;
    std::map<std::tuple<std::uint64_t, std::string, std::uint64_t>, bool> pages;  // whether they are looked at
    for (const auto& [what, lines] : expected.large_patterns) {
        const auto& [size, key] = what;
        const auto found = actual.patterns.find(key);
        const std::uint64_t counted = found == actual.patterns.end() ? 0 : found->second;
        const bool is_looked_at = counted == patterns[key] + lines;
        const std::uint64_t page = key.offset / kPage;
        const bool is_expected = pages.try_emplace({size, key.group, page}, page == 0 || is_looked_at).first->second;
        if (is_looked_at != is_expected) {
            result.report(key, "all or nothing of its page, lines", is_expected ? lines : 0, counted);
        }
        if (is_expected) {
            patterns[key] += lines;
        } else {
            patterns[{key.group, key.loaded_by, 0, ""}] += lines;
        }
    }
    std::erase_if(patterns, [](const auto& pattern) { return pattern.second == 0; });
}

}  // namespace

std::string differences(const RunCosts& expected, const RunCosts& actual, const EventSet& events, bool with_jumps,
                        bool with_patterns) {
    Differences result(events);
    result.compare("totals", expected.totals, actual.totals);
    for_each_pair(expected.cores, actual.cores,
                  [&](std::size_t core, const Counts& a, const Counts& b) { result.compare(core, a, b); });
    for_each_pair(expected.shares, actual.shares, [&](std::size_t core, const ShareCounts& a, const ShareCounts& b) {
        if (a.puts != b.puts) result.report(core, "lines put into LL", a.puts, b.puts);
        if (a.held != b.held) result.report(core, "lines in LL", a.held, b.held);
    });
    for_each_pair(expected.lost, actual.lost, [&](const auto& cores, const LostCounts& a, const LostCounts& b) {
        if (a.lines != b.lines) result.report(cores.first * 100 + cores.second, "evicted", a.lines, b.lines);
        if (a.again != b.again) result.report(cores.first * 100 + cores.second, "again", a.again, b.again);
    });
    for_each_pair(
        expected.self, actual.self,
        [&](const InstructionKey& key, const Counts& a, const Counts& b) { result.compare(key, a, b); });
    for_each_pair(expected.arcs, actual.arcs, [&](const ArcKey& key, const ArcCounts& a, const ArcCounts& b) {
        if (a.calls != b.calls) result.report(key, "calls", a.calls, b.calls);
        result.compare(key, a.inclusive, b.inclusive);
    });
    for_each_pair(expected.paths, actual.paths, [&](const PathKey& key, const PathCounts& a, const PathCounts& b) {
        if (a.calls != b.calls) result.report(key, "calls", a.calls, b.calls);
        result.compare(key, a.self, b.self);
    });
    for_each_pair(expected.objects, actual.objects,
                  [&](const ObjectKey& key, const Counts& a, const Counts& b) { result.compare(key, a, b); });
    const auto compare_distances = [&](const auto& key, const DistanceCounts& a, const DistanceCounts& b) {
        if (a.misses != b.misses) result.report(key, "misses", a.misses, b.misses);
        if (a.last_misses != b.last_misses) result.report(key, "LL misses", a.last_misses, b.last_misses);
    };
    for_each_pair(expected.distances, actual.distances, compare_distances);
    for_each_pair(expected.object_distances, actual.object_distances, compare_distances);
    for_each_pair(expected.inclusive_distances, actual.inclusive_distances, compare_distances);
    for_each_pair(expected.hits, actual.hits, compare_distances);
    for_each_pair(expected.inclusive_hits, actual.inclusive_hits, compare_distances);
    if (with_patterns) {
        std::map<PatternKey, std::uint64_t> patterns = expected.patterns;
        compare_large(expected, actual, patterns, result);
        const auto is_enough = [&](const PatternKey& key, std::uint64_t a, std::uint64_t b) {
            const auto more = expected.forgettable_patterns.find(key);
            return a <= b && b - a <= (more == expected.forgettable_patterns.end() ? 0 : more->second);
        };
        for_each_pair(patterns, actual.patterns, [&](const PatternKey& key, std::uint64_t a, std::uint64_t b) {
            if (!is_enough(key, a, b)) result.report(key, "lines", a, b);
        });
    }
    if (with_jumps) {
        for_each_pair(expected.jumps, actual.jumps, [&](const JumpKey& key, std::uint64_t a, std::uint64_t b) {
            if (a != b) result.report(key, "made", a, b);
        });
    }
    return result.text();
}

std::string reuse_differences(const RunCosts& expected, const RunCosts& actual) {
    const EventSet none;
    Differences result(none);
    for_each_pair(expected.reuses, actual.reuses, [&](const ReuseKey& key, const ReuseCounts& a, const ReuseCounts& b) {
        if (a.misses != b.misses) result.report(key, "misses", a.misses, b.misses);
        if (a.ll_misses != b.ll_misses) result.report(key, "LL misses", a.ll_misses, b.ll_misses);
        if (a.distance != b.distance) result.report(key, "distance", a.distance, b.distance);
    });
    const bool are_known = !actual.stays.contains(kManyLoaders);
    const auto known = [&](const RunCosts& costs) {
        if (are_known) return costs.stays;
        std::map<InstructionKey, StayCounts> sum;
        StayCounts& all = sum[kManyLoaders];
        for (const auto& [key, counts] : costs.stays) {
            all.stays += counts.stays;
            all.unused += counts.unused;
            all.late += counts.late;
            all.never += counts.never;
        }
        return sum;
    };
    const auto compare = [&](const InstructionKey& key, const StayCounts& a, const StayCounts& b) {
        if (a.stays != b.stays) result.report(key, "stays", a.stays, b.stays);
        if (a.unused != b.unused) result.report(key, "unused", a.unused, b.unused);
        if (a.late != b.late) result.report(key, "late", a.late, b.late);
        if (a.never != b.never) result.report(key, "never", a.never, b.never);
    };
    for_each_pair(known(expected), known(actual), compare);
    return result.text();
}

}  // namespace bd::test
