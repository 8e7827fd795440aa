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
        {"profile", ""}, {"context tree", "contexts."}, {"file of objects", "objects."}, {"why file", "why."}};
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
        VG_(umsg)("There can be no %s beside %s, which is no file: name one with --bdgrind-out-file.\n", text_of(kind_),
                  path_.c_str());
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

bool OutFile::write(std::string_view ending, const Text& text) {
    if (stream_ >= 0) {
        const int error = write_text(stream_, text);
        if (error == 0) return true;
        say(path_.c_str(), error);
        return write_elsewhere(ending, text);
    }
    Path path = name();
    path << ending;
    const int error = write_file(path, text);
    if (error == 0) return true;
    say(path.c_str(), error);
    has_failed_ = true;
    return write_elsewhere(ending, text);
}

int OutFile::write_file(const Path& path, const Text& text) {
    if (is_default_) return options.combine_dumps ? append(path, text) : replace(path, text);
    const Place place = find_place(path.view());
    if (place.error != 0) return place.error;
    // Only the name of a later part can lead to a stream: not what was meant.
    if (place.is_stream()) return kReplaced;
    return options.combine_dumps ? append(place.path, text) : replace(place.path, text);
}

int OutFile::replace(const Path& path, const Text& text) {
    NewFile file(path);
    if (file.error() != 0) return file.error();
    int error = write_text(file.descriptor(), text);
    vg_stat written{};
    VG_(fstat)(file.descriptor(), &written);
    if (error == 0) error = file.rename_to(path);
    if (error != 0) return error;
    combined_ = {written.dev, written.ino, written.size, true};
    remember(path);
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
    if (is_inherited) combined_ = {now.dev, now.ino, now.size, true};
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

bool OutFile::write_elsewhere(std::string_view ending, const Text& text) {
    int error = VKI_EEXIST;
    for (int i = 0; error == VKI_EEXIST && i < 100; ++i) {
        Path profile(VG_(tmpdir)());
        profile << "/bdgrind.out." << VG_(getpid)() << ending;
        if (i != 0) profile << "~" << i;
        const Path path = beside(profile);
        Descriptor file(path.c_str(), kNewFile, kOwnersOnly);
        error = file.error();
        if (error == 0) error = write_text(file.number(), text);
        if (error == 0) {
            VG_(umsg)("The %s is in %s instead.\n", text_of(kind_), path.c_str());
            remember(path);
            return true;
        }
        if (file.error() == 0) VG_(unlink)(path.c_str());
        if (error != VKI_EEXIST) say(path.c_str(), error);
    }
    return false;
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
    if (options.combine_dumps && combined_before_.begun) {
        const Descriptor file(find_place(name().view()).path.c_str(), VKI_O_WRONLY | VKI_O_NONBLOCK | kOpenNoFollow);
        vg_stat now{};
        if (file.number() >= 0 && VG_(fstat)(file.number(), &now) >= 0 && now.dev == combined_.device &&
            now.ino == combined_.file) {
            blank(file.number(), combined_before_.end, combined_.end);
        }
    }
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
    has_failed_ = false;
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
