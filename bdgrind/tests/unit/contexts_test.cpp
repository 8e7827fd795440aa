// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/costs/contexts.h"

#include "call_fixture.h"

namespace bd {
namespace {

using test::CallTrackerTest;
using test::kCall;
using test::kJump;
using test::kReturn;
using test::name;

class ContextTableTest : public testing::Test {
protected:
    test::Program program_;
    Function& f_ = program_.function("f");
    Function& g_ = program_.function("g");
    Function& h_ = program_.function("h");
};

TEST_F(ContextTableTest, AContextIsMadeOnce) {
    f_.recursion_levels = 3;
    f_.caller_count = 2;
    const Function* const callers[] = {&g_, &h_};
    ContextTable contexts;
    EXPECT_EQ(&contexts.of(f_), &contexts.of(f_, 1));
    EXPECT_EQ(&contexts.of(f_), &contexts.of(f_, 1, {}));
    EXPECT_NE(&contexts.of(f_), &contexts.of(g_));
    EXPECT_NE(&contexts.of(f_), &contexts.of(f_, 2));
    EXPECT_EQ(&contexts.of(f_, 3), &contexts.of(f_, 3));
    EXPECT_EQ(&contexts.of(f_, 2, callers), &contexts.of(f_, 2, callers));
    EXPECT_NE(&contexts.of(f_, 2, callers), &contexts.of(f_, 1, callers));
    EXPECT_NE(&contexts.of(f_, 2, callers), &contexts.of(f_, 2));
    EXPECT_NE(&contexts.of(f_, 1, callers), &contexts.of(f_, 1, Callers(callers).first(1)));
}

TEST_F(ContextTableTest, CallersNeedNotBeKept) {
    f_.caller_count = 1;
    ContextTable contexts;
    const Function* caller = &g_;
    const Context& called_by_g = contexts.of(f_, 1, {&caller, 1});
    caller = &h_;
    const Context& called_by_h = contexts.of(f_, 1, {&caller, 1});
    EXPECT_EQ(name(called_by_g), "f'g");
    EXPECT_EQ(name(called_by_h), "f'h");
}

TEST_F(ContextTableTest, IdsAreDense) {
    f_.recursion_levels = 100;
    g_.recursion_levels = 2;
    ContextTable contexts;
    EXPECT_EQ(contexts.of(g_).id(), 0u);
    const std::uint32_t deep = contexts.of(f_, 100).id();
    EXPECT_LT(deep, contexts.size());
    const std::uint32_t latest = contexts.of(g_, 2).id();
    EXPECT_EQ(latest, contexts.size() - 1);
}

TEST_F(ContextTableTest, TheNextTableStartsAnew) {
    f_.recursion_levels = 2;
    {
        ContextTable contexts;
        contexts.of(f_, 2);
    }
    ContextTable contexts;
    EXPECT_EQ(contexts.of(f_, 1).id(), 0u);
}

// --- Levels of recursion

class RecursionTest : public CallTrackerTest {
protected:
    explicit RecursionTest(ContextRules rules = {}) : CallTrackerTest(rules) {
        for (Function* function : {&main_, &f_, &g_, &h_}) function->recursion_levels = 2;
    }

    // main calls f, f calls g and so on, `depth` deep; the last one ends with a jump.
    void call_by_turns(unsigned depth) {
        run(main_calls_, 100);
        for (unsigned i = 1; i < depth; ++i) run(i % 2 == 1 ? f_calls_ : g_calls_, 100 - i);
        run(depth % 2 == 1 ? f_starts_ : g_starts_, 100 - depth);
    }

