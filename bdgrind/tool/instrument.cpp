// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/instrument.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>

#include "engine/trace/trace.h"
#include "tool/ir_dataflow.h"
#include "tool/options.h"
#include "tool/trace_buffer.h"

namespace bd {
namespace {

constexpr Word kWordBytes = sizeof(Word);

JumpKind jump_kind(IRJumpKind kind) {
    switch (kind) {
        case Ijk_Call:
            return JumpKind::kCall;
        case Ijk_Ret:
            return JumpKind::kReturn;
        default:
            return JumpKind::kJump;
    }
}

#if defined(VGA_arm64)
UInt code_of(Address instruction) {
    return *reinterpret_cast<const UInt*>(static_cast<Addr>(instruction));
}
#endif

// Whether the guest branches where VEX may leave a block. On arm64, VEX also leaves it to try an atomic instruction
// anew, or where a store has lost its reservation; only the instruction tells: b.cond, cbz, cbnz, tbz and tbnz branch.
bool branches_at_exit(IRJumpKind kind, [[maybe_unused]] Address instruction) {
    if (kind != Ijk_Boring && kind != Ijk_Call && kind != Ijk_Ret) return false;
#if defined(VGA_arm64)
    const UInt code = code_of(instruction);
    return (code & 0xff000000) == 0x54000000 || (code & 0x7c000000) == 0x34000000;
#else
    return true;
#endif
}

// How a block ends. On arm64, VEX makes a call of a plain branch to a constant address, and a jump like any other of
// `br x30`, by which longjmp goes back; only the instruction tells.
JumpKind last_jump_kind(IRJumpKind kind, [[maybe_unused]] Address last_instruction) {
#if defined(VGA_arm64)
    if (kind == Ijk_Call || kind == Ijk_Boring) {
        const UInt code = code_of(last_instruction);
        const bool is_branch = (code & 0xfc000000) == 0x14000000;
        if (is_branch) return JumpKind::kJump;
        if (code == 0xd61f03c0) return JumpKind::kReturn;
    }
#endif
    return jump_kind(kind);
}

UInt bytes_of(IRType type) {
    return static_cast<UInt>(sizeofIRType(type));
}

// Where functions find their arguments and leave their result.
#if defined(VGA_amd64)
constexpr int kArguments[]{offsetof(VexGuestArchState, guest_RDI), offsetof(VexGuestArchState, guest_RSI),
                           offsetof(VexGuestArchState, guest_RDX)};
constexpr int kResult = offsetof(VexGuestArchState, guest_RAX);
constexpr bool kArgumentsOnStack = false;
constexpr Word kReturnAddressBytes = 8;  // which a return takes off the stack
#elif defined(VGA_x86)
constexpr int kArguments[]{4, 8, 12};  // behind the stack pointer
constexpr int kResult = offsetof(VexGuestArchState, guest_EAX);
constexpr bool kArgumentsOnStack = true;
constexpr Word kReturnAddressBytes = 4;
#elif defined(VGA_arm64)
constexpr int kArguments[]{offsetof(VexGuestArchState, guest_X0), offsetof(VexGuestArchState, guest_X1),
                           offsetof(VexGuestArchState, guest_X2)};
constexpr int kResult = offsetof(VexGuestArchState, guest_X0);
constexpr bool kArgumentsOnStack = false;
constexpr Word kReturnAddressBytes = 0;
#endif
static_assert(std::size(kArguments) == AllocatorRole::kMostArgument);

bool is_function(const Function& function, AllocatorKind kind) {
    return function.allocator.kind == kind;
}

bool returns_block(const Function& function) {
    return is_function(function, AllocatorKind::kAllocates) || is_function(function, AllocatorKind::kReallocates);
}

// Copies one superblock and adds the stores of its trace record on the way.
class BlockInstrumenter {
public:
    BlockInstrumenter(IRSB* in, const VexGuestLayout& layout, IRType address_type, BlockBuilder& builder,
                      CodeNames& names)
        : in_(in), out_(deepCopyIRSBExceptStmts(in)), layout_(layout), has_64_bits_(address_type == Ity_I64),
          address_type_(address_type), builder_(builder), names_(names) {
        if (options.why == WhyChoice::kYes) flow_.emplace(*in_->tyenv, address_type);
    }

