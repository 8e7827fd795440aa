// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which rank of a parallel job this process is, for the heads of its files.

#pragma once

#include "engine/base/text_output.h"

namespace bd {

// What launchers tell their processes in the environment, as it was when the guest started: Open MPI, MPICH and Intel
// MPI, PMIx, Slurm. Nothing in any other process.
class JobRank {
public:
    JobRank();

    bool is_known() const { return rank_ != nullptr; }
    void write_rank(TextOutput& out) const { out << "Rank: " << rank_; }
    // The node that it runs on, by its name.
    void write_host(TextOutput& out) const;

private:
    const char* rank_ = nullptr;
    const char* host_ = nullptr;  // null: the kernel knows it
};

}  // namespace bd
