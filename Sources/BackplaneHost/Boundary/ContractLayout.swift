import Backplane

/// The layouts of a contract or of a component's state, read from the text that its plugin or program gives
/// (`LayoutReader`).
package struct ContractLayout: Sendable {
    /// A line of the text.
    struct Entry: Sendable {
        enum Layout: Sendable {
            case type(TypeLayout)
            /// The reason why values of the type do not cross unencoded, phrased to follow a verb: "`Cover`, a class".
            case refused(String)
        }
        var subject: Subject
        var layout: Layout
    }

    /// The part of a call that has a layout, or the state.
    struct Subject: Equatable, Sendable {
        enum Part: Sendable {
            case state, call, failure, input, output
        }
        static let state = Subject(part: .state), call = Subject(part: .call), failure = Subject(part: .failure)

        var part: Part
        /// The name of the method; empty for a part of every call, and for the state.
        var method = ""
        var kind = MethodKind.async
    }

    /// The state alone; or the call frame, the failure type, then the input and output of each member in order.
    let entries: [Entry]
    /// The declared types by number.
    package let declarations: [Int: TypeLayout.Declaration]

    /// Parses a text, which is not trusted; returns `nil` if it is malformed.
    package init?(text: String) {
        var parser = LayoutParser()
        guard let entries = try? parser.entries(of: text), Self.isValid(entries.map(\.subject)) else { return nil }
        (self.entries, declarations) = (entries, parser.declarations)
    }

    private static func isValid(_ subjects: [Subject]) -> Bool {
        if subjects == [.state] { return true }
        guard subjects.count.isMultiple(of: 2), subjects.starts(with: [.call, .failure]) else { return false }
        // Each member has an input, followed by an output.
        return stride(from: 2, to: subjects.count, by: 2).allSatisfy { index in
            var output = subjects[index]
            output.part = .output
            return subjects[index].part == .input && subjects[index + 1] == output
        }
    }

    /// The type of a state, or of the input of a screen; `nil` if its values cannot cross unencoded.
    package var state: TypeLayout? {
        guard case .type(let type)? = entries.first(where: { $0.subject == .state })?.layout else { return nil }
        return type
    }

    /// The types of the methods' inputs, by the names of the methods, without those that cannot cross unencoded.
    package var inputs: [String: TypeLayout] { types(.input) }

    /// The types of the methods' outputs or elements, by the names of the methods, without those that cannot cross
    /// unencoded.
    package var outputs: [String: TypeLayout] { types(.output) }

    private func types(_ part: Subject.Part) -> [String: TypeLayout] {
        var types: [String: TypeLayout] = [:]
        for entry in entries where entry.subject.part == part {
            if case .type(let type) = entry.layout { types[entry.subject.method] = type }
        }
        return types
    }

    /// Returns a type's name as spelled in messages.
    ///
    /// - Parameter isQualified: Whether the name includes the module and the enclosing types.
    func name(of type: TypeLayout, isQualified: Bool = false) -> String {
        type.name(declarations, isQualified: isQualified)
    }
}

