// SPDX-License-Identifier: GPL-2.0-or-later
//
// A vector whose elements name the next one, in no order; with --cfg repaired, they lie in the order of their visits.

#[derive(Clone)]
struct Node {
    next: usize,
    key: u64,
    value: u64,
}

#[inline(never)]
fn work(nodes: &[Node], first: usize, step: u64) -> u64 {
    let mut sum = step;
    let mut at = first;
    while at != usize::MAX {
        let node = &nodes[at];
        sum = sum.wrapping_add(node.key ^ node.value);
        at = node.next;
    }
    sum
}

fn main() {
    const SIZE: usize = 8000;
    let mut order: Vec<usize> = (0..SIZE).collect();
    let mut chance: u64 = 1;
    for i in (1..SIZE).rev() {
        chance = chance.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        if !cfg!(repaired) {
            order.swap(i, (chance >> 33) as usize % (i + 1));
        }
    }
    let mut nodes = vec![Node { next: usize::MAX, key: 1, value: 2 }; SIZE];
    for pair in order.windows(2) {
        nodes[pair[0]].next = pair[1];
    }
    let mut sum = 0;
    for step in 0..20 {
        sum += work(&nodes, order[0], step);
    }
    println!("{}", sum);
}
