// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/why_writer.h"

#include "profile/name_lists.h"
#include "profile/why_distances.h"
#include "profile/why_places.h"

namespace bd {

void WhyWriter::write(const RunDescription& run) {
    const Why& why = *engine_.why();
    NameLists names;
    WhyPlaces places(engine_, run.thread);
    const DistanceSection distances(why.distances);
    distances.collect(&places, &names);
    places.number_all();

    out_ << "why: 1\n";
    write_process(out_, run);
    write_descriptions(out_, run);
    write_caches();
    names.write(out_, engine_);
    places.write(out_, names);
    out_ << "scopes: 0\n";
    distances.write(out_, places);
}

void WhyWriter::write_caches() {
    const CacheGeometries& caches = engine_.config().caches;
    out_ << "line: " << caches.d1.line_bytes << "\nd1-lines: " << caches.d1.lines()
         << "\nll-lines: " << caches.ll.lines() << "\nsets: " << caches.d1.sets() << '\n';
}

}  // namespace bd
