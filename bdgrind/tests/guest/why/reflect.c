// SPDX-License-Identifier: GPL-2.0-or-later
//
// Reflections of all columns of a matrix, by loops down each column. The compiler begins the loop over the columns with
// an instruction of the line that clears the matrix. With -DREPAIRED, all loops go along the rows.

#include <stdio.h>

#define SIZE 192
#define ROW (SIZE + 4)

static double matrix[SIZE][ROW], normal[SIZE];
#ifdef REPAIRED
static double dots[SIZE];
#endif

__attribute__((noipa)) static void reflect(int first) {
    for (int i = 0; i < SIZE; ++i) {
        for (int j = 0; j < SIZE; ++j) matrix[i][j] = i == j ? 1.0 : 0.0;
    }
    for (int m = SIZE - 2; m >= first; --m) {
#ifdef REPAIRED
        for (int j = 0; j < SIZE; ++j) dots[j] = 0.0;
        for (int i = m; i < SIZE; ++i) {
            for (int j = 0; j < SIZE; ++j) dots[j] += normal[i] * matrix[i][j];
        }
        for (int i = m; i < SIZE; ++i) {
            for (int j = 0; j < SIZE; ++j) matrix[i][j] += dots[j] / normal[m] * normal[i];
        }
#else
        for (int column = 0; column < SIZE; ++column) {
            double dot = 0.0;
            for (int i = m; i < SIZE; ++i) dot += normal[i] * matrix[i][column];
            dot /= normal[m];
            for (int i = m; i < SIZE; ++i) matrix[i][column] += dot * normal[i];
        }
#endif
    }
}

int main(void) {
    for (int i = 0; i < SIZE; ++i) normal[i] = 1.0 / (i + 2);
    reflect(2);
    printf("%g\n", matrix[SIZE / 2][SIZE / 3]);
}
