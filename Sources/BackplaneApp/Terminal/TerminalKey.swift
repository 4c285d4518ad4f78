/// A key of a terminal's keyboard.
enum TerminalKey: Sendable, Hashable {
    case character(Character)
    case enter, tab, backTab, escape, backspace
    /// Control-U, which empties a field.
    case clear
    case up, down, left, right, pageUp, pageDown, home, end
    /// Control-C.
    case interrupt

    /// Changes a text as the key does in a field; returns `false` if the key has another meaning there.
    func edit(_ text: inout String, isMultiline: Bool) -> Bool {
        switch self {
        case .character(let character): text.append(character)
        case .enter where isMultiline: text.append("\n")
        case .backspace: _ = text.popLast()
        case .clear: text = ""
        default: return false
        }
        return true
    }
}

/// A decoder of the bytes that a terminal sends for keys, which may arrive in pieces.
struct TerminalKeyDecoder {
    private var pending: [UInt8] = []
    /// The number of bytes beyond which an unfinished sequence is no key.
    private static let longest = 32

    /// A Boolean value that indicates whether the bytes so far could be a whole escape key, or the start of another.
    var isUndecided: Bool { pending.first == 0x1B }

    /// Returns the keys that are complete.
    mutating func decode(_ bytes: some Sequence<UInt8>) -> [TerminalKey] {
        var keys: [TerminalKey] = []
        for byte in bytes {
            pending.append(byte)
            switch Self.decode(pending) {
            case .unfinished: if pending.count >= Self.longest { pending = [] }
            case .key(let key):
                if let key { keys.append(key) }
                pending = []
            case .escape:
                keys.append(.escape)
                pending = []
                keys += decode(CollectionOfOne(byte))
            }
        }
        return keys
    }

    /// Returns the escape key if nothing has followed its byte.
    mutating func end() -> [TerminalKey] {
        defer { pending = [] }
        return pending == [0x1B] ? [.escape] : []
    }

    private enum Step {
        case unfinished
        /// A key, or a sequence that is none.
        case key(TerminalKey?)
        /// The escape key, and another key after it.
        case escape
    }

    private static func decode(_ bytes: [UInt8]) -> Step {
        switch bytes[0] {
        case 0x1B: return bytes.count == 1 ? .unfinished : sequence(bytes)
        case 0x0D, 0x0A: return .key(.enter)
        case 0x09: return .key(.tab)
        case 0x7F, 0x08: return .key(.backspace)
        case 0x15: return .key(.clear)
        case 0x03: return .key(.interrupt)
        case ..<0x20: return .key(nil)
        case 0x80...:
            let length = bytes[0] >= 0xF0 ? 4 : bytes[0] >= 0xE0 ? 3 : 2
            guard bytes.count >= length else { return .unfinished }
            let text = String(validating: bytes, as: UTF8.self)
            return .key(text.flatMap { $0.count == 1 ? TerminalKey.character($0.first!) : nil })
        default: return .key(.character(Character(Unicode.Scalar(bytes[0]))))
        }
    }

    /// Decodes a sequence that begins with an escape (ECMA-48, and xterm's function keys).
    private static func sequence(_ bytes: [UInt8]) -> Step {
        guard bytes[1] == UInt8(ascii: "[") || bytes[1] == UInt8(ascii: "O") else {
            return bytes[1] == 0x1B ? .escape : .key(nil)
        }
        guard bytes.count > 2 else { return .unfinished }
        let last = bytes[bytes.count - 1]
        guard (0x40...0x7E).contains(last) else { return .unfinished }
        switch last {
        case UInt8(ascii: "A"): return .key(.up)
        case UInt8(ascii: "B"): return .key(.down)
        case UInt8(ascii: "C"): return .key(.right)
        case UInt8(ascii: "D"): return .key(.left)
        case UInt8(ascii: "H"): return .key(.home)
        case UInt8(ascii: "F"): return .key(.end)
        case UInt8(ascii: "Z"): return .key(.backTab)
        case UInt8(ascii: "~"):
            switch String(decoding: bytes[2..<(bytes.count - 1)], as: UTF8.self) {
            case "1", "7": return .key(.home)
            case "4", "8": return .key(.end)
            case "5": return .key(.pageUp)
            case "6": return .key(.pageDown)
            default: return .key(nil)
            }
        default: return .key(nil)
        }
    }
}
