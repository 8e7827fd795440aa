// SPDX-License-Identifier: GPL-2.0-or-later
//
// The caches in the most literal way: docs/simulation.md, rules 1 to 9, 63 to 70, 73 to 80 and 83 to 87. Every set is a
// list, and every line knows all of what it was loaded for. Why lines miss follows from a list of all lines in the
// order in which they were touched, which is looked through at every touch.

#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
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
    // A line has left D1, as an inclusive LL does not have it.
    using Lost = std::function<void(Address line)>;
    void on_lost(Lost lost) { on_lost_ = std::move(lost); }

    // `tells_why`: why lines miss, which takes long where there are many.
    // `cores`: how many have caches of their own, but for the last level.
    struct Prefetching {
        bool as_callgrind;
        PrefetchRules others;
        PrefetchRules into_middle;
    };

    NaiveCaches(const CacheGeometries& geometries, const Prefetching& prefetching, bool tells_why, Loader loader,
                Charge charge, Leave leave, std::size_t cores = 1)
        : places_(std::make_shared<NaivePages>(geometries.pages)),
          cores_(cores, Core(geometries, places_, prefetching.into_middle)),
          last_(geometries.ll, places_),
          is_exclusive_(geometries.is_exclusive()),
          is_inclusive_(geometries.ll_inclusion == Inclusion::kInclusive),
          prefetches_(prefetching.as_callgrind),
          prefetchers_(prefetching.others, geometries.ll.line_bytes),
          tells_why_(tells_why),
          loader_(std::move(loader)),
          charge_(std::move(charge)),
          leave_(std::move(leave)) {
        if (is_exclusive_) last_.lines_of_causes += geometries.l2.lines();
    }

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
        bool dirty = false;      // and wrote a line to memory
        bool elsewhere = false;  // another core's D1 had a line that missed
        std::string group{};  // of the first byte that missed
        // If it was asked why: of the lines of each level, and of each of L1.
        Causes first_causes{};
        Causes middle_causes{};
        Causes last_causes{};
        std::vector<MissedLine> lines{};
        std::vector<MissedLine> hits{};  // of lines that D1 had
    };

    // What accesses come from now on.
    void set_instruction(Address address) { instruction_ = address; }
    Missed fetch(Address address, Address size) { return touch(here().i1, address, size, false); }
    Missed access(Address address, Address size, bool writes) { return touch(here().d1, address, size, writes); }

    // A block of code has ended. Rule 86.
    void end_block();

    // All that happens is on this core from here on.
    void run_on(std::size_t core) { core_ = core; }
    std::size_t core() const { return core_; }
    // While `charge` is called: the core whose cache the line has left; nothing: the last level.
    std::optional<std::size_t> leaves_core() const { return leaves_core_; }

    // Whether costs are collected; asked when a line comes to LL, and only if there are several cores.
    void on_counting(std::function<bool()> is_counting) { is_counting_ = std::move(is_counting); }
    // Who has had what of LL, since forget_shares(). A core's entries may be zero.
    const std::map<std::size_t, ShareCounts>& shares() const { return shares_; }
    const std::map<std::pair<std::size_t, std::size_t>, LostCounts>& lost() const { return lost_; }
    void forget_shares() {
        shares_.clear();
        lost_.clear();
    }

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
        std::size_t core = 0;     // of a line in LL: whose it is
        // Of a line in L2 if LL is exclusive: what becomes of it there. What L2 and L1 know of its use is not in it.
        std::shared_ptr<Line> in_last{};
    };

    // Every set is a list, most recently used line first. With another policy than LRU, the line that has to go is
    // moved to the end.
    struct Cache {
        explicit Cache(const CacheGeometry& of, std::shared_ptr<NaivePages> where = nullptr)
            : geometry(of),
              pages(std::move(where)),
              line_bytes(of.line_bytes),
              ways(of.ways),
              index(of),
              sets(of.size_bytes / of.line_bytes / of.ways),
              random(of.replacement.seed) {
            forget_policies();
        }

        std::size_t set_number(Address number) const {
            return index(pages ? pages->physical(number * line_bytes) / line_bytes : number);
        }
        std::list<Line>& set_of(Address number) { return sets[set_number(number)]; }
        // Makes a line the most recently used one, if it is there.
        Line* use(Address number);
        // Prepares its set for a line that is absent.
        void choose_victim(Address number);
        void forget_policies();
        // A line leaves before it has to go.
        void leave(Address number) {
            if (!policies.empty()) policies[set_number(number)].remove(number);
        }

        // Touches a line.
        Distance touch_in_order(Address number);
        void note(const Distance& distance, Causes& causes) const;

        CacheGeometry geometry;
        std::shared_ptr<NaivePages> pages;  // null: lines lie at their addresses
        Address line_bytes;
        std::size_t ways;
        NaiveIndex index;
        std::vector<std::list<Line>> sets;
        std::vector<NaiveSet> policies{};  // of each set; none with LRU
        std::uint64_t random;
        std::vector<Address> touched{};  // lines, the latest one last
        std::size_t lines_of_causes = ways * sets.size();  // of a fully associative cache to compare with
    };

    // What those of a level know. Rules 63 and 65.
    struct Prefetchers {
        Prefetchers(const PrefetchRules& given, Address line_size) : rules(given), line_bytes(line_size) {}

        // The lines that are to be there when this line has been looked for.
        std::list<Address> wanted_after(Address number, bool missed, bool is_data, Address address,
                                        Address instruction);
        void forget() {
            pages.clear();
            steps.clear();
        }

        PrefetchRules rules;
        Address line_bytes;
        std::list<std::pair<Address, std::vector<Address>>> pages{};  // latest first: lines that went in one direction
        std::map<Address, std::vector<Address>> steps{};  // by low bits of an instruction's address: it, and addresses
    };

    // What a core does not share.
    struct Core {
        Core(const CacheGeometries& geometries, const std::shared_ptr<NaivePages>& pages, const PrefetchRules& rules)
            : i1(geometries.i1), d1(geometries.d1), prefetchers(rules, geometries.l2.line_bytes) {
            if (geometries.l2.size_bytes != 0) middle.emplace_back(geometries.l2, pages);
        }
        Cache i1;
        Cache d1;
        Prefetchers prefetchers;  // into the middle
        std::vector<Cache> middle{};  // what stands between them and the last level: one or none
    };

    Missed touch(Cache& cache, Address address, Address size, bool writes);
    Line& load(std::list<Line>& set, Address number, bool is_data, Address address);
    void look_behind(std::size_t level, Address begin, Address end, bool is_data, Missed& missed);
    void move_up(Address number, bool is_data, Address address, Missed& missed);
    bool take_from_last(Address number, bool is_data, Address address, Line& in_last);
    bool load_into_middle(Address number, bool is_data, Address address, const Line& in_last);
    void prefetch_into_middle(Address number, bool missed, bool is_data, Address address);
    bool leave_for_last(Core& core, const Line& line);
    bool is_in_middle(Address number);
    void call_prefetcher(std::size_t level, Address number, bool is_data);
    bool load_behind(std::size_t level, Address number, bool is_data, Address address);
    void prefetch_after(Address number, bool missed, bool is_data, Address address);
    void settle(const Line& line, std::optional<std::size_t> core, bool used);
    void note_loaded(Address number);
    void note_put(std::size_t owner, Line& put);
    std::optional<Address> wanted_after(Address number);
    using InSet = std::list<Line>::iterator;
    void evict_first(Core& core, Cache& cache, std::list<Line>& set, InSet leaving);
    bool evict_behind(Core& core, std::size_t level, std::list<Line>& set, InSet leaving);
    void pass_on(Core& core, const Line& line, Address line_bytes, std::size_t level);
    void ask_others(Address number, bool absent, bool writes, Missed& missed);
    void take(Core& core, Address number);
    void lose_in_middle(const Line& lost);
    void take_over(const Cache& cache, Line& line, Address line_bytes) const;
    void retire(const Line& line, Event of_all, Event of_data, Address line_bytes) const;
    void retire_as(const Line& line, Event first_event, Address line_bytes) const;

    Core& here() { return cores_[core_]; }
    // What I1 and D1 stand in front of, the last one last.
    std::size_t levels_behind() const { return cores_[0].middle.size() + 1; }
    Cache& behind(Core& core, std::size_t level) { return level < core.middle.size() ? core.middle[level] : last_; }

    const std::shared_ptr<NaivePages> places_;
    std::vector<Core> cores_;
    std::size_t core_ = 0;
    std::optional<std::size_t> leaves_core_{};
    // By line of D1: the cores that have touched it since it was last taken from them.
    std::map<Address, std::set<std::size_t>> touched_by_{};
    Cache last_;
    const bool is_exclusive_;
    const bool is_inclusive_;
    bool is_flushing_ = false;
    std::map<Address, std::vector<Address>> streams_;  // of lines, for the prefetcher
    const bool prefetches_;
    Prefetchers prefetchers_;  // into LL
    Address instruction_ = 0;
    const bool tells_why_;
    const Loader loader_;
    const Charge charge_;
    const Leave leave_;
    std::function<bool()> is_counting_ = [] { return true; };
    std::map<std::size_t, ShareCounts> shares_{};
    std::map<std::pair<std::size_t, std::size_t>, LostCounts> lost_{};
    // Lines that have been evicted from LL and not been loaded since: by whom, and whose they were.
    std::map<Address, std::pair<std::size_t, std::size_t>> gone_{};
    Touch on_data_ = [](const DataTouch&) {};
    Lost on_lost_ = [](Address) {};
};

}  // namespace bd::test
