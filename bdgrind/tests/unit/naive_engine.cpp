// SPDX-License-Identifier: GPL-2.0-or-later

#include "naive_engine.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/sharing/coherence_marks.h"
#include "naive_accounts.h"
#include "naive_branches.h"
#include "naive_caches.h"
#include "naive_calls.h"
#include "naive_objects.h"
#include "naive_tlbs.h"
#include "naive_why.h"

namespace bd::test {
namespace {

class NaiveEngine {
public:
    NaiveEngine(const Scenario& scenario, const std::optional<PathRules>& paths, unsigned object_depth, bool why,
                std::uint64_t whole_reuses, bool with_flows, std::uint64_t least_distance)
        : scenario_(scenario), accounts_(scenario, paths, with_flows),
          calls_(scenario, [this](const NaiveExecution& execution) { accounts_.count_call(execution); },
                 [this] { zero(); }),
          objects_(scenario, object_depth), why_(scenario, calls_, whole_reuses), least_distance_(least_distance),
          caches_(scenario.caches, {scenario.callgrind_prefetcher, scenario.prefetchers, scenario.l2_prefetchers}, why,
                  [this](Address address, bool is_data) { return loader_of(address, is_data); },
                  [this](Event event, std::uint64_t cost, const ChargeTarget& target) {
                      accounts_.charge(event, cost, target);
                      if (caches_.leaves_core()) count_core(*caches_.leaves_core(), event, cost);
                  },
                  [this](Address begin, Address bytes, const NaiveCaches::Touched& used, const ChargeTarget& loader) {
                      const auto is_used = [&](Address address) { return used[address - begin]; };
                      for (const NaiveObjects::Pattern& each :
                           objects_.patterns_of(begin, bytes, is_used, loader.group)) {
                          accounts_.count_pattern(each, loader.instruction);
                      }
                      why_.on_leave(begin, bytes, used, loader.instruction);
                  },
                  private_caches(scenario, why)),
          cores_(private_caches(scenario, why)) {
        if (scenario.tlbs.any()) {
            for (unsigned core = 0; core < cores_; ++core) {
                tlbs_.emplace_back(scenario.tlbs.base);
                tlbs_.emplace_back(scenario.tlbs.huge);
            }
        }
        caches_.on_counting([this] { return execution().collecting; });
        if (!why) return;
        caches_.on_data([this](const NaiveCaches::DataTouch& touch) {
            why_.on_data(touch, charged_, running_, now_, accounts_.costs());
        });
        caches_.on_lost([this](Address line) { why_.on_lost(line); });
    }

    void run(const Scenario::Record& record) {
        ++now_;
        if (record.is_marker) {
            mark(record);
            return;
        }
        on_indirect_branch(record);
        if (const std::optional<Site> from = calls_.go_to(record, now_)) {
            on_jump(*from, record);
            why_.on_step(*from, record.block, now_);
        }
        follow(record);
        execute(record);
        calls_.ran(record);
    }

    RunCosts finish() {
        caches_.flush();
        if (cores_ > 1) accounts_.costs().shares = caches_.shares();
        if (cores_ > 1) accounts_.costs().lost = caches_.lost();
        accounts_.costs().stays = why_.stays();
        accounts_.costs().blocks_overlap = objects_.blocks_overlap();
        accounts_.finish();
        return std::move(accounts_.costs());
    }

private:
    NaiveExecution& execution() { return calls_.execution(); }

