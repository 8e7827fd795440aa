// SPDX-License-Identifier: GPL-2.0-or-later
//
// Independent look-ups in a large table; with --cfg repaired, each is asked for some look-ups before.

const SIZE: usize = 1 << 18;

fn place(key: u32) -> usize {
    let key = (key ^ key >> 16).wrapping_mul(0x7feb352d);
    let key = (key ^ key >> 15).wrapping_mul(0x846ca68b);
    (key ^ key >> 16) as usize % SIZE
}

#[inline(never)]
fn work(table: &[u32]) -> u64 {
    let mut sum = 0;
    for i in 0..100000 {
        #[cfg(repaired)]
        unsafe {
            use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
            _mm_prefetch(table.as_ptr().add(place(i + 16)) as *const i8, _MM_HINT_T0);
        }
        sum += u64::from(table[place(i)]);
    }
    sum
}

fn main() {
    let table: Vec<u32> = (0..SIZE as u32).collect();
    println!("{}", work(&table));
}
