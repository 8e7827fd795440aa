// SPDX-License-Identifier: GPL-2.0-or-later
//
// C++ functions, for options that take names of functions: with and without parameters, with wildcards.
//
// build: -O0 -static
// counts: calls town::road(int) = 2; town::road(double) = 3; town::house::enter(int) const = 1
// counts: calls step() = 2 + 3 + 1

static void step() {}

namespace town {

void road(int) { step(); }
void road(double) { step(); }

struct house {
    void enter(int) const { step(); }
};

}  // namespace town

int main()
{
    for (int i = 0; i < 2; ++i) town::road(i);
    for (int i = 0; i < 3; ++i) town::road(i / 2.0);
    town::house().enter(1);
    return 0;
}
