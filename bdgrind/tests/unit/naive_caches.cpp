// SPDX-License-Identifier: GPL-2.0-or-later

#include "naive_caches.h"

#include <algorithm>
#include <cstdlib>

namespace bd::test {

void NaiveCaches::flush() {
    for (Core& core : cores_) {
        for (Cache* cache : {&core.i1, &core.d1}) {
            for (auto& set : cache->sets) {
                while (!set.empty()) evict_first(core, *cache, set, std::prev(set.end()));
            }
            cache->touched.clear();
            cache->forget_policies();
        }
    }
    is_flushing_ = true;
    for (std::size_t level = 0; level < levels_behind(); ++level) {
        for (Core& core : cores_) {
            Cache& cache = behind(core, level);
            for (auto& set : cache.sets) {
                while (!set.empty()) evict_behind(core, level, set, std::prev(set.end()));
            }
            cache.touched.clear();
            cache.forget_policies();
        }
    }
    is_flushing_ = false;
    gone_.clear();
    streams_.clear();
    prefetchers_.forget();
    for (Core& core : cores_) core.prefetchers.forget();
    touched_by_.clear();
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
    } else if (*distance >= lines_of_causes) {
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
        if (!policies.empty()) policies[set_number(number)].use(number);
        return &set.front();
    }
    return nullptr;
}

void NaiveCaches::Cache::choose_victim(Address number) {
    if (policies.empty()) return;
    const std::optional<Address> victim = policies[set_number(number)].load(number, random);
    if (!victim) return;
    std::list<Line>& set = set_of(number);
    const auto has = [&](const Line& line) { return line.number == *victim; };
    set.splice(set.end(), set, std::ranges::find_if(set, has));
}

void NaiveCaches::Cache::forget_policies() {
    if (geometry.replacement.policy == ReplacementPolicy::kLru) return;
    policies.assign(sets.size(), NaiveSet(geometry.replacement, ways));
}

NaiveCaches::Missed NaiveCaches::touch(Cache& cache, Address address, Address size, bool writes) {
    Missed missed;
    const Address end = address + size;
    for (Address at = address; at < end;) {
        const Address number = at / cache.line_bytes;
        const Address stop = std::min(end, (number + 1) * cache.line_bytes);
        const bool is_data = &cache == &here().d1;
        Line* line = cache.use(number);
        const bool absent = line == nullptr;
        if (is_data && cores_.size() > 1) ask_others(number, absent, writes, missed);
        const Distance distance = tells_why_ ? cache.touch_in_order(number) : Distance{};
        DataTouch touched{number, absent, distance};
        if (absent) {
            std::list<Line>& set = cache.set_of(number);
            cache.choose_victim(number);
            if (set.size() == cache.ways) touched.evicted = set.back().number;
            if (set.size() == cache.ways) evict_first(here(), cache, set, std::prev(set.end()));
            line = &load(set, number, is_data, at);
            if (!missed.first && line->loader) missed.group = line->loader->group;
        }
        ++line->accesses;
        if (writes) line->dirty = true;
        for (Address byte = at; byte < stop; ++byte) line->touched.set(byte % cache.line_bytes);
        if (!absent && is_data && distance) missed.hits.push_back({distance, false, ""});
        if (absent) {
            missed.first = true;
            const bool last_before = std::exchange(missed.last, false);
            look_behind(0, at, stop, is_data, missed);
            if (tells_why_) {
                cache.note(distance, missed.first_causes);
                missed.lines.push_back({distance, missed.last, line->loader ? line->loader->group : ""});
            }
            touched.missed_last = missed.last;
            missed.last |= last_before;
        }
        if (is_data) on_data_(touched);
        at = stop;
    }
    return missed;
}

