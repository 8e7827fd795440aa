// SPDX-License-Identifier: GPL-2.0-or-later
//
// bdreplay: runs the engine on recorded traces, without Valgrind. With the same options it writes, byte for byte, the
// profile that the traced run wrote.

#include <algorithm>
#include <charconv>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/replay/engine.h"
#include "engine/trace/trace_reader.h"
#include "profile/callgrind_writer.h"
#include "profile/context_tree_writer.h"
#include "profile/object_writer.h"
#include "profile/path_writer.h"
#include "profile/profile.h"
#include "profile/run_report.h"
#include "profile/sharing_writer.h"
#include "profile/why_writer.h"
#include "tool/function_options.h"
#include "tool/machine_list.h"
#include "tool/options.h"

namespace bd {
namespace {

constexpr int kBad = 2;  // the exit status of whatever goes wrong

constexpr const char* kUsage =
    "Usage: bdreplay [OPTION]... TRACE...\n"
    "Runs bdgrind's engine on traces that were recorded with\n"
    "  valgrind --tool=bdgrind --record-trace=TRACE\n"
    "and reports on stderr as the tool does.\n"
    "\n"
    "  --out=<file>         write the profile (of a single trace), and beside it\n"
    "                       the context tree if there is one\n"
    "  --stats=no|yes       report the sizes of the engine's tables [no]\n"
    "  --batch-words=<n>    give the engine about so many words at once [32768]\n"
    "  --repeat=<n>         do it <n> times [1]\n"
    "  --time               print the processor time taken and the size of the\n"
    "                       trace on stdout; with --repeat also the sum of what\n"
    "                       each batch took at its fastest, which a busy machine\n"
    "                       disturbs least\n"
    "\n"
    "and those of bdgrind's options that say what to simulate and how to write the\n"
    "profile (valgrind --tool=bdgrind --help). Caches that are not given are those of\n"
    "the recorded run. Dumps are left out: there is one profile, of the whole run and\n"
    "of all threads. The exit status is 2 if anything goes wrong.\n";

[[noreturn, gnu::format(printf, 1, 2)]] void fail(const char* format, ...) {
    std::fputs("bdreplay: ", stderr);
    std::va_list values;
    va_start(values, format);
    std::vfprintf(stderr, format, values);
    va_end(values);
    std::fputc('\n', stderr);
    std::exit(kBad);
}

struct Arguments {
    Options options;
    const char* out = nullptr;
    std::size_t batch_words = 32768;
    unsigned repeat = 1;
    bool time = false;
    bool stats = false;
    std::vector<const char*> traces;
};

// What follows `name` in `argument`; null if it begins with something else.
const char* value_of(const char* argument, std::string_view name) {
    return std::string_view(argument).starts_with(name) ? argument + name.size() : nullptr;
}

template <class Number>
Number positive(const char* argument, const char* value) {
    Number number = 0;
    const char* const end = value + std::strlen(value);
    const auto [stop, error] = std::from_chars(value, end, number);
    if (error != std::errc{} || stop != end || number == 0) fail("%s: it must be a positive number", argument);
    return number;
}

class StreamOutput final : public TextOutput {
public:
    explicit StreamOutput(std::FILE* stream) : stream_(stream) {}

private:
    bool write(std::string_view text) override {
        return std::fwrite(text.data(), 1, text.size(), stream_) == text.size();
    }
    std::FILE* stream_;
};

Arguments read_arguments(int count, char** texts) {
    Arguments arguments;
    for (int i = 1; i < count; ++i) {
        const char* const argument = texts[i];
        OptionError error;
        if (std::strcmp(argument, "--help") == 0) {
            std::fputs(kUsage, stdout);
            std::exit(0);
        } else if (const char* const out = value_of(argument, "--out=")) {
            arguments.out = out;
        } else if (const char* const words = value_of(argument, "--batch-words=")) {
            arguments.batch_words = positive<std::size_t>(argument, words);
        } else if (const char* const times = value_of(argument, "--repeat=")) {
            arguments.repeat = positive<unsigned>(argument, times);
        } else if (std::strcmp(argument, "--time") == 0) {
            arguments.time = true;
        } else if (std::strcmp(argument, "--stats=yes") == 0 || std::strcmp(argument, "--stats=no") == 0) {
            arguments.stats = std::strcmp(argument, "--stats=yes") == 0;
        } else if (parse_option(argument, &arguments.options, &error)) {
            if (error.message != nullptr) {
                fail("'%s' is not a value for --%s=%s: %s", error.value, error.name, error.form, error.message);
            }
        } else if (argument[0] == '-') {
            fail("there is no option %s; see --help", argument);
        } else {
            arguments.traces.push_back(argument);
        }
    }
    const Options initial;
    if (arguments.options.out_file != initial.out_file || arguments.options.record_trace != nullptr) {
        fail("--bdgrind-out-file and --record-trace are options of the tool; here there is --out");
    }
    if (arguments.options.machine.lists) {
        StreamOutput list(stdout);
        write_machine_list(list);
        list.finish();
        std::exit(0);
    }
    if (arguments.options.machine.is_native) {
        fail("--machine=native is for the tool, which looks at the machine that it runs on");
    }
    if (arguments.traces.empty()) fail("no trace is named; see --help");
    if (arguments.traces.size() > 1 && arguments.out != nullptr) fail("--out is for a single trace");
    return arguments;
}

class MappedFile {
public:
    explicit MappedFile(const char* path) {
        const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
        struct stat status {};
        if (fd < 0 || ::fstat(fd, &status) != 0) fail("%s: %s", path, std::strerror(errno));
        size_ = static_cast<std::size_t>(status.st_size);
        if (S_ISDIR(status.st_mode)) fail("%s: %s", path, std::strerror(EISDIR));
        if (size_ != 0) memory_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
        if (memory_ == MAP_FAILED) fail("%s: %s", path, std::strerror(errno));
        ::close(fd);
    }
    ~MappedFile() {
        if (size_ != 0) ::munmap(memory_, size_);
    }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    std::string_view bytes() const { return {static_cast<const char*>(memory_), size_}; }

private:
    void* memory_ = nullptr;
    std::size_t size_ = 0;
};

class StringOutput final : public TextOutput {
public:
    const std::string& text() {
        finish();
        return text_;
    }

private:
    bool write(std::string_view text) override {
        text_ += text;
        return true;
    }
    std::string text_;
};

// Calls write(TextOutput&) for what is to be in the file.
template <class Write>
void write_file(const char* path, Write write) {
    std::FILE* const file = std::fopen(path, "wb");
    if (file == nullptr) fail("%s: %s", path, std::strerror(errno));
    StreamOutput out(file);
    write(out);
    const bool written = out.finish();
    if (std::fclose(file) != 0 || !written) fail("%s: %s", path, std::strerror(errno));
}

// And what else there is, beside it.
void write_profile(const std::string& path, const Arguments& arguments, const TraceRun& run, const Engine& engine,
                   const Profile& profile) {
    const EngineConfig& config = engine.config();
    const std::string range = "Timerange: Basic block 0 - " + std::to_string(engine.blocks_run());
    std::vector<std::string_view> descriptions{range, "Trigger: Program termination"};
    if (const char* unit = unit_description(arguments.options.collect_systime)) descriptions.push_back(unit);
    StringOutput order;
    if (engine.sharing() != nullptr) {
        write_thread_order(order, arguments.options);
        descriptions.push_back(order.text());
    }
    StringOutput tlb_source;
    write_tlb_source(tlb_source, arguments.options);
    const RunDescription description{.creator = "bdgrind-" PACKAGE_VERSION,
                                     .pid = run.pid,
                                     .command = run.command,
                                     .caches = config.cache_sim ? &config.caches : nullptr,
                                     .geometry_source = geometry_source(arguments.options, run.geometry_source),
                                     .tlbs = config.tlbs.any() ? &config.tlbs : nullptr,
                                     .tlb_source = tlb_source.text(),
                                     .placements = engine.placements(),
                                     .descriptions = descriptions,
                                     .named_allocators = engine.objects() != nullptr
                                                             ? &engine.objects()->named_allocators()
                                                             : nullptr};
    write_file(path.c_str(), [&](TextOutput& out) {
        CallgrindWriter(out, {.compress_strings = arguments.options.compress_strings,
                              .compress_positions = arguments.options.compress_pos,
                              .compat_events = arguments.options.compat_events,
                              .hot_code = true})
            .write(description, profile);
    });
    const auto write_beside = [&](const char* prefix, auto write) {
        std::string beside = path;
        write_file(beside.insert(path.rfind('/') + 1, prefix).c_str(), write);
    };
    if (engine.context_tree() != nullptr) {
        write_beside("contexts.", [&](TextOutput& out) {
            ContextTreeWriter(out, engine, arguments.options.compat_events).write(description);
        });
    }
    if (engine.flow() != nullptr) {
        write_beside("paths.", [&](TextOutput& out) {
            PathWriter(out, engine, arguments.options.compat_events).write(description);
        });
    }
    if (engine.objects() != nullptr) {
        write_beside("objects.", [&](TextOutput& out) {
            ObjectWriter(out, engine, arguments.options.compat_events).write(description);
        });
    }
    if (engine.why() != nullptr) {
        write_beside("why.", [&](TextOutput& out) { WhyWriter(out, engine).write(description); });
    }
    if (engine.sharing() != nullptr) {
        write_beside("sharing.", [&](TextOutput& out) { SharingWriter(out, engine).write(description); });
    }
}

// Processor time: what else the machine does meanwhile must not show.
double seconds() {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

struct Times {
    double read = 0;
    double replay = 0;
    double finish = 0;
};

void print_times(const char* path, unsigned repetition, const Times& times, std::uint64_t bytes,
                 std::uint64_t words, std::uint64_t records) {
    const auto each = static_cast<double>(records);
    if (repetition == 0) {
        std::printf("%s: %llu bytes, %llu records, %llu words, %.2f bytes per record\n", path,
                    static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(records),
                    static_cast<unsigned long long>(words), static_cast<double>(bytes) / each);
    }
    std::printf("%s: read %.3f s, replay %.3f s, finish %.3f s; per record: read %.1f ns, replay %.1f ns\n", path,
                times.read, times.replay, times.finish, times.read / each * 1e9,
                times.replay / each * 1e9);
}

// `fastest`: seconds that each batch took, of all repetitions so far.
void replay(const char* path, const Arguments& arguments, unsigned repetition, std::vector<double>* fastest) {
    const MappedFile file(path);
    TraceReader reader(file.bytes());
    if (const TraceError& error = reader.error()) fail("%s: %s", path, error.message);

    EngineConfig config = engine_config(arguments.options, reader.run().caches);
    if (const char* const error = config.cache_sim ? caches_error(config.caches) : nullptr) fail("%s", error);
    if (const char* const error = curve_error(arguments.options, config)) fail("%s", error);
    config.separate_threads = false;
    if (const char* const error = placements_error(config)) fail("%s", error);
    config.dump_every = 0;
    const FunctionOptions rules(arguments.options);
    SymbolTable symbols(&rules);
    BlockTable blocks(config.caches.i1.line_bits());
    Engine engine(config);
    Times times;
    std::uint64_t words = 0;
    std::size_t batches = 0;
    for (bool more = true; more;) {
        const double start = seconds();
        const Batch batch = reader.read(arguments.batch_words, symbols, blocks);
        const double middle = seconds();
        engine.replay_whole(batch);
        times.read += middle - start;
        const double taken = seconds() - middle;
        times.replay += taken;
        if (fastest->size() == batches) fastest->push_back(taken);
        double& least = (*fastest)[batches++];
        least = std::min(least, taken);
        words += batch.size();
        more = !batch.empty();
    }
    if (const TraceError& error = reader.error()) {
        fail("%s: byte %llu: %s", path, static_cast<unsigned long long>(error.offset), error.message);
    }
    const double start = seconds();
    engine.finish();
    times.finish = seconds() - start;
    if (arguments.time) {
        print_times(path, repetition, times, file.bytes().size(), words, reader.records());
        std::fflush(stdout);
    }
    if (repetition + 1 != arguments.repeat) return;
    if (arguments.time && repetition != 0) {
        const double sum = std::accumulate(fastest->begin(), fastest->end(), 0.0);
        std::printf("%s: each batch at its fastest: replay %.1f ns per record\n", path,
                    sum / static_cast<double>(reader.records()) * 1e9);
    }

    const Options& options = arguments.options;
    const Profile profile(engine, {.lines = options.dump_line,
                                   .instructions = options.dump_instr || options.has_structure()});
    if (arguments.out != nullptr) write_profile(arguments.out, arguments, reader.run(), engine, profile);
    StreamOutput report(stderr);
    if (arguments.traces.size() > 1) report << path << ":\n";
    write_whole_run_report(report, profile.events(), profile.totals());
    if (const ContextTree* const tree = engine.context_tree()) {
        write_other_paths(report, *tree, profile.events(), profile.totals(), costs_of_other_paths(engine, 0));
        write_context_tree_report(report, *tree);
    }
    if (arguments.stats) {
        report << '\n';
        write_engine_stats(report, engine.stats(), symbols.functions().size(), blocks.blocks().size());
    }
    report.finish();
}

}  // namespace
}  // namespace bd

int main(int argc, char** argv) {
    const bd::Arguments arguments = bd::read_arguments(argc, argv);
    for (const char* trace : arguments.traces) {
        std::vector<double> fastest;
        for (unsigned repetition = 0; repetition < arguments.repeat; ++repetition) {
            bd::replay(trace, arguments, repetition, &fastest);
        }
    }
    return 0;
}
