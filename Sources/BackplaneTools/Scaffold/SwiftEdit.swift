import Foundation

/// An edit of a Swift source that adds elements to lists and statements to functions, and changes nothing else.
///
/// The edit recognises comments, strings and brackets, but not the language. If a list is computed, nothing is added.
struct SwiftEdit {
    private enum Kind { case code, comment, string }

    private let bytes: [UInt8]
    /// The kind of text to which each byte belongs.
    private let kinds: [Kind]
    private var edits: [(range: Range<Int>, text: String)] = []

    init(_ text: String) {
        let bytes = Array(text.utf8)
        var kinds = Array(repeating: Kind.code, count: bytes.count), index = 0
        while index < bytes.count {
            var kind = Kind.comment, end = Self.endOfComment(bytes, index)
            if end == nil { (kind, end) = (.string, Self.endOfString(bytes, index)) }
            guard let end else {
                index += 1
                continue
            }
            for number in index..<end { kinds[number] = kind }
            index = end
        }
        (self.bytes, self.kinds) = (bytes, kinds)
    }

    /// The source with all additions.
    var text: String {
        var bytes = bytes
        let ordered = edits.enumerated().sorted {
            ($0.element.range.lowerBound, $0.offset) < ($1.element.range.lowerBound, $1.offset)
        }
        let newline = bytes.indices.contains { bytes[$0...].starts(with: "\r\n".utf8) } ? "\r\n" : "\n"
        for edit in ordered.reversed() {
            bytes.replaceSubrange(
                edit.element.range, with: edit.element.text.replacing("\n", with: newline).utf8)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Adds lines at the beginning of a list or a function body.
    ///
    /// - Parameters:
    ///   - place: `register(in:)`, or the list `products`, `dependencies` or `targets`.
    ///   - owner: The type or the target that contains it, or `nil` for the package.
    /// - Returns: A Boolean value that indicates whether the place was found.
    mutating func add(_ lines: [String], to place: String, of owner: String?) -> Bool {
        guard let owner else {
            guard let package = words("Package").compactMap({ call(at: $0, "Package") }).first else { return false }
            guard let argument = argument(place, of: package) else { return addArgument(place, lines, to: package) }
            return list(in: argument.value, of: package).map { addElements(lines, to: $0) } ?? false
        }
        guard place != "register(in:)" else { return addStatements(lines, of: owner) }
        guard let target = target(owner) else { return false }
        if let argument = argument(place, of: target.call) {
            return bytes[argument.value] == UInt8(ascii: "[") && addElements(lines, to: argument.value)
        }
        let indent = indentation(of: target.end)
        edits.append((target.end..<target.end, ", \(place): [\n\(Self.block(lines, indent + "    "))\n\(indent)]"))
        return true
    }

    // MARK: Additions

    private mutating func addElements(_ lines: [String], to open: Int) -> Bool {
        guard let close = closing(open) else { return false }
        let indent = indentation(of: open), content = bytes[open + 1..<close]
        let isEmpty = content.allSatisfy(Self.isSpace)
        let line = lineEnd(open) - lineStart(open)
        if !content.contains(Self.newline), lines.count == 1, line + lines[0].utf8.count < 119 {
            edits.append((open + 1..<open + 1, isEmpty ? String(lines[0].dropLast()) : lines[0] + " "))
        } else if isEmpty {
            edits.append((open + 1..<close, "\n\(Self.block(lines, indent + "    "))\n\(indent)"))
        } else if let first = firstOfBlock(open) {
            edits.append((lineEnd(open)..<lineEnd(open), "\n" + Self.block(lines, indentation(of: first))))
        } else {
            edits.append((open + 1..<open + 1, "\n\(Self.block(lines, indent + "    "))\n\(indent)    "))
        }
        return true
    }

    /// The arguments of `Package`, in their order.
    private static let arguments = [
        "name", "defaultLocalization", "platforms", "pkgConfig", "providers", "products", "traits", "dependencies",
        "targets", "swiftLanguageModes", "swiftLanguageVersions", "cLanguageStandard", "cxxLanguageStandard",
    ]

    private mutating func addArgument(_ label: String, _ lines: [String], to call: Int) -> Bool {
        guard let close = closing(call), let place = Self.arguments.firstIndex(of: label) else { return false }
        let indent = firstOfBlock(call).map(indentation) ?? indentation(of: call) + "    "
        let list = "\(label): [\n\(Self.block(lines, indent + "    "))\n\(indent)]"
        if let next = Self.arguments[(place + 1)...].compactMap({ argument($0, of: call) }).map(\.start).min() {
            edits.append((next..<next, "\(list),\n\(indent)"))
        } else if let last = (call..<close).last(where: { !isIgnored($0) }) {
            let comma = bytes[last] == UInt8(ascii: ",") || last == call ? "" : ","
            edits.append((last + 1..<last + 1, "\(comma)\n\(indent)\(list)"))
        }
        return true
    }

    private mutating func addStatements(_ lines: [String], of type: String) -> Bool {
        let bodies = words(type).filter { ["struct", "enum", "class", "extension"].contains(word(before: $0)) }
            .compactMap { start in (start..<bytes.count).first { isCode($0, "{") } }
            .compactMap { open in closing(open).map { open..<$0 } }
        let functions = words("register").filter { word(before: $0) == "func" }.compactMap { start in
            call(at: start, "register").flatMap { open in registrar(open).map { (start, $0.name, $0.body) } }
        }
        guard
            let (_, name, open) = functions.first(where: { function in bodies.contains { $0.contains(function.0) } }),
            let close = closing(open)
        else { return false }
        let lines = lines.map { $0.hasPrefix("registrar.") ? name + $0.dropFirst("registrar".count) : $0 }
        let indent = indentation(of: open)
        if let first = firstOfBlock(open), first < close {
            edits.append((lineEnd(open)..<lineEnd(open), "\n" + Self.block(lines, indentation(of: first))))
            return true
        }
        if let start = (open + 1..<close).first(where: { bytes[$0] != 32 && bytes[$0] != 9 }),
            bytes[start..<close].contains(Self.newline), !bytes[start..<close].allSatisfy(Self.isSpace)
        {
            let added = "\n\(Self.block(lines, indent + "    "))\n\(indent)    "
            edits.append((open + 1..<start, added))
            return true
        }
        let body = String(decoding: bytes[open + 1..<close], as: UTF8.self).split(whereSeparator: \.isNewline)
        let rest = body.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        edits.append((open + 1..<close, "\n\(Self.block(lines + rest, indent + "    "))\n\(indent)"))
        return true
    }

    /// Returns the name of the parameter of `register(in:)`, and the beginning of its body.
    private func registrar(_ open: Int) -> (name: String, body: Int)? {
        guard let close = closing(open), let colon = (open..<close).first(where: { isCode($0, ":") }) else {
            return nil
        }
        let names = String(decoding: bytes[open + 1..<colon], as: UTF8.self).split(whereSeparator: \.isWhitespace)
        let body = next(close + 1)
        guard names.count == 2, names[0] == "in", body < bytes.count, isCode(body, "{") else { return nil }
        return (String(names[1]), body)
    }

    // MARK: Places

    /// Returns the call that declares a target, and the end of its name.
    private func target(_ name: String) -> (call: Int, end: Int)? {
        let found = ["target", "testTarget", "executableTarget"].flatMap { kind in
            words(kind).compactMap { start -> (start: Int, call: Int, end: Int)? in
                guard start > 0, bytes[start - 1] == UInt8(ascii: "."), let call = call(at: start, kind),
                    let found = argument("name", of: call)?.value, kinds[found] == .string,
                    let end = Self.endOfString(bytes, found), bytes[found..<end].elementsEqual("\"\(name)\"".utf8)
                else { return nil }
                return (start, call, end)
            }
        }
        // A dependency on the target has the same form, but is nested in the declaration of another target.
        return found.min { depth(of: $0.start, in: -1) < depth(of: $1.start, in: -1) }.map { ($0.call, $0.end) }
    }

    /// Returns the beginning of the list that is an argument's value or, if the value names constants, of the last one.
    private func list(in value: Int, of call: Int) -> Int? {
        if isCode(value, "[") { return value }
        var depth = 0, found: Int?
        for index in value..<(closing(call) ?? value) where kinds[index] == .code {
            if Self.opening.contains(bytes[index]) { depth += 1 }
            if Self.closing.contains(bytes[index]) { depth -= 1 }
            if depth == 0, bytes[index] == UInt8(ascii: ",") { break }
            guard depth == 0, Self.isOfWord(bytes[index]), index == 0 || !Self.isOfWord(bytes[index - 1]) else {
                continue
            }
            let name = String(decoding: bytes[index...].prefix(while: Self.isOfWord), as: UTF8.self)
            let declared = words(name).first { ["let", "var"].contains(word(before: $0)) }
            let equals = declared.flatMap { start in (start..<lineEnd(start)).first { isCode($0, "=") } }
            if let list = equals.map({ next($0 + 1) }), list < bytes.count, isCode(list, "[") { found = list }
        }
        return found
    }

    private func argument(_ label: String, of call: Int) -> (start: Int, value: Int)? {
        guard let close = closing(call) else { return nil }
        return words(label).lazy.filter { $0 > call && $0 < close && depth(of: $0, in: call) == 0 }
            .compactMap { start in
                let colon = next(start + label.utf8.count)
                return colon < close && isCode(colon, ":") ? (start, next(colon + 1)) : nil
            }.first
    }

    private func depth(of index: Int, in open: Int) -> Int {
        (open + 1..<index).reduce(0) { depth, index in
            guard kinds[index] == .code else { return depth }
            return depth + (Self.opening.contains(bytes[index]) ? 1 : Self.closing.contains(bytes[index]) ? -1 : 0)
        }
    }

    /// Returns the parenthesis after a word, if it is called.
    private func call(at start: Int, _ word: String) -> Int? {
        let open = next(start + word.utf8.count)
        return open < bytes.count && isCode(open, "(") ? open : nil
    }

    /// Returns the places of a word in the code.
    private func words(_ word: String) -> [Int] {
        let word = Array(word.utf8)
        return bytes.indices.dropLast(word.count - 1).filter { start in
            let end = start + word.count
            return kinds[start] == .code && bytes[start..<end].elementsEqual(word)
                && (start == 0 || !Self.isOfWord(bytes[start - 1]))
                && (end == bytes.count || !Self.isOfWord(bytes[end]))
        }
    }

    private func word(before index: Int) -> String {
        let end = (0..<index).last { !isIgnored($0) }.map { $0 + 1 } ?? 0
        return String(decoding: bytes[..<end].reversed().prefix(while: Self.isOfWord).reversed(), as: UTF8.self)
    }

    /// Returns the first element or statement after an opening bracket that ends its line; `nil` if there is none.
    private func firstOfBlock(_ open: Int) -> Int? {
        let first = next(open + 1)
        guard let end = bytes[open...].firstIndex(of: Self.newline), kinds[end] == .code else { return nil }
        return first < bytes.count && first > end && !Self.closing.contains(bytes[first]) ? first : nil
    }

    private func closing(_ open: Int) -> Int? {
        var depth = 0
        for index in open..<bytes.count where kinds[index] == .code {
            if Self.opening.contains(bytes[index]) { depth += 1 }
            if Self.closing.contains(bytes[index]) { depth -= 1 }
            if depth == 0 { return index }
        }
        return nil
    }

    /// Returns the next place outside white space and comments.
    private func next(_ index: Int) -> Int { (index..<bytes.count).first { !isIgnored($0) } ?? bytes.count }

    private func isIgnored(_ index: Int) -> Bool {
        kinds[index] == .comment || kinds[index] == .code && Self.isSpace(bytes[index])
    }

    private func isCode(_ index: Int, _ character: Unicode.Scalar) -> Bool {
        kinds[index] == .code && bytes[index] == UInt8(ascii: character)
    }

    private func lineStart(_ index: Int) -> Int { (bytes[..<index].lastIndex(of: Self.newline) ?? -1) + 1 }
    private func lineEnd(_ index: Int) -> Int {
        guard let end = bytes[index...].firstIndex(of: Self.newline) else { return bytes.count }
        return end > index && bytes[end - 1] == UInt8(ascii: "\r") ? end - 1 : end
    }

    private func indentation(of index: Int) -> String {
        String(decoding: bytes[lineStart(index)...].prefix { $0 == 32 || $0 == 9 }, as: UTF8.self)
    }

    private static func block(_ lines: [String], _ indent: String) -> String {
        lines.map { indent + $0 }.joined(separator: "\n")
    }

    // MARK: Bytes

    private static let newline = UInt8(ascii: "\n"), quote = UInt8(ascii: "\""), pound = UInt8(ascii: "#")
    private static let opening = Array("([{".utf8), closing = Array(")]}".utf8)

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || byte >= 128 || Character(Unicode.Scalar(byte)).isLetter
            || Character(Unicode.Scalar(byte)).isNumber
    }

    /// Returns the end of the comment that begins at a place, or `nil` if no comment begins there.
    private static func endOfComment(_ bytes: [UInt8], _ start: Int) -> Int? {
        if bytes[start...].starts(with: "//".utf8) { return bytes[start...].firstIndex(of: newline) ?? bytes.count }
        guard bytes[start...].starts(with: "/*".utf8) else { return nil }
        var depth = 0, index = start
        while index < bytes.count {
            let opens = bytes[index...].starts(with: "/*".utf8), closes = bytes[index...].starts(with: "*/".utf8)
            depth += opens ? 1 : closes ? -1 : 0
            index += opens || closes ? 2 : 1
            if depth == 0 { return index }
        }
        return bytes.count
    }

    /// Returns the end of the string that begins at a place, or `nil` if no string begins there.
    private static func endOfString(_ bytes: [UInt8], _ start: Int) -> Int? {
        let pounds = bytes[start...].prefix { $0 == pound }.count
        var index = start + pounds
        guard index < bytes.count, bytes[index] == quote else { return nil }
        let end = Array(repeating: quote, count: bytes[index...].starts(with: "\"\"\"".utf8) ? 3 : 1)
        let closing = end + Array(repeating: pound, count: pounds)
        let escape = [UInt8(ascii: "\\")] + Array(repeating: pound, count: pounds)
        index += end.count
        while index < bytes.count {
            if bytes[index...].starts(with: closing) { return index + closing.count }
            guard bytes[index...].starts(with: escape) else {
                index += 1
                continue
            }
            index += escape.count
            guard index < bytes.count, bytes[index] == UInt8(ascii: "(") else {
                index += 1
                continue
            }
            // Only the end of an interpolation matters; other strings may come before it.
            var depth = 0
            repeat {
                if let end = endOfString(bytes, index) {
                    index = end
                    continue
                }
                depth += bytes[index] == UInt8(ascii: "(") ? 1 : bytes[index] == UInt8(ascii: ")") ? -1 : 0
                index += 1
            } while depth > 0 && index < bytes.count
        }
        return bytes.count
    }
}
