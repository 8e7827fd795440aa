// SPDX-License-Identifier: GPL-2.0-or-later
//
// The caches in the most literal way: docs/simulation.md, rules 1 to 9. Every set is a list, and every line knows all
// of what it was loaded for. Why lines miss follows from a list of all lines in the order in which they were touched,
// which is looked through at every touch.

#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/cache/prefetchers.h"
#include "naive_flow.h"
#include "naive_replacement.h"
#include "run_costs.h"
#include "scenario.h"

namespace bd::test {

// Whom a cost is charged to.
struct ChargeTarget {
    InstructionKey instruction{};
    std::vector<ArcKey> chain{};  // of the calls that are open
    PathKey path{};
    std::string group{};  // of data objects; empty: nothing was loaded, or objects are not followed
    std::shared_ptr<NaivePath> flow{};  // the path within the function; null: paths are not followed
};

class NaiveCaches {
public:
    // What loads a line for the byte at `address`; nullopt if costs are not collected.
    using Loader = std::function<std::optional<ChargeTarget>(Address address, bool is_data)>;
    // A line that has left its cache costs its target this much.
    using Charge = std::function<void(Event event, std::uint64_t cost, const ChargeTarget& target)>;
    // A line that `loader` had loaded has left D1, `used` of its bytes used.
    using Touched = std::bitset<256>;
    using Leave =
        std::function<void(Address begin, Address bytes, const Touched& used, const ChargeTarget& loader)>;

    // How many others had been touched since a line was; nothing: it had not been.
    using Distance = std::optional<std::size_t>;

    // A part of an access to data has touched a line, which was absent or not.
    struct DataTouch {
        Address line;
        bool absent;
        Distance distance;  // if causes are recorded
        bool missed_last = false;
        std::optional<Address> evicted{};
    };
    using Touch = std::function<void(const DataTouch&)>;
    void on_data(Touch touch) { on_data_ = std::move(touch); }

    // `tells_why`: why lines miss, which takes long where there are many.
    struct Prefetching {
        bool as_callgrind;
        PrefetchRules others;
    };

    NaiveCaches(const CacheGeometries& geometries, const Prefetching& prefetching, bool tells_why, Loader loader,
                Charge charge, Leave leave)
        : i1_(geometries.i1),
          d1_(geometries.d1),
          behind_(behind(geometries)),
          prefetches_(prefetching.as_callgrind),
          prefetchers_(prefetching.others),
          tells_why_(tells_why),
          loader_(std::move(loader)),
          charge_(std::move(charge)),
          leave_(std::move(leave)) {}

    struct Causes {
        bool first = false;
        bool capacity = false;
        bool conflict = false;
    };
    struct MissedLine {
        Distance distance;
        bool last = false;
        std::string group{};  // of its first byte that was accessed
    };

    struct Missed {
        bool first = false;
        bool middle = false;  // of three levels
        bool last = false;
        bool dirty = false;   // and wrote a line to memory
        std::string group{};  // of the first byte that missed
        // If it was asked why: of the lines of each level, and of each of L1.
        Causes first_causes{};
        Causes middle_causes{};
        Causes last_causes{};
        std::vector<MissedLine> lines{};
    };

    // What accesses come from now on.
    void set_instruction(Address address) { instruction_ = address; }
    Missed fetch(Address address, Address size) { return touch(i1_, address, size, false); }
    Missed access(Address address, Address size, bool writes) { return touch(d1_, address, size, writes); }

    // Evicts all lines.
    void flush();

private:
    struct Line {
        Address number;
        bool is_data;  // an access to data loaded it, not a fetch
        std::optional<ChargeTarget> loader{};
        std::uint64_t accesses = 0;
        Touched touched{};
        bool dirty = false;
        bool prefetched = false;  // and not looked for since
    };

    // Every set is a list, most recently used line first. With another policy than LRU, the line that has to go is
    // moved to the end.
    struct Cache {
        explicit Cache(const CacheGeometry& of, std::shared_ptr<NaivePages> where = nullptr)
            : geometry(of),
              pages(std::move(where)),
              line_bytes(of.line_bytes),
              ways(of.ways),
              sets(of.size_bytes / of.line_bytes / of.ways),
              random(of.replacement.seed) {
            forget_policies();
        }

        std::size_t set_number(Address number) const {
            const Address address = number * line_bytes;
            return naive_set(geometry, (pages ? pages->physical(address) : address) / line_bytes);
        }
        std::list<Line>& set_of(Address number) { return sets[set_number(number)]; }
        // Makes a line the most recently used one, if it is there.
        Line* use(Address number);
        // Prepares its set for a line that is absent.
        void choose_victim(Address number);
        void forget_policies();

        // Touches a line.
        Distance touch_in_order(Address number);
        void note(const Distance& distance, Causes& causes) const;

        CacheGeometry geometry;
        std::shared_ptr<NaivePages> pages;  // null: lines lie at their addresses
        Address line_bytes;
        std::size_t ways;
        std::vector<std::list<Line>> sets;
        std::vector<NaiveSet> policies{};  // of each set; none with LRU
        std::uint64_t random;
        std::vector<Address> touched{};  // lines, the latest one last
    };

    Missed touch(Cache& cache, Address address, Address size, bool writes);
    Line& load(std::list<Line>& set, Address number, bool is_data, Address address);
    void look_behind(std::size_t level, Address begin, Address end, bool is_data, Missed& missed);
    bool load_behind(std::size_t level, Address number, bool is_data, Address address);
    void prefetch_after(Address number, bool missed, bool is_data, Address address);
    void settle(const Line& line, bool used) const;
    std::optional<Address> wanted_after(Address number);
    void evict_first(Cache& cache, std::list<Line>& set);
    bool evict_behind(std::size_t level, std::list<Line>& set);
    void pass_on(const Line& line, Address line_bytes, std::size_t level);
    void take_over(const Cache& cache, Line& line, Address line_bytes) const;
    void retire(const Line& line, Event of_all, Event of_data, Address line_bytes) const;
    void retire_as(const Line& line, Event first_event, Address line_bytes) const;

    static std::vector<Cache> behind(const CacheGeometries& geometries) {
        std::vector<Cache> caches;
        const auto pages = std::make_shared<NaivePages>(geometries.pages);
        if (geometries.l2.size_bytes != 0) caches.emplace_back(geometries.l2, pages);
        caches.emplace_back(geometries.ll, pages);
        return caches;
    }
    Cache& last() { return behind_.back(); }

    Cache i1_;
    Cache d1_;
    std::vector<Cache> behind_;  // what they stand in front of, the last one last
    std::map<Address, std::vector<Address>> streams_;  // of lines, for the prefetcher
    const bool prefetches_;
    const PrefetchRules prefetchers_;
    Address instruction_ = 0;
    std::list<std::pair<Address, std::vector<Address>>> pages_{};  // latest first: lines that went in one direction
    std::map<Address, std::vector<Address>> steps_{};  // by low bits of an instruction's address: it, and addresses
    const bool tells_why_;
    const Loader loader_;
    const Charge charge_;
    const Leave leave_;
    Touch on_data_ = [](const DataTouch&) {};
};

}  // namespace bd::test
