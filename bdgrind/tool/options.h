// SPDX-License-Identifier: GPL-2.0-or-later
//
// The command line. One table holds all options: fields, defaults, parser, --help and the manual expand from it.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/geometry.h"
#include "engine/base/text_output.h"
#include "engine/replay/engine.h"
#include "tool/burst_schedule.h"
#include "tool/machine_presets.h"

namespace bd {

// A cache named on the command line.
struct CacheOption {
    bool given = false;
    CacheGeometry geometry{};
};
struct MiddleCacheOption : CacheOption {};  // of no bytes: there is to be none

// How a cache chooses places for its lines.
struct PolicyOption {
    bool given = false;
    Replacement replacement{};
};
struct FirstPolicyOption : PolicyOption {};  // of I1 or D1: one that follows_from_times()
struct IndexOption {
    SetIndex index = SetIndex::kBits;
};

struct InclusionOption {
    bool given = false;
    Inclusion inclusion = Inclusion::kNone;
};

struct PrefetchOption {
    PrefetchRules rules{};
};
struct PagesOption {
    bool given = false;
    PageRules rules{};
};

// In how many placements of pages the levels behind L1 are simulated side by side.
struct PlacementCount {
    std::uint32_t count = 0;  // 0: in one
};

// Whose caches are simulated, but for those that have options of their own.
struct MachineOption {
    const MachinePreset* preset = nullptr;
    bool is_native = false;               // all levels of this machine
    bool lists = false;                   // the presets are to be listed, and nothing else
    const MachinePreset* like = nullptr;  // with is_native: the preset of its kind of processor, if there is one

    // Where what is not about sizes is from: TLBs, coherence, the inclusion of levels; null: not known.
    const MachinePreset* model() const { return preset != nullptr ? preset : like; }
};

// Whether TLBs are simulated, and which.
struct TlbOption {
    bool simulates = false;
    const MachinePreset* preset = nullptr;  // whose TLBs
    TlbGeometries given{};                  // or these
};

// The values of an option that may be given several times: names of functions or objects, or patterns of them, in the
// order given. Nothing is freed, as a global object with a destructor would need the C library.
struct PatternOption {
    const char* pattern;
    std::uint32_t number;  // of options like --separate-recs<n>
    mutable bool matched = false;  // something of this run had such a name
};
class PatternList {
public:
    void add(const PatternOption& option) {
        if (options_ == nullptr) options_ = new std::vector<PatternOption>;
        options_->push_back(option);
    }
    const PatternOption* begin() const { return options_ == nullptr ? nullptr : options_->data(); }
    const PatternOption* end() const { return options_ == nullptr ? nullptr : options_->data() + options_->size(); }
    bool empty() const { return options_ == nullptr; }

private:
    std::vector<PatternOption>* options_ = nullptr;
};

enum class Choice : std::uint8_t { kNo, kYes, kAuto };

// The unit of time in system calls.
enum class SystemTime : std::uint8_t { kNo, kMilliseconds, kMicroseconds, kNanoseconds };

// Whether there is a calling context tree, and whether it separates call sites.
enum class TreeChoice : std::uint8_t { kNo, kYes, kSites };
enum class WhyChoice : std::uint8_t { kNo, kCauses, kYes };
enum class ThreadOrder : std::uint8_t { kVirtual, kValgrind };
enum class CoherenceChoice : std::uint8_t { kAuto, kMesi, kMoesi };

// Whether paths within functions are followed: in those that are named, or in all.
struct PathOption : PatternList {
    bool follows = false;
    bool all = false;
};

// How many cores have caches of their own.
struct CoreCount {
    std::uint32_t count = 0;  // 0: nothing is told of cores
};

// How many threads the simulation has for itself.
struct EngineThreadCount {
    bool is_auto = true;  // as many as there are processors for
    std::uint32_t count = 0;
};

// Which parts of the run are observed.
struct SampleOption {
    static constexpr std::uint64_t kLeastLength = 100'000;  // as long as Valgrind lets a thread run without a look

