// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the values in a superblock of VEX's IR are computed from: made statement by statement, beside the block's
// description, for DataflowBuilder.

#pragma once

#include <cstdint>
#include <vector>

#include "engine/program/dataflow.h"
#include "tool/valgrind.h"

namespace bd {

class IrDataflow {
public:
    IrDataflow(const IRTypeEnv& types, IRType address_type);

    // A statement that computes, and changes no memory.
    void on_assignment(IRTemp to, const IRExpr& value);
    void on_put(int offset, const IRExpr& value);

    // An access of the block, added to its description just now. `stored`: what it writes; null: nothing.
    void on_access(const IRExpr& address, const IRExpr* stored);
    // The latest one, a read, has become a read-modify-write.
    void on_modify(const IRExpr& stored);
    // It adds no address that the guest computes.
    void on_bus_event() { builder_.add_access({}, false, nullptr); }
    // The access with this index loads so many bytes. `otherwise`: if it does not happen; null: it does.
    void on_load(IRTemp to, std::size_t access, UInt size, const IRExpr* otherwise);
    void on_exit() { builder_.add_exit(); }

    std::span<const std::uint16_t> words() const { return builder_.words(); }

private:
    // A register by its number here, and the part of it that a value of this type at this offset is.
    struct Place {
        unsigned number;
        bool is_whole;
    };
    static bool find(int offset, UInt size, Place* place);

    Value value_of(const IRExpr& expression) const;
    Value value_of_binary(const IRExpr& expression) const;
    const Value* stored_value(const IRExpr* stored, Value* value) const;

    const IRTypeEnv& types_;
    UInt address_bytes_;
    DataflowBuilder builder_;
    std::vector<Value> temporaries_;
};

}  // namespace bd
