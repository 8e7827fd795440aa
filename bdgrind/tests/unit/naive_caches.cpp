// SPDX-License-Identifier: GPL-2.0-or-later

#include "naive_caches.h"

#include <algorithm>

namespace bd::test {

void NaiveCaches::flush() {
    for (Cache* cache : {&i1_, &d1_}) {
        for (auto& set : cache->sets) {
            while (!set.empty()) evict_first(*cache, set);
        }
    }
    for (auto& set : ll_.sets) {
        while (!set.empty()) evict_last(set);
    }
    streams_.clear();
    for (Cache* cache : {&i1_, &d1_, &ll_}) cache->touched.clear();
}

NaiveCaches::Distance NaiveCaches::Cache::touch_in_order(Address number) {
    Distance distance;
    for (std::size_t i = 0; i < touched.size(); ++i) {
        if (touched[i] != number) continue;
        distance = touched.size() - i - 1;
        touched.erase(touched.begin() + static_cast<std::ptrdiff_t>(i));
    }
    touched.push_back(number);
    return distance;
}

// Of a line that misses.
void NaiveCaches::Cache::note(const Distance& distance, Causes& causes) const {
    if (!distance) {
        causes.first = true;
    } else if (*distance >= ways * sets.size()) {
        causes.capacity = true;
    } else {
        causes.conflict = true;
    }
}

NaiveCaches::Line* NaiveCaches::Cache::use(Address number) {
    std::list<Line>& set = set_of(number);
    for (auto line = set.begin(); line != set.end(); ++line) {
        if (line->number != number) continue;
        set.splice(set.begin(), set, line);
        return &set.front();
    }
    return nullptr;
}

NaiveCaches::Missed NaiveCaches::touch(Cache& cache, Address address, Address size, bool writes) {
    Missed missed;
    const Address end = address + size;
    for (Address at = address; at < end;) {
        const Address number = at / cache.line_bytes;
        const Address stop = std::min(end, (number + 1) * cache.line_bytes);
        Line* line = cache.use(number);
        const bool absent = line == nullptr;
        const Distance distance = tells_why_ ? cache.touch_in_order(number) : Distance{};
        DataTouch touched{number, absent, distance};
        if (absent) {
            std::list<Line>& set = cache.set_of(number);
            if (set.size() == cache.ways) touched.evicted = set.back().number;
            if (set.size() == cache.ways) evict_first(cache, set);
            line = &load(set, number, &cache == &d1_, at);
            if (!missed.first && line->loader) missed.group = line->loader->group;
        }
        ++line->accesses;
        if (writes) line->dirty = true;
        for (Address byte = at; byte < stop; ++byte) line->touched.set(byte % cache.line_bytes);
        if (absent) {
            missed.first = true;
            const bool last_before = std::exchange(missed.last, false);
            look_in_last(at, stop, &cache == &d1_, missed);
            if (tells_why_) {
                cache.note(distance, missed.first_causes);
                missed.lines.push_back({distance, missed.last, line->loader ? line->loader->group : ""});
            }
            touched.missed_last = missed.last;
            missed.last |= last_before;
        }
        if (&cache == &d1_) on_data_(touched);
        at = stop;
    }
    return missed;
}

NaiveCaches::Line& NaiveCaches::load(std::list<Line>& set, Address number, bool is_data, Address address) {
    set.push_front({.number = number, .is_data = is_data, .loader = loader_(address, is_data)});
    return set.front();
}

void NaiveCaches::look_in_last(Address begin, Address end, bool is_data, Missed& missed) {
    for (Address number = begin / ll_.line_bytes; number * ll_.line_bytes < end; ++number) {
        if (prefetches_) {
            const std::optional<Address> wanted = wanted_after(number);
            if (wanted && tells_why_) ll_.touch_in_order(*wanted);
            if (wanted && ll_.use(*wanted) == nullptr) load_ll(*wanted, is_data, *wanted * ll_.line_bytes);
        }
        const Distance distance = tells_why_ ? ll_.touch_in_order(number) : Distance{};
        if (ll_.use(number) != nullptr) continue;
        missed.last = true;
        if (tells_why_) ll_.note(distance, missed.last_causes);
        if (load_ll(number, is_data, std::max(begin, number * ll_.line_bytes))) missed.dirty = true;
    }
}

// Returns whether a dirty line had to go.
bool NaiveCaches::load_ll(Address number, bool is_data, Address address) {
    std::list<Line>& set = ll_.set_of(number);
    const bool drove_out_dirty = set.size() == ll_.ways && evict_last(set);
    load(set, number, is_data, address);
    return drove_out_dirty;
}

// What the prefetcher fetches on the occasion that this line is looked for. The lines of a stream so far follow
// each other in one direction.
std::optional<Address> NaiveCaches::wanted_after(Address number) {
    std::vector<Address>& lines = streams_[number * ll_.line_bytes / 4096 % 8];
    if (lines.empty()) lines = {0};
    if (number == lines.back()) return {};
    const bool up = number == lines.back() + 1;
    const bool down = number + 1 == lines.back();
    const bool was_up = lines.size() > 1 && lines[0] < lines[1];
    const bool was_down = lines.size() > 1 && lines[0] > lines[1];
    if ((!up && !down) || (up && was_down) || (down && was_up)) {
        lines = {number};
        return {};
    }
    lines.push_back(number);
    if (lines.size() < 3 || (down && number < 5)) return {};
    return up ? number + 5 : number - 5;
}

void NaiveCaches::evict_first(Cache& cache, std::list<Line>& set) {
    const Line line = set.back();
    set.pop_back();
    retire(line, Event::kAcCost1, cache.line_bytes);
    if (line.is_data && line.loader) {
        leave_(line.number * cache.line_bytes, cache.line_bytes, line.touched, *line.loader);
    }
    for (auto& last_set : ll_.sets) {
        for (Line& last : last_set) merge(line, cache.line_bytes, last);
    }
}

// Returns whether it was dirty.
bool NaiveCaches::evict_last(std::list<Line>& set) {
    Line line = set.back();
    set.pop_back();
    for (Cache* cache : {&i1_, &d1_}) {
        for (const auto& first_set : cache->sets) {
            for (const Line& first : first_set) merge(first, cache->line_bytes, line);
        }
    }
    retire(line, Event::kAcCost2, ll_.line_bytes);
    return line.dirty;
}

// Adds the use of an L1 line to an LL line, if they have touched memory in common.
void NaiveCaches::merge(const Line& first, Address first_bytes, Line& last) const {
    const Address begin = last.number * ll_.line_bytes;
    if ((first.number + 1) * first_bytes <= begin || begin + ll_.line_bytes <= first.number * first_bytes) return;
    if (first.dirty) last.dirty = true;
    bool common = false;
    for (Address byte = 0; byte < first_bytes; ++byte) {
        const Address address = first.number * first_bytes + byte;
        if (!first.touched[byte] || address / ll_.line_bytes != last.number) continue;
        last.touched.set(address % ll_.line_bytes);
        common = true;
    }
    if (common) last.accesses += first.accesses;
}

void NaiveCaches::retire(const Line& line, Event first_event, Address line_bytes) const {
    if (!line.loader) return;
    retire_as(line, first_event, line_bytes);
    if (line.is_data) {
        retire_as(line, first_event == Event::kAcCost1 ? Event::kAcCostD1 : Event::kAcCostDL, line_bytes);
    }
}

void NaiveCaches::retire_as(const Line& line, Event first_event, Address line_bytes) const {
    const auto event = [&](std::size_t offset) { return static_cast<Event>(column(first_event) + offset); };
    const auto charge_line = [&](std::size_t offset, std::uint64_t cost) {
        if (cost != 0) charge_(event(offset), cost, *line.loader);
    };
    // A line that was never touched is as bad as one touched once.
    charge_line(0, line.accesses == 0 ? 1000 : 1000 / line.accesses);
    charge_line(1, line_bytes - line.touched.count());
    charge_line(2, 1);
    charge_line(3, line.touched.count());
    charge_line(4, line.accesses);
}

}  // namespace bd::test
