# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of Rust as llvm-symbolizer 14 gave them for a program of rustc 1.95."""

import pytest
from bdannotate.model.rust_names import has_rust_hash, with_arguments

VEC = "alloc::vec::Vec$LT$T$C$A$GT$"
FROM_ITER = (
    "_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$alloc..vec..spec_from_iter_nested..SpecFromIterNested$LT$T$C$I$GT$$GT$"
    "::from_iter::hd4a67707a908373b"
)


@pytest.mark.parametrize(("name", "own", "readable"), [
    (f"{VEC}::push::h146b80732fcbe51f", "push<particles::Cell, alloc::alloc::Global>",
     "alloc::vec::Vec<T,A>::push::<particles::Cell, alloc::alloc::Global>"),
    (f"{VEC}::push::h146b80732fcbe51f", "", "alloc::vec::Vec<T,A>::push"),
    (f"{VEC}::push::h146b80732fcbe51f", "push", "alloc::vec::Vec<T,A>::push"),
    (f"{VEC}::push::h146b80732fcbe51f", "push_mut<particles::Cell>", "alloc::vec::Vec<T,A>::push"),
    (FROM_ITER, "from_iter<u64, particles::main::{closure_env#0}>",
     "<alloc::vec::Vec<T> as alloc::vec::spec_from_iter_nested::SpecFromIterNested<T,I>>::from_iter"
     "::<u64, particles::main::{closure_env#0}>"),
    ("hashbrown::raw::RawTable$LT$T$C$A$GT$::reserve_rehash::h645a943784530c30 (.llvm.742205720958144471)", "",
     "hashbrown::raw::RawTable<T,A>::reserve_rehash"),
    ("std::rt::lang_start::_$u7b$$u7b$closure$u7d$$u7d$::h72e3b61a2704944f", "{closure#0}<()>",
     "std::rt::lang_start::{{closure}}"),
    ("_$LT$$RF$$u5b$u8$u5d$$u20$as$u20$a..B$GT$::f::h72e3b61a2704944f", "", "<&[u8] as a::B>::f"),
    ("a::$u1b$$u202e$::f::h72e3b61a2704944f", "", "a::$u1b$$u202e$::f"),
])
def test_what_the_parameters_stand_for_is_told(name, own, readable):
    assert has_rust_hash(name)
    assert with_arguments(name, own) == readable


@pytest.mark.parametrize("name", ["<alloc::alloc::Global>::alloc_impl", "geo::hash::h1", "main", "_ZN3geo4mainEv"])
def test_other_names_are_not_taken_for_such(name):
    assert not has_rust_hash(name)
