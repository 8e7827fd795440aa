// SPDX-License-Identifier: GPL-2.0-or-later
//
// A heap of pointers to events: each comparison goes to two events for their times.

#include <cstddef>
#include <cstdio>
#include <memory>
#include <queue>
#include <vector>

struct Event {
    double time;
    char what[120];
};

struct Later {
    bool operator()(const std::unique_ptr<Event>& one, const std::unique_ptr<Event>& other) const {
        return one->time > other->time;
    }
};

int main() {
    std::priority_queue<std::unique_ptr<Event>, std::vector<std::unique_ptr<Event>>, Later> agenda;
    unsigned random = 1;
    for (int i = 0; i < 20000; ++i) {
        random = random * 1664525 + 1013904223;
        agenda.push(std::make_unique<Event>(Event{static_cast<double>(random >> 8), ""}));
    }
    double sum = 0;
    while (!agenda.empty()) {
        sum += agenda.top()->time;
        agenda.pop();
    }
    std::printf("%g\n", sum);
}
