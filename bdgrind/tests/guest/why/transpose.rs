// SPDX-License-Identifier: GPL-2.0-or-later
//
// A transposition; with --cfg repaired, in tiles.

const SIZE: usize = 264;

#[cfg(not(repaired))]
#[inline(never)]
fn transpose(from: &[f64; SIZE * SIZE], to: &mut [f64; SIZE * SIZE]) {
    for i in 0..SIZE {
        for j in 0..SIZE {
            to[j * SIZE + i] = from[i * SIZE + j];
        }
    }
}

#[cfg(repaired)]
#[inline(never)]
fn transpose(from: &[f64; SIZE * SIZE], to: &mut [f64; SIZE * SIZE]) {
    const TILE: usize = 8;
    for row in (0..SIZE).step_by(TILE) {
        for column in (0..SIZE).step_by(TILE) {
            for i in row..row + TILE {
                for j in column..column + TILE {
                    to[j * SIZE + i] = from[i * SIZE + j];
                }
            }
        }
    }
}

#[repr(align(64))]
struct Matrix([f64; SIZE * SIZE]);

static mut FROM: Matrix = Matrix([1.0; SIZE * SIZE]);
static mut TO: Matrix = Matrix([0.0; SIZE * SIZE]);

fn main() {
    // One thread has them.
    let (from, to) = unsafe { (&mut *std::ptr::addr_of_mut!(FROM), &mut *std::ptr::addr_of_mut!(TO)) };
    for step in 0..4 {
        from.0[step] = step as f64;
        transpose(&from.0, &mut to.0);
    }
    println!("{}", to.0[SIZE * 7 + 5]);
}