    void mark(const Scenario::Record& record) {
        const Address value = record.values[0];
        if (record.marker == Marker::kStop) {
            caches_.flush();
            for (NaiveTlbs& tlbs : tlbs_) tlbs.flush();
        }
        calls_.mark(record);
        switch (record.marker) {
            case Marker::kZero:
                zero();
                break;
            case Marker::kSystemCall:
                calls_.begin(value);
                system_call(calls_.execution_of(value), record.values[1], record.values[2]);
                break;
            case Marker::kThreadCreate:  // costs nothing
                calls_.begin(value);
                break;
            case Marker::kAllocatorEntered:
            case Marker::kAllocatorLeft:
                if (calls_.has_run()) objects_.on_allocator(execution(), record);
                break;
            case Marker::kFreed:
                objects_.free(value);
                break;
            case Marker::kMapped:
                objects_.map(value, record.values[1], calls_.has_run() ? &execution() : nullptr);
                break;
            case Marker::kUnmapped:
                objects_.unmap(value, record.values[1]);
                break;
            case Marker::kCoherence:
                on_coherence(CoherenceMark::of({{record.values[0], record.values[1], record.values[2]}}));
                break;
            case Marker::kThread:
                caches_.run_on((record.values[1] != 0 ? record.values[1] - 1 : value + cores_ - 1) % cores_);
                break;
            case Marker::kThreadEnd:
            case Marker::kSignal:
            case Marker::kSignalEnter:
            case Marker::kSignalLeave:
            case Marker::kCollect:
            case Marker::kToggleCollect:
            case Marker::kStop:
            case Marker::kCoreUse:  // costs nothing
            case Marker::kCount:
                break;
        }
    }

    void zero() {
        accounts_.zero();
        caches_.forget_shares();
        why_.zero();
    }

    // By the instruction that ended the latest block.
    void system_call(const NaiveExecution& execution, std::uint64_t time, std::uint64_t cpu_time) {
        if (!execution.collecting || !execution.last) return;
        const Site& site = execution.charged_site ? *execution.charged_site : *execution.last;
        const ChargeTarget charged = accounts_.target(calls_.last_instruction(site), execution);
        accounts_.charge(Event::ksysCount, 1, charged);
        accounts_.charge(Event::ksysTime, time, charged);
        accounts_.charge(Event::ksysCpuTime, cpu_time, charged);
    }

    // What an access of the latest block has to do with other cores: docs/simulation.md, rules 36 and 37.
    void on_coherence(const CoherenceMark& mark) {
        if (!calls_.has_run() || !execution().collecting) return;
        const Site& last = *execution().last;
        if (mark.access >= calls_.exit_of(last).accesses) return;
        const unsigned instruction = calls_.block_of(last).accesses[mark.access].instruction;
        charged_ = execution().charged_site ? calls_.last_instruction(*execution().charged_site)
                                            : InstructionKey{last.block, last.context, instruction};
        const std::string group = objects_.group_at(mark.address, execution(), calls_.executions());
        if (mark.transferred) count(mark.is_write ? Event::kXferw : Event::kXferr, group);
        if (mark.lost) count(Event::kLost, group);
        for (unsigned i = 0; i < mark.invalidated; ++i) count(Event::kInval, group);
    }

    void follow(const Scenario::Record& record) {
        const Scenario::Block& block = scenario_.blocks[record.block];
        accounts_.follow(execution(), {record.block, record.exit, execution().charged_site.has_value()}, block.address,
                         block.instruction_address(block.exits[record.exit].instructions));
    }

    // --- Branches ------------------------------------------------------------------------------------------

    // The latest block of this execution may have ended in a jump to an address that was computed: to this one.
    void on_indirect_branch(const Scenario::Record& record) {
        const std::optional<Site>& last = execution().last;
        if (!last || calls_.exit_of(*last).branch != Branch::kIndirect) return;
        charged_ = calls_.last_instruction(execution().charged_site ? *execution().charged_site : *last);
        const Address branch = calls_.block_of(*last).instruction_address(calls_.exit_of(*last).instructions - 1);
        const Address target = scenario_.blocks[record.block].address;
        count(Event::kBi);
        if (branches_.mispredicts_indirect(branch, target)) count(Event::kBim);
    }