void NaiveCaches::end_block() {
    if (!is_inclusive_) return;
    for (Core& core : cores_) {
        for (Cache* cache : {&core.i1, &core.d1}) {
            for (auto& set : cache->sets) {
                for (auto line = set.begin(); line != set.end();) {
                    const auto next = std::next(line);
                    const Address number = line->number;
                    const Address in_last = number * cache->line_bytes / last_.line_bytes;
                    const auto& last_set = last_.set_of(in_last);
                    if (std::ranges::find(last_set, in_last, &Line::number) == last_set.end()) {
                        cache->leave(number);
                        evict_first(core, *cache, set, line);
                        if (cache == &core.d1) on_lost_(number);
                    }
                    line = next;
                }
            }
        }
    }
}

// A line has left an inclusive LL.
void NaiveCaches::lose_in_middle(const Line& lost) {
    for (Core& core : cores_) {
        if (core.middle.empty()) return;
        Cache& middle = core.middle[0];
        for (Address at = lost.number * last_.line_bytes; at < (lost.number + 1) * last_.line_bytes;
             at += middle.line_bytes) {
            const Address number = at / middle.line_bytes;
            std::list<Line>& set = middle.set_of(number);
            const auto found = std::ranges::find(set, number, &Line::number);
            if (found == set.end()) continue;
            middle.leave(number);
            evict_behind(core, 0, set, found);
        }
    }
}

// This core touches a line of D1.
void NaiveCaches::ask_others(Address number, bool absent, bool writes, Missed& missed) {
    std::set<std::size_t>& touched = touched_by_[number];
    for (std::size_t other = 0; other < cores_.size(); ++other) {
        if (other == core_) continue;
        const auto has = [&](const Line& line) { return line.number == number; };
        if (absent && std::ranges::any_of(cores_[other].d1.set_of(number), has)) missed.elsewhere = true;
        if (writes && touched.erase(other) != 0) take(cores_[other], number);
    }
    touched.insert(core_);
}

// A core loses a line of D1, and what its L2 has of that.
void NaiveCaches::take(Core& core, Address number) {
    const auto take_from = [](std::list<Line>& set, Address wanted, auto evict) {
        for (auto line = set.begin(); line != set.end();) {
            const auto next = std::next(line);
            if (line->number == wanted) evict(line);
            line = next;
        }
    };
    std::list<Line>& set = core.d1.set_of(number);
    take_from(set, number, [&](InSet line) {
        core.d1.leave(number);
        evict_first(core, core.d1, set, line);
    });
    for (std::size_t level = 0; level < core.middle.size(); ++level) {
        Cache& cache = core.middle[level];
        const Address begin = number * core.d1.line_bytes;
        for (Address at = begin / cache.line_bytes; at * cache.line_bytes < begin + core.d1.line_bytes; ++at) {
            take_from(cache.set_of(at), at, [&](InSet line) {
                cache.leave(at);
                evict_behind(core, level, cache.set_of(at), line);
            });
        }
    }
}

NaiveCaches::Line& NaiveCaches::load(std::list<Line>& set, Address number, bool is_data, Address address) {
    set.push_front({.number = number, .is_data = is_data, .loader = loader_(address, is_data)});
    return set.front();
}

// Level 0 is the first behind I1 and D1. Only what misses a level looks into the next one.
void NaiveCaches::look_behind(std::size_t level, Address begin, Address end, bool is_data, Missed& missed) {
    Cache& cache = behind(here(), level);
    const bool is_last = level + 1 == levels_behind();
    for (Address number = begin / cache.line_bytes; number * cache.line_bytes < end; ++number) {
        if (is_last) call_prefetcher(level, number, is_data);
        const Distance distance = tells_why_ ? cache.touch_in_order(number) : Distance{};
        Line* const line = cache.use(number);
        const Address asked = std::max(begin, number * cache.line_bytes);
        const bool absent = line == nullptr;
        const std::optional<std::size_t> whose = is_last ? std::nullopt : std::optional(core_);
        if (!absent && std::exchange(line->prefetched, false)) settle(*line, whose, true);
        if (absent) {
            (is_last ? missed.last : missed.middle) = true;
            if (tells_why_) cache.note(distance, is_last ? missed.last_causes : missed.middle_causes);
            if (!is_last && is_exclusive_) {
                move_up(number, is_data, asked, missed);
            } else {
                const bool evicted_dirty = load_behind(level, number, is_data, asked);
                if (is_last && evicted_dirty) missed.dirty = true;
                const Address stop = std::min(end, (number + 1) * cache.line_bytes);
                if (!is_last) look_behind(level + 1, asked, stop, is_data, missed);
            }
        }
        if (is_last) {
            prefetch_after(number, absent, is_data, asked);
        } else {
            prefetch_into_middle(number, absent, is_data, asked);
        }
    }
}

