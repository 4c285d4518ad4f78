import BackplaneScreens

/// HTML under construction: markup consists of literals, and everything else is escaped.
struct HTMLWriter {
    private(set) var bytes: [UInt8] = []
    /// The id of the current element, without characters that must be escaped.
    private var path: [UInt8]

    /// Creates an empty writer.
    ///
    /// - Parameter path: The id of the current element.
    init(path: String = "", capacity: Int = 1 << 10) {
        self.path = Array(path.utf8)
        bytes.reserveCapacity(capacity)
    }

    var string: String { String(decoding: bytes, as: UTF8.self) }

    mutating func markup(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends a text so that it can stand between tags, or between quotes as the value of an attribute.
    mutating func text(_ text: String) {
        var text = text
        text.withUTF8 { characters in
            var start = 0
            for index in characters.indices where characters[index] < 0x40 {
                guard let reference = Self.reference(for: characters[index]) else { continue }
                bytes.append(contentsOf: characters[start..<index])
                bytes.append(contentsOf: reference.utf8)
                start = index + 1
            }
            bytes.append(contentsOf: characters[start...])
        }
    }

    private static func reference(for character: UInt8) -> String? {
        switch character {
        case UInt8(ascii: "&"): "&amp;"
        case UInt8(ascii: "<"): "&lt;"
        case UInt8(ascii: ">"): "&gt;"
        case UInt8(ascii: "\""): "&quot;"
        case UInt8(ascii: "'"): "&#39;"
        case 0x09, 0x0A, 0x0D: nil
        case ..<0x20: "\u{FFFD}"
        default: nil
        }
    }

    /// Appends an attribute with a text, such as ` alt="A cover"`.
    ///
    /// - Parameter name: The name after a space, with the equals sign.
    mutating func attribute(_ name: StaticString, _ value: String) {
        markup(name)
        markup("\"")
        text(value)
        markup("\"")
    }

    // MARK: Ids

    /// Makes the element with an id the current one.
    mutating func enter(_ id: String) { path = Array(id.utf8) }

    /// Appends an attribute with the id of the current element.
    ///
    /// - Parameters:
    ///   - name: The name after a space, with the equals sign.
    ///   - suffix: The suffix for an element within it.
    mutating func id(_ name: StaticString = " id=", _ suffix: StaticString = "") {
        markup(name)
        markup("\"")
        bytes.append(contentsOf: path)
        markup(suffix)
        markup("\"")
    }

    /// Makes a view within the current one the current element, while a function writes it.
    mutating func within(_ view: View, at place: Int, _ body: (inout HTMLWriter) -> Void) {
        let count = path.count
        path.append(UInt8(ascii: "/"))
        path.append(contentsOf: ViewKey(view, at: place).rawValue.utf8)
        body(&self)
        path.removeLast(path.count - count)
    }
}