    Block& f_starts_ = entry(f_, 0x2008, kJump);
    Block& g_calls_ = entry(g_, 0x3040, kCall);
};

TEST_F(RecursionTest, ALevelIsAddedPerOpenCallUpToTheLast) {
    call_by_turns(3);
    EXPECT_EQ(stack(), "main f g f'2");
    run(main_on_, 100);
    call_by_turns(6);
    EXPECT_EQ(stack(), "main f g f'2 g'2 f'2 g'2");
    f_.recursion_levels = 3;
    run(main_on_, 100);
    call_by_turns(6);
    EXPECT_EQ(stack(), "main f g f'2 g'2 f'3 g'2");
    f_.recursion_levels = 1;
    run(main_on_, 100);
    call_by_turns(6);
    EXPECT_EQ(stack(), "main f g f g'2 f g'2");
}

TEST_F(RecursionTest, ALevelIsTakenBackWhenACallIsLeft) {
    for (int i = 0; i < 3; ++i) {
        call_by_turns(4);
        run(main_on_, 100);
        EXPECT_EQ(stack(), "main");
    }
    EXPECT_EQ(tracker_.open_calls(f_), 0u);
    run(f_starts_, 99);  // a tail call
    EXPECT_EQ(stack(), "main f");
}

TEST_F(RecursionTest, TheRootIsALevel) {
    run(f_calls_, 100);
    run(f_starts_, 90);
    EXPECT_EQ(stack(), "f f'2");
    run(f_returns_, 90);
    run(f_returns_, 100);  // to the root, and from there
    run(g_calls_, 101);
    run(f_starts_, 90);
    EXPECT_EQ(stack(), "g f") << "the root is another function now";
}

TEST_F(RecursionTest, AFunctionThatCallsItselfIsALevelDeeper) {
    run(main_calls_, 100);
    run(f_calls_, 90);
    run(f_calls_, 80);
    EXPECT_EQ(stack(), "main f f'2");
    EXPECT_EQ(arcs(), (Arcs{"main@1010 f@2000 1", "f@2000 f'2@2000 1"}));
}

TEST_F(RecursionTest, SkippedFunctionsAreNoLevel) {
    g_.skipped = true;
    call_by_turns(4);
    EXPECT_EQ(stack(), "main f [] f f'2 [] f'2");
    run(main_on_, 100);
    EXPECT_EQ(tracker_.open_calls(f_), 0u);
    EXPECT_EQ(tracker_.open_calls(g_), 0u);
}

// A thread, or a handler and what it interrupted, know nothing of each other's calls.
TEST_F(RecursionTest, EveryExecutionHasLevelsOfItsOwn) {
    call_by_turns(2);
    Execution other(tree_.make_root(), AddressRange{});
    for (const Address stack_pointer : {90, 80, 70}) {
        tracker_.enter(other, f_calls_, stack_pointer);
        other.last = &blocks_.get(f_calls_, *other.context);
        other.last_exit = &f_calls_.exits().back();
    }
    EXPECT_EQ(name(*other.context), "f'2");
    EXPECT_EQ(name(*other.calls[1].caller), "f'2");
    EXPECT_EQ(name(*other.calls[0].caller), "f");
    run(f_starts_, 98);
    EXPECT_EQ(stack(), "main f g f'2");
    tracker_.leave_all(other);
    run(f_on_, 99);
    EXPECT_EQ(stack(), "main f");
    run(h_starts_, 99);
    run(f_starts_, 99);
    EXPECT_EQ(stack(), "main f h f'2");
    tracker_.leave_all(execution_);
    EXPECT_EQ(tracker_.open_calls(f_), 0u);
}

class DirectRecursionTest : public RecursionTest {
protected:
    DirectRecursionTest() : RecursionTest({.skip_direct_recursion = true}) {}
};

TEST_F(DirectRecursionTest, AFunctionThatCallsItselfStaysInItsContext) {
    run(main_calls_, 100);
    run(f_calls_, 90);
    run(f_calls_, 80);
    run(f_calls_, 70);
    EXPECT_EQ(stack(), "main f f f");
    EXPECT_EQ(arcs(), (Arcs{"main@1010 f@2000 1", "f@2000 f@2000 2"}));
    run(g_calls_, 60);
    run(f_calls_, 50);
    run(f_calls_, 40);
    EXPECT_EQ(stack(), "main f f f g f'2 f'2");
    run(main_on_, 100);
    EXPECT_EQ(tracker_.open_calls(f_), 0u);
}

// --- Callers

class CallersTest : public RecursionTest {
protected:
    CallersTest() : RecursionTest({.separate_callers = true}) {
        for (Function* function : {&main_, &f_, &g_, &h_}) function->caller_count = 2;
    }
};

TEST_F(CallersTest, ContextsAreApartByTheirCallers) {
    run(main_calls_, 100);
    run(f_calls_, 90);
    run(g_calls_, 80);
    run(h_starts_, 70);
    EXPECT_EQ(stack(), "main f'main g'f'main h'g'f");
    run(main_calls_, 100);
    run(h_starts_, 90);
    EXPECT_EQ(stack(), "main h'main");
}

TEST_F(CallersTest, LevelsComeBeforeCallers) {
    call_by_turns(4);
    EXPECT_EQ(stack(), "main f'main g'f'main f'2'g'f g'2'f'g");
}

TEST_F(CallersTest, AFunctionThatCallsItselfIsItsOwnCallerOnce) {
    run(main_calls_, 100);
    run(f_calls_, 90);
    run(f_calls_, 80);
    run(f_calls_, 70);
    run(g_starts_, 60);
    EXPECT_EQ(stack(), "main f'main f'2'main f'2'main g'f'main");
    run(main_calls_, 100);
    run(g_calls_, 90);
    EXPECT_EQ(stack(), "main g'main");
}

TEST_F(CallersTest, EachFunctionSaysHowManyCallersMatter) {
    f_.caller_count = 0;
    h_.caller_count = 3;
    run(main_calls_, 100);
    run(f_calls_, 90);
    run(g_calls_, 80);
    run(h_starts_, 70);
    EXPECT_EQ(stack(), "main f g'f'main h'g'f'main");
}

TEST_F(CallersTest, SkippedFunctionsAreNoCallers) {
    g_.skipped = true;
    run(main_calls_, 100);
    run(f_calls_, 90);
    run(g_calls_, 80);
    run(h_starts_, 70);
    EXPECT_EQ(stack(), "main f'main [] f'main h'f'main");
}

TEST_F(CallersTest, TheRootHasNoCallers) {
    run(f_calls_, 100);
    run(g_returns_, 90);
    EXPECT_EQ(stack(), "f g'f");
    run(f_returns_, 100);
    run(h_starts_, 101);
    EXPECT_EQ(stack(), "h");
    run(inside(h_, 0x4020, kCall), 101);
    run(g_calls_, 90);
    EXPECT_EQ(stack(), "h g'h");
}

// An arc leads from one context to another, so what is charged to a tree node respects contexts.
TEST_F(CallersTest, TreeNodesAreApartByContext) {
    run(main_calls_, 100);
    run(g_calls_, 90);
    run(h_starts_, 80);
    const NodeId below_g = tracker_.active_node(execution_);
    tree_.acquire(below_g);
    tree_.charge(below_g, [](Costs costs, std::uint64_t times) { costs[0] += times * 1000; });
    run(main_calls_, 100);
    run(f_calls_, 90);
    run(g_calls_, 80);
    run(h_starts_, 70);
    const NodeId below_f_and_g = tracker_.active_node(execution_);
    EXPECT_NE(below_g, below_f_and_g);
    tree_.charge(below_f_and_g, [](Costs costs, std::uint64_t times) { costs[0] += times * 50; });
    tree_.release(below_g);
    tracker_.leave_all(execution_);

    std::uint64_t below_main = 0;
    std::uint64_t below_f = 0;
    for (std::uint32_t id = 1; id <= arcs_.size(); ++id) {
        const std::string callee = name(*arcs_[ArcId{id}].callee->context);
        if (callee == "h'g'main") below_main += arcs_.costs(ArcId{id})[0];
        if (callee == "h'g'f") below_f += arcs_.costs(ArcId{id})[0];
    }
    EXPECT_EQ(below_main, 1000u + 1) << "with an instruction of h";
    EXPECT_EQ(below_f, 50u + 1);
}

}  // namespace
}  // namespace bd
