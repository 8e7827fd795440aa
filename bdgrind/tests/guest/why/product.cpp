// SPDX-License-Identifier: GPL-2.0-or-later
//
// A product of matrices of a class whose accessors are inlined, like all of it, into main; with -DREPAIRED, along rows.

#include <cstddef>
#include <cstdio>
#include <vector>

template <class Value>
class Matrix {
public:
    explicit Matrix(std::size_t size) : size_(size), values_(size * (size + 4)) {}
    std::size_t size() const { return size_; }
    Value& operator()(std::size_t row, std::size_t column) { return values_[row * (size_ + 4) + column]; }
    const Value& operator()(std::size_t row, std::size_t column) const { return values_[row * (size_ + 4) + column]; }

private:
    std::size_t size_;
    std::vector<Value> values_;
};

template <class Value>
void multiply(const Matrix<Value>& left, const Matrix<Value>& right, Matrix<Value>& product) {
    const std::size_t size = left.size();
    for (std::size_t i = 0; i < size; ++i) {
#ifdef REPAIRED
        for (std::size_t k = 0; k < size; ++k) {
            const Value factor = left(i, k);
            for (std::size_t j = 0; j < size; ++j) product(i, j) += factor * right(k, j);
        }
#else
        for (std::size_t j = 0; j < size; ++j) {
            Value sum = 0;
            for (std::size_t k = 0; k < size; ++k) sum += left(i, k) * right(k, j);
            product(i, j) = sum;
        }
#endif
    }
}

int main() {
    Matrix<float> left(100), right(100), product(100);
    for (std::size_t i = 0; i < left.size(); ++i) {
        for (std::size_t j = 0; j < left.size(); ++j) {
            left(i, j) = static_cast<float>(i + j);
            right(i, j) = static_cast<float>(i) - static_cast<float>(j);
        }
    }
    multiply(left, right, product);
    std::printf("%g\n", static_cast<double>(product(50, 30)));
}
