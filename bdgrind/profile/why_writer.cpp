// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/why_writer.h"

#include <optional>
#include <utility>

#include "profile/name_lists.h"
#include "profile/object_writer.h"
#include "profile/why_distances.h"
#include "profile/why_orders.h"
#include "profile/why_places.h"
#include "profile/why_reuses.h"
#include "profile/why_scopes.h"
#include "profile/why_stays.h"

namespace bd {

void WhyWriter::write(const RunDescription& run) {
    const Why& why = *engine_.why();
    NameLists names;
    WhyPlaces places(engine_, run.thread);
    WhyScopes scopes;
    std::vector<std::uint32_t> groups = group_numbers(run.thread);
    const DistanceSections distances(engine_, why.distances, why.paths, "", groups, run.thread);
    std::optional<DistanceSections> hits;
    if (why.hits) hits.emplace(engine_, why.hits->distances, why.hits->paths, "hit-", groups, run.thread);
    const ReuseSection reuses(engine_, run.thread);
    const StaySection stays(why.stays, std::move(groups));
    OrderSection orders(engine_, run.thread);
    distances.collect(&places, &names);
    if (hits) hits->collect(&places, &names);
    reuses.collect(&places, &scopes, &names);
    stays.collect(&places, &names);
    orders.collect(&places, &scopes, &names);
    places.number_all();
    scopes.number_all();

    out_ << "why: 1\n";
    write_process(out_, run);
    write_descriptions(out_, run);
    write_caches();
    orders.write_sample(out_);
    names.write(out_, engine_);
    places.write(out_, names);
    scopes.write(out_, names);
    distances.write(out_, places);
    if (engine_.config().reuses) {
        reuses.write(out_, places, scopes);
        stays.write(out_, places);
    }
    orders.write(out_, places, scopes);
    distances.write_by_object(out_, places);
    distances.write_inclusive(out_, names);
    if (!hits) return;
    hits->write(out_, places);
    hits->write_by_object(out_, places);
    hits->write_inclusive(out_, names);
}

// See StaySection.
std::vector<std::uint32_t> WhyWriter::group_numbers(std::uint32_t thread) const {
    if (engine_.objects() == nullptr) return {};
    return ObjectWriter(out_, engine_, false).group_numbers(thread);
}

void WhyWriter::write_caches() {
    const CacheGeometries& caches = engine_.config().caches;
    out_ << "line: " << caches.d1.line_bytes << "\nd1-lines: " << caches.d1.lines()
         << "\nll-lines: " << caches.ll.lines() << "\nsets: " << caches.d1.sets() << '\n';
    if (engine_.why()->hits) out_ << "least-distance: " << engine_.config().reuse_rules.least_distance << '\n';
    if (!engine_.config().reuses) return;
    out_ << "history-sample: " << engine_.why()->stays.one_in() << "\nreuse-sample: " << engine_.why()->history.one_in()
         << '\n';
}

}  // namespace bd
