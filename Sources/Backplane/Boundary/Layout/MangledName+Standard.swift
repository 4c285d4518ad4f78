/// Types of the standard library alone, such as `[String: Int]?`, recognised by their mangled names.
///
/// The runtime would create each type and look up the conformances that it requires of its arguments.
extension MangledName {
    /// The layout of a standard type; `nil` if the runtime has to determine it.
    var standardLayout: TypeLayout? {
        guard declaration == nil else { return nil }
        var name = StandardName(text: text.utf8[...])
        return name.type().flatMap { name.isAtEnd ? $0 : nil }
    }
}

/// A parser of mangled names without references.
///
/// Such a name consists of a short name, its arguments between `y` and `G`, and an `Sg` for each level of optionality
/// (Swift's docs/ABI/Mangling.rst).
private struct StandardName {
    private var text: Substring.UTF8View
    /// A short name that the compiler repeats by number (`S2S` for two strings), and the number of repetitions left.
    private var repeated: (letter: UInt8, left: Int) = (0, 0)

    init(text: Substring.UTF8View) { self.text = text }

    var isAtEnd: Bool { text.isEmpty && repeated.left == 0 }

    /// The maximum depth that is parsed here.
    ///
    /// Deeper types are rare and are left to the runtime.
    private static let depthLimit = 8

    mutating func type(depth: Int = 0) -> TypeLayout? {
        guard depth < Self.depthLimit, let letter = letter(), let (name, parameterCount) = Self.short(letter) else {
            return nil
        }
        var arguments: [TypeLayout] = []
        if parameterCount > 0 {
            guard skips("y") else { return nil }
            for _ in 0..<parameterCount {
                guard let argument = type(depth: depth + 1) else { return nil }
                arguments.append(argument)
            }
            guard skips("G") else { return nil }
        }
        var layout = TypeLayout.standard(name, arguments)
        for _ in depth..<Self.depthLimit where skips("Sg") { layout = .standard("Optional", [layout]) }
        return layout
    }

    private mutating func letter() -> UInt8? {
        if repeated.left == 0 {
            guard skips("S") else { return nil }
            var count = 0
            while let digit = text.first.map({ Int($0) - Int(UInt8(ascii: "0")) }), (0...9).contains(digit), count < 100
            {
                count = count * 10 + digit
                text.removeFirst()
            }
            guard let letter = text.popFirst() else { return nil }
            repeated = (letter, max(count, 1))
        }
        repeated.left -= 1
        return repeated.letter
    }

    private mutating func skips(_ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard repeated.left == 0, word.withUTF8Buffer({ text.prefix(count).elementsEqual($0) }) else { return false }
        text.removeFirst(count)
        return true
    }

    private static func short(_ letter: UInt8) -> (name: String, parameterCount: Int)? {
        switch letter {
        case UInt8(ascii: "a"): ("Array", 1)
        case UInt8(ascii: "b"): ("Bool", 0)
        case UInt8(ascii: "D"): ("Dictionary", 2)
        case UInt8(ascii: "d"): ("Double", 0)
        case UInt8(ascii: "f"): ("Float", 0)
        case UInt8(ascii: "h"): ("Set", 1)
        case UInt8(ascii: "i"): ("Int", 0)
        case UInt8(ascii: "J"): ("Character", 0)
        case UInt8(ascii: "q"): ("Optional", 1)
        case UInt8(ascii: "S"): ("String", 0)
        case UInt8(ascii: "s"): ("Substring", 0)
        case UInt8(ascii: "u"): ("UInt", 0)
        default: nil
        }
    }
}
