// SPDX-License-Identifier: GPL-2.0-or-later
//
// Three functions, one after the other, each of which passes over the same numbers; with --cfg repaired, one does.

#[cfg(not(repaired))]
mod passes {
    #[inline(never)]
    pub fn scale(values: &mut [f64]) {
        for value in values {
            *value *= 0.5;
        }
    }

    #[inline(never)]
    pub fn shift(values: &mut [f64]) {
        for value in values {
            *value += 0.25;
        }
    }

    #[inline(never)]
    pub fn sum(values: &[f64]) -> f64 {
        let mut sum = 0.0;
        for value in values {
            sum += value * value;
        }
        sum
    }
}

#[cfg(not(repaired))]
fn work(values: &mut [f64]) -> f64 {
    passes::scale(values);
    passes::shift(values);
    passes::sum(values)
}

#[cfg(repaired)]
#[inline(never)]
fn work(values: &mut [f64]) -> f64 {
    let mut sum = 0.0;
    for value in values {
        *value = *value * 0.5 + 0.25;
        sum += *value * *value;
    }
    sum
}

fn main() {
    let mut values = vec![1.0; 60000];
    let mut sum = 0.0;
    for _ in 0..4 {
        sum += work(&mut values);
    }
    println!("{}", sum);
}