    // From where the latest block of this execution ended: neither a call nor a return.
    void on_jump(const Site& from, const Scenario::Record& record) {
        if (calls_.exit_of(from).jump != JumpKind::kJump) return;
        const Address behind = calls_.block_of(from).instruction_address(calls_.exit_of(from).instructions);
        if (scenario_.blocks[record.block].address == behind) return;
        if (execution().charged_site || !execution().collecting) return;
        ++accounts_.costs().jumps[{from.block, from.context, from.exit, record.block}];
    }

    // The instruction at `branch` branched, or did not.
    void on_conditional_branch(Address branch, bool taken) {
        count(Event::kBc);
        if (branches_.mispredicts_conditional(branch, taken)) count(Event::kBcm);
    }

    // --- What a block does ---------------------------------------------------------------------------------

    void execute(const Scenario::Record& record) {
        const Scenario::Block& block = scenario_.blocks[record.block];
        const Scenario::Exit& exit = block.exits[record.exit];
        running_ = record.block;
        unsigned access = 0;
        for (unsigned i = 0; i < exit.instructions; ++i) {
            charged_ = execution().charged_site ? calls_.last_instruction(*execution().charged_site)
                                                : InstructionKey{record.block, execution().context, i};
            count(Event::kIr);
            caches_.set_instruction(block.instruction_address(i));
            const auto fetch = caches_.fetch(block.instruction_address(i), block.instruction_sizes[i]);
            if (fetch.first) count(Event::kI1mr, fetch.group);
            if (fetch.middle) count(Event::kI2mr, fetch.group);
            if (fetch.last) count(Event::kILmr, fetch.group);
            if (fetch.dirty) count(Event::kILdmr, fetch.group);
            const Address at = block.instruction_address(i);
            count_pages([&](NaiveTlbs& tlbs) { return tlbs.fetch(at, block.instruction_sizes[i]); },
                        {Event::kIT1mr, Event::kIT2mr, Event::kIH1mr, Event::kIH2mr},
                        objects_.group_of_code(block));
            count_cause(fetch.first_causes, Event::kI1first, Event::kI1conf, fetch.group);
            count_cause(fetch.middle_causes, Event::kI2first, Event::kI2conf, fetch.group);
            count_cause(fetch.last_causes, Event::kILfirst, Event::kILconf, fetch.group);
            for (; access < exit.accesses && block.accesses[access].instruction == i; ++access) {
                const Scenario::Access& what = block.accesses[access];
                if (what.kind == AccessKind::kBus) count(Event::kGe);
                if (what.guarded && record.addresses[access] == 0) continue;
                const bool read = what.kind == AccessKind::kRead;
                count(read ? Event::kDr : Event::kDw);
                const auto data = caches_.access(record.addresses[access], what.size, !read);
                if (data.first) count(read ? Event::kD1mr : Event::kD1mw, data.group);
                if (data.elsewhere) count(Event::kD1copy, data.group);
                if (data.middle) count(read ? Event::kD2mr : Event::kD2mw, data.group);
                if (data.last) count(read ? Event::kDLmr : Event::kDLmw, data.group);
                if (data.dirty) count(read ? Event::kDLdmr : Event::kDLdmw, data.group);
                count_cause(data.first_causes, Event::kD1first, Event::kD1conf, data.group);
                count_cause(data.middle_causes, Event::kD2first, Event::kD2conf, data.group);
                count_cause(data.last_causes, Event::kDLfirst, Event::kDLconf, data.group);
                const std::array<Event, 4> misses =
                    read ? std::array{Event::kDT1mr, Event::kDT2mr, Event::kDH1mr, Event::kDH2mr}
                         : std::array{Event::kDT1mw, Event::kDT2mw, Event::kDH1mw, Event::kDH2mw};
                count_pages([&](NaiveTlbs& tlbs) { return tlbs.access(record.addresses[access], what.size); }, misses,
                            objects_.group_at(record.addresses[access], execution(), calls_.executions(), false));
                if (execution().collecting) {
                    const ChargeTarget target = accounts_.target(charged_, execution());
                    accounts_.count_distances(data.lines, target, false);
                    std::vector<NaiveCaches::MissedLine> hits = data.hits;
                    std::erase_if(hits, [this](const auto& hit) {
                        return least_distance_ == 0 || *hit.distance < least_distance_;
                    });
                    accounts_.count_distances(hits, target, true);
                }
            }
            for (unsigned e = 0; e <= record.exit; ++e) {
                const Branch branch = block.exits[e].branch;
                if (block.exits[e].instructions != i + 1) continue;
                if (branch != Branch::kTaken && branch != Branch::kNotTaken) continue;
                const bool passed_by = e != record.exit;
                on_conditional_branch(block.instruction_address(i), (branch == Branch::kTaken) != passed_by);
            }
        }
        caches_.end_block();
    }