/// The layout of a type: everything that two separately built programs must agree on to exchange its values.
package indirect enum TypeLayout: Equatable, Sendable {
    /// A type of the standard library or Foundation that is identified by its name, with its generic arguments.
    case standard(String, [TypeLayout])
    case tuple(Size, [Element])
    /// A struct or an enum outside the standard library, by the number of its ``Declaration``.
    case declared(Int)

    /// The memory of a type's values, in bytes.
    package struct Size: Equatable, Sendable {
        var size = 0, alignment = 1, stride = 0
        /// The number of bit patterns that are not values of the type.
        var spare = 0
    }

    package struct Element: Equatable, Sendable {
        var label: String?
        var type: TypeLayout
    }

    package struct Declaration: Equatable, Sendable {
        package var isEnumeration: Bool
        /// The names from the module to the type, with `(private)` and `(in Module)` between them.
        package var path: [String] = []
        /// The generic arguments of each name.
        var arguments: [[TypeLayout]] = []
        /// The name in messages, without and with the module and the enclosing types.
        var name = "", qualifiedName = ""
        var size = Size()
        /// The raw type of an enum without payloads, if it has one.
        package var rawType: TypeLayout?
        /// The fields in declaration order; for an enum, the cases with a payload, followed by those without one.
        package var members: [Member] = []
    }

    /// A field of a struct, or a case of an enum.
    package struct Member: Equatable, Sendable {
        package var name: String
        var isIndirect: Bool
        /// The type of a field or payload; `nil` for a case without a payload.
        package var type: TypeLayout?
    }

    fileprivate func name(_ declarations: [Int: Declaration], isQualified: Bool) -> String {
        switch self {
        case .standard(let name, let arguments): name + Self.list(arguments, declarations, isQualified: isQualified)
        case .tuple(_, let elements):
            "("
                + elements.map {
                    ($0.label.map { "\($0): " } ?? "") + $0.type.name(declarations, isQualified: isQualified)
                }.joined(separator: ", ") + ")"
        case .declared(let number):
            declarations[number].map { isQualified ? $0.qualifiedName : $0.name } ?? "#\(number)"
        }
    }

    fileprivate static func list(
        _ arguments: [TypeLayout], _ declarations: [Int: Declaration], isQualified: Bool
    ) -> String {
        let names = arguments.map { $0.name(declarations, isQualified: isQualified) }
        return names.isEmpty ? "" : "<\(names.joined(separator: ", "))>"
    }
}

/// A parser of the texts of layouts.
struct LayoutParser {
    private(set) var declarations: [Int: TypeLayout.Declaration] = [:]
    private var bytes: [UInt8] = []
    private var position = 0
    private var depth = 0

    struct Malformed: Error {}

