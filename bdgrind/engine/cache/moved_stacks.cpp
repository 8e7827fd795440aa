// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/cache/moved_stacks.h"

#include <algorithm>

#include "engine/base/check.h"
#include "engine/base/random_numbers.h"
#include "engine/program/block.h"

namespace bd {

MovedStacks::MovedStacks(const CacheGeometry& d1, std::uint32_t number, std::uint64_t first_seed) {
    BD_CHECK_OP(number, >=, 1u);
    const Address way = d1.size_bytes / d1.ways;
    const Address range = std::max(way, Address{1} << kBasePageBits);
    for (std::uint32_t i = 0; i < number; ++i) {
        RandomNumbers random(first_seed + i);
        const std::uint32_t steps = random.below(static_cast<std::uint32_t>(range / kStep));
        caches_.emplace_back(d1, i == 0 ? 0 : steps * kStep);
    }
}

void MovedStacks::run(Batch words, std::vector<Misses>* misses) {
    misses->clear();
    for (const Word* at = words.data(); !knows_stack_ && at != words.data() + words.size(); at += record_words(*at)) {
        if (exit_of(*at).block == nullptr) continue;
        lowest_ = at[1] - kMostBelow;
        knows_stack_ = true;
    }
    const std::uint64_t begin = words_;
    words_ += words.size();
    const std::uint64_t in_period = begin % kPeriod;
    if (begin >= kWhole && in_period >= kWarming + kCounted) return;
    const bool counts = begin < kWhole || in_period >= kWarming;
    for (Cache& cache : caches_) {
        const Misses missed = run(cache, words);
        if (counts) misses->push_back(missed);
    }
}

MovedStacks::Misses MovedStacks::run(Cache& cache, Batch words) const {
    Misses misses{};
    Lines& lines = cache.lines;
    const auto touch = [&](LineNumber line, bool writes) {
        std::uint32_t slot = lines.find(line);
        if (slot != Lines::kAbsent) {
            lines.time_of(slot) = ++cache.clock;
            return;
        }
        ++misses[writes ? 1 : 0];
        slot = lines.slot_for(line);
        lines.replace(slot, line, ++cache.clock);
    };
    for (const Word* at = words.data(); at != words.data() + words.size(); at += record_words(*at)) {
        const Exit& exit = exit_of(*at);
        const AccessGroup* group = exit.first_group;
        const AccessGroup* const last = group + exit.groups;
        for (const Word* word = at + kHeaderWords; group != last; ++group, ++word) {
            const bool on_stack = *word - lowest_ < kMostBelow + kMostAbove;
            const Address address = *word - (on_stack ? cache.distance : 0);
            const std::uint32_t slot = lines.guess(address, *group);
            if (__builtin_expect(slot != Lines::kAbsent, 1)) {
                lines.time_of(slot) = ++cache.clock;
                continue;
            }
            const Access* access = &exit.block->accesses()[group->first];
            if (*word == 0 && access->guarded) continue;
            for (const Access* const end = access + group->accesses; access != end; ++access) {
                const Address start = address + static_cast<Address>(std::int64_t{access->distance});
                lines.for_each_part(start, access->size,
                                    [&](LineNumber line, unsigned, unsigned) { touch(line, is_write(access->kind)); });
            }
        }
    }
    return misses;
}

void MovedStacks::flush() {
    for (Cache& cache : caches_) {
        for (std::uint32_t slot = 0; slot < cache.lines.size(); ++slot) cache.lines.remove(slot);
    }
}

}  // namespace bd