    BurstRules bursts;
};

// kind, field, option, default, value, help. Kinds:
//   Flag   yes or no; Auto   auto, yes or no; Unit   of time, or no; Text   a string; Number, Count   a number;
//   Cache, MiddleCache   <size>,<ways>,<line size>; Policy, Index   of a cache; Machine   whose caches;
//   Inclusion   of the levels in LL; Tlb   whose TLBs; Pages   where they lie in memory; Prefetch   which prefetchers;
//   Placements   of pages, how many, or no;
//   Tree, Recursion   of the context tree; Cores, Order   of threads; Sample   which parts of the run;
//   Paths   yes, no, or names as in Patterns; Threads   auto or a number
//   Patterns   names or patterns, may be given several times; where the option ends with <n>, each with that number
// BD_OPTION_GROUP(title) begins a group in --help.
#define BD_OPTIONS(BD_OPTION, BD_OPTION_GROUP)                                                          \
    BD_OPTION_GROUP("output")                                                                           \
    BD_OPTION(Text, out_file, "bdgrind-out-file", "bdgrind.out.%p", "<file>",                           \
              "write the profile to <file>; %p is the process id,\n%q{VAR} the environment variable VAR") \
    BD_OPTION(Flag, dump_line, "dump-line", true, "no|yes", "record costs by source line")              \
    BD_OPTION(Flag, dump_instr, "dump-instr", false, "no|yes", "record costs by instruction")           \
    BD_OPTION(Flag, structure, "structure", false, "no|yes",                                            \
              "record what bd_annotate --structure needs for loops and\n"                               \
              "inlined functions: --dump-instr=yes --collect-jumps=yes")                                \
    BD_OPTION(Flag, compress_strings, "compress-strings", true, "no|yes",                               \
              "write each name once, then refer to it by number")                                       \
    BD_OPTION(Flag, compress_pos, "compress-pos", true, "no|yes",                                       \
              "write positions relative to the one before")                                             \
    BD_OPTION(Flag, compat_events, "compat-events", false, "no|yes",                                    \
              "leave out events that Callgrind does not have")                                          \
    BD_OPTION(Flag, combine_dumps, "combine-dumps", false, "no|yes",                                    \
              "write all parts into one file, one after another")                                       \
    BD_OPTION_GROUP("when to dump; functions are names or patterns with * and ?")                       \
    BD_OPTION(Count, dump_every_bb, "dump-every-bb", 0, "<count>",                                      \
              "dump after every <count> basic blocks; 0: never")                                        \
    BD_OPTION(Patterns, dump_before, "dump-before", {}, "<function>", "dump when the function is entered") \
    BD_OPTION(Patterns, zero_before, "zero-before", {}, "<function>",                                   \
              "set all counts to zero when the function is entered")                                    \
    BD_OPTION(Patterns, dump_after, "dump-after", {}, "<function>", "dump when the function is left")   \
    BD_OPTION_GROUP("what to count")                                                                    \
    BD_OPTION(Flag, instr_atstart, "instr-atstart", true, "no|yes",                                     \
              "observe the program from its start")                                                     \
    BD_OPTION(Auto, collect_atstart, "collect-atstart", Choice::kAuto, "auto|no|yes",                   \
              "collect costs from the start of each thread; auto:\nunless there is --toggle-collect")   \
    BD_OPTION(Patterns, toggle_collect, "toggle-collect", {}, "<function>",                             \
              "start and stop collecting when the function is\nentered and left")                       \
    BD_OPTION(Flag, collect_bus, "collect-bus", false, "no|yes",                                        \
              "count atomic instructions (global bus events, Ge)")                                      \
    BD_OPTION(Unit, collect_systime, "collect-systime", SystemTime::kNo, "no|yes|msec|usec|nsec",       \
              "count system calls and the time in them, in this\nunit; yes: msec; nsec: also their processor time") \
    BD_OPTION(Flag, collect_jumps, "collect-jumps", false, "no|yes",                                    \
              "count jumps within functions, for viewers' arrows")                                      \
    BD_OPTION(Flag, branch_sim, "branch-sim", false, "no|yes",                                          \
              "predict branches (Bc Bcm Bi Bim)")                                                       \
    BD_OPTION_GROUP("caches")                                                                           \
    BD_OPTION(Flag, cache_sim, "cache-sim", true, "no|yes", "simulate the caches")                      \
    BD_OPTION(Flag, cache_use, "cacheuse", true, "no|yes",                                              \
              "watch how each cache line is used, and charge waste to\n"                                \
              "all calls that were open when the line was loaded")                                      \
    BD_OPTION(Flag, simulate_wb, "simulate-wb", false, "no|yes",                                        \
              "count separately the LL misses that first write a line\nback to memory (ILdmr DLdmr DLdmw)") \
    BD_OPTION(Flag, simulate_hwpref, "simulate-hwpref", false, "no|yes",                                \
              "prefetch streams of lines into LL")                                                      \
    BD_OPTION(Prefetch, prefetch, "prefetch", {}, "no|<prefetcher>,...",                                \
              "prefetch into LL, and count the lines that were used\n"                                  \
              "later, and never: adjacent (the other line of a pair),\n"                                \
              "next (line), stream (up or down a page), stride (by\n"                                   \
              "instruction)")                                                                           \
    BD_OPTION(Prefetch, l2_prefetch, "L2-prefetch", {}, "no|<prefetcher>,...",                          \
              "the same into L2, and into LL what that lacks")                                          \
    BD_OPTION(Machine, machine, "machine", {}, "<name>|native|list",                                    \
              "the caches of a processor; native: all levels of this\n"                                 \
              "machine; list: show the names")                                                          \
    BD_OPTION(Cache, i1, "I1", {}, "<size>,<ways>,<line size>", "the L1 instruction cache, in bytes")   \
    BD_OPTION(Cache, d1, "D1", {}, "<size>,<ways>,<line size>", "the L1 data cache, in bytes")          \
    BD_OPTION(MiddleCache, l2, "L2", {}, "no|<size>,<ways>,<line size>",                                \
              "a cache between the L1 caches and LL, in bytes")                                         \
    BD_OPTION(Cache, ll, "LL", {}, "<size>,<ways>,<line size>", "the last-level cache, in bytes")       \
    BD_OPTION(FirstPolicy, i1_replacement, "I1-replacement", {}, "<policy>",                            \
              "which line leaves a full set of I1, as for D1")                                          \
    BD_OPTION(FirstPolicy, d1_replacement, "D1-replacement", {}, "<policy>",                            \
              "which line leaves a full set of D1: lru, tree-plru,\n"                                   \
              "lru3plru4 (three trees of four ways), fifo, or\n"                                        \
              "random[,<seed>]; by default as the --machine has it")                                    \
    BD_OPTION(Policy, l2_replacement, "L2-replacement", {}, "<policy>",                                 \
              "which line leaves a full set of L2, as for LL")                                          \
    BD_OPTION(Policy, ll_replacement, "LL-replacement", {}, "<policy>",                                 \
              "the same for LL: also bit-plru, or QLRU_... (ages, as\n"                                 \
              "QLRU_H11_M1_R0_U0)")                                                                     \
    BD_OPTION(Index, l2_index, "L2-index", {}, "bits|hash",                                             \
              "how the set of a line is chosen in L2, as for LL")                                       \
    BD_OPTION(Index, ll_index, "LL-index", {}, "bits|hash",                                             \
              "whether the lowest bits of a line's address choose its\n"                                \
              "set in LL, or a hash of all bits")                                                       \
    BD_OPTION(Inclusion, ll_inclusion, "LL-inclusion", {}, "none|inclusive|exclusive",                  \
              "inclusive: what LL evicts, the other caches lose;\n"                                     \
              "exclusive: LL has only what L2 has evicted; by\n"                                        \
              "default as the --machine has it")                                                        \
    BD_OPTION(Pages, pages, "pages", {}, "virtual|contiguous|random[,<seed>]",                          \
              "where pages lie in memory, for their sets in L2 and LL:\n"                               \
              "as their addresses say, in the order of first use, or\n"                                 \
              "anywhere")                                                                               \
    BD_OPTION(Placements, placements, "placements", {}, "no|<n>",                                       \
              "place pages and the stack at random <n> times (2 to\n"                                   \
              "32), side by side, and say how far misses differ")                                       \
    BD_OPTION(Tlb, tlb, "tlb", {}, "no|yes|<name>|<geometry>",                                          \
              "look up pages of 4 KiB and 2 MiB in the TLBs of the\n"                                   \
              "--machine (yes), of a processor that --machine=list\n"                                   \
              "shows, or of <entries>,<ways>,<entries>,<ways> in the\n"                                 \
              "first and second level")                                                                 \
    BD_OPTION_GROUP("how to separate costs")                                                            \
    BD_OPTION(Flag, separate_threads, "separate-threads", false, "no|yes",                              \
              "write each thread's costs into a file of its own")                                       \
    BD_OPTION(Number, separate_callers, "separate-callers", 0, "<n>",                                   \
              "separate the costs of functions by <n> callers")                                         \
    BD_OPTION(Patterns, separate_callers_of, "separate-callers<n>", {}, "<function>",                   \
              "the same for this function, by <n> callers")                                             \
    BD_OPTION(Number, separate_recs, "separate-recs", 2, "<n>",                                         \
              "separate the first <n> levels of recursion")                                             \
    BD_OPTION(Patterns, separate_recs_of, "separate-recs<n>", {}, "<function>",                         \
              "the same for this function, with <n> levels")                                            \
    BD_OPTION(Flag, skip_direct_rec, "skip-direct-rec", false, "no|yes",                                \
              "do not treat direct self-calls as levels of recursion")                                  \
    BD_OPTION(Flag, skip_plt, "skip-plt", true, "no|yes",                                               \
              "charge the dynamic linker's stubs to their caller, and\ndo not show them")               \
    BD_OPTION(Patterns, fn_skip, "fn-skip", {}, "<function>", "the same for this function")             \
    BD_OPTION(Patterns, obj_skip, "obj-skip", {}, "<object>",                                           \
              "the same for all functions of this object file")                                         \
    BD_OPTION_GROUP("calling context tree, in a file of its own beside the profile")                    \
    BD_OPTION(Tree, context_tree, "context-tree", TreeChoice::kNo, "no|yes|sites",                      \
              "separate costs by the whole call path; sites: also by\nthe calling instructions")        \
    BD_OPTION(Number, context_tree_nodes, "context-tree-nodes", 1000000, "<n>",                         \
              "separate at most <n> paths; merge those that cost least")                                \
    BD_OPTION(Recursion, context_tree_recursion, "context-tree-recursion", ContextRecursion::kFolded,   \
              "folded|apart", "whether a call of a function that is already on the\n"                   \
              "path goes back to its node, or to a new one below")                                      \
    BD_OPTION_GROUP("paths within functions, in a file of its own beside the profile")                  \
    BD_OPTION(Paths, paths, "paths", {}, "no|yes|<function>",                                           \
              "separate costs by the path of branches that each call\n"                                  \
              "or iteration takes, in all functions or in those named") \
    BD_OPTION(Number, paths_nodes, "paths-nodes", 1000000, "<n>",                                       \
              "separate paths by at most <n> steps that differ; merge\nfurther ones, by function")       \
    BD_OPTION_GROUP("data objects, in a file of its own beside the profile")                            \
    BD_OPTION(Flag, objects, "objects", false, "no|yes",                                                \
              "separate costs by the data that was loaded: heap\nblocks, variables, stack frames, files") \
    BD_OPTION(Number, objects_depth, "objects-depth", 3, "<n>",                                         \
              "separate heap blocks by <n> callers of the allocator")                                   \
    BD_OPTION(Patterns, alloc_fn, "alloc-fn", {}, "<function>",                                         \
              "the function allocates: its first argument is the size,\nunless it calls another allocator") \
    BD_OPTION(Patterns, alloc_fn_of, "alloc-fn<n>", {}, "<function>",                                   \
              "the same with the size in argument <n>, 1 to 3")                                         \
    BD_OPTION(Patterns, free_fn, "free-fn", {}, "<function>",                                           \
              "the function frees the block in its first argument")                                     \
    BD_OPTION(Patterns, free_fn_of, "free-fn<n>", {}, "<function>",                                     \
              "the same with the block in argument <n>, 1 to 3")                                        \
    BD_OPTION_GROUP("why lines are loaded, in a file of its own beside the profile")                    \
    BD_OPTION(Why, why, "why", WhyChoice::kNo, "no|causes|yes",                                         \
              "causes: why each line was loaded, and the misses with\n"                                 \
              "other cache sizes; yes: also who brings lines back, and\n"                               \
              "the order of addresses; includes --structure=yes")                                       \
    BD_OPTION(Number, curve_from, "curve-from", 0, "<bytes>",                                           \
              "with --why, curves also have sizes from <bytes> on, a\n"                                 \
              "power of two, up to D1's (0: none)")                                                     \
    BD_OPTION_GROUP("cores with caches of their own, and lines they take from each other")              \
    BD_OPTION(Cores, cores, "cores", {}, "no|threads|<n>",                                              \
              "simulate one core per thread, or <n> cores, assigned by\n"                               \
              "the program's affinities or in turn, and count lines\n"                                  \
              "that cores take from each other")                                                        \
    BD_OPTION(Order, thread_order, "thread-order", ThreadOrder::kVirtual, "virtual|valgrind",           \
              "virtual: interleave threads in small slices; valgrind:\n"                                \
              "long turns, as Valgrind ran them")                                                       \
    BD_OPTION(Protocol, coherence, "coherence", CoherenceChoice::kAuto, "auto|mesi|moesi",              \
              "mesi: lines that another core reads are no longer\n"                                     \
              "modified; moesi: they are, and passed on; auto: moesi\n"                                 \
              "with --machine=zen2 to zen5, else mesi")                                                 \
    BD_OPTION(Number, thread_slice, "thread-slice", 1000, "<n>",                                        \
              "the length of a slice, in instructions")                                                 \
    BD_OPTION_GROUP("speed")                                                                            \
    BD_OPTION(Sample, sample, "sample", {}, "no|bursts[,<length>,<period>[,<seed>]]",                   \
              "observe <length> blocks of code in each <period>, and\n"                                 \
              "estimate the costs of the whole run from that\n"                                         \
              "(bursts: 2000000 of 100000000, seed 1)")                                                 \
    BD_OPTION(Threads, engine_threads, "engine-threads", {}, "auto|0|1|2",                              \
              "run the simulation on so many threads of its own;\n"                                     \
              "auto: on as many as there are processors to spare,\n"                                    \
              "and on none with --sample=bursts")                                                       \
    BD_OPTION_GROUP("for developers of bdgrind")                                                        \
    BD_OPTION(Flag, check_ir, "check-ir", false, "no|yes",                                              \
              "check each translated block as VEX does for other tools")                                \
    BD_OPTION(Text, record_trace, "record-trace", nullptr, "<file>",                                    \
              "write the engine's whole input to <file>, for bdreplay")

namespace option_type {
using Flag = bool;
using Auto = Choice;
using Unit = SystemTime;
using Text = const char*;
using Number = std::uint32_t;
using Count = std::uint64_t;
using Cache = CacheOption;
using MiddleCache = MiddleCacheOption;
using Policy = PolicyOption;
using FirstPolicy = FirstPolicyOption;
using Index = IndexOption;
using Inclusion = InclusionOption;
using Pages = PagesOption;
using Placements = PlacementCount;
using Prefetch = PrefetchOption;
using Machine = MachineOption;
using Tlb = TlbOption;
using Patterns = PatternList;
using Tree = TreeChoice;
using Why = WhyChoice;
using Paths = PathOption;
using Recursion = ContextRecursion;
using Cores = CoreCount;
using Order = ThreadOrder;
using Protocol = CoherenceChoice;
using Sample = SampleOption;
using Threads = EngineThreadCount;
}  // namespace option_type

struct Options {
#define BD_OPTION_FIELD(kind, field, name, initial, value, help) option_type::kind field = initial;
#define BD_NO_GROUP(title)
    BD_OPTIONS(BD_OPTION_FIELD, BD_NO_GROUP)
#undef BD_NO_GROUP
#undef BD_OPTION_FIELD

