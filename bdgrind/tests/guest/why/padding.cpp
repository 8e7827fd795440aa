// SPDX-License-Identifier: GPL-2.0-or-later
//
// A vector of objects of which three sevenths are padding, added up in main; with -DREPAIRED, large fields come first.

#include <cstdio>
#include <vector>

struct Item {
#ifdef REPAIRED
    long price = 1, weight = 2, size = 3;
    int number = 4;
    short kind = 5;
    bool is_new = true, is_sold = false;
#else
    bool is_new = true;
    long price = 1;
    bool is_sold = false;
    long weight = 2;
    short kind = 5;
    long size = 3;
    int number = 4;
#endif
};

int main() {
    std::vector<Item> items(8000);
    long sum = 0;
    for (int step = 0; step < 20; ++step) {
        items[step].number = step;
        for (const Item& item : items) {
            sum += item.price * item.weight * item.size + item.number + item.kind;
            sum += item.is_new + item.is_sold;
        }
    }
    std::printf("%ld\n", sum);
}
