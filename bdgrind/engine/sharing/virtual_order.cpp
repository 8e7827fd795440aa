// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/sharing/virtual_order.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/base/check.h"

namespace bd {
namespace {

// A piece has room for at most so many times its words.
constexpr std::size_t kMostRoom = 8;

// At least so many words without markers between them are put out where they are.
constexpr std::size_t kFewestLent = 1024;

// How many records before it is needed the host is told of an exit.
constexpr int kRecordsAhead = 4;

// The host is told of an exit: both of its lines are needed.
[[gnu::always_inline]] inline void host_prefetch(const Exit& exit) {
    const char* const begin = reinterpret_cast<const char*>(&exit);
    __builtin_prefetch(begin);
    __builtin_prefetch(begin + 64);
}

bool is_atomic(const Exit& exit, std::uint16_t instruction) {
    return std::ranges::any_of(exit.block->accesses().first(exit.accesses), [=](const Access& access) {
        return access.instruction == instruction && access.kind == AccessKind::kBus;
    });
}

// The empty instruction keeps the compiler from calling memmove, which in Valgrind's core goes byte by byte.
void copy_words(const Word* from, std::size_t words, Word* to) {
    for (std::size_t i = 0; i < words; ++i) {
        to[i] = from[i];
        asm volatile("");
    }
}

// Whether any access of a group writes.
struct Writes {
    const Exit& exit;
    const AccessGroup& group;

