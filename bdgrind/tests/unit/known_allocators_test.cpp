// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/known_allocators.h"

#include <string>

#include <gtest/gtest.h>

namespace bd {
namespace {

using enum AllocatorKind;

AllocatorRole role(const char* name) {
    return known_allocator(name, "/bin/program");
}

AllocatorKind kind(const char* name) {
    return role(name).kind;
}

TEST(KnownAllocators, CsFunctionsUnderAnyOfTheirNames) {
    for (const char* name : {"malloc", "__libc_malloc", "__GI___libc_malloc", "malloc@@GLIBC_2.2.5"}) {
        EXPECT_EQ(kind(name), kAllocates) << name;
        EXPECT_EQ(role(name).size, 1) << name;
    }
    EXPECT_EQ(role("calloc").count, 1);
    EXPECT_EQ(role("calloc").size, 2);
    EXPECT_EQ(kind("realloc"), kReallocates);
    EXPECT_EQ(role("posix_memalign").stored_at, 1);
    EXPECT_EQ(kind("free"), kFrees);
    EXPECT_EQ(kind("__strdup"), kWraps);
}

TEST(KnownAllocators, NewAndDeleteInAllForms) {
    for (const char* name : {"operator new(unsigned long)", "operator new[](unsigned long, std::align_val_t)",
                             "operator new(unsigned int, std::nothrow_t const&)", "_Znwm", "_Znaj"}) {
        EXPECT_EQ(kind(name), kAllocates) << name;
    }
    for (const char* name : {"operator delete(void*)", "operator delete[](void*, unsigned long)", "_ZdlPvm"}) {
        EXPECT_EQ(kind(name), kFrees) << name;
    }
}

// They call malloc() and free(), unless the program has its own, which then is called.
TEST(KnownAllocators, TheCppLibrarysOperatorsCallOthers) {
    for (const char* object : {"/usr/lib/libstdc++.so.6.0.30", "libc++.so.1", "/opt/llvm/lib/libc++abi.so.1.0"}) {
        EXPECT_EQ(known_allocator("operator new[](unsigned long)", object).kind, kForwards) << object;
        EXPECT_EQ(known_allocator("_Znwm", object).kind, kForwards) << object;
        EXPECT_EQ(known_allocator("operator delete(void*, unsigned long)", object).kind, kNone) << object;
    }
    EXPECT_EQ(known_allocator("operator delete(void*)", "/usr/lib/libjemalloc.so.2").kind, kFrees);
    EXPECT_EQ(known_allocator("operator new(unsigned long)", "/libstdc++.so/program").kind, kAllocates);
    EXPECT_EQ(known_allocator("malloc", "/usr/lib/libstdc++.so.6").kind, kAllocates);
}

TEST(KnownAllocators, PlacementAllocatesNothing) {
    for (const char* name : {"operator new(unsigned long, void*)", "operator new[](unsigned long, void*)",
                             "operator delete(void*, void*)", "_ZnwmPv", "_ZdlPvS_"}) {
        EXPECT_EQ(kind(name), kNone) << name;
    }
}

TEST(KnownAllocators, StandardAllocatorsAreAskedForOthers) {
    EXPECT_EQ(kind("std::__new_allocator<int>::allocate(unsigned long, void const*)"), kForwards);
    EXPECT_EQ(kind("_ZNSt15__new_allocatorIiE8allocateEmPKv"), kForwards);
    EXPECT_EQ(kind("std::allocator_traits<std::allocator<A> >::allocate(std::allocator<A>&, unsigned long)"),
              kForwards);
    EXPECT_EQ(kind("std::allocator<int>::allocator()"), kNone);
    EXPECT_EQ(kind("std::allocator<my::allocated>::~allocator()"), kNone);
}

TEST(KnownAllocators, StandardAllocatorsThatFreeAreNoWrappers) {
    for (const char* name :
         {"std::allocator<int>::deallocate(int*, unsigned long)", "_ZNSt9allocatorIiE10deallocateEPim",
          "std::allocator_traits<std::allocator<int> >::deallocate(std::allocator<int>&, int*, unsigned long)"}) {
        EXPECT_EQ(kind(name), kNone) << name;
    }
}

// A library's prefix changes nothing of what a function does.
TEST(KnownAllocators, LibrariesHavePrefixes) {
    for (const char* prefix : {"je_", "_rjem_", "mi_", "tc_", "rp", "sn_", "dl"}) {
        const auto prefixed = [prefix](const char* name) { return role((std::string(prefix) + name).c_str()); };
        EXPECT_EQ(prefixed("malloc").kind, kAllocates) << prefix;
        EXPECT_EQ(prefixed("calloc").count, 1) << prefix;
        EXPECT_EQ(prefixed("calloc").size, 2) << prefix;
        EXPECT_EQ(prefixed("realloc").kind, kReallocates) << prefix;
        EXPECT_EQ(prefixed("realloc").block, 1) << prefix;
        EXPECT_EQ(prefixed("aligned_alloc").size, 2) << prefix;
        EXPECT_EQ(prefixed("posix_memalign").stored_at, 1) << prefix;
        EXPECT_EQ(prefixed("posix_memalign").size, 3) << prefix;
        EXPECT_EQ(prefixed("free").kind, kFrees) << prefix;
    }
    EXPECT_EQ(role("je_sdallocx").kind, kFrees);
    EXPECT_EQ(role("_rjem_rallocx").kind, kReallocates);
    EXPECT_EQ(role("mallocx").size, 1);
    EXPECT_EQ(role("mi_strdup").kind, kWraps);
}

TEST(KnownAllocators, LibrariesHaveFunctionsOfTheirOwn) {
    EXPECT_EQ(role("mi_heap_calloc").count, 2);
    EXPECT_EQ(role("mi_heap_calloc").size, 3);
    EXPECT_EQ(role("mi_heap_realloc").block, 2);
    EXPECT_EQ(role("mi_new_aligned").size, 1);
    EXPECT_EQ(role("mi_free_size_aligned").block, 1);
    EXPECT_EQ(role("tc_newarray_nothrow").size, 1);
    EXPECT_EQ(role("tc_deletearray_sized").block, 1);
}

TEST(KnownAllocators, RustsLibraryAsksForOthers) {
    for (const char* name :
         {"__rustc::__rust_alloc", "__rust_realloc", "__rustc::__rdl_alloc_zeroed", "__rg_alloc",
          "alloc::raw_vec::RawVec<T,A>::grow_one", "<alloc::raw_vec::RawVecInner>::grow_amortized",
          "<alloc::raw_vec::RawVecInner<alloc::alloc::Global>>::reserve::do_reserve_and_handle::<alloc::alloc::Global>",
          "alloc::raw_vec::finish_grow::<alloc::alloc::Global>", "alloc::raw_vec::RawVecInner<A>::with_capacity_in",
          "alloc::alloc::exchange_malloc", "<alloc::alloc::Global>::alloc_impl"}) {
        EXPECT_EQ(kind(name), kWraps) << name;
    }
    for (const char* name :
         {"__rustc::__rust_dealloc", "__rustc::__rust_no_alloc_shim_is_unstable_v2", "alloc::alloc::dealloc",
          "alloc::raw_vec::RawVec<alloc::string::String>::ptr", "alloc::vec::Vec<T,A>::reserve", "<", ">", "__rust_>",
          "<alloc::raw_vec::RawVec<T,A> as core::ops::drop::Drop>::drop"}) {
        EXPECT_EQ(kind(name), kNone) << name;
    }
}

TEST(KnownAllocators, OthersAreNone) {
    for (const char* name : {"", "mallocate", "my_malloc", "freeze", "operator new", "main", "je_",
                             "je_mi_malloc", "dlopen", "malloc_small", "tc_malloc_size", "mi_free_block"}) {
        EXPECT_EQ(kind(name), kNone) << name;
    }
}

// Whether an allocator may end by a jump to that function.
bool may_end(const char* name, const char* object_name) {
    const ObjectFile object{object_name, 0};
    Function function{};
    function.name = name;
    function.object = &object;
    return may_end_allocator(function);
}

TEST(KnownAllocators, CallocMayEndInMemset) {
    EXPECT_TRUE(may_end("memset", "libc.so.6"));
    EXPECT_TRUE(may_end("__memset_avx2_unaligned_erms", "libc.so.6"));
    EXPECT_TRUE(may_end("_mid_memalign.constprop.0", "libc.so.6"));
    EXPECT_FALSE(may_end("main", "program"));
}

TEST(KnownAllocators, TcmallocMayEndInItsSlowPath) {
    EXPECT_TRUE(may_end("tcmalloc::allocate_full_malloc_oom(unsigned long)", "libtcmalloc_minimal.so.4"));
    EXPECT_TRUE(may_end("_ZN8tcmalloc27allocate_full_cpp_throw_oomEm", "program"));
    EXPECT_TRUE(may_end("tcmalloc::ThreadCache::FetchFromCentralCache(unsigned int, int, void* (*)(unsigned long))",
                        "libtcmalloc.so.4"));
    EXPECT_FALSE(may_end("allocate_full_page", "program"));
}

TEST(KnownAllocators, AllocatorsMayEndInCodeWithoutAName) {
    for (const char* object : {"/lib/x86_64-linux-gnu/libc.so.6", "/lib/libc-2.31.so", "/usr/lib/libjemalloc.so.2",
                               "/usr/lib/libmimalloc.so.2.0", "libtcmalloc_minimal.so.4"}) {
        EXPECT_TRUE(may_end("0x0000000000012345", object)) << object;
    }
    EXPECT_FALSE(may_end("0x0000000000012345", "/usr/bin/program"));
    EXPECT_FALSE(may_end("tcmalloc::Static::InitStaticVars()", "/usr/lib/libtcmalloc_minimal.so.4"));
}

TEST(KnownAllocators, NamesThatSayThatTheyAllocateForOthers) {
    for (const char* name :
         {"xmalloc", "l_alloc", "luaM_realloc_", "xstrdup", "xmemdup", "default_bzalloc", "sqlite3DbMallocRaw",
          "xmalloc.part.0",
          "Minisat::RegionAllocator<unsigned int>::alloc(int)", "void* arena::AllocateBytes<int>(int) [clone .cold]",
          "std::vector<int, std::allocator<int> >::push_back(int const&)",
          "void std::vector<int>::_M_realloc_append<int>(int&&)",
          "__gnu_cxx::new_allocator<int>::allocate(unsigned long)", "_ZNSt6vectorIiSaIiEE9push_backERKi"}) {
        EXPECT_TRUE(is_named_as_wrapper(name)) << name;
    }
    for (const char* name :
         {"main", "parse", "dealloc_all", "new_node", "Minisat::RegionAllocator<unsigned int>::capacity(unsigned int)",
          "f(std::allocator<int>)", "fill<std::allocator<int> >(int)", "void fill<std::vector<int> >()",
          "std_alike", "Allocator::run()", "(below main)"}) {
        EXPECT_FALSE(is_named_as_wrapper(name)) << name;
    }
}

}  // namespace
}  // namespace bd