void NaiveCaches::call_prefetcher(std::size_t level, Address number, bool is_data) {
    if (!prefetches_) return;
    Cache& cache = behind(here(), level);
    const std::optional<Address> wanted = wanted_after(number);
    if (wanted && tells_why_) cache.touch_in_order(*wanted);
    if (wanted && cache.use(*wanted) == nullptr && !is_in_middle(*wanted)) {
        load_behind(level, *wanted, is_data, *wanted * cache.line_bytes);
    }
}

// Whether LL must not have a line, as an L2 has it.
bool NaiveCaches::is_in_middle(Address number) {
    const auto has = [&](const Line& line) { return line.number == number; };
    return is_exclusive_ && std::ranges::any_of(cores_, [&](Core& core) {
        return std::ranges::any_of(core.middle[0].set_of(number), has);
    });
}

// Rules 73 to 75: a line that L2 misses.
void NaiveCaches::move_up(Address number, bool is_data, Address address, Missed& missed) {
    call_prefetcher(1, number, is_data);
    Line in_last{.number = number, .is_data = is_data};
    const bool misses = take_from_last(number, is_data, address, in_last);
    const Distance distance = tells_why_ ? last_.touch_in_order(number) : Distance{};
    if (misses && tells_why_) last_.note(distance, missed.last_causes);
    missed.last |= misses;
    const bool evicted_dirty = load_into_middle(number, is_data, address, in_last);
    if (misses && evicted_dirty) missed.dirty = true;
    prefetch_after(number, misses, is_data, address);
}

// Returns whether the line has to come from memory.
bool NaiveCaches::take_from_last(Address number, bool is_data, Address address, Line& in_last) {
    std::list<Line>& set = last_.set_of(number);
    const auto found = std::ranges::find(set, number, &Line::number);
    if (found != set.end()) {
        if (std::exchange(found->prefetched, false)) settle(*found, std::nullopt, true);
        in_last = *found;
        last_.leave(number);
        set.erase(found);
    } else if (!is_in_middle(number)) {
        in_last.loader = loader_(address, is_data);
        note_loaded(number);
        return true;
    }
    return false;
}

// Returns whether a dirty line had to leave LL for the one that leaves L2.
bool NaiveCaches::load_into_middle(Address number, bool is_data, Address address, const Line& in_last) {
    const bool evicted_dirty = load_behind(0, number, is_data, address);
    Line& line = here().middle[0].set_of(number).front();
    line.dirty = in_last.dirty;
    line.in_last = std::make_shared<Line>(in_last);
    line.in_last->dirty = false;
    return evicted_dirty;
}

