// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/trace_recorder.h"

#include "tool/output.h"
#include "tool/valgrind.h"

namespace bd {

// Opens the file for each piece.
class TraceRecorder::Output final : public TextOutput {
public:
    explicit Output(const char* format) : path_(VG_(expand_file_name)("--record-trace", format)) {
        error_ = FileOutput(path_, FileOutput::Mode::kReplace).error();
    }
    ~Output() { VG_(free)(path_); }

    const char* path() const { return path_; }
    // The error number of the first thing that failed; 0: none. Of writing, only known after finish().
    int error() const { return error_; }

private:
    bool write(std::string_view text) override {
        if (error_ == 0) {
            FileOutput file(path_, FileOutput::Mode::kAppend);
            file << text;
            file.finish();
            error_ = file.error();
        }
        return error_ == 0;
    }

    HChar* path_;
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
