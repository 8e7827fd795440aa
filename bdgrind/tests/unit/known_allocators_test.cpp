// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/known_allocators.h"

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
        EXPECT_EQ(known_allocator("operator new[](unsigned long)", object).kind, kWraps) << object;
        EXPECT_EQ(known_allocator("_Znwm", object).kind, kWraps) << object;
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
    EXPECT_EQ(kind("std::__new_allocator<int>::allocate(unsigned long, void const*)"), kWraps);
    EXPECT_EQ(kind("std::allocator<int>::allocator()"), kNone);
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
    for (const char* name : {"", "mallocate", "my_malloc", "freeze", "operator new", "main"}) {
        EXPECT_EQ(kind(name), kNone) << name;
    }
}

TEST(KnownAllocators, CallocMayEndInMemset) {
    const auto may_end = [](const char* name, const char* object_name) {
        const ObjectFile object{object_name, 0};
        Function function{};
        function.name = name;
        function.object = &object;
        return may_end_allocator(function);
    };
    EXPECT_TRUE(may_end("memset", "libc.so.6"));
    EXPECT_TRUE(may_end("__memset_avx2_unaligned_erms", "libc.so.6"));
    EXPECT_TRUE(may_end("_mid_memalign.constprop.0", "libc.so.6"));
    EXPECT_TRUE(may_end("0x0000000000012345", "/lib/x86_64-linux-gnu/libc.so.6"));
    EXPECT_FALSE(may_end("0x0000000000012345", "/usr/bin/program"));
    EXPECT_FALSE(may_end("main", "program"));
}

}  // namespace
}  // namespace bd
