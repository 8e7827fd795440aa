// SPDX-License-Identifier: GPL-2.0-or-later

import assert from "node:assert/strict";
import { test } from "node:test";
import { scopeOf } from "../src/scope";

test("functions of C++ are in classes or namespaces", () => {
    const known: [string, string][] = [
        ["main", ""], ["f(int, std::string)", ""], ["a::b::f(c::d)", "a::b"],
        ["std::vector<ns::T, std::allocator<ns::T> >::push_back(ns::T const&)",
            "std::vector<ns::T, std::allocator<ns::T> >"],
        ["void std::sort<It, ns::Less>(It, It, ns::Less)", "std"],
        ["(anonymous namespace)::C::run()", "(anonymous namespace)::C"],
        ["ns::(anonymous namespace)::f(int)", "ns::(anonymous namespace)"],
        ["operator delete(void*, unsigned long)", ""], ["C::operator()(int) const", "C"],
        ["C::operator new(unsigned long)", "C"], ["ns::operator<< <int>(std::ostream&, int)", "ns"],
        ["ns::C::operator->() const", "ns::C"], ["bool ns::operator==(A const&, A const&)", "ns"],
        ["std::ostream& ns::operator<<(std::ostream&, A)", "ns"], ["C::operator unsigned long() const", "C"],
        ["C::C(int) [clone .cold]", "C"], ["f [clone .part.0]", ""], ["C::~C()", "C"], ["C::f'2", "C"],
        ["g(int)::{lambda(auto)#1}::operator()(int) const", "g(int)::{lambda(auto)#1}"],
        ["toplev::main", "toplev"], ["operators::f()", "operators"], ["my_operator(int)", ""],
        ["perl+0x1ca6c0", ""], ["", ""], ["::", ""], ["<<<", ""], [">>::f", ">>"],
    ];
    for (const [name, scope] of known) assert.equal(scopeOf(name), scope, name);
});

test("functions of Rust are in types or modules", () => {
    const known: [string, string][] = [
        ["core::ptr::drop_in_place<alloc::vec::Vec<u8>>", "core::ptr"],
        ["<alloc::vec::Vec<T> as core::ops::Drop>::drop", "alloc::vec::Vec<T>"],
        ["<hashbrown::raw::RawTable<T, A>>::reserve_rehash", "hashbrown::raw::RawTable<T, A>"],
        ["app::run::{{closure}}", "app::run"], ["hashbrown::map::HashMap<K,V,S,A>::insert",
            "hashbrown::map::HashMap<K,V,S,A>"],
        ["<F as core::ops::FnOnce<(A,)>>::call_once::<fn() -> x::Y>", "F"],
    ];
    for (const [name, scope] of known) assert.equal(scopeOf(name), scope, name);
});
