// SPDX-License-Identifier: GPL-2.0-or-later
/* stencil SIZE STEPS: shallow water on a periodic SIZE x SIZE grid, split by dimension.

   The shape of the paper's HYDRO: each sweep gathers one row or one column into short arrays, solves
   there, and scatters the result back. Columns are strided: they use 8 bytes of every line they load,
   and whether the rest is used before its eviction is what cache-use analysis shows. Each step ends with a
   plain transposition of the height field. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { kHeight, kAlong, kAcross, kFieldCount };

static const double kGravity = 9.81;
static const double kCourantNumber = 0.4;

typedef struct {
    int size;
    double *field[kFieldCount]; // row-major: height, momentum in x, momentum in y
    double *transposed;
} Grid;

/* One row or column with two ghost cells at each end. */
typedef struct {
    double *cell[kFieldCount];
    double *slope[kFieldCount];
    double *flux[kFieldCount];
} Strip;

static double *new_doubles(size_t count)
{
    double *doubles = calloc(count, sizeof *doubles);
    if (!doubles) {
        fprintf(stderr, "stencil: out of memory\n");
        exit(1);
    }
    return doubles;
}

static void fill(Grid *grid)
{
    int n = grid->size;
    for (int y = 0; y < n; y++) {
        for (int x = 0; x < n; x++) {
            int in_dam = x > n / 4 && x < n / 2 && y > n / 3 && y < 2 * n / 3;
            grid->field[kHeight][(size_t)y * n + x] = in_dam ? 2.0 : 1.0;
        }
    }
}

static double total_height(const Grid *grid)
{
    double sum = 0;
    size_t count = (size_t)grid->size * grid->size;
    for (size_t i = 0; i < count; i++)
        sum += grid->field[kHeight][i];
    return sum;
}

static __attribute__((noinline)) double time_step(const Grid *grid)
{
    double fastest = 0;
    size_t count = (size_t)grid->size * grid->size;
    for (size_t i = 0; i < count; i++) {
        double height = grid->field[kHeight][i];
        double wave = sqrt(kGravity * height);
        double in_x = fabs(grid->field[1][i] / height) + wave;
        double in_y = fabs(grid->field[2][i] / height) + wave;
        fastest = fmax(fastest, fmax(in_x, in_y));
    }
    return kCourantNumber / fastest;
}

static __attribute__((noinline)) void gather(double *to, const double *from, int count, int stride)
{
    for (int i = 0; i < count; i++)
        to[i + 2] = from[(size_t)i * stride];
    to[0] = to[count];
    to[1] = to[count + 1];
    to[count + 2] = to[2];
    to[count + 3] = to[3];
}

static __attribute__((noinline)) void scatter(double *to, const double *from, int count, int stride)
{
    for (int i = 0; i < count; i++)
        to[(size_t)i * stride] = from[i + 2];
}

/* The smaller of the two one-sided differences, 0 at an extremum. */
static __attribute__((noinline)) void limit_slopes(double *slope, const double *cell, int count)
{
    for (int i = 1; i < count + 3; i++) {
        double left = cell[i] - cell[i - 1];
        double right = cell[i + 1] - cell[i];
        slope[i] = left * right <= 0 ? 0 : fabs(left) < fabs(right) ? left : right;
    }
}

static void flux_of(double *flux, double height, double along, double across)
{
    double speed = along / height;
    flux[kHeight] = along;
    flux[kAlong] = along * speed + 0.5 * kGravity * height * height;
    flux[kAcross] = across * speed;
}

/* Rusanov's flux through the left face of each cell: the mean, and diffusion by the fastest wave. */
static __attribute__((noinline)) void solve_faces(Strip *strip, int count)
{
    for (int i = 2; i < count + 3; i++) {
        double left[kFieldCount], right[kFieldCount], flux_left[kFieldCount], flux_right[kFieldCount];
        for (int f = 0; f < kFieldCount; f++) {
            left[f] = strip->cell[f][i - 1] + 0.5 * strip->slope[f][i - 1];
            right[f] = strip->cell[f][i] - 0.5 * strip->slope[f][i];
        }
        flux_of(flux_left, left[kHeight], left[kAlong], left[kAcross]);
        flux_of(flux_right, right[kHeight], right[kAlong], right[kAcross]);
        double speed_left = fabs(left[kAlong] / left[kHeight]) + sqrt(kGravity * left[kHeight]);
        double speed_right = fabs(right[kAlong] / right[kHeight]) + sqrt(kGravity * right[kHeight]);
        double fastest = fmax(speed_left, speed_right);
        for (int f = 0; f < kFieldCount; f++)
            strip->flux[f][i] = 0.5 * (flux_left[f] + flux_right[f] - fastest * (right[f] - left[f]));
    }
}

static __attribute__((noinline)) void update(double *cell, const double *flux, int count, double step)
{
    for (int i = 2; i < count + 2; i++)
        cell[i] -= step * (flux[i + 1] - flux[i]);
}

/* Solves every line of cells that lie `stride` apart; lines begin `line_stride` apart. */
static void sweep(Grid *grid, Strip *strip, const int order[kFieldCount], int stride, int line_stride,
                  double step)
{
    int n = grid->size;
    for (int line = 0; line < n; line++) {
        size_t start = (size_t)line * line_stride;
        for (int f = 0; f < kFieldCount; f++) {
            gather(strip->cell[f], grid->field[order[f]] + start, n, stride);
            limit_slopes(strip->slope[f], strip->cell[f], n);
        }
        solve_faces(strip, n);
        for (int f = 0; f < kFieldCount; f++) {
            update(strip->cell[f], strip->flux[f], n, step);
            scatter(grid->field[order[f]] + start, strip->cell[f], n, stride);
        }
    }
}

static void sweep_rows(Grid *grid, Strip *strip, double step)
{
    static const int kOrder[kFieldCount] = {0, 1, 2};
    sweep(grid, strip, kOrder, 1, grid->size, step);
}

static void sweep_columns(Grid *grid, Strip *strip, double step)
{
    static const int kOrder[kFieldCount] = {0, 2, 1};
    sweep(grid, strip, kOrder, grid->size, 1, step);
}

static __attribute__((noinline)) void transpose(double *to, const double *from, int n)
{
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            to[(size_t)x * n + y] = from[(size_t)y * n + x];
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: stencil SIZE STEPS\n");
        return 2;
    }
    Grid grid = {.size = atoi(argv[1])};
    int steps = atoi(argv[2]);
    size_t count = (size_t)grid.size * grid.size;
    Strip strip;
    for (int f = 0; f < kFieldCount; f++) {
        grid.field[f] = new_doubles(count);
        strip.cell[f] = new_doubles((size_t)grid.size + 4);
        strip.slope[f] = new_doubles((size_t)grid.size + 4);
        strip.flux[f] = new_doubles((size_t)grid.size + 4);
    }
    grid.transposed = new_doubles(count);
    fill(&grid);
    double before = total_height(&grid);
    for (int i = 0; i < steps; i++) {
        double step = time_step(&grid);
        sweep_rows(&grid, &strip, step);
        sweep_columns(&grid, &strip, step);
        transpose(grid.transposed, grid.field[kHeight], grid.size);
    }
    double after = total_height(&grid);
    printf("stencil %d %d: height at the centre %.9f\n", grid.size, steps,
           grid.transposed[count / 2 + grid.size / 2]);
    if (!(fabs(after - before) < 1e-9 * before)) { // no water is lost on a periodic grid
        fprintf(stderr, "stencil: %.12g of water became %.12g\n", before, after);
        return 1;
    }
    return 0;
}
