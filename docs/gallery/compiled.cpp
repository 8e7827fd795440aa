// SPDX-License-Identifier: GPL-2.0-or-later
//
// What cc1plus is given to compile; it needs no header, so that it is the same everywhere.
//   $(g++ -print-prog-name=cc1plus) -quiet -O2 compiled.cpp -o compiled.s

template <int N>
struct Sum {
    static constexpr int value = N + Sum<N - 1>::value;
};
template <>
struct Sum<0> {
    static constexpr int value = 0;
};

template <typename Key, typename Value, int Size>
class Table {
public:
    Value& operator[](const Key& key) {
        unsigned slot = static_cast<unsigned>(key) % Size;
        while (used_[slot] && keys_[slot] != key) slot = (slot + 1) % Size;
        used_[slot] = true;
        keys_[slot] = key;
        return values_[slot];
    }

private:
    Key keys_[Size] = {};
    Value values_[Size] = {};
    bool used_[Size] = {};
};

int main(int argc, char** argv) {
    Table<int, long, Sum<20>::value> seen;
    for (int i = 0; i < argc; ++i) ++seen[argv[i][0]];
    return static_cast<int>(seen[Sum<40>::value]);
}
