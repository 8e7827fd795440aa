// SPDX-License-Identifier: GPL-2.0-or-later
// trees ALLOCATIONS: allocates and frees and does little else. Search trees of nodes of 48 bytes are
// built, added up and dropped, one after the other.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace {

constexpr std::uint64_t kNodesOfTree = 1000;

struct Node {
    explicit Node(std::uint64_t its_key) : key(its_key), weight(its_key % 7) {}

    std::unique_ptr<Node> left;
    std::unique_ptr<Node> right;
    std::uint64_t key;
    std::uint64_t weight;
    std::uint64_t unused[2] = {};
};

std::unique_ptr<Node> make_tree(std::uint64_t first, std::uint64_t count)
{
    if (count == 0)
        return nullptr;
    const std::uint64_t middle = count / 2;
    auto node = std::make_unique<Node>(first + middle);
    node->left = make_tree(first, middle);
    node->right = make_tree(first + middle + 1, count - middle - 1);
    return node;
}

std::uint64_t sum(const Node* node)
{
    return node == nullptr ? 0 : node->weight + sum(node->left.get()) + sum(node->right.get());
}

} // namespace

int main(int argc, char** argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: trees ALLOCATIONS\n");
        return 2;
    }
    const std::uint64_t allocations = std::strtoull(argv[1], nullptr, 10);
    std::uint64_t total = 0;
    std::uint64_t expected = 0;
    for (std::uint64_t first = 0; first < allocations; first += kNodesOfTree) {
        total += sum(make_tree(first, kNodesOfTree).get());
        for (std::uint64_t key = first; key < first + kNodesOfTree; key++)
            expected += key % 7;
    }
    std::printf("trees: %llu\n", static_cast<unsigned long long>(total));
    return total == expected ? 0 : 1;
}
