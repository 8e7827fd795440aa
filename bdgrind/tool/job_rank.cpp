// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/job_rank.h"

#include <algorithm>
#include <string_view>

#include "profile/file_head.h"
#include "tool/valgrind.h"

namespace bd {
namespace {

constexpr std::size_t kMostDigits = 9;
constexpr std::size_t kMostHostBytes = 64;  // as the kernel has it

bool is_number(const char* text) {
    const std::string_view digits = text != nullptr ? text : "";
    return !digits.empty() && digits.size() <= kMostDigits &&
           std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
}

const char* copy_of(const HChar* text) { return VG_(strdup)("bdgrind.job_rank", text); }

}  // namespace

JobRank::JobRank() {
    // Slurm's last: under its mpirun it numbers what starts the ranks on each node.
    for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
        if (const HChar* const rank = VG_(getenv)(name); is_number(rank)) {
            rank_ = copy_of(rank);  // the guest may overwrite its environment
            break;
        }
    }
    if (rank_ == nullptr) return;
    for (const char* const name : {"SLURMD_NODENAME", "HOSTNAME"}) {
        if (const HChar* const host = VG_(getenv)(name); host != nullptr && *host != '\0') {
            host_ = copy_of(host);
            break;
        }
    }
}

void JobRank::write_host(TextOutput& out) const {
    HChar name[kMostHostBytes + 1];
    std::string_view host = "unknown";
    if (host_ != nullptr) {
        host = host_;
    } else if (const Int fd = VG_(fd_open)("/proc/sys/kernel/hostname", VKI_O_RDONLY, 0); fd >= 0) {
        const Int size = VG_(read)(fd, name, kMostHostBytes);
        VG_(close)(fd);
        if (size > 0) host = {name, static_cast<std::size_t>(size)};
    }
    out << "Host: ";
    write_text(out, host.substr(0, std::min(host.find('\n'), kMostHostBytes)));
}

}  // namespace bd