    // Loops can be found: instructions and jumps are in the profile. What --why=yes notes is told by loop.
    bool has_structure() const { return structure || why == WhyChoice::kYes; }

    // Not for users: what bdgrind tells itself when its process goes on with another program.
    std::uint32_t earlier_parts = 0;     // parts that this process has written so far, as another program
    const char* parents_file = nullptr;  // what the option names for the parent process, if it is the same file
};

// What is wrong with the value of an option.
struct OptionError {
    const char* name = nullptr;
    const char* form = nullptr;  // what the value should look like
    const char* value = nullptr;
    const char* message = nullptr;  // null: nothing is wrong
};

// Reads one argument of a command line, which must stay as texts are not copied. False if it is not an option of ours.
bool parse_option(const char* argument, Options* result, OptionError* error);

// The engine's settings: as the options say, and with `caches` for those that they do not name.
EngineConfig engine_config(const Options& given, const CacheGeometries& caches);

// What is wrong with the geometry of L2 or LL, although each option is fine, as a whole sentence; null: nothing.
const char* caches_error(const CacheGeometries& caches);
// What --placements cannot be combined with, or lacks, as a whole sentence; null: nothing.
const char* placements_error(const EngineConfig& config);
// What is wrong with --curve-from; null: nothing.
const char* curve_error(const Options& given, const EngineConfig& config);

// Where that one's caches are known from, if `caches` are known from `source`.
std::string_view geometry_source(const Options& given, std::string_view source);

// Whose TLBs are simulated, in words.
void write_tlb_source(TextOutput& out, const Options& given);

// A line about the unit for the profile; null: no time is measured.
const char* unit_description(SystemTime unit);

// The same of how threads are put beside each other, with --cores.
void write_thread_order(TextOutput& out, const Options& given);

// The options of this run.
extern Options options;

// Takes one argument of the command line. False if it is not an option of ours; a wrong value ends the process with
// a sentence that says what is wrong.
bool take_option(const char* argument);

void print_usage();
void print_debug_usage();

}  // namespace bd
