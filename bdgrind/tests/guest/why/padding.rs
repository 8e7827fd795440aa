// SPDX-License-Identifier: GPL-2.0-or-later
//
// Objects whose layout is that of C, with padding; with --cfg repaired, large fields come first.

#[cfg(not(repaired))]
#[repr(C)]
#[derive(Clone)]
struct Item {
    is_new: u8,
    price: f64,
    kind: u16,
    weight: f64,
    number: u32,
}

#[cfg(repaired)]
#[repr(C)]
#[derive(Clone)]
struct Item {
    price: f64,
    weight: f64,
    number: u32,
    kind: u16,
    is_new: u8,
}

#[inline(never)]
fn work(items: &[Item], step: u32) -> f64 {
    let mut sum = f64::from(step);
    for item in items {
        sum += item.price * item.weight + f64::from(item.number);
        sum += f64::from(item.kind) + f64::from(item.is_new);
    }
    sum
}

fn main() {
    let items = vec![Item { is_new: 1, price: 2.0, kind: 3, weight: 0.5, number: 7 }; 10000];
    let mut sum = 0.0;
    for step in 0..20 {
        sum += work(&items, step);
    }
    println!("{}", sum);
}