    mutating func entries(of text: String) throws(Malformed) -> [ContractLayout.Entry] {
        var entries: [ContractLayout.Entry] = []
        for line in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            (bytes, position) = (Array(line), 0)
            let isRefused = skips("refused "), subject = try subject()
            guard !isRefused else {
                entries.append(
                    .init(subject: subject, layout: .refused(String(decoding: bytes[position...], as: UTF8.self))))
                continue
            }
            entries.append(.init(subject: subject, layout: .type(try type())))
            guard position == bytes.count else { throw Malformed() }
        }
        return entries
    }

    private mutating func subject() throws(Malformed) -> ContractLayout.Subject {
        if skips("state: ") { return .state }
        if skips("call: ") { return .call }
        if skips("failure: ") { return .failure }
        let kind: MethodKind
        if skips("async ") {
            kind = .async
        } else if skips("stream ") {
            kind = .stream
        } else {
            try expect("sync ")
            kind = .sync
        }
        let name = try name()
        if skips(" takes: ") { return .init(part: .input, method: name, kind: kind) }
        try expect(" answers: ")
        return .init(part: .output, method: name, kind: kind)
    }

    private mutating func type() throws(Malformed) -> TypeLayout {
        depth += 1
        defer { depth -= 1 }
        // A reader counts the outermost type as level 0.
        guard depth <= LayoutReader.depthLimit + 1 else { throw Malformed() }
        if skips("#") {
            let number = try number()
            if skips("=") { try declaration(number) } else if declarations[number] == nil { throw Malformed() }
            return .declared(number)
        }
        if skips("tuple ") { return .tuple(try size(), try elements()) }
        return .standard(try word { LayoutName.isPlain($0) || $0 == UInt8(ascii: ".") }, try arguments())
    }

    private mutating func elements() throws(Malformed) -> [TypeLayout.Element] {
        try expect("{")
        var elements: [TypeLayout.Element] = []
        while !skips("}") {
            if !elements.isEmpty { try expect(",") }
            let start = position
            var label = try? name()
            if label == nil || !skips(":") { (label, position) = (nil, start) }
            elements.append(TypeLayout.Element(label: label, type: try type()))
        }
        return elements
    }

    private mutating func arguments() throws(Malformed) -> [TypeLayout] {
        guard skips("<") else { return [] }
        var arguments = [try type()]
        while skips(",") { arguments.append(try type()) }
        try expect(">")
        return arguments
    }

    private mutating func declaration(_ number: Int) throws(Malformed) {
        guard declarations[number] == nil else { throw Malformed() }
        var declaration = TypeLayout.Declaration(isEnumeration: !skips("struct "))
        if declaration.isEnumeration { try expect("enum ") }
        // The parts of the declared type may contain the type itself.
        declarations[number] = declaration
        try readName(of: &declaration)
        try expect(" ")
        declaration.size = try size()
        if skips(" of ") { declaration.rawType = try type() }
        try expect("{")
        while !skips("}") {
            if !declaration.members.isEmpty { try expect(",") }
            let isIndirect = skips("indirect ")
            declaration.members.append(
                TypeLayout.Member(name: try name(), isIndirect: isIndirect, type: skips(":") ? try type() : nil))
        }
        declarations[number] = declaration
    }

    /// Reads a name such as `Library.Shelf<Int>.(private).Place`.
    ///
    /// The names for messages are limited in length, so that nested arguments cannot multiply it.
    private mutating func readName(of declaration: inout TypeLayout.Declaration) throws(Malformed) {
        var short: [String] = [], long: [String] = []
        repeat {
            var name = "(private)", isOwn = false
            if skips("(in ") {
                name = "(in \(try self.name()))"
                try expect(")")
            } else if !skips("(private)") {
                (name, isOwn) = (try self.name(), !long.isEmpty)
            }
            let arguments = try arguments()
            declaration.path.append(name)
            declaration.arguments.append(arguments)
            long.append(name + TypeLayout.list(arguments, declarations, isQualified: true))
            if isOwn { short.append(name + TypeLayout.list(arguments, declarations, isQualified: false)) }
        } while skips(".")
        declaration.name = short.joined(separator: ".").cut
        declaration.qualifiedName = long.joined(separator: ".").cut
    }

    private mutating func size() throws(Malformed) -> TypeLayout.Size {
        var size = TypeLayout.Size()
        size.size = try number()
        try expect("/")
        size.alignment = try number()
        try expect("/")
        size.stride = try number()
        try expect("/")
        size.spare = try number()
        return size
    }

    private mutating func number() throws(Malformed) -> Int {
        let digits = try word { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard let number = Int(digits) else { throw Malformed() }
        return number
    }

    private mutating func name() throws(Malformed) -> String {
        guard skips("`") else { return try word(LayoutName.isPlain) }
        var name: [UInt8] = []
        while !skips("`") {
            let isEscaped = skips("\\"), end = position + (isEscaped ? 2 : 1)
            guard end <= bytes.count else { throw Malformed() }
            if isEscaped {
                let digits = String(decoding: bytes[position..<end], as: UTF8.self)
                guard let byte = UInt8(digits, radix: 16) else { throw Malformed() }
                name.append(byte)
            } else {
                name.append(bytes[position])
            }
            position = end
        }
        return String(decoding: name, as: UTF8.self)
    }

    private mutating func word(_ isPart: (UInt8) -> Bool) throws(Malformed) -> String {
        let word = bytes[position...].prefix(while: isPart)
        guard !word.isEmpty else { throw Malformed() }
        position = word.endIndex
        return String(decoding: word, as: UTF8.self)
    }

    private mutating func skips(_ text: StaticString) -> Bool {
        guard text.withUTF8Buffer({ bytes[position...].starts(with: $0) }) else { return false }
        position += text.utf8CodeUnitCount
        return true
    }

    private mutating func expect(_ text: StaticString) throws(Malformed) {
        guard skips(text) else { throw Malformed() }
    }
}
