// SPDX-License-Identifier: GPL-2.0-or-later
// dispatch OBJECTS PASSES: virtual calls over many small objects, allocated one by one and visited in
// shuffled order. 24 classes share one interface; each call jumps through the object's table, reads one
// or two of its fields and leaves the rest of its line alone.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace {

class Visitor;

class Part {
  public:
    virtual ~Part() = default;
    virtual std::uint64_t weight() const = 0;
    virtual void age() = 0;
    virtual void accept(Visitor& visitor) const = 0;
};

class Visitor {
  public:
    void visit_light(std::uint64_t grams) { light_ += grams; }
    void visit_heavy(std::uint64_t grams) { heavy_ += grams; }
    std::uint64_t total() const { return light_ + heavy_; }

  private:
    std::uint64_t light_ = 0;
    std::uint64_t heavy_ = 0;
};

template <unsigned kKind> class KindOfPart final : public Part {
  public:
    explicit KindOfPart(std::uint64_t serial) : serial_(serial) {}

    std::uint64_t weight() const override { return serial_ % (kKind + 2) + age_; }
    void age() override { age_ += kKind & 1; }

    void accept(Visitor& visitor) const override
    {
        if constexpr (kKind < 12)
            visitor.visit_light(weight());
        else
            visitor.visit_heavy(weight());
    }

  private:
    std::uint64_t serial_;
    std::uint64_t age_ = 0;
    std::uint64_t filler_[kKind % 4] = {}; // objects of 24 to 48 bytes
};

template <> class KindOfPart<0> final : public Part { // the one without a filler
  public:
    explicit KindOfPart(std::uint64_t serial) : serial_(serial) {}

    std::uint64_t weight() const override { return serial_ % 2; }
    void age() override {}
    void accept(Visitor& visitor) const override { visitor.visit_light(weight()); }

  private:
    std::uint64_t serial_;
};

using Maker = std::unique_ptr<Part> (*)(std::uint64_t serial);

template <unsigned kKind> std::unique_ptr<Part> make(std::uint64_t serial)
{
    return std::make_unique<KindOfPart<kKind>>(serial);
}

template <unsigned... kKinds> std::vector<Maker> makers(std::integer_sequence<unsigned, kKinds...>)
{
    return {make<kKinds>...};
}

} // namespace

int main(int argc, char** argv)
{
    if (argc != 3) {
        std::fprintf(stderr, "usage: dispatch OBJECTS PASSES\n");
        return 2;
    }
    const std::uint64_t count = std::strtoull(argv[1], nullptr, 10);
    const unsigned long passes = std::strtoul(argv[2], nullptr, 10);

    const auto kinds = makers(std::make_integer_sequence<unsigned, 24>());
    std::mt19937_64 random(24);
    std::vector<std::unique_ptr<Part>> parts;
    parts.reserve(count);
    for (std::uint64_t i = 0; i < count; i++)
        parts.push_back(kinds[random() % kinds.size()](i));
    for (std::size_t i = parts.size(); i > 1; i--)
        std::swap(parts[i - 1], parts[random() % i]);

    std::uint64_t weight = 0;
    Visitor visitor;
    for (unsigned long pass = 0; pass < passes; pass++) {
        for (const auto& part : parts)
            part->age();
        for (const auto& part : parts)
            weight += part->weight();
        for (const auto& part : parts)
            part->accept(visitor);
    }
    std::printf("dispatch: weight %llu\n", static_cast<unsigned long long>(weight));
    return weight == visitor.total() ? 0 : 1;
}
