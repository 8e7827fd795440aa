// SPDX-License-Identifier: GPL-2.0-or-later
//
// Large objects of which a loop needs two numbers; with --cfg repaired, these have a vector.

#[derive(Clone)]
struct Rest {
    name: [u8; 48],
    mass: f64,
    history: [f64; 7],
}

#[cfg(not(repaired))]
#[derive(Clone)]
struct Body {
    place: f64,
    rest: Rest,
    speed: f64,
}

#[cfg(repaired)]
#[derive(Clone)]
struct Body {
    place: f64,
    speed: f64,
}

#[inline(never)]
fn work(bodies: &mut [Body]) -> f64 {
    let mut sum = 0.0;
    for body in bodies {
        body.place += body.speed;
        sum += body.place;
    }
    sum
}

fn main() {
    let rest = Rest { name: [1; 48], mass: 1.0, history: [0.5; 7] };
    #[cfg(not(repaired))]
    let mut bodies = vec![Body { place: 0.0, rest: rest.clone(), speed: 1.0 }; 6000];
    #[cfg(repaired)]
    let mut bodies = vec![Body { place: 0.0, speed: 1.0 }; 6000];
    #[cfg(repaired)]
    let rests = vec![rest.clone(); 6000];
    let mut sum = 0.0;
    for _ in 0..20 {
        sum += work(&mut bodies);
    }
    #[cfg(repaired)]
    println!("{}", rests[7].mass);
    #[cfg(not(repaired))]
    println!("{}", bodies[7].rest.mass);
    println!("{} {} {}", sum, rest.name[3], rest.history[2]);
}
