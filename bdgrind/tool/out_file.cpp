// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/out_file.h"

#include "tool/new_file.h"
#include "tool/options.h"
#include "tool/output.h"
#include "tool/valgrind.h"

namespace bd {
namespace {

// What the option says.
Path expanded(const char* format) {
    HChar* const text = VG_(expand_file_name)("--bdgrind-out-file", format);
    const Path path(text);
    VG_(free)(text);
    return path;
}

int write_text(int descriptor, const Text& text) {
    FileOutput out(descriptor);
    text.write_to(out);
    out.finish();
    return out.error();
}

struct KindOfFile {
    const char* text;
    const char* prefix;  // of the name beside the profile
};
const KindOfFile& about(OutFile::Kind kind) {
    static constexpr KindOfFile kKinds[]{
        {"profile", ""}, {"context tree", "contexts."}, {"file of objects", "objects."}, {"why file", "why."},
        {"sharing file", "sharing."}, {"path file", "paths."}};
    return kKinds[static_cast<unsigned>(kind)];
}
const char* text_of(OutFile::Kind kind) {
    return about(kind).text;
}

}  // namespace

OutFile::OutFile(Kind kind)
    : kind_(kind),
      path_(expanded(options.out_file)), is_default_(VG_(strcmp)(options.out_file, Options{}.out_file) == 0) {
    is_parents_ = options.parents_file != nullptr && path_.view() == options.parents_file;
    combined_.begun = options.earlier_parts != 0;
    const int error = check();
    if (error == 0) return;
    VG_(umsg)("The %s could not be written to %s (--bdgrind-out-file): %s.\n", text_of(kind_), beside(path_).c_str(),
              error_text(error));
    VG_(exit)(1);
}

void OutFile::say(const char* name, int error) const {
    VG_(umsg)("The %s could not be written to %s: %s.\n", text_of(kind_), name, error_text(error));
}

// The name of the file where the profile has this one.
Path OutFile::beside(const Path& profile) const {
    if (kind_ == Kind::kProfile) return profile;
    const std::size_t begin = profile.view().rfind('/') + 1;
    Path path(profile.view().substr(0, begin));
    path << about(kind_).prefix << profile.view().substr(begin);
    return path;
}

int OutFile::check() {
    if (is_default_) return NewFile(name()).error();
    if (kind_ != Kind::kProfile && find_place(path_.view()).is_stream()) {
        VG_(umsg)("No %s can be written beside %s, which is not a file: name one with --bdgrind-out-file.\n",
                  text_of(kind_), path_.c_str());
        VG_(exit)(1);
    }
    const Place place = find_place(name().view());
    if (place.error != 0) return place.error;
    if (kind_ != Kind::kProfile && place.is_stream()) return kReplaced;
    return place.is_stream() ? open_stream(place, &stream_) : NewFile(place.path).error();
}

Path OutFile::name() const {
    Path path = path_;
    if (is_parents_) path << ".pid" << VG_(getpid)();
    return beside(path);
}

Path OutFile::known_name() const {
    const Path path = name();
    Path folder(VG_(get_startup_wd)());
    folder << "/";
    return path.view().starts_with(folder.view()) ? Path(path.view().substr(folder.view().size())) : path;
}

int OutFile::write(std::string_view ending, const Text& text) {
    is_placed_ = false;
    combined_before_write_ = combined_;
    meant_for_ = stream_ >= 0 ? path_ : name();
    if (stream_ < 0) meant_for_ << ending;
    const int error = stream_ >= 0 ? write_text(stream_, text) : write_file(text);
    if (error != 0) {
        new_file_.reset();
        say(meant_for_.c_str(), error);
    }
    return error;
}

int OutFile::commit() {
    if (new_file_ == nullptr) return 0;
    const int error = new_file_->rename_to(place_);
    if (error == 0) {
        is_placed_ = true;
        remember(place_);
    } else {
        say(meant_for_.c_str(), error);
    }
    new_file_.reset();
    return error;
}

void OutFile::give_up() {
    new_file_.reset();
    if (is_placed_) VG_(unlink)(place_.c_str());
    if (!is_placed_ && combined_before_write_.begun) blank_behind(combined_before_write_);
    combined_ = combined_before_write_;
    is_placed_ = false;
}

int OutFile::write_file(const Text& text) {
    const Path& path = meant_for_;
    if (is_default_) return options.combine_dumps ? append(path, text) : replace(path, text);
    const Place place = find_place(path.view());
    if (place.error != 0) return place.error;
    // Only the name of a later part can lead to a stream: not what was meant.
    if (place.is_stream()) return kReplaced;
    return options.combine_dumps ? append(place.path, text) : replace(place.path, text);
}

int OutFile::replace(const Path& path, const Text& text) {
    place_ = path;
    new_file_ = std::make_unique<NewFile>(path);
    if (new_file_->error() != 0) return new_file_->error();
    const int error = write_text(new_file_->descriptor(), text);
    if (error != 0) return error;
    vg_stat written{};
    VG_(fstat)(new_file_->descriptor(), &written);
    combined_ = {written.dev, written.ino, written.size, true};
    return 0;
}

// In a file that has been replaced meanwhile, nothing is to be appended to.
int OutFile::append(const Path& path, const Text& text) {
    if (!combined_.begun) return replace(path, text);
    const Descriptor file(path.c_str(), VKI_O_WRONLY | VKI_O_NONBLOCK | kOpenNoFollow);
    vg_stat now{};
    if (file.number() < 0 || VG_(fstat)(file.number(), &now) < 0) return replace(path, text);
    // What the program before this one has written, in the same process; its number is not handed over.
    const bool is_inherited = combined_.file == 0 && now.uid == static_cast<unsigned>(VG_(geteuid)()) && now.nlink == 1;
    if (is_inherited) {
        combined_ = combined_before_write_ = {now.dev, now.ino, now.size, true};
        if (is_attempt_) combined_before_ = combined_;
    }
    if (now.dev != combined_.device || now.ino != combined_.file) return replace(path, text);

    VG_(lseek)(file.number(), combined_.end, VKI_SEEK_SET);
    const int error = write_text(file.number(), text);
    const long long end = VG_(lseek)(file.number(), 0, VKI_SEEK_CUR);
    if (error == 0) {
        combined_.end = end;
    } else {
        blank(file.number(), combined_.end, end);
    }
    return error;
}

// The file cannot be cut with what Valgrind offers. Empty lines mean nothing to readers, and the next part goes there.
void OutFile::blank(int descriptor, long long begin, long long end) {
    VG_(lseek)(descriptor, begin, VKI_SEEK_SET);
    FileOutput out(descriptor);
    for (; begin < end; ++begin) out << '\n';
    out.finish();
}

// What has been appended to the combined file since it ended there.
void OutFile::blank_behind(const Combined& kept) {
    const Descriptor file(find_place(name().view()).path.c_str(), VKI_O_WRONLY | VKI_O_NONBLOCK | kOpenNoFollow);
    vg_stat now{};
    if (file.number() >= 0 && VG_(fstat)(file.number(), &now) >= 0 && now.dev == kept.device && now.ino == kept.file) {
        blank(file.number(), kept.end, combined_.end);
    }
}

int OutFile::write_beside(const Path& profile, const Text& text) {
    const Path path = beside(profile);
    Descriptor file(path.c_str(), kNewFile, kOwnersOnly);
    if (file.error() != 0) {
        if (file.error() != VKI_EEXIST) say(path.c_str(), file.error());
        return file.error();
    }
    const int error = write_text(file.number(), text);
    if (error == 0) {
        remember(path);
    } else {
        VG_(unlink)(path.c_str());
        say(path.c_str(), error);
    }
    return error;
}

void OutFile::say_elsewhere(const Path& profile) const {
    VG_(umsg)("The %s is in %s instead.\n", text_of(kind_), beside(profile).c_str());
}

void OutFile::remember(const Path& path) {
    if (is_attempt_) attempted_.push_back(path);
}

void OutFile::begin_attempt() {
    is_attempt_ = true;
    attempted_.clear();
    combined_before_ = combined_;
}

bool OutFile::take_back() {
    is_attempt_ = false;
    VG_(dropTailXA)(VG_(args_for_valgrind), handed_over_);
    handed_over_ = 0;
    if (stream_ >= 0) return false;
    if (options.combine_dumps && combined_before_.begun) blank_behind(combined_before_);
    for (const Path& path : attempted_) VG_(unlink)(path.c_str());
    attempted_.clear();
    combined_ = combined_before_;
    return true;
}

void OutFile::start_in_child() {
    const Path parents = path_;
    path_ = expanded(options.out_file);
    is_parents_ = path_.view() == parents.view();
    combined_ = {};
}

void OutFile::hand_over(std::uint32_t parts) {
    const auto pass = [this](const Path& argument) {
        HChar* const text = VG_(strdup)("bdgrind.hand_over", argument.c_str());
        VG_(addToXA)(VG_(args_for_valgrind), &text);
        ++handed_over_;
    };
    Path number("--earlier-parts=");
    pass(number << parts);
    Path file("--parents-file=");
    if (is_parents_) pass(file << path_.view());
}

}  // namespace bd