// A line has left L2 of a core. Returns whether a dirty line had to leave LL for it.
bool NaiveCaches::leave_for_last(Core& core, const Line& line) {
    Line left = *line.in_last;
    left.touched |= line.touched;
    left.accesses += line.accesses;
    left.dirty = line.dirty;
    for (Core& other : cores_) {
        if (&other == &core) continue;
        std::list<Line>& set = other.middle[0].set_of(line.number);
        const auto found = std::ranges::find(set, line.number, &Line::number);
        if (found == set.end()) continue;
        found->dirty |= left.dirty;
        found->in_last->touched |= left.touched;
        found->in_last->accesses += left.accesses;
        if (left.loader) found->in_last->loader = left.loader;
        if (left.loader) found->in_last->is_data = left.is_data;
        return false;
    }
    leaves_core_ = {};
    if (is_flushing_) {
        retire(left, Event::kAcCost2, Event::kAcCostDL, last_.line_bytes);
        return false;
    }
    std::list<Line>& set = last_.set_of(line.number);
    last_.choose_victim(line.number);
    const bool evicted_dirty = set.size() == last_.ways && evict_behind(core, 1, set, std::prev(set.end()));
    set.push_front(left);
    note_put(static_cast<std::size_t>(&core - cores_.data()), set.front());
    return evicted_dirty;
}

// Returns whether a dirty line had to go.
bool NaiveCaches::load_behind(std::size_t level, Address number, bool is_data, Address address) {
    Cache& cache = behind(here(), level);
    std::list<Line>& set = cache.set_of(number);
    cache.choose_victim(number);
    const bool evicted_dirty = set.size() == cache.ways && evict_behind(here(), level, set, std::prev(set.end()));
    load(set, number, is_data, address);
    if (level + 1 == levels_behind()) {
        note_loaded(number);
        note_put(core_, set.front());
    }
    return evicted_dirty;
}

// This core loads a line from memory.
void NaiveCaches::note_loaded(Address number) {
    const auto found = gone_.find(number);
    if (found == gone_.end()) return;
    if (is_counting_() && found->second.second == core_) ++lost_[found->second].again;
    gone_.erase(found);
}

// A line has come to LL that is this core's.
void NaiveCaches::note_put(std::size_t owner, Line& put) {
    put.core = owner;
    if (!is_counting_()) return;
    ++shares_[owner].puts;
    for (const auto& each : last_.sets) {
        for (const Line& line : each) ++shares_[line.core].held;
    }
}

// Rule 83: what L2 of this core wants now.
void NaiveCaches::prefetch_into_middle(Address number, bool missed, bool is_data, Address address) {
    Cache& cache = here().middle[0];
    for (const Address wanted : here().prefetchers.wanted_after(number, missed, is_data, address, instruction_)) {
        const auto& set = cache.set_of(wanted);
        if (std::ranges::find(set, wanted, &Line::number) != set.end()) continue;
        if (tells_why_) cache.touch_in_order(wanted);
        const Address begin = wanted * cache.line_bytes;
        if (is_exclusive_) {
            Line in_last{.number = wanted, .is_data = is_data};
            take_from_last(wanted, is_data, begin, in_last);
            if (tells_why_) last_.touch_in_order(wanted);
            load_into_middle(wanted, is_data, begin, in_last);
        } else {
            load_behind(0, wanted, is_data, begin);
            for (Address at = begin / last_.line_bytes; at * last_.line_bytes < begin + cache.line_bytes; ++at) {
                if (tells_why_) last_.touch_in_order(at);
                Line* const there = last_.use(at);
                if (there == nullptr) load_behind(1, at, is_data, std::max(begin, at * last_.line_bytes));
                if (there != nullptr && std::exchange(there->prefetched, false)) settle(*there, std::nullopt, true);
            }
        }
        cache.set_of(wanted).front().prefetched = true;
    }
}

// Rules 63 to 65.
void NaiveCaches::prefetch_after(Address number, bool missed, bool is_data, Address address) {
    const std::size_t level = levels_behind() - 1;
    for (const Address wanted : prefetchers_.wanted_after(number, missed, is_data, address, instruction_)) {
        const auto& set = last_.set_of(wanted);
        if (std::ranges::find(set, wanted, &Line::number) != set.end() || is_in_middle(wanted)) continue;
        if (tells_why_) last_.touch_in_order(wanted);
        load_behind(level, wanted, is_data, wanted * last_.line_bytes);
        last_.set_of(wanted).front().prefetched = true;
    }
}

