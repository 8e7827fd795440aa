# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of functions as reports show them."""

import string

import pytest
from hypothesis import given, strategies as st

from bdannotate.model.profile import Function
from bdannotate.views.names import Names, fit, fit_all, least_width

STRING = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"


@pytest.mark.parametrize("name, short", [
    ("main", "main"),
    ("__libc_start_main@@GLIBC_2.34", "__libc_start_main"),
    ("fopen@GLIBC_2.2.5", "fopen"),
    (f"f({STRING} const&, int)", "f"),
    (f"std::vector<{STRING}, std::allocator<{STRING} > >::push_back({STRING}&&)",
     "std::vector<std::string>::push_back"),
    (f"std::map<{STRING}, int, std::less<{STRING} >, std::allocator<std::pair<{STRING} const, int>"
     f" > >::operator[]({STRING}&&)", "std::map<std::string, int>::operator[]"),
    ("std::unique_ptr<A, std::default_delete<A> >::get()", "std::unique_ptr<A>::get"),
    ("void sort<int*>(int*, int*)", "sort<int*>"),
    ("bool operator< <int>(A<int> const&, A<int> const&)", "operator< <int>"),
    ("std::ostream& std::operator<< <char>(std::ostream&, char)", "std::operator<< <char>"),
    ("A::operator()(int) const", "A::operator()"),
    ("A::operator->() const", "A::operator->"),
    ("operator new(unsigned long)", "operator new"),
    ("A::operator unsigned long() const", "A::operator unsigned long"),
    ("(anonymous namespace)::f(int)", "(anonymous namespace)::f"),
    ("main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()"),
    ("f[abi:cxx11](int)", "f"),
    ("f(int)'2", "f'2"),
    ("__sums_MOD_along_rows", "sums::along_rows"),
    ("MAIN__", "MAIN__"),
    ("__memcpy_avx_unaligned_erms", "__memcpy_avx_unaligned_erms"),
    ("core::fmt::write::h0123456789abcdef", "core::fmt::write"),
    ("<core::fmt::Formatter>::pad_integral", "<Formatter>::pad_integral"),
    ("<alloc::vec::Vec<table::Row> as core::ops::Drop>::drop", "<Vec<Row> as Drop>::drop"),
    ("std::rt::lang_start::<()>::{closure#0}", "std::rt::lang_start::<()>::{closure#0}"),
    ("core::iter::Map$LT$I$C$F$GT$::next::_$u7b$$u7b$closure$u7d$$u7d$::h0123456789abcdef",
     "core::iter::Map<I,F>::next::{closure}"),
    ("_$LT$$RF$T$u20$as$u20$core..fmt..Debug$GT$::fmt::h0123456789abcdef", "<&T as Debug>::fmt"),
    ("f$u1b$::h0123456789abcdef", "f$u1b$"),
    ("f(int) [clone .part.0]", "f [clone .part.0]"),
    ("f(int) [clone .part.0] [clone .constprop.0]'2", "f [clone .part.0] [clone .constprop.0]'2"),
    # Coroutines, by GCC and by Clang.
    ("squares(squares(int)::_Z7squaresi.Frame*) [clone .actor]", "squares [resume]"),
    ("squares(int) [clone .resume]", "squares [resume]"),
    ("squares(int) [clone .destroy]", "squares [clone .destroy]"),
    # Nothing to hold on to: as it is.
    ("a<b", "a<b"),
    (")(", ")("),
    ("operator", "operator"),
    ("", ""),
])
def test_what_a_name_is_shortened_to(name, short):
    assert names_of([name]).short(name) == short


def names_of(everything, file="a.c"):
    return Names(Function("prog", file, name) for name in everything)


