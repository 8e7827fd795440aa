// SPDX-License-Identifier: GPL-2.0-or-later
//
// Records of a line, found at random; with --cfg repaired, each begins with a line.

#[cfg_attr(repaired, repr(align(64)))]
#[derive(Clone)]
struct Record {
    values: [u64; 8],
}

#[inline(never)]
fn work(records: &[Record]) -> u64 {
    let mut sum: u64 = 0;
    let mut chance: u32 = 1;
    for _ in 0..50000 {
        chance = chance.wrapping_mul(1664525).wrapping_add(1013904223);
        let record = &records[(chance >> 19) as usize];
        for value in &record.values {
            sum = sum.wrapping_add(value ^ u64::from(chance));
        }
    }
    sum
}

fn main() {
    let records = vec![Record { values: [1, 2, 3, 4, 5, 6, 7, 8] }; 8192];
    println!("{}", work(&records));
}