std::list<Address> NaiveCaches::Prefetchers::wanted_after(Address number, bool missed, bool is_data, Address address,
                                                          Address instruction) {
    std::list<Address> wanted;
    const auto is_near = [&](Address line) { return line * line_bytes / 4096 == address / 4096; };
    if (rules.adjacent && missed) wanted.push_back(number % 2 == 0 ? number + 1 : number - 1);
    if (rules.next && missed && is_near(number + 1)) wanted.push_back(number + 1);
    if (rules.stream) {
        const Address page = address / 4096;
        auto at = std::ranges::find(pages, page, [](const auto& each) { return each.first; });
        if (at == pages.end()) {
            pages.emplace_front(page, std::vector{number});
            if (pages.size() > 16) pages.pop_back();
        } else {
            pages.splice(pages.begin(), pages, at);
            std::vector<Address>& lines = at->second;
            const Address latest = lines.back();
            if (number != latest) {
                const bool turns = lines.size() > 1 && (lines[lines.size() - 2] < latest) != (latest < number);
                if (turns) lines = {latest};
                lines.push_back(number);
                for (const Address distance : {1, 2}) {
                    const Address next = latest < number ? number + distance : number - distance;
                    if (lines.size() >= 3 && is_near(next)) wanted.push_back(next);
                }
            }
        }
    }
    if (!rules.stride || !is_data) return wanted;
    std::vector<Address>& known = steps[instruction % 256];
    if (known.empty() || known.front() != instruction) known = {instruction};
    known.push_back(address);
    if (known.size() < 4) return wanted;
    const auto step = [&](std::size_t back) {
        return static_cast<std::int64_t>(known[known.size() - back] - known[known.size() - back - 1]);
    };
    const Address next = address + static_cast<Address>(step(1));
    if (step(1) != step(2) || step(1) == 0 || std::abs(step(1)) > 2048 || next / 4096 != address / 4096) return wanted;
    wanted.push_back(next / line_bytes);
    return wanted;
}

// `core`: whose L2 has it; nothing: LL.
void NaiveCaches::settle(const Line& line, std::optional<std::size_t> core, bool used) {
    leaves_core_ = core;
    const Event of_data = used ? Event::kDPfUse : Event::kDPfLoss;
    const Event of_code = used ? Event::kIPfUse : Event::kIPfLoss;
    const Event of_data_in_l2 = used ? Event::kDPfUseL2 : Event::kDPfLossL2;
    const Event of_code_in_l2 = used ? Event::kIPfUseL2 : Event::kIPfLossL2;
    const Event event = core ? (line.is_data ? of_data_in_l2 : of_code_in_l2) : (line.is_data ? of_data : of_code);
    if (line.loader) charge_(event, 1, *line.loader);
}