@pytest.mark.parametrize("name, shown", [
    ("dgemm_", "dgemm"), ("red_black__", "red_black"), ("dgemm_'2", "dgemm'2"),
    ("solve_.constprop.0", "solve.constprop.0"), ("solve_.constprop.0.isra.1'3", "solve.constprop.0.isra.1'3"),
    # Those are no subroutine's, or as in the source already.
    ("MAIN__", "MAIN__"), ("main", "main"), ("_gfortran_transfer_real_", "_gfortran_transfer_real_"),
    ("__sums_MOD_along_rows", "sums::along_rows"),
])
@pytest.mark.parametrize("file", ["/src/dgemm.f", "blas.F", "solve.f90", "old.FOR"])
def test_fortrans_names_are_as_in_its_source(file, name, shown):
    assert names_of([name], file).short(name) == shown
    if shown != "sums::along_rows":
        assert names_of([name], "dgemm_.c").short(name) == name


def test_what_a_name_without_its_underscore_would_be_mistaken_for_keeps_it_apart():
    names = Names([Function("prog", "a.f", "solve_"), Function("prog", "a.c", "solve")])
    assert (names.short("solve_"), names.short("solve")) == ("solve_", "solve")


def test_arguments_stay_where_they_tell_functions_apart():
    names = names_of(["f(int)", "f(char)", "g(int)"])
    assert [names.short(name) for name in ("f(int)", "f(char)", "g(int)")] == [
        "f(int)", "f(char)", "g"
    ]


def test_code_without_a_symbol_is_named_by_its_object():
    def label(module, name):
        return Names().label(Function(module, "???", name))

    assert label("/usr/bin/sqlite3", "0x0000000000096b40") == "sqlite3+0x96b40"
    assert label("/usr/bin/sqlite3", "0x0000000000096b40'2") == "sqlite3+0x96b40'2"
    assert label("???", "0x0000000000001000") == "0x1000"


@pytest.mark.parametrize("width, text", [
    (100, "std::_Rb_tree<std::string, int>::_M_erase"),
    (40, "std::_Rb_tree<..>::_M_erase"),
    (22, "..::_M_erase"),
    (8, "std::..."),
    (2, "st"),
])
def test_a_name_fits_by_what_tells_least(width, text):
    assert fit("std::_Rb_tree<std::string, int>::_M_erase", width) == text


ALPHABET = string.ascii_letters + "<>():, *&'~@\x00"


@given(st.lists(st.text(alphabet=ALPHABET, max_size=40), min_size=1))
def test_any_name_has_some_short_form_that_fits(everything):
    names = names_of(everything)
    for name in everything:
        short = names.short(name)
        assert len(short) <= len(name) + 8
        assert bool(short) == bool(name)
        assert len(fit(short, 10)) <= 10


def test_of_code_without_a_name_the_address_stays():
    assert fit("libsqlite3.so.0.8.6+0xfc0b0", 27) == "libsqlite3.so.0.8.6+0xfc0b0"
    assert fit("libsqlite3.so.0.8.6+0xfc0b0", 22) == "libsqlite3.so+0xfc0b0"
    assert fit("libsqlite3.so.0.8.6+0xfc0b0'2", 16) == "libs..+0xfc0b0'2"


def test_names_that_would_look_alike_are_cut_where_they_differ():
    long = "ns::Container<std::pair<int, long>, ns::Policy>::"
    names = [f"{long}insert_or_assign_from_range_first(int)", f"{long}insert_or_assign_from_range_last(int)", "main"]
    found = fit_all(names, [32] * 3)
    assert len(set(found)) == 3 and all(len(name) <= 32 for name in found)
    assert "first" in found[0] and "last" in found[1] and found[2] == "main"
    # The same function twice looks the same.
    assert len(set(fit_all([names[0]] * 2, [32] * 2))) == 1


@pytest.mark.parametrize("name, width", [
    ("main", 4), ("a::b", 4), ("Minisat::Solver::propagate", 13), ("f<int, std::vector<long>>", 5),
    ("libx.so.1+0x1234", 16), ("liblonger-than-that.so.1+0x1234", 24),
])
def test_the_room_that_a_name_needs(name, width):
    assert least_width(name) == width
    assert not fit(name, width).endswith("...")
