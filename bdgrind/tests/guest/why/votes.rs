// SPDX-License-Identifier: GPL-2.0-or-later
//
// Votes for candidates, counted in a table that the cache has nearly room for; with --cfg repaired, in counters of half
// the width.

const CANDIDATES: usize = 1536;
const VOTES: usize = 200_000;

#[cfg(repaired)]
type Counter = u16;
#[cfg(not(repaired))]
type Counter = u32;

#[inline(never)]
fn work(votes: &[u16], counts: &mut [Counter]) {
    for &vote in votes {
        counts[vote as usize] += 1;
    }
}

fn main() {
    let mut random: u32 = 1;
    let votes: Vec<u16> = (0..VOTES)
        .map(|_| {
            random = random.wrapping_mul(1664525).wrapping_add(1013904223);
            ((random >> 8) as usize % CANDIDATES) as u16
        })
        .collect();
    let mut counts: Vec<Counter> = vec![0; CANDIDATES];
    work(&votes, &mut counts);
    println!("{}", counts[CANDIDATES / 2]);
}