// What the prefetcher fetches on the occasion that this line is looked for. The lines of a stream so far follow
// each other in one direction.
std::optional<Address> NaiveCaches::wanted_after(Address number) {
    std::vector<Address>& lines = streams_[number * last_.line_bytes / 4096 % 8];
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

// Of I1 or D1 of a core.
void NaiveCaches::evict_first(Core& core, Cache& cache, std::list<Line>& set, InSet leaving) {
    const Line line = *leaving;
    set.erase(leaving);
    leaves_core_ = &core - cores_.data();
    retire(line, Event::kAcCost1, Event::kAcCostD1, cache.line_bytes);
    if (line.is_data && line.loader) {
        leave_(line.number * cache.line_bytes, cache.line_bytes, line.touched, *line.loader);
    }
    pass_on(core, line, cache.line_bytes, 0);
}

// Of a level behind them. Returns whether the line was dirty, or a copy of it in front was.
bool NaiveCaches::evict_behind(Core& core, std::size_t level, std::list<Line>& set, InSet leaving) {
    const Address line_bytes = behind(core, level).line_bytes;
    const Line itself = *leaving;
    set.erase(leaving);
    Line whole = itself;
    const bool is_last = level + 1 == levels_behind();
    const auto number = static_cast<std::size_t>(&core - cores_.data());
    if (itself.prefetched) settle(itself, is_last ? std::nullopt : std::optional(number), false);
    for (Core& in_front : cores_) {
        if (!is_last && &in_front != &core) continue;
        for (const Cache* cache : {&in_front.i1, &in_front.d1}) take_over(*cache, whole, line_bytes);
        if (!is_last) continue;
        for (const Cache& cache : in_front.middle) take_over(cache, whole, line_bytes);
    }
    if (is_last) {
        leaves_core_ = {};
        if (!is_flushing_) {
            gone_.erase(itself.number);
            if (is_counting_()) {
                gone_[itself.number] = {core_, itself.core};
                ++lost_[{core_, itself.core}].lines;
            }
        }
        retire(whole, Event::kAcCost2, Event::kAcCostDL, line_bytes);
        if (is_inclusive_ && !is_flushing_) lose_in_middle(itself);
    } else {
        leaves_core_ = number;
        retire(whole, Event::kAcCostL2, Event::kAcCostD2, line_bytes);
        if (is_exclusive_) return leave_for_last(core, itself);
        pass_on(core, itself, line_bytes, level + 1);
    }
    return whole.dirty;
}

// What is known of a line goes on, byte by byte, to the first level from `level` on that has the byte; its accesses
// once to each line that gets a byte which was touched.
void NaiveCaches::pass_on(Core& core, const Line& line, Address line_bytes, std::size_t level) {
    std::vector<Line*> touched;
    std::vector<Line*> holders(levels_behind());  // the lines with this byte
    for (Address byte = 0; byte < line_bytes; ++byte) {
        const Address address = line.number * line_bytes + byte;
        for (std::size_t i = level; i < levels_behind(); ++i) {
            Cache& cache = behind(core, i);
            if (byte != 0 && address % cache.line_bytes != 0) continue;
            std::list<Line>& set = cache.set_of(address / cache.line_bytes);
            const auto has = [&](const Line& each) { return each.number == address / cache.line_bytes; };
            const auto found = std::ranges::find_if(set, has);
            holders[i] = found == set.end() ? nullptr : &*found;
        }
        if (!line.dirty && !line.touched[byte]) continue;
        for (std::size_t i = level; i < levels_behind(); ++i) {
            Line* found = holders[i];
            if (found == nullptr) continue;
            if (line.dirty) found->dirty = true;
            if (line.touched[byte]) {
                found->touched.set(address % behind(core, i).line_bytes);
                if (std::ranges::find(touched, found) == touched.end()) touched.push_back(found);
            }
            break;
        }
    }
    for (Line* each : touched) each->accesses += line.accesses;
}

// Adds to a line what those of `cache` have gathered that have touched memory in common with it.
void NaiveCaches::take_over(const Cache& cache, Line& line, Address line_bytes) const {
    const Address begin = line.number * line_bytes;
    const Address last = begin + line_bytes - 1;
    for (Address number = begin / cache.line_bytes; number <= last / cache.line_bytes; ++number) {
        for (const Line& copy : cache.sets[cache.set_number(number)]) {
            if (copy.number != number) continue;
            if (copy.dirty) line.dirty = true;
            bool common = false;
            for (Address byte = 0; byte < cache.line_bytes; ++byte) {
                const Address address = number * cache.line_bytes + byte;
                if (!copy.touched[byte] || address / line_bytes != line.number) continue;
                line.touched.set(address % line_bytes);
                common = true;
            }
            if (common) line.accesses += copy.accesses;
        }
    }
}

void NaiveCaches::retire(const Line& line, Event of_all, Event of_data, Address line_bytes) const {
    if (!line.loader) return;
    retire_as(line, of_all, line_bytes);
    if (line.is_data) retire_as(line, of_data, line_bytes);
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