    bool operator()() const {
        const Access* const first = &exit.block->accesses_[group.first];
        return std::any_of(first, first + group.accesses, [](const Access& each) { return is_write(each.kind); });
    }
};

std::uint64_t mask_of(unsigned offset, unsigned bytes) {
    return AccessGroup::mask(bytes) << offset;
}

}  // namespace

VirtualOrder::Thread& VirtualOrder::thread(std::uint32_t id) {
    if (threads_.size() <= id) threads_.resize(id + std::size_t{1});
    if (threads_[id] == nullptr) threads_[id] = std::make_unique<Thread>();
    return *threads_[id];
}

bool VirtualOrder::ends_piece(Word first) {
    return first == marker_word(Marker::kThread) || first == marker_word(Marker::kThreadCreate) ||
           first == marker_word(Marker::kThreadEnd) || first == marker_word(Marker::kSignalEnter);
}

void VirtualOrder::take(Batch batch, bool is_of_one_piece) {
    const Word* begin = batch.data();
    const Word* const end = begin + batch.size();
    for (const Word* at = begin; at < end && !is_of_one_piece; at += record_words(at[0])) {
        if (!ends_piece(at[0])) continue;
        add_piece(running_, {begin, at});
        begin = at;
        note_markers(at);
    }
    add_piece(running_, {begin, end});
    run(false);
}

void VirtualOrder::note_markers(const Word* record) {
    const auto id = static_cast<std::uint32_t>(record[1]);
    if (record[0] == marker_word(Marker::kThread)) {
        running_ = id;
        Thread& going_on = thread(id);
        going_on.can_run = true;
        going_on.core = static_cast<std::uint8_t>(core_of_thread(id, record[2], rules_.cores));
    } else if (record[0] == marker_word(Marker::kThreadCreate)) {
        has_threads_ = true;
        Thread& created = thread(static_cast<std::uint32_t>(record[2]));
        created.after = taken_;
        created.can_run = true;
    } else if (record[0] == marker_word(Marker::kThreadEnd)) {
        latest_end_ = taken_;
        thread(id).can_run = false;
        std::erase(waiters_, id);
    } else {
        acquire(id, true);
    }
}

VirtualOrder::Piece& VirtualOrder::new_piece() {
    if (spare_.empty()) spare_.push_back(std::make_unique<Piece>());
    pieces_.push_back(std::move(spare_.back()));
    spare_.pop_back();
    return *pieces_.back();
}

void VirtualOrder::add_piece(std::uint32_t id, Batch words) {
    if (words.empty()) return;
    Piece& piece = new_piece();
    // Where threads hand over often, there are many short pieces. None of them keeps the room of a long one.
    if (piece.room_words < words.size() || piece.room_words > kMostRoom * (words.size() + kMarkerWords)) {
        piece.room = std::make_unique_for_overwrite<Word[]>(words.size());
        piece.room_words = words.size();
    }
    copy_words(words.data(), words.size(), piece.room.get());
    append(id, &piece, words.size());
}

Word* VirtualOrder::buffer(std::size_t words) {
    if (buffer_ == nullptr && spare_buffers_.empty()) {
        buffer_ = std::make_unique_for_overwrite<Word[]>(words);
        buffer_words_ = words;
    } else if (buffer_ == nullptr) {
        buffer_ = std::move(spare_buffers_.back());
        spare_buffers_.pop_back();
    }
    BD_CHECK(words == buffer_words_);
    return buffer_.get();
}

void VirtualOrder::take_buffer(std::size_t words) {
    BD_CHECK(words != 0 && words <= buffer_words_);
    Piece& piece = new_piece();
    piece.room = std::move(buffer_);
    piece.room_words = buffer_words_;
    piece.is_buffer = true;
    append(running_, &piece, words);
    run(false);
}

// Gives a piece that has its words to a thread.
void VirtualOrder::append(std::uint32_t id, Piece* piece, std::size_t words) {
    piece->words = words;
    piece->begin = taken_;
    taken_ += words;
    Thread& owner = thread(id);
    piece->core = owner.core;
    piece->after = std::exchange(owner.after, 0);
    if (!has_threads_) {
        piece->simulated = words;
        return;
    }
    if (owner.waiting.empty()) owner.clock = std::max(owner.clock, now_);
    owner.waiting.push_back(piece);
    words_waiting_ += words;
}

// Another piece can be made of it.
void VirtualOrder::done_with(std::unique_ptr<Piece> piece) {
    if (std::exchange(piece->is_buffer, false)) {
        spare_buffers_.push_back(std::move(piece->room));
        piece->room_words = 0;
    }
    piece->marks.clear();
    piece->words = piece->simulated = piece->put_out = piece->marks_put_out = 0;
    spare_.push_back(std::move(piece));
}

void VirtualOrder::begin_wait(std::uint32_t id, Address word) {
    Thread& waiting = thread(id);
    waiting.can_run = false;
    waiting.waits_at = word;
    waiting.waits_since = taken_;
    waiting.woken = 0;
    std::erase(waiters_, id);
    waiters_.push_back(id);
}

void VirtualOrder::wake(Address word, std::uint64_t count) {
    for (std::size_t i = 0; i < waiters_.size() && count != 0;) {
        Thread& waiting = thread(waiters_[i]);
        if (waiting.waits_at != word) {
            ++i;
            continue;
        }
        waiting.woken = taken_;
        waiting.can_run = true;
        waiters_.erase(waiters_.begin() + static_cast<std::ptrdiff_t>(i));
        --count;
    }
}

void VirtualOrder::end_wait(std::uint32_t id) {
    Thread& going_on = thread(id);
    going_on.can_run = true;
    std::erase(waiters_, id);
    std::uint64_t after = going_on.woken;
    if (after == 0 && latest_end_ > going_on.waits_since) after = latest_end_;
    going_on.after = std::max(going_on.after, after);
}

void VirtualOrder::release(std::uint32_t id) {
    Thread& releasing = thread(id);
    releasing.released = taken_;
    releasing.can_run = false;
}

void VirtualOrder::acquire(std::uint32_t id, bool has_waited) {
    Thread& going_on = thread(id);
    going_on.can_run = true;
    if (has_waited) going_on.after = std::max(going_on.after, latest_release(id));
}

std::uint64_t VirtualOrder::latest_release(std::uint32_t but) const {
    std::uint64_t latest = 0;
    for (std::size_t id = 0; id < threads_.size(); ++id) {
        if (threads_[id] != nullptr && id != but) latest = std::max(latest, threads_[id]->released);
    }
    return latest;
}

// The first word of a thread that has not been simulated, by its number in the trace.
std::uint64_t VirtualOrder::next_word(const Thread& thread) const {
    if (thread.waiting.empty()) return std::numeric_limits<std::uint64_t>::max();
    return thread.waiting.front()->begin + thread.waiting.front()->simulated;
}

// Whether the thread must wait until others have been simulated further.
bool VirtualOrder::is_held(const Thread& thread) const {
    const Piece& next = *thread.waiting.front();
    if (next.simulated != 0 || next.after == 0) return false;
    return std::ranges::any_of(threads_, [&](const std::unique_ptr<Thread>& other) {
        return other != nullptr && other.get() != &thread && next_word(*other) < next.after;
    });
}

// Whether there are no records yet of a thread that can run, so that the others should not go on.
bool VirtualOrder::waits_for_others() const {
    std::size_t threads = 0;
    bool is_waiting = false;
    for (const std::unique_ptr<Thread>& each : threads_) {
        if (each == nullptr || (!each->can_run && each->waiting.empty())) continue;
        ++threads;
        is_waiting |= each->waiting.empty();
    }
    return is_waiting && words_waiting_ < rules_.most_waiting * threads;
}

// The thread with the lowest clock of those that are not held; null if no thread has records to simulate. The thread
// with the first word that has not been simulated is never held.
VirtualOrder::Thread* VirtualOrder::choose() {
    Thread* chosen = nullptr;
    for (const std::unique_ptr<Thread>& each : threads_) {
        if (each == nullptr || each->waiting.empty()) continue;
        if (rules_.is_virtual) {
            if (is_held(*each)) {
                each->clock = std::max(each->clock, now_);
                continue;
            }
            if (chosen == nullptr || each->clock < chosen->clock) chosen = each.get();
        } else if (chosen == nullptr || next_word(*each) < next_word(*chosen)) {
            chosen = each.get();
        }
    }
    return chosen;
}

void VirtualOrder::run(bool all) {
    while (all || !rules_.is_virtual || !waits_for_others()) {
        Thread* const chosen = choose();
        if (chosen == nullptr) return;
        run_slice(*chosen);
    }
}

void VirtualOrder::run_slice(Thread& thread) {
    now_ = thread.clock;
    const std::uint64_t end = thread.clock + rules_.slice;
    while (!thread.waiting.empty() && thread.clock < end) {
        Piece* const piece = thread.waiting.front();
        if (rules_.is_virtual && is_held(thread)) return;
        const std::uint64_t whole = std::numeric_limits<std::uint64_t>::max();
        const std::size_t before = piece->simulated;
        thread.clock += simulate(piece, rules_.is_virtual ? end - thread.clock : whole);
        words_waiting_ -= piece->simulated - before;
        if (piece->simulated == piece->words) thread.waiting.pop_front();
        if (!rules_.is_virtual) return;
    }
}

// Simulates a piece until `instructions` have been executed. Returns how many were.
std::uint64_t VirtualOrder::simulate(Piece* piece, std::uint64_t instructions) {
    std::uint64_t done = 0;
    const Word* const words = piece->room.get();
    const std::size_t size = piece->words;
    const std::size_t begin = piece->simulated;
    std::size_t at = begin;
    std::size_t ahead = begin;
    for (int i = 0; i < kRecordsAhead && ahead < size; ++i) ahead += record_words(words[ahead]);
    while (at < size && done < instructions) {
        if (ahead < size) {
            host_prefetch(exit_of(words[ahead]));
            ahead += record_words(words[ahead]);
        }
        const Word first = words[at];
        if (!is_marker(first)) {
            const Exit& exit = exit_of(first);
            simulate_record(piece, exit, words + at);
            done += exit.instructions;
        }
        at += record_words(first);
    }
    piece->simulated = at;
    // Other threads have their turn now. What this one did next is far from the host's processor, as it has waited for
    // them, and too little at a time for the host to see that it is read in order.
    constexpr std::size_t kHostLineWords = 64 / sizeof(Word);
    const std::size_t end = std::min(size, at + (at - begin));
    for (std::size_t line = at; line < end; line += kHostLineWords) __builtin_prefetch(words + line);
    return done;
}

[[gnu::always_inline]] inline void VirtualOrder::simulate_record(Piece* piece, const Exit& exit, const Word* record) {
    const std::uint8_t core = piece->core;
    const unsigned line_bits = rules_.line_bits;
    const Address line_bytes = Address{1} << line_bits;
    const AccessGroup* group = exit.first_group;
    const AccessGroup* const last = group + exit.groups;
    for (const Word* address = record + kHeaderWords; group != last; ++group, ++address) {
        const Address lowest = *address - group->before;
        if (__builtin_expect((lowest & (line_bytes - 1)) + group->span <= line_bytes, 1) &&
            __builtin_expect(coherence_.knows(core, LineNumber{lowest >> line_bits}, Writes{exit, *group}), 1)) {
            continue;
        }
        simulate_group(piece, exit, *group, record, *address);
    }
}

// Simulates a group of a record that lies in several lines, or that may change something in its line.
[[gnu::noinline]] void VirtualOrder::simulate_group(Piece* piece, const Exit& exit, const AccessGroup& group,
                                                    const Word* record, Address base) {
    const std::uint8_t core = piece->core;
    const unsigned line_bits = rules_.line_bits;
    const Address line_bytes = Address{1} << line_bits;
    const Address lowest = base - group.before;
    if ((lowest & (line_bytes - 1)) + group.span <= line_bytes &&
        coherence_.change_nothing(core, LineNumber{lowest >> line_bits}, Writes{exit, group})) {
        return;
    }
    const Access* access = &exit.block->accesses_[group.first];
    if (base == 0 && access->guarded) return;
    const auto behind = static_cast<std::size_t>(record - piece->room.get()) + record_words(*record);
    for (const Access* const last = access + group.accesses; access != last; ++access) {
        Address address = base + static_cast<Address>(std::int64_t{access->distance});
        for (const Address end = address + access->size; address < end;) {
            const auto offset = static_cast<unsigned>(address & (line_bytes - 1));
            const auto bytes = static_cast<unsigned>(std::min(line_bytes - offset, end - address));
            const bool writes = is_write(access->kind);
            const CoherenceOutcome outcome =
                coherence_.access(core, LineNumber{address >> line_bits}, mask_of(offset, bytes), writes, &ends_);
            if (__builtin_expect(!outcome.is_nothing(), 0)) {
                add_mark(piece, behind, Marker::kCoherence,
                         CoherenceMark{
                             .access = static_cast<std::uint16_t>(access - exit.block->accesses_),
                             .core = core,
                             .invalidated = outcome.invalidated,
                             .transferred = outcome.transferred,
                             .lost = outcome.lost,
                             .is_write = writes,
                             .is_atomic = is_atomic(exit, access->instruction),
                             .is_followed = outcome.is_followed,
                             .bytes = bytes,
                             .address = address,
                         }
                             .to_values());
                for (const CoreUseMark& end_of_use : ends_) {
                    add_mark(piece, behind, Marker::kCoreUse, end_of_use.to_values());
                }
                ends_.clear();
            }
            address += bytes;
        }
    }
}

void VirtualOrder::add_mark(Piece* piece, std::size_t behind, Marker marker,
                            const std::array<Word, kMarkerValues>& values) {
    Piece::Mark& mark = piece->marks.emplace_back();
    mark.behind = behind;
    mark.words[0] = marker_word(marker);
    std::ranges::copy(values, mark.words.begin() + 1);
}

// How many words of a piece can be put out where they are: up to the next marker, if that is not near.
std::size_t VirtualOrder::lendable(const Piece& piece) {
    const bool has_mark = piece.marks_put_out < piece.marks.size();
    const std::size_t words = (has_mark ? piece.marks[piece.marks_put_out].behind : piece.words) - piece.put_out;
    return words < kFewestLent ? 0 : words;
}

Batch VirtualOrder::put_out(Word* to, std::size_t most, bool may_lend) {
    if (lent_ != nullptr) done_with(std::move(lent_));
    std::size_t done = 0;
    while (has_output()) {
        Piece& piece = *pieces_.front();
        while (piece.put_out < piece.words || piece.marks_put_out < piece.marks.size()) {
            if (const std::size_t words = may_lend ? lendable(piece) : 0; words != 0) {
                if (done != 0) return {to, done};
                const Batch lent(piece.room.get() + piece.put_out, words);
                piece.put_out += words;
                if (piece.put_out == piece.words && piece.marks_put_out == piece.marks.size()) {
                    lent_ = std::move(pieces_.front());
                    pieces_.pop_front();
                }
                return lent;
            }
            const bool has_mark = piece.marks_put_out < piece.marks.size();
            if (has_mark && piece.marks[piece.marks_put_out].behind == piece.put_out) {
                if (most - done < kMarkerWords) return {to, done};
                std::ranges::copy(piece.marks[piece.marks_put_out++].words, to + done);
                done += kMarkerWords;
                continue;
            }
            // Up to the next mark, as far as there is room.
            const std::size_t stop = has_mark ? piece.marks[piece.marks_put_out].behind : piece.words;
            std::size_t end = stop;
            if (stop - piece.put_out > most - done) {
                end = piece.put_out;
                for (;;) {
                    const std::size_t next = end + record_words(piece.room[end]);
                    if (next - piece.put_out > most - done) break;
                    end = next;
                }
                if (end == piece.put_out) return {to, done};
            }
            copy_words(piece.room.get() + piece.put_out, end - piece.put_out, to + done);
            done += end - piece.put_out;
            piece.put_out = end;
        }
        done_with(std::move(pieces_.front()));
        pieces_.pop_front();
    }
    return {to, done};
}

void VirtualOrder::empty_caches() {
    BD_CHECK(pieces_.empty());
    coherence_.clear();
}

void VirtualOrder::start_in_child() {
    empty_caches();
    threads_.clear();
    waiters_.clear();
    has_threads_ = false;
}

}  // namespace bd
