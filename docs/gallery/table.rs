// SPDX-License-Identifier: GPL-2.0-or-later
//
// A search through boxed rows for one number each: of every row's line, 4 bytes are used.
//   rustc -C opt-level=2 -g table.rs -o table

struct Row {
    key: u32,
    _cells: [u32; 31],
}

mod search {
    #[inline(never)]
    pub fn count_equal(rows: &[Box<super::Row>], key: u32) -> usize {
        let mut found = 0;
        for row in rows {
            found += usize::from(row.key == key); // guilty: 4 of 128 bytes, behind a pointer
        }
        found
    }
}

fn main() {
    let rows: Vec<Box<Row>> = (0..20_000)
        .map(|i| Box::new(Row { key: i % 50, _cells: [i; 31] }))
        .collect();
    let found: usize = (0..40).map(|key| search::count_equal(&rows, key)).sum();
    println!("{found}");
}