    // The instrumented block. The exits' descriptors do not exist yet: their addresses are filled in by set_exits().
    IRSB* run();
    void set_exits(const Block& block);

private:
    // Between two addresses, modulo their width, which is also the host's.
    using Distance = std::uintptr_t;

    // Where an address is computed from: something in the block that does not change, and how far behind it.
    struct SymbolicAddress {
        IRTemp base;  // IRTemp_INVALID: 0
        Distance offset;
    };

    void add(IRStmt* statement) { addStmtToIRSB(out_, statement); }
    IRExpr* assign(IRType type, IRExpr* expression);
    IRExpr* address_constant(std::uintptr_t value);
    IRExpr* plus(IRExpr* base, std::size_t offset);
    // A word of the trace that holds an address.
    IRExpr* word(IRExpr* address) {
        return has_64_bits_ ? address : assign(Ity_I64, IRExpr_Unop(Iop_32Uto64, address));
    }
    static IRExpr* word_constant(Word value) { return IRExpr_Const(IRConst_U64(value)); }
    void store(IRExpr* address, IRExpr* word) { add(IRStmt_Store(endness_, address, word)); }
    // Of a variable of TraceCursor, in the guest state.
    int offset_of_cursor(std::size_t offset) const { return layout_.total_sizeB + static_cast<int>(offset); }
    IRExpr* cursor() {
        return assign(address_type_, IRExpr_Get(offset_of_cursor(offsetof(TraceCursor, next)), address_type_));
    }

    void begin_record();
    void end_record(JumpKind jump, Branch branch);
    void on_exit(const IRStmt& exit);
    void on_statement(IRStmt* statement);
    void on_assignment(IRTemp to, const IRExpr& value);
    SymbolicAddress address_of(const IRExpr& address) const;
    void on_load(IRTemp to, IRExpr* address, IRType type);
    // `stored`: the number that it writes; null: none, or none that is known.
    void on_access(IRExpr* address, UInt size, AccessKind kind, IRExpr* guard, const IRExpr* stored = nullptr);
    void on_bus_event();
    // What allocators are called with and return: see Marker::kAllocatorEntered.
    void begin_allocator(const AllocatorRole& role);
    IRExpr* argument(unsigned number);
    void note_tail_call(const IRConst& target);
    std::size_t add_marker(std::size_t words, Marker marker, std::span<IRExpr* const> values);
    std::size_t add_allocator_markers(std::size_t words, JumpKind jump);
    IRExpr* register_value(int offset) { return assign(address_type_, IRExpr_Get(offset, address_type_)); }
    int offset_of_stored_at() const { return offset_of_cursor(sizeof(TraceCursor)); }

    // The next address of the record.
    void trace(IRExpr* address) {
        store(plus(record_, (kHeaderWords + builder_.traced_count()) * kWordBytes), word(address));
    }

    IRSB* in_;
    IRSB* out_;
    const VexGuestLayout& layout_;
    bool has_64_bits_;  // addresses, the guest's and ours
    IRType address_type_;
    BlockBuilder& builder_;
    CodeNames& names_;
    IREndness endness_ =
#if defined(VG_BIGENDIAN)
        Iend_BE;
#else
        Iend_LE;
#endif

    IRExpr* record_ = nullptr;           // where this block's record starts
    std::vector<IRStmt*> exit_stores_;   // by exit: the store of its descriptor's address
    Address last_instruction_ = 0;
    Address next_instruction_ = 0;  // behind it

    const Function* function_ = nullptr;
    std::vector<IRExpr*> arguments_;  // of an allocator that begins here, as far as they are needed
    bool leaves_allocator_ = false;                      // a return here is one's

    std::vector<SymbolicAddress> addresses_;  // by temporary
    SymbolicAddress group_{};              // where the first access of the latest group is

