// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/trace_recorder.h"

#include "tool/new_file.h"
#include "tool/output.h"
#include "tool/place.h"
#include "tool/valgrind.h"

namespace bd {

// Opens the file for each piece, and writes to no other that may be there meanwhile.
class TraceRecorder::Output final : public TextOutput {
public:
    explicit Output(const char* format) : name_(VG_(expand_file_name)("--record-trace", format)), error_(begin()) {}
    ~Output() {
        if (stream_ >= 0) VG_(close)(stream_);
        VG_(free)(name_);
    }

    const char* path() const { return name_; }
    // The error number of the first thing that failed; 0: none. Of writing, only known after finish().
    int error() const { return error_; }

private:
    int begin() {
        const Place place = find_place(name_);
        if (place.error != 0) return place.error;
        if (place.is_stream()) return open_stream(place, &stream_);
        path_ = place.path;
        NewFile file(path_);
        if (file.error() != 0) return file.error();
        VG_(fstat)(file.descriptor(), &made_);
        return file.rename_to(path_);
    }

    bool write(std::string_view text) override {
        if (error_ != 0) return false;
        if (stream_ >= 0) {
            error_ = write_to(stream_, text);
            return error_ == 0;
        }
        const Descriptor file(path_.c_str(), VKI_O_WRONLY | VKI_O_APPEND | VKI_O_NONBLOCK | kOpenNoFollow);
        vg_stat now{};
        const bool is_same = file.number() >= 0 && VG_(fstat)(file.number(), &now) >= 0 && now.dev == made_.dev &&
                             now.ino == made_.ino;
        error_ = is_same ? write_to(file.number(), text) : kReplaced;
        return error_ == 0;
    }

    static int write_to(int descriptor, std::string_view text) {
        FileOutput out(descriptor);
        out << text;
        out.finish();
        return out.error();
    }

    HChar* name_;
    Path path_;
    vg_stat made_{};
    int stream_ = -1;
    int error_;
};

TraceRecorder::TraceRecorder(const char* format, const TraceRun& run)
    : output_(std::make_unique<Output>(format)), writer_(*output_, run), pid_(VG_(getpid)()) {
    output_->finish();
    if (output_->error() == 0) return;
    VG_(umsg)("The trace could not be written to %s (--record-trace): %s.\n", output_->path(),
              error_text(output_->error()));
    VG_(exit)(1);
}

TraceRecorder::~TraceRecorder() = default;

void TraceRecorder::write(Batch batch) {
    if (!is_open()) return;
    writer_.write(batch);
    check();
}

void TraceRecorder::finish() {
    if (!is_open()) return;
    writer_.finish();
    check();
    output_ = nullptr;
}

bool TraceRecorder::is_open() {
    if (output_ != nullptr && VG_(getpid)() != pid_) output_ = nullptr;
    return output_ != nullptr;
}

void TraceRecorder::check() {
    output_->finish();
    if (output_->error() == 0) return;
    VG_(umsg)("The trace could not be written to %s: %s. It is incomplete; the run goes on without it.\n",
              output_->path(), error_text(output_->error()));
    output_ = nullptr;
}

}  // namespace bd
