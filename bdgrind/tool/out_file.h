// SPDX-License-Identifier: GPL-2.0-or-later
//
// What --bdgrind-out-file names, and how profiles get there:
//
//   a file     is written beside its place, under a name of its own, and renamed when it is complete. Whatever goes
//              wrong, there is the old profile or the new one. Symbolic links of the user's stay what they are, and the
//              file that they lead to is replaced. What is at a default name, which others can guess, is not followed.
//   a stream   (a FIFO, a device, /dev/stdout) is opened once, at the start, and gets all parts one behind the other.
//
// A context tree and the data objects stand beside the profile, with names that begin differently, so that viewers
// which open all that begins with a profile's name pass over them. They are no text to go into a stream.
//
// What cannot be written there goes into the folder for temporary files, under a name that nothing has yet; see
// out_files.h.

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/base/text_output.h"
#include "tool/new_file.h"
#include "tool/place.h"

namespace bd {

// A text that can be written, and once more to another place.
class Text {
public:
    virtual void write_to(TextOutput& out) const = 0;

protected:
    ~Text() = default;
};

class OutFile {
public:
    enum class Kind { kProfile, kContextTree, kObjects, kWhy, kSharing, kPaths };

    // Ends the process with a sentence if such a file could not be written there: better to know that before the
    // program has run for hours. What is there stays as it is until there is something new to write.
    explicit OutFile(Kind kind);

    // Writes `text` so that commit() puts it into the file with `ending` behind its name, in place of an older one.
    // With --combine-dumps=yes, it is appended to what this has written to the file before. Both return an error
    // number, and tell of it in the log. What has been written, and even put there, may be given up: only a stream
    // keeps it.
    int write(std::string_view ending, const Text& text);
    int commit();
    void give_up();

    // Writes `text` into a new file that stands where such a file stands beside `profile`, for its owner only. Returns
    // an error number, and tells of it in the log if that is not VKI_EEXIST.
    int write_beside(const Path& profile, const Text& text);

    // Of what has just been written: that it is in the file beside `profile` and not where it was meant to be.
    void say_elsewhere(const Path& profile) const;
    // Where it was meant to be.
    Path meant_for() const { return meant_for_; }

    bool is_stream() const { return stream_ >= 0; }

    // What is written and handed over from here on may be taken back. False: it went into a stream, which keeps it.
    void begin_attempt();
    bool take_back();

    // Relative to the folder where the process was started, if it lies below it: as a user there would call it.
    Path known_name() const;
    // The file where a file of this kind stands beside that profile.
    Path beside(const Path& profile) const;

    // This process is a child of the one that has written so far: it needs a name of its own, but shares a stream.
    void start_in_child();

    // Before the process goes on with another program, which may be observed, too: lets that know through its command
    // line, see Options, what it must not overwrite.
    void hand_over(std::uint32_t parts);

private:
    // What has been written to a combined file: it goes on at `end`.
    struct Combined {
        unsigned long long device = 0;
        unsigned long long file = 0;
        long long end = 0;
        bool begun = false;
    };

    Path name() const;
    int check();
    void say(const char* name, int error) const;
    int write_file(const Text& text);
    int replace(const Path& path, const Text& text);
    int append(const Path& path, const Text& text);
    static void blank(int descriptor, long long begin, long long end);
    void blank_behind(const Combined& kept);
    void remember(const Path& path);

    Kind kind_;
    Path path_;  // of the profile, as named on the command line, with the process id and the like put in
    bool is_default_;         // the name is not the user's choice
    bool is_parents_ = false;  // another process writes there
    int stream_ = -1;
    // Since the latest write(): where it goes; a complete file that is not in its place yet, and the place.
    Path meant_for_;
    std::unique_ptr<NewFile> new_file_;
    Path place_;
    bool is_placed_ = false;
    Combined combined_;
    Combined combined_before_write_;
    Combined combined_before_;    // the attempt
    std::vector<Path> attempted_;
    bool is_attempt_ = false;
    int handed_over_ = 0;  // arguments
};

}  // namespace bd