    std::optional<IrDataflow> flow_;  // if it is wanted

    // The latest read, as long as a write may turn it into a modify.
    IRExpr* read_address_ = nullptr;
    UInt read_size_ = 0;
};

IRExpr* BlockInstrumenter::assign(IRType type, IRExpr* expression) {
    const IRTemp temporary = newIRTemp(out_->tyenv, type);
    add(IRStmt_WrTmp(temporary, expression));
    return IRExpr_RdTmp(temporary);
}

IRExpr* BlockInstrumenter::address_constant(std::uintptr_t value) {
    return IRExpr_Const(has_64_bits_ ? IRConst_U64(value) : IRConst_U32(static_cast<UInt>(value)));
}

IRExpr* BlockInstrumenter::plus(IRExpr* base, std::size_t offset) {
    return assign(address_type_, IRExpr_Binop(has_64_bits_ ? Iop_Add64 : Iop_Add32, base, address_constant(offset)));
}

IRSB* BlockInstrumenter::run() {
    int i = 0;
    // What comes before the first instruction belongs to Valgrind.
    for (; i < in_->stmts_used && in_->stmts[i]->tag != Ist_IMark; ++i) add(in_->stmts[i]);
    if (i == in_->stmts_used) return nullptr;
    for (int temporary = 0; temporary < in_->tyenv->types_used; ++temporary) {
        addresses_.push_back({static_cast<IRTemp>(temporary), 0});
    }

    const IRStmt& first = *in_->stmts[i];
    const CodeBlockName name = names_.block(first.Ist.IMark.addr);
    builder_.start(first.Ist.IMark.addr, *name.function, name.load_bias, name.section, name.is_entry);
    begin_record();
    function_ = name.function;
    if (options.objects) {
        leaves_allocator_ = returns_block(*name.function) || name.function->ends_allocator;
        if (name.is_entry) begin_allocator(name.function->allocator);
    }
    for (; i < in_->stmts_used; ++i) {
        IRStmt* const statement = in_->stmts[i];
        if (statement == nullptr || statement->tag == Ist_NoOp) continue;
        on_statement(statement);
        add(statement);
    }
    const JumpKind jump = last_jump_kind(in_->jumpkind, last_instruction_);
    const bool computed = in_->next->tag != Iex_Const && (in_->jumpkind == Ijk_Boring || in_->jumpkind == Ijk_Call) &&
                          jump != JumpKind::kReturn;
    if (leaves_allocator_ && in_->jumpkind == Ijk_Boring && !computed) note_tail_call(*in_->next->Iex.Const.con);
    end_record(jump, computed ? Branch::kIndirect : Branch::kNone);
    if (flow_) builder_.set_dataflow(flow_->words());
    return out_;
}

void BlockInstrumenter::begin_allocator(const AllocatorRole& role) {
    if (role.kind == AllocatorKind::kFrees) {
        arguments_ = {argument(role.block)};
    } else if (role.marks_entry()) {
        const unsigned count = std::max({1, +role.block, +role.size, +role.count});
        for (unsigned number = 1; number <= count; ++number) arguments_.push_back(argument(number));
        if (role.stored_at != 0) add(IRStmt_Put(offset_of_stored_at(), argument(role.stored_at)));
    }
}

// Numbered from 1.
IRExpr* BlockInstrumenter::argument(unsigned number) {
    const int place = kArguments[number - 1];
    if (!kArgumentsOnStack) return register_value(place);
    IRExpr* const at = plus(register_value(layout_.offset_SP), static_cast<std::size_t>(place));
    return assign(address_type_, IRExpr_Load(endness_, address_type_, at));
}

// A function that allocates may end by jumping to another one, whose result is its own. Its returns are to be seen,
// too.
void BlockInstrumenter::note_tail_call(const IRConst& target) {
    const Function& callee = *names_.block(target.tag == Ico_U64 ? target.Ico.U64 : target.Ico.U32).function;
    if (&callee != function_) callee.ends_allocator = true;
}

// Behind so many words of the record; returns how many there are then.
std::size_t BlockInstrumenter::add_marker(std::size_t words, Marker marker, std::span<IRExpr* const> values) {
    store(plus(record_, words++ * kWordBytes), word_constant(marker_word(marker, values.size())));
    for (IRExpr* const value : values) store(plus(record_, words++ * kWordBytes), word(value));
    return words;
}

std::size_t BlockInstrumenter::add_allocator_markers(std::size_t words, JumpKind jump) {
    if (!arguments_.empty()) {
        const bool frees = is_function(*function_, AllocatorKind::kFrees);
        words = add_marker(words, frees ? Marker::kFreed : Marker::kAllocatorEntered, arguments_);
    }
    if (jump != JumpKind::kReturn || !leaves_allocator_) return words;
    IRExpr* result = register_value(kResult);
    if (function_->allocator.stored_at != 0) {
        // It returns 0 if it has stored the block's address; else a 0 of ours is read. (Not every back end of VEX has
        // loads with a guard.)
        static constexpr Word kNoBlock = 0;
        IRExpr* const stored_at = register_value(offset_of_stored_at());
        IRExpr* const status = assign(Ity_I32, has_64_bits_ ? IRExpr_Unop(Iop_64to32, result) : result);
        IRExpr* const is_stored =
            assign(Ity_I1, IRExpr_Binop(Iop_CmpEQ32, status, IRExpr_Const(IRConst_U32(0))));
        IRExpr* const none = address_constant(reinterpret_cast<std::uintptr_t>(&kNoBlock));
        IRExpr* const at = assign(address_type_, IRExpr_ITE(is_stored, stored_at, none));
        result = assign(address_type_, IRExpr_Load(endness_, address_type_, at));
    }
    const auto return_bytes = static_cast<std::size_t>(std::uintptr_t{0} - kReturnAddressBytes);
    IRExpr* const values[]{result, plus(register_value(layout_.offset_SP), return_bytes)};
    return add_marker(words, Marker::kAllocatorLeft, values);
}

// Makes room for the longest record if need be, and writes the stack pointer.
void BlockInstrumenter::begin_record() {
    IRExpr* const limit =
        assign(address_type_, IRExpr_Get(offset_of_cursor(offsetof(TraceCursor, limit)), address_type_));
    IRDirty* const pass_on = unsafeIRDirty_0_N(
        0, "pass_on_trace", VG_(fnptr_to_fnentry)(reinterpret_cast<void*>(&pass_on_trace)), mkIRExprVec_0());
    pass_on->guard =
        assign(Ity_I1, IRExpr_Binop(has_64_bits_ ? Iop_CmpLT64U : Iop_CmpLT32U, limit, cursor()));
    pass_on->nFxState = 1;
    pass_on->fxState[0] = {Ifx_Modify, static_cast<UShort>(offset_of_cursor(0)), sizeof(TraceCursor), 0, 0};
    add(IRStmt_Dirty(pass_on));
    record_ = cursor();
    store(plus(record_, kWordBytes), word(assign(address_type_, IRExpr_Get(layout_.offset_SP, address_type_))));
}

// What has been executed up to here is a whole record, if the block is left now.
void BlockInstrumenter::end_record(JumpKind jump, Branch branch) {
    builder_.add_exit(jump, branch);
    if (flow_) flow_->on_exit();
    const std::size_t words = kHeaderWords + builder_.traced_count();
    BD_CHECK_OP(words, <=, kMaxRecordWords);
    exit_stores_.push_back(IRStmt_Store(endness_, record_, word_constant(0)));
    add(exit_stores_.back());
    const std::size_t end = add_allocator_markers(words, jump);
    add(IRStmt_Put(offset_of_cursor(offsetof(TraceCursor, next)), plus(record_, end * kWordBytes)));
    read_address_ = nullptr;
}

// A side exit that is not there for the guest's sake, such as an emulation failure, is no branch. Where VEX leaves a
// block if a branch is not taken, and goes on if it is, the exit leads to the next instruction.
void BlockInstrumenter::on_exit(const IRStmt& exit) {
    const IRJumpKind kind = exit.Ist.Exit.jk;
    Branch branch = Branch::kNone;
    if (branches_at_exit(kind, last_instruction_)) {
        const IRConst& target = *exit.Ist.Exit.dst;
        const Address address = target.tag == Ico_U64 ? target.Ico.U64 : target.Ico.U32;
        branch = address == next_instruction_ ? Branch::kNotTaken : Branch::kTaken;
        if (leaves_allocator_ && kind == Ijk_Boring) note_tail_call(target);
    }
    end_record(jump_kind(kind), branch);
}

void BlockInstrumenter::set_exits(const Block& block) {
    for (std::size_t i = 0; i < exit_stores_.size(); ++i) {
        exit_stores_[i]->Ist.Store.data = word_constant(first_word(block.exits()[i]));
    }
}

void BlockInstrumenter::on_statement(IRStmt* statement) {
    switch (statement->tag) {
        case Ist_IMark: {
            last_instruction_ = statement->Ist.IMark.addr;
            next_instruction_ = last_instruction_ + statement->Ist.IMark.len;
            const SourceLine line = names_.line(last_instruction_);
            // VEX gives no length to what it cannot decode.
            const UInt size = statement->Ist.IMark.len == 0 ? VG_MIN_INSTR_SZB : statement->Ist.IMark.len;
            builder_.add_instruction(last_instruction_, size, *line.file, line.line);
            read_address_ = nullptr;
            break;
        }
        case Ist_Exit:
            on_exit(*statement);
            break;
        case Ist_WrTmp:
            if (const IRExpr* const data = statement->Ist.WrTmp.data; data->tag == Iex_Load) {
                on_load(statement->Ist.WrTmp.tmp, data->Iex.Load.addr, data->Iex.Load.ty);
            } else {
                on_assignment(statement->Ist.WrTmp.tmp, *data);
            }
            break;
        case Ist_Put:
            if (flow_) flow_->on_put(statement->Ist.Put.offset, *statement->Ist.Put.data);
            break;
        case Ist_Store:
            on_access(statement->Ist.Store.addr, bytes_of(typeOfIRExpr(in_->tyenv, statement->Ist.Store.data)),
                       AccessKind::kWrite, nullptr, statement->Ist.Store.data);
            break;
        case Ist_LoadG: {
            const IRLoadG& load = *statement->Ist.LoadG.details;
            IRType result = Ity_INVALID;
            IRType loaded = Ity_INVALID;
            typeOfIRLoadGOp(load.cvt, &result, &loaded);
            on_access(load.addr, bytes_of(loaded), AccessKind::kRead, load.guard);
            if (flow_) flow_->on_load(load.dst, builder_.access_count() - 1, bytes_of(loaded), load.alt);
            break;
        }
        case Ist_StoreG: {
            const IRStoreG& stored = *statement->Ist.StoreG.details;
            on_access(stored.addr, bytes_of(typeOfIRExpr(in_->tyenv, stored.data)), AccessKind::kWrite,
                       stored.guard, stored.data);
            break;
        }
        case Ist_CAS: {
            const IRCAS& cas = *statement->Ist.CAS.details;
            const UInt size = bytes_of(typeOfIRExpr(in_->tyenv, cas.dataLo));
            on_access(cas.addr, cas.dataHi == nullptr ? size : 2 * size, AccessKind::kModify, nullptr);
            if (flow_) flow_->on_load(cas.oldLo, builder_.access_count() - 1, size, nullptr);
            on_bus_event();
            break;
        }
        case Ist_LLSC:
            if (const IRExpr* const stored = statement->Ist.LLSC.storedata; stored == nullptr) {
                on_load(statement->Ist.LLSC.result, statement->Ist.LLSC.addr,
                        typeOfIRTemp(in_->tyenv, statement->Ist.LLSC.result));
            } else {
                on_access(statement->Ist.LLSC.addr, bytes_of(typeOfIRExpr(in_->tyenv, stored)), AccessKind::kWrite,
                           nullptr);
                on_bus_event();
            }
            break;
        case Ist_Dirty: {
            const IRDirty& dirty = *statement->Ist.Dirty.details;
            if (dirty.mFx == Ifx_None || dirty.mSize <= 0) break;
            const AccessKind kind = dirty.mFx == Ifx_Read    ? AccessKind::kRead
                                    : dirty.mFx == Ifx_Write ? AccessKind::kWrite
                                                             : AccessKind::kModify;
            on_access(dirty.mAddr, static_cast<UInt>(dirty.mSize), kind, dirty.guard);
            break;
        }
        default:
            break;
    }
}

void BlockInstrumenter::on_load(IRTemp to, IRExpr* address, IRType type) {
    on_access(address, bytes_of(type), AccessKind::kRead, nullptr);
    if (flow_) flow_->on_load(to, builder_.access_count() - 1, bytes_of(type), nullptr);
}

void BlockInstrumenter::on_assignment(IRTemp to, const IRExpr& value) {
    if (flow_) flow_->on_assignment(to, value);
    if (value.tag == Iex_RdTmp) addresses_[to] = address_of(value);
    if (value.tag != Iex_Binop || value.Iex.Binop.arg2->tag != Iex_Const) return;
    const bool adds = value.Iex.Binop.op == (has_64_bits_ ? Iop_Add64 : Iop_Add32);
    const bool subtracts = value.Iex.Binop.op == (has_64_bits_ ? Iop_Sub64 : Iop_Sub32);
    if (!adds && !subtracts) return;
    const SymbolicAddress base = address_of(*value.Iex.Binop.arg1);
    const Distance distance = address_of(*value.Iex.Binop.arg2).offset;
    addresses_[to] = {base.base, adds ? base.offset + distance : base.offset - distance};
}

BlockInstrumenter::SymbolicAddress BlockInstrumenter::address_of(const IRExpr& address) const {
    if (address.tag == Iex_RdTmp) return addresses_[address.Iex.RdTmp.tmp];
    const IRConst& constant = *address.Iex.Const.con;
    return {IRTemp_INVALID, static_cast<Distance>(has_64_bits_ ? constant.Ico.U64 : constant.Ico.U32)};
}

// `guard`: an I1; null or constant: always.
void BlockInstrumenter::on_access(IRExpr* address, UInt size, AccessKind kind, IRExpr* guard, const IRExpr* stored) {
    const bool guarded = guard != nullptr && guard->tag != Iex_Const;
    if (kind == AccessKind::kWrite && !guarded && read_address_ != nullptr && read_size_ == size &&
        eqIRAtom(read_address_, address)) {
        builder_.make_modify();
        if (flow_ && stored != nullptr) flow_->on_modify(*stored);
        read_address_ = nullptr;
        return;
    }
    const SymbolicAddress symbolic = address_of(*address);
    const bool joins = !guarded && symbolic.base == group_.base &&
                       builder_.join_access(size, kind, static_cast<std::intptr_t>(symbolic.offset - group_.offset));
    if (!joins) {
        IRExpr* const traced =
            guarded ? assign(address_type_, IRExpr_ITE(guard, address, address_constant(0))) : address;
        if (builder_.traces(guarded)) trace(traced);
        builder_.add_access(size, kind, guarded);
        group_ = symbolic;
    }
    if (flow_) flow_->on_access(*address, stored);
    read_address_ = kind == AccessKind::kRead && !guarded ? address : nullptr;
    read_size_ = size;
}

void BlockInstrumenter::on_bus_event() {
    if (!options.collect_bus && options.cores.count == 0) return;
    trace(address_constant(0));
    builder_.add_bus_event();
    if (flow_) flow_->on_bus_event();
    read_address_ = nullptr;
}

}  // namespace

IRSB* Instrumenter::instrument(IRSB* in, const VexGuestLayout& layout, IRType address_type) {
    BlockInstrumenter work(in, layout, address_type, builder_, names_);
    IRSB* const out = work.run();
    if (out == nullptr) return in;
    work.set_exits(blocks_.add(builder_));
    return out;
}

}  // namespace bd
