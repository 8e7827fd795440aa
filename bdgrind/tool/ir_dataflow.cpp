// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/ir_dataflow.h"

#include <cstddef>

namespace bd {
namespace {

// The guest's registers that matter: integers from number 0 on, vectors behind them. What a vector register is read or
// written in parts counts as whole from its beginning on.
#if defined(VGA_amd64)
constexpr int kIntegers = offsetof(VexGuestArchState, guest_RAX);
constexpr int kVectors = offsetof(VexGuestArchState, guest_YMM0);
constexpr int kIntegerBytes = 8;
constexpr int kVectorBytes = 32;
constexpr int kIntegerCount = 16;
constexpr int kVectorCount = 16;
constexpr int kStackPointer = offsetof(VexGuestArchState, guest_RSP);
constexpr int kFramePointer = offsetof(VexGuestArchState, guest_RBP);
#elif defined(VGA_x86)
constexpr int kIntegers = offsetof(VexGuestArchState, guest_EAX);
constexpr int kVectors = offsetof(VexGuestArchState, guest_XMM0);
constexpr int kIntegerBytes = 4;
constexpr int kVectorBytes = 16;
constexpr int kIntegerCount = 8;
constexpr int kVectorCount = 8;
constexpr int kStackPointer = offsetof(VexGuestArchState, guest_ESP);
constexpr int kFramePointer = offsetof(VexGuestArchState, guest_EBP);
#elif defined(VGA_arm64)
constexpr int kIntegers = offsetof(VexGuestArchState, guest_X0);
constexpr int kVectors = offsetof(VexGuestArchState, guest_Q0);
constexpr int kIntegerBytes = 8;
constexpr int kVectorBytes = 16;
constexpr int kIntegerCount = 32;  // with the stack pointer
constexpr int kVectorCount = 32;
constexpr int kStackPointer = offsetof(VexGuestArchState, guest_XSP);
constexpr int kFramePointer = offsetof(VexGuestArchState, guest_X29);
#endif
static_assert(kIntegerCount + kVectorCount <= Source::kRegisters);

constexpr unsigned number_of_integer(int offset) {
    return static_cast<unsigned>((offset - kIntegers) / kIntegerBytes);
}

constexpr ULong kNoMask = ~ULong{0};

// As wide as ULong, its sign extended; kNoMask / 2 for what is no integer.
Long integer_of(const IRConst& constant) {
    switch (constant.tag) {
        case Ico_U8:
            return static_cast<signed char>(constant.Ico.U8);
        case Ico_U16:
            return static_cast<Short>(constant.Ico.U16);
        case Ico_U32:
            return static_cast<Int>(constant.Ico.U32);
        case Ico_U64:
            return static_cast<Long>(constant.Ico.U64);
        default:
            return static_cast<Long>(kNoMask / 2);
    }
}

}  // namespace

IrDataflow::IrDataflow(const IRTypeEnv& types, IRType address_type)
    : types_(types), address_bytes_(static_cast<UInt>(sizeofIRType(address_type))),
      temporaries_(static_cast<std::size_t>(types.types_used)) {
    builder_.start();
}

bool IrDataflow::find(int offset, UInt size, Place* place) {
    if (const int in = offset - kIntegers; in >= 0 && in < kIntegerCount * kIntegerBytes) {
        const bool is_whole = in % kIntegerBytes == 0 && size == kIntegerBytes;
        *place = {static_cast<unsigned>(in / kIntegerBytes), is_whole};
        return true;
    }
    if (const int in = offset - kVectors; in >= 0 && in < kVectorCount * kVectorBytes) {
        *place = {kIntegerCount + static_cast<unsigned>(in / kVectorBytes), in % kVectorBytes == 0};
        return true;
    }
    return false;
}

void IrDataflow::on_assignment(IRTemp to, const IRExpr& value) {
    temporaries_[to] = value_of(value);
}

void IrDataflow::on_put(int offset, const IRExpr& value) {
    Place place{};
    const auto size = static_cast<UInt>(sizeofIRType(typeOfIRExpr(&types_, &value)));
    if (!find(offset, size, &place)) return;
    const Value put = value_of(value);
    builder_.put(place.number, place.is_whole ? put : builder_.get(place.number).either(put.scaled()));
}

void IrDataflow::on_access(const IRExpr& address, const IRExpr* stored) {
    const Value at = value_of(address);
    const bool is_slot =
        at.is_near_register(number_of_integer(kStackPointer)) || at.is_near_register(number_of_integer(kFramePointer));
    Value value;
    builder_.add_access(at, is_slot, stored_value(stored, &value));
}

void IrDataflow::on_modify(const IRExpr& stored) {
    builder_.make_modify(value_of(stored));
}

const Value* IrDataflow::stored_value(const IRExpr* stored, Value* value) const {
    if (stored == nullptr) return nullptr;
    *value = value_of(*stored);
    return value;
}

void IrDataflow::on_load(IRTemp to, std::size_t access, UInt size, const IRExpr* otherwise) {
    const Value loaded(Source::of_access(access));
    Value& value = temporaries_[to];
    value = size == address_bytes_ ? loaded : loaded.scaled();
    if (otherwise != nullptr) value = value.either(value_of(*otherwise));
}

Value IrDataflow::value_of(const IRExpr& expression) const {
    switch (expression.tag) {
        case Iex_RdTmp:
            return temporaries_[expression.Iex.RdTmp.tmp];
        case Iex_Get: {
            Place place{};
            const auto size = static_cast<UInt>(sizeofIRType(expression.Iex.Get.ty));
            if (!find(expression.Iex.Get.offset, size, &place)) return {};
            const Value& value = builder_.get(place.number);
            return place.is_whole ? value : value.scaled();
        }
        case Iex_Unop:
            return value_of(*expression.Iex.Unop.arg);
        case Iex_Binop:
            return value_of_binary(expression);
        case Iex_Triop: {
            const IRTriop& operation = *expression.Iex.Triop.details;
            return value_of(*operation.arg2).plus(value_of(*operation.arg3)).scaled();  // the first is a rounding mode
        }
        case Iex_ITE: {
            const Value condition = value_of(*expression.Iex.ITE.cond).scaled();
            return value_of(*expression.Iex.ITE.iftrue).either(value_of(*expression.Iex.ITE.iffalse)).either(condition);
        }
        case Iex_CCall: {
            Value value;
            for (IRExpr** argument = expression.Iex.CCall.args; *argument != nullptr; ++argument) {
                value = value.either(value_of(**argument));
            }
            return value.scaled();
        }
        default:
            return {};
    }
}

Value IrDataflow::value_of_binary(const IRExpr& expression) const {
    const IRExpr& first = *expression.Iex.Binop.arg1;
    const IRExpr& second = *expression.Iex.Binop.arg2;
    const Value left = value_of(first);
    const Value right = value_of(second);
    switch (expression.Iex.Binop.op) {
        case Iop_Add32:
        case Iop_Add64:
        case Iop_Or32:
        case Iop_Or64:
            return left.plus(right);
        case Iop_Sub32:
        case Iop_Sub64:
            return left.plus(right.scaled());
        case Iop_And32:
        case Iop_And64:
            // A pointer without its lowest bits is one.
            if (second.tag == Iex_Const && integer_of(*second.Iex.Const.con) < 0) return left;
            return left.either(right).scaled();
        default:
            return left.either(right).scaled();
    }
}

}  // namespace bd
