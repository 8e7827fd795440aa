// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/why/stay_sample.h"

#include <algorithm>

namespace bd {
namespace {

// Without a processor's own instruction std::popcount is a call.
std::uint64_t ones(std::uint64_t word) {
    word -= word >> 1 & 0x5555555555555555;
    word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
    return ((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101 >> 56;
}

std::uint64_t lowest(std::uint64_t bytes) {
    return bytes >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bytes) - 1;
}

}  // namespace

void StaySample::add(const StayKey& key, Address address, unsigned bytes, std::uint64_t used) {
    Line& line = lines_[address];
    line.bytes = lowest(bytes);
    // What earlier stays did not use is late from now on.
    const std::uint64_t first_used = used & ~line.used;
    if (first_used != 0) {
        for (Loader& loader : line.loaders) loader.sum.late += ones(first_used & loader.live) * loader.sum.stays;
    }
    Loader& loader = find_or_make(line, key);
    ++loader.sum.stays;
    loader.sum.unused += ones(line.bytes & ~used);
    loader.sum.late += ones(line.used & ~used);
    line.used |= used;
    if (++stays_ == kManyStays) most_lines_ = std::min(most_lines_, kFewerLines);
    if (lines_.size() > most_lines_) shrink();
}

// The loader of this key with all bytes alive: the same bytes are unknown in all of its stays.
StaySample::Loader& StaySample::find_or_make(Line& line, const StayKey& key) const {
    const auto is_same = [&](const StayKey& wanted) {
        return [&](const Loader& loader) { return loader.sum.key == wanted && loader.live == line.bytes; };
    };
    if (line.latest < line.loaders.size() && is_same(key)(line.loaders[line.latest])) return line.loaders[line.latest];
    auto found = std::ranges::find_if(line.loaders, is_same(key));
    if (found == line.loaders.end() && line.loaders.size() >= kMostLoaders) {
        found = std::ranges::find_if(line.loaders, is_same({}));
        if (found == line.loaders.end()) found = line.loaders.insert(found, Loader{{}, line.bytes});
    } else if (found == line.loaders.end()) {
        found = line.loaders.insert(found, Loader{{key}, line.bytes});
    }
    line.latest = static_cast<std::uint32_t>(found - line.loaders.begin());
    return *found;
}

void StaySample::end_life(Address begin, std::uint64_t bytes) {
    const Address end = begin + std::min(bytes, ~begin);
    const auto end_piece = [&](Address piece, Line& line) {
        if (piece + kBytes <= begin || piece >= end) return;
        const unsigned first = piece < begin ? static_cast<unsigned>(begin - piece) : 0;
        end_life(line, lowest(end - piece) & ~lowest(first));
    };
    const Address first = begin / kBytes * kBytes;
    if (bytes / kBytes > lines_.size()) {
        for (auto& [piece, line] : lines_) end_piece(piece, line);
        return;
    }
    for (Address piece = first; piece < end && piece >= first; piece += kBytes) {
        if (!has(piece)) continue;
        const auto found = lines_.find(piece);
        if (found != lines_.end()) end_piece(piece, found->second);
    }
}

void StaySample::end_life(Line& line, std::uint64_t bytes) {
    for (Loader& loader : line.loaders) {
        loader.sum.never += ones(bytes & loader.live & ~line.used) * loader.sum.stays;
        loader.live &= ~bytes;
    }
    line.used &= ~bytes;
    // Loaders of one key with the same live bytes become one.
    auto& loaders = line.loaders;
    for (std::size_t i = 0; i < loaders.size(); ++i) {
        for (std::size_t other = loaders.size() - 1; other > i; --other) {
            if (loaders[other].live != loaders[i].live || loaders[other].sum.key != loaders[i].sum.key) continue;
            loaders[i].sum.add(loaders[other].sum);
            loaders.erase(loaders.begin() + static_cast<std::ptrdiff_t>(other));
        }
    }
}

void StaySample::shrink() {
    while (lines_.size() > most_lines_) {
        last_hash_ /= 2;
        one_in_ *= 2;
        boost::unordered::erase_if(lines_, [this](const auto& entry) { return !has(entry.first); });
    }
}

std::vector<StaySum> StaySample::sums() const {
    std::vector<StaySum> all;
    for (const auto& [address, line] : lines_) {
        for (const Loader& loader : line.loaders) {
            if (loader.sum.stays == 0) continue;
            all.push_back(loader.sum);
            all.back().never += ones(loader.live & ~line.used) * loader.sum.stays;
        }
    }
    std::ranges::sort(all, {}, &StaySum::key);
    std::vector<StaySum> sums;
    for (const StaySum& sum : all) {
        if (sums.empty() || sums.back().key != sum.key) {
            sums.push_back(sum);
        } else {
            sums.back().add(sum);
        }
    }
    return sums;
}

// Which bytes of a line have been used stays known.
void StaySample::clear_counts() {
    for (auto& [address, line] : lines_) line.loaders.clear();
}

}  // namespace bd
