// SPDX-License-Identifier: GPL-2.0-or-later
//
// Reads options and says what they mean. Calls nothing of Valgrind, so that bdreplay takes the same options.

#include "tool/options.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <concepts>
#include <system_error>

#include "engine/sharing/coherence_marks.h"
#include "tool/function_options.h"

namespace bd {
namespace {

// Each reads a value. Null if it was fine, else what is wrong with it.

const char* read(std::string_view text, bool* flag) {
    if (text != "yes" && text != "no") return "it must be yes or no";
    *flag = text == "yes";
    return nullptr;
}

const char* read(std::string_view text, Choice* choice) {
    if (text != "yes" && text != "no" && text != "auto") return "it must be auto, yes or no";
    *choice = text == "yes" ? Choice::kYes : text == "no" ? Choice::kNo : Choice::kAuto;
    return nullptr;
}

const char* read(std::string_view text, TreeChoice* choice) {
    if (text != "no" && text != "yes" && text != "sites") return "it must be no, yes or sites";
    *choice = text == "no" ? TreeChoice::kNo : text == "yes" ? TreeChoice::kYes : TreeChoice::kSites;
    return nullptr;
}

const char* read(std::string_view text, WhyChoice* choice) {
    if (text != "no" && text != "causes" && text != "yes") return "it must be no, causes or yes";
    *choice = text == "no" ? WhyChoice::kNo : text == "yes" ? WhyChoice::kYes : WhyChoice::kCauses;
    return nullptr;
}

const char* read(std::string_view text, ThreadOrder* order) {
    if (text != "virtual" && text != "valgrind") return "it must be virtual or valgrind";
    *order = text == "virtual" ? ThreadOrder::kVirtual : ThreadOrder::kValgrind;
    return nullptr;
}

const char* read(std::string_view text, CoherenceChoice* choice) {
    if (text != "auto" && text != "mesi" && text != "moesi") return "it must be auto, mesi or moesi";
    *choice = text == "auto"   ? CoherenceChoice::kAuto
              : text == "mesi" ? CoherenceChoice::kMesi
                               : CoherenceChoice::kMoesi;
    return nullptr;
}

const char* read(std::string_view text, ContextRecursion* recursion) {
    if (text != "folded" && text != "apart") return "it must be folded or apart";
    *recursion = text == "folded" ? ContextRecursion::kFolded : ContextRecursion::kApart;
    return nullptr;
}

const char* read(std::string_view text, SystemTime* unit) {
    if (text == "no") {
        *unit = SystemTime::kNo;
    } else if (text == "yes" || text == "msec") {
        *unit = SystemTime::kMilliseconds;
    } else if (text == "usec") {
        *unit = SystemTime::kMicroseconds;
    } else if (text == "nsec") {
        *unit = SystemTime::kNanoseconds;
    } else {
        return "it must be no, yes, msec, usec or nsec";
    }
    return nullptr;
}

const char* read(std::string_view text, const char** value) {
    if (text.empty()) return "it must not be empty";
    *value = text.data();  // the end of an argument
    return nullptr;
}

const char* read(std::string_view text, PathOption* paths) {
    PatternOption option{};
    if (text != "no" && text != "yes") {
        if (const char* const error = read(text, &option.pattern)) return error;
        paths->add(option);
    }
    paths->follows = text != "no";
    paths->all = text == "yes";
    return nullptr;
}

template <std::unsigned_integral Number>
const char* read(std::string_view text, Number* number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
    if (text.empty() || error == std::errc::invalid_argument || end != text.data() + text.size()) {
        return "it must be a number";
    }
    return error == std::errc{} ? nullptr : "it is too large";
}

const char* read(std::string_view text, CoreCount* cores) {
    static_assert(kMostCores == 64);
    constexpr const char* kForm = "it must be no, threads or a number from 1 to 64";
    std::uint32_t count = text == "threads" ? kMostCores : 0;
    if (text != "no" && text != "threads") {
        if (read(text, &count) != nullptr || count == 0 || count > kMostCores) return kForm;
    }
    cores->count = count;
    return nullptr;
}

const char* read(std::string_view text, EngineThreadCount* threads) {
    threads->is_auto = text == "auto";
    threads->count = 0;
    if (threads->is_auto || (read(text, &threads->count) == nullptr && threads->count <= 2)) return nullptr;
    *threads = {};
    return "it must be auto, 0, 1 or 2";
}

const char* read(std::string_view text, SampleOption* sample) {
    static_assert(SampleOption::kLeastLength == 100'000);
    constexpr const char* kForm = "it must be no, bursts, or bursts,<length>,<period>,<seed> in numbers";
    sample->bursts = {};
    if (text == "no") return nullptr;
    BurstRules bursts{.length = 2'000'000, .period = 100'000'000, .seed = 1};
    std::uint64_t* const numbers[]{&bursts.length, &bursts.period, &bursts.seed};
    std::size_t given = 0;
    for (std::size_t comma = text.find(','); comma != text.npos; ++given) {
        const std::size_t begin = comma + 1;
        comma = text.find(',', begin);
        if (given == std::size(numbers) || read(text.substr(begin, comma - begin), numbers[given])) return kForm;
    }
    if (text.substr(0, text.find(',')) != "bursts" || given == 1) return kForm;
    if (bursts.length < SampleOption::kLeastLength) return "the length must be at least 100000 blocks";
    if (bursts.period < 2 * bursts.length) return "the period must be at least twice as long as the length";
    if (bursts.period > std::uint64_t{1} << 62) return "the period is too long";
    sample->bursts = bursts;
    return nullptr;
}

const char* read(std::string_view text, CacheOption* cache) {
    const char* error = parse_geometry(text, &cache->geometry);
    if (error == nullptr) error = geometry_error(cache->geometry);
    cache->given = error == nullptr;
    return error;
}

const char* read(std::string_view text, PolicyOption* policy) {
    const char* const error = parse_replacement(text, &policy->replacement);
    policy->given = error == nullptr;
    return error;
}

const char* read(std::string_view text, FirstPolicyOption* policy) {
    constexpr const char* kForm = "it must be lru, tree-plru, lru3plru4, fifo or random[,<seed>]";
    FirstPolicyOption given;
    if (read(text, static_cast<PolicyOption*>(&given)) != nullptr) return kForm;
    if (!given.replacement.follows_from_times()) return kForm;
    *policy = given;
    return nullptr;
}

const char* read(std::string_view text, IndexOption* index) {
    if (text != "bits" && text != "hash") return "it must be bits or hash";
    index->index = text == "bits" ? SetIndex::kBits : SetIndex::kHash;
    return nullptr;
}

const char* read(std::string_view text, InclusionOption* option) {
    option->given = true;
    if (text == "none") {
        option->inclusion = Inclusion::kNone;
    } else if (text == "inclusive") {
        option->inclusion = Inclusion::kInclusive;
    } else if (text == "exclusive") {
        option->inclusion = Inclusion::kExclusive;
    } else {
        return "it must be none, inclusive or exclusive";
    }
    return nullptr;
}

const char* read(std::string_view text, PagesOption* pages) {
    const char* const error = parse_page_rules(text, &pages->rules);
    pages->given = error == nullptr;
    return error;
}

const char* read(std::string_view text, PlacementCount* placements) {
    static_assert(Placements::kLeast == 2 && Placements::kMost == 32);
    constexpr const char* kForm = "it must be no, or a number from 2 to 32";
    std::uint32_t count = 0;
    if (text != "no") {
        if (read(text, &count) != nullptr || count < Placements::kLeast || count > Placements::kMost) return kForm;
    }
    placements->count = count;
    return nullptr;
}

const char* read(std::string_view text, PrefetchOption* prefetch) {
    PrefetchRules rules{};
    for (std::string_view rest = text; text != "no";) {
        const std::size_t comma = rest.find(',');
        const std::string_view name = rest.substr(0, comma);
        if (name == "adjacent") {
            rules.adjacent = true;
        } else if (name == "next") {
            rules.next = true;
        } else if (name == "stream") {
            rules.stream = true;
        } else if (name == "stride") {
            rules.stride = true;
        } else {
            return "it must be no, or some of adjacent, next, stream and stride with commas between them";
        }
        if (comma == rest.npos) break;
        rest.remove_prefix(comma + 1);
    }
    prefetch->rules = rules;
    return nullptr;
}

const char* read(std::string_view text, MachineOption* machine) {
    *machine = {.preset = find_machine_preset(text), .is_native = text == "native", .lists = text == "list"};
    if (machine->preset != nullptr || machine->is_native || machine->lists) return nullptr;
    return "it must be native or a name that --machine=list shows";
}

const char* read(std::string_view text, TlbOption* tlb) {
    *tlb = {.simulates = text != "no", .preset = find_machine_preset(text)};
    if (text == "no" || text == "yes" || tlb->preset != nullptr) return nullptr;
    if (text.empty() || text.front() < '0' || text.front() > '9') {
        *tlb = {};
        return "it must be no, yes, a name that --machine=list shows, or four numbers";
    }
    const char* const error = parse_tlbs(text, &tlb->given);
    if (error != nullptr) *tlb = {};
    return error;
}

const char* read(std::string_view text, MiddleCacheOption* cache) {
    if (text != "no") return read(text, static_cast<CacheOption*>(cache));
    *cache = {};
    cache->given = true;
    return nullptr;
}

// Takes `start` off the start of `text`, if it is there.
bool take_off_start(std::string_view& text, std::string_view start) {
    if (!text.starts_with(start)) return false;
    text.remove_prefix(start.size());
    return true;
}

// Whether `argument` is --name=value; reads the value then.
template <class Value>
bool take(std::string_view argument, const char* name, Value* value, const char* form, OptionError* error) {
    if (!take_off_start(argument, "--") || !take_off_start(argument, name) || !take_off_start(argument, "=")) {
        return false;
    }
    *error = {.name = name, .form = form, .value = argument.data(), .message = read(argument, value)};
    return true;
}

// The same where each option is one more value. <n> in the name stands for a number.
bool take(std::string_view argument, const char* name, PatternList* patterns, const char* form, OptionError* error) {
    constexpr std::string_view kNumber = "<n>";
    std::string_view plain_name = name;
    const bool numbered = plain_name.ends_with(kNumber);
    if (numbered) plain_name.remove_suffix(kNumber.size());
    if (!take_off_start(argument, "--") || !take_off_start(argument, plain_name)) return false;
    PatternOption option{};
    if (numbered) {
        const std::size_t digits = std::min(argument.find('='), argument.size());
        if (read(argument.substr(0, digits), &option.number) != nullptr) return false;
        argument.remove_prefix(digits);
    }
    if (!take_off_start(argument, "=")) return false;
    *error = {.name = name, .form = form, .value = argument.data(), .message = read(argument, &option.pattern)};
    const bool is_argument = numbered && (plain_name == "alloc-fn" || plain_name == "free-fn");
    if (is_argument && (option.number < 1 || option.number > AllocatorRole::kMostArgument)) {
        error->message = "only arguments 1 to 3 are known";
    }
    if (error->message == nullptr) patterns->add(option);
    return true;
}

// Whether `argument` is one of all options.
bool take_any(std::string_view argument, Options* result, OptionError* error) {
#define BD_TAKE(kind, field, name, initial, form, help) \
    if (take(argument, name, &result->field, form, error)) return true;
#define BD_NO_GROUP(title)
    BD_OPTIONS(BD_TAKE, BD_NO_GROUP)
#undef BD_NO_GROUP
#undef BD_TAKE
    return take(argument, "earlier-parts", &result->earlier_parts, "<n>", error) ||
           take(argument, "parents-file", &result->parents_file, "<file>", error);
}

// The sentences name these.
static_assert(ObjectRules::kMostDepth == 64 && ContextTree::kMostNodes == 1'073'741'824 &&
              FlowPaths::kMostNodes == 1'073'741'824);

// What is out of its range has its initial value again.
const char* range_error(Options* given) {
    const Options initial{};
    if (given->objects_depth < 1 || given->objects_depth > ObjectRules::kMostDepth) {
        given->objects_depth = initial.objects_depth;
        return "it must be from 1 to 64";
    }
    if (given->context_tree_nodes > ContextTree::kMostNodes) {
        given->context_tree_nodes = initial.context_tree_nodes;
        return "it must be at most 1073741824";
    }
    if (given->paths_nodes > FlowPaths::kMostNodes) {
        given->paths_nodes = initial.paths_nodes;
        return "it must be at most 1073741824";
    }
    if (given->thread_slice == 0) {
        given->thread_slice = initial.thread_slice;
        return "it must be at least 1";
    }
    return nullptr;
}

}  // namespace

bool parse_option(const char* argument, Options* result, OptionError* error) {
    if (!take_any(argument, result, error)) return false;
    if (error->message == nullptr) error->message = range_error(result);
    return true;
}

namespace {

// Whose TLBs --tlb=yes or --tlb=<name> means.
const MachinePreset& tlb_preset(const Options& given) {
    if (given.tlb.preset != nullptr) return *given.tlb.preset;
    return given.machine.model() != nullptr ? *given.machine.model() : preset_of_typical_tlbs();
}

}  // namespace

CoherenceProtocol coherence_protocol(const Options& given) {
    switch (given.coherence) {
        case CoherenceChoice::kMesi:
            return CoherenceProtocol::kMesi;
        case CoherenceChoice::kMoesi:
            return CoherenceProtocol::kMoesi;
        case CoherenceChoice::kAuto:
            break;
    }
    return given.machine.model() != nullptr ? given.machine.model()->coherence : CoherenceProtocol::kMesi;
}

namespace {

bool has_same_sets(const CacheGeometry& one, const CacheGeometry& other) {
    return one.size_bytes == other.size_bytes && one.ways == other.ways && one.line_bytes == other.line_bytes;
}

}  // namespace

EngineConfig engine_config(const Options& given, const CacheGeometries& caches) {
    EngineConfig config{.caches = caches,
                        .cache_sim = given.cache_sim,
                        .cache_use = given.cache_use,
                        .contexts = context_rules(given),
                        .collect_at_start = given.collect_atstart == Choice::kYes ||
                                            (given.collect_atstart == Choice::kAuto && given.toggle_collect.empty()),
                        .separate_threads = given.separate_threads,
                        .dump_every = given.dump_every_bb,
                        .write_back = given.simulate_wb,
                        .callgrind_prefetcher = given.simulate_hwpref,
                        .prefetchers = given.prefetch.rules,
                        .l2_prefetchers = given.l2_prefetch.rules,
                        .branch_sim = given.branch_sim,
                        .collect_jumps = given.collect_jumps || given.has_structure(),
                        .bus_events = given.collect_bus,
                        .system_calls = given.collect_systime != SystemTime::kNo,
                        .system_cpu_time = given.collect_systime == SystemTime::kNanoseconds,
                        .context_tree = given.context_tree != TreeChoice::kNo,
                        .context_tree_rules = {
                            .by_site = given.context_tree == TreeChoice::kSites,
                            .recursion = given.context_tree_recursion,
                            .most_nodes = given.context_tree_nodes},
                        .flow_paths = given.paths.follows,
                        .flow_rules = {.most_nodes = given.paths_nodes},
                        .objects = given.objects && given.cache_sim && given.cache_use,
                        .object_rules = {.depth = given.objects_depth},
                        .orders = given.why == WhyChoice::kYes && given.cache_sim,
                        .why = given.why != WhyChoice::kNo && given.cache_sim,
                        .reuses = given.why == WhyChoice::kYes};
    if (given.machine.preset != nullptr) config.caches = given.machine.preset->caches;
    if (given.i1.given) config.caches.i1 = given.i1.geometry;
    if (given.d1.given) config.caches.d1 = given.d1.geometry;
    if (given.l2.given) config.caches.l2 = given.l2.geometry;
    if (given.ll.given) config.caches.ll = given.ll.geometry;
    if (config.why) config.reuse_rules.least_distance = given.curve_from / config.caches.d1.line_bytes;
    if (config.caches.has_l2()) {
        config.caches.l2.replacement = given.l2_replacement.replacement;
        config.caches.l2.index = given.l2_index.index;
    }
    if (given.machine.model() != nullptr) {
        const CacheGeometries& caches_of_model = given.machine.model()->caches;
        config.caches.ll_inclusion = caches_of_model.ll_inclusion;
        if (has_same_sets(config.caches.d1, caches_of_model.d1)) {
            config.caches.d1.replacement = caches_of_model.d1.replacement;
        }
    }
    if (given.i1_replacement.given) config.caches.i1.replacement = given.i1_replacement.replacement;
    if (given.d1_replacement.given) config.caches.d1.replacement = given.d1_replacement.replacement;
    // A machine's own is not that of other caches in its place.
    if (!config.caches.allow(config.caches.ll_inclusion)) config.caches.ll_inclusion = Inclusion::kNone;
    if (given.ll_inclusion.given) config.caches.ll_inclusion = given.ll_inclusion.inclusion;
    config.caches.pages = given.pages.rules;
    if (config.cache_sim && given.placements.count != 0) {
        config.placements = given.placements.count;
        if (!given.pages.given) config.caches.pages.frames = PageFrames::kRandom;
    }
    config.caches.ll.replacement = given.ll_replacement.replacement;
    config.caches.ll.index = given.ll_index.index;
    if (config.cache_sim && given.tlb.simulates) {
        config.tlbs = given.tlb.given.any() ? given.tlb.given : tlb_preset(given).tlbs;
    }
    if (config.cache_sim && config.caches.d1.line_bytes <= 64) config.cores = given.cores.count;
    config.coherence = coherence_protocol(given);
    return config;
}

const char* unit_description(SystemTime unit) {
    switch (unit) {
        case SystemTime::kNo:
            break;
        case SystemTime::kMilliseconds:
            return "sysTime: in milliseconds";
        case SystemTime::kMicroseconds:
            return "sysTime: in microseconds";
        case SystemTime::kNanoseconds:
            return "sysTime: in nanoseconds, sysCpuTime too";
    }
    return nullptr;
}

void write_thread_order(TextOutput& out, const Options& given) {
    out << "Cores: ";
    if (given.cores.count == kMostCores) {
        out << "one for each thread";
    } else {
        out << given.cores.count;
    }
    if (given.thread_order == ThreadOrder::kValgrind) {
        out << ", threads in Valgrind's order";
    } else {
        out << ", slices of " << given.thread_slice << " instructions";
    }
    if (coherence_protocol(given) == CoherenceProtocol::kMoesi) out << ", MOESI";
    if (given.why != WhyChoice::kNo) out << ", one set of caches for all";
}

void write_tlb_source(TextOutput& out, const Options& given) {
    if (given.tlb.given.any()) {
        out << "as on the command line";
        return;
    }
    const MachinePreset& preset = tlb_preset(given);
    out << "those of " << preset.name << ", " << preset.processor;
    if (given.tlb.preset == nullptr && given.machine.model() == nullptr) out << ", as this machine's are not known";
}

const char* caches_error(const CacheGeometries& caches) {
    // Each geometry is legal; a policy may not go with it.
    constexpr struct {
        const CacheGeometry CacheGeometries::*cache;
        const char* error;
    } kWithPolicies[]{
        {&CacheGeometries::i1, "--I1-replacement=tree-plru needs a power of two of ways in I1, lru3plru4 needs 12."},
        {&CacheGeometries::d1, "--D1-replacement=tree-plru needs a power of two of ways in D1, lru3plru4 needs 12."},
        {&CacheGeometries::l2, "--L2-replacement=tree-plru needs a power of two of ways in L2, lru3plru4 needs 12."},
        {&CacheGeometries::ll, "--LL-replacement=tree-plru needs a power of two of ways in LL, lru3plru4 needs 12."},
    };
    for (const auto& [cache, error] : kWithPolicies) {
        if ((caches.*cache).size_bytes != 0 && geometry_error(caches.*cache) != nullptr) return error;
    }
    if (!caches.allow(caches.ll_inclusion)) {
        return caches.is_exclusive()
                   ? "--LL-inclusion=exclusive needs an L2 (--L2=) whose lines are as long as those of LL."
                   : "--LL-inclusion=inclusive needs an LL whose lines are at least as long as those of the others.";
    }
    return nullptr;
}

const char* placements_error(const EngineConfig& config) {
    if (config.placements == 0) return nullptr;
    if (config.caches.pages.frames != PageFrames::kRandom) {
        return "--placements needs pages at random: leave out --pages, or give --pages=random,<seed>.";
    }
    if (config.caches.is_inclusive()) {
        return "--placements cannot be combined with an inclusive LL: give --LL-inclusion=none, too.";
    }
    if (config.cores != 0) return "--placements cannot be combined with --cores: leave one of them out.";
    if (config.separate_threads) {
        return "--placements cannot be combined with --separate-threads=yes: leave one of them out.";
    }
    return nullptr;
}

const char* curve_error(const Options& given, const EngineConfig& config) {
    if (!config.why || given.curve_from == 0) return nullptr;
    if (!std::has_single_bit(given.curve_from)) return "--curve-from must be a power of two.";
    const CacheGeometry& d1 = config.caches.d1;
    if (given.curve_from < 2 * d1.line_bytes) return "--curve-from must be at least two lines of D1.";
    if (given.curve_from >= d1.size_bytes) return "--curve-from must be less than the size of D1.";
    return nullptr;
}

std::string_view geometry_source(const Options& given, std::string_view source) {
    if (given.i1.given && given.d1.given && given.ll.given) return "as on the command line";
    return given.machine.preset == nullptr ? source : given.machine.preset->source;
}

}  // namespace bd