    void count(Event event, const std::string& group = {}) {
        if (!execution().collecting) return;
        accounts_.charge(event, 1, accounts_.target(charged_, execution(), group));
        count_core(caches_.core(), event, 1);
    }

    // What belongs to a core is all but what code does there that caches do not know of.
    void count_core(std::size_t core, Event event, std::uint64_t cost) {
        const EventGroup group = kEvents[column(event)].group;
        if (cores_ == 1 || group == EventGroup::kBranches || group == EventGroup::kBus) return;
        accounts_.costs().cores[core][column(event)] += cost;
    }

    // Why lines are loaded is known of caches only that all share.
    static std::size_t private_caches(const Scenario& scenario, bool why) {
        return scenario.cores == 0 || why ? 1 : scenario.cores;
    }

    // With pages of either size, what misses the first level and the second.
    template <class Touch>
    void count_pages(Touch touch, const std::array<Event, 4>& events, const std::string& group) {
        for (std::size_t size = 0; size < 2 && !tlbs_.empty(); ++size) {
            const NaiveTlbs::Missed missed = touch(tlbs_[2 * caches_.core() + size]);
            if (missed.first) count(events[2 * size], group);
            if (missed.second) count(events[2 * size + 1], group);
        }
    }

    // A first touch of any line counts most, conflicts least; capacity is what is left.
    void count_cause(const NaiveCaches::Causes& causes, Event first, Event conflict, const std::string& group) {
        if (causes.first) {
            count(first, group);
        } else if (causes.conflict && !causes.capacity) {
            count(conflict, group);
        }
    }

    std::optional<ChargeTarget> loader_of(Address address, bool is_data) {
        const NaiveExecution& now = execution();
        if (!now.collecting) return {};
        return accounts_.target(charged_, now,
                                is_data ? objects_.group_at(address, now, calls_.executions())
                                        : objects_.group_of_code(scenario_.blocks[running_]));
    }

    const Scenario& scenario_;
    NaiveAccounts accounts_;
    NaiveCalls calls_;
    NaiveObjects objects_;
    NaiveWhy why_;
    const std::uint64_t least_distance_;
    NaiveBranches branches_;
    NaiveCaches caches_;
    const std::size_t cores_;        // with caches of their own
    std::vector<NaiveTlbs> tlbs_{};  // of each core, with base pages, with huge ones
    unsigned long now_ = 0;  // the number of the record
    unsigned running_ = 0;  // the block
    InstructionKey charged_{};  // the instruction that runs, or is charged for it
};

}  // namespace

RunCosts run_naively(const Scenario& scenario, std::size_t records, const std::optional<PathRules>& paths,
                     unsigned object_depth, bool why, std::uint64_t whole_reuses, bool with_flows,
                     std::uint64_t least_distance) {
    NaiveEngine engine(scenario, paths, object_depth, why, whole_reuses, with_flows, least_distance);
    for (std::size_t i = 0; i < records; ++i) engine.run(scenario.records[i]);
    return engine.finish();
}

}  // namespace bd::test
