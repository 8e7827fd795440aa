// SPDX-License-Identifier: GPL-2.0-or-later
//
// C++ exceptions caught 0, 1, 10 and 50 frames above the throw. Each frame of `deep` has an object
// whose destructor calls closed(), reached through a landing pad. main calls `after` when it has
// caught.
//
//   frames of deep: 1 + 10 + 50; called by main 3 times (0 frames: thrown and caught in main)
//
// build: -O0 -static
// oracle: amd64
// expect: calls main > deep = 3; deep > deep = 0 + 9 + 49; main > after = 4; after = 4
// expect: calls closed = 1 + 10 + 50

extern "C" {
static void closed() {}
static void after() {}
}

struct Guard {
    ~Guard() { closed(); }
};

extern "C" {
static void deep(int frames) {
    Guard guard;
    if (frames == 1) throw frames;
    deep(frames - 1);
}
}

int main() {
    const int all_frames[] = {0, 1, 10, 50};
    for (int frames : all_frames) {
        try {
            if (frames == 0) throw frames;
            deep(frames);
        } catch (int) {
            after();
        }
    }
}
