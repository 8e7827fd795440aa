// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/trace/trace.h"

namespace bd {
namespace {

consteval TracedExit marker(Marker marker) {
    TracedExit exit{};
    exit.continuation_expected = kMarkerContinuation;
    exit.words = kMarkerWords - kHeaderWords;
    exit.index = static_cast<std::uint16_t>(marker);
    return exit;
}

}  // namespace

constinit const TracedExit kMarkers[] = {
    marker(Marker::kThread),        marker(Marker::kThreadEnd), marker(Marker::kSignalEnter),
    marker(Marker::kSignalLeave),   marker(Marker::kCollect),   marker(Marker::kToggleCollect),
    marker(Marker::kZero),          marker(Marker::kStop),      marker(Marker::kSystemCall),
    marker(Marker::kThreadCreate),  marker(Marker::kSignal),    marker(Marker::kAllocatorEntered),
    marker(Marker::kAllocatorLeft), marker(Marker::kFreed),     marker(Marker::kMapped),
    marker(Marker::kUnmapped),      marker(Marker::kCoherence), marker(Marker::kCoreUse),
};

}  // namespace bd
