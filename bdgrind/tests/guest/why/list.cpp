// SPDX-License-Identifier: GPL-2.0-or-later
//
// Nodes on the heap, linked in no order, added up by a loop inlined into main; with -DREPAIRED, they are a vector.

#include <algorithm>
#include <cstdio>
#include <memory>
#include <random>
#include <vector>

struct Node {
    Node* next = nullptr;
    long value = 1;
    long weight = 2;
};

int main() {
    constexpr std::size_t kSize = 8000;
#ifdef REPAIRED
    std::vector<Node> in_order(kSize);
    std::vector<Node*> nodes;
    for (Node& node : in_order) nodes.push_back(&node);
#else
    std::vector<std::unique_ptr<Node>> nodes;
    for (std::size_t i = 0; i < kSize; ++i) nodes.push_back(std::make_unique<Node>());
    std::shuffle(nodes.begin(), nodes.end(), std::mt19937(1));
#endif
    for (std::size_t i = 0; i + 1 < kSize; ++i) nodes[i]->next = &*nodes[i + 1];
    long sum = 0;
    for (int step = 0; step < 20; ++step) {
        for (Node* node = &*nodes[0]; node != nullptr; node = node->next) {
            node->weight += step;
            sum += node->value ^ node->weight;
        }
    }
    std::printf("%ld\n", sum);
}
