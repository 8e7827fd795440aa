// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/program/symbols.h"

#include <algorithm>
#include <cstring>

#include "engine/base/narrow.h"

namespace bd {

// Hashes eight bytes at a time, as names are long. (The standard library's string hash is not part of its headers.)
std::size_t SymbolTable::NameHash::operator()(std::string_view name) const {
    std::uint64_t hash = name.size();
    while (!name.empty()) {
        std::uint64_t bytes = 0;
        const std::size_t size = std::min(name.size(), sizeof bytes);
        std::memcpy(&bytes, name.data(), size);
        hash = (hash ^ bytes) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
        name.remove_prefix(size);
    }
    return static_cast<std::size_t>(hash);
}

std::size_t SymbolTable::NameHash::operator()(const FunctionKey& key) const {
    return (*this)(key.name) + 31 * (key.file->id + 31 * static_cast<std::size_t>(key.object->id));
}

const char* SymbolTable::keep(std::string_view name) {
    auto copy = std::make_unique<char[]>(name.size() + 1);
    std::copy(name.begin(), name.end(), copy.get());
    names_.push_back(std::move(copy));
    return names_.back().get();
}

ObjectFile& SymbolTable::object(std::string_view name) {
    if (const auto found = object_by_name_.find(name); found != object_by_name_.end()) return *found->second;
    const char* kept = keep(name);
    objects_.push_back(std::make_unique<ObjectFile>(ObjectFile{kept, next_number(objects_.size())}));
    object_by_name_.emplace(std::string_view(kept, name.size()), objects_.back().get());
    return *objects_.back();
}

SourceFile& SymbolTable::file(std::string_view name) {
    if (const auto found = file_by_name_.find(name); found != file_by_name_.end()) return *found->second;
    const char* kept = keep(name);
    files_.push_back(std::make_unique<SourceFile>(SourceFile{kept, next_number(files_.size())}));
    file_by_name_.emplace(std::string_view(kept, name.size()), files_.back().get());
    return *files_.back();
}

Function& SymbolTable::function(std::string_view name, const SourceFile& file, const ObjectFile& object, bool* is_new) {
    const auto found = function_by_key_.find(FunctionKey{name, &file, &object});
    if (is_new != nullptr) *is_new = found == function_by_key_.end();
    if (found != function_by_key_.end()) return *found->second;
    const char* kept = keep(name);
    functions_.push_back(std::make_unique<Function>(Function{kept, &file, &object, next_number(functions_.size())}));
    function_by_key_.emplace(FunctionKey{std::string_view(kept, name.size()), &file, &object}, functions_.back().get());
    if (rules_ != nullptr) rules_->apply(*functions_.back());
    return *functions_.back();
}

}  // namespace bd
