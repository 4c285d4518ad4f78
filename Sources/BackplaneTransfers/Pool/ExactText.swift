import Glibc

/// A string that is compared by its bytes, as in stores, rather than by canonical equivalence.
struct ExactText: Hashable, Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (a: ExactText, b: ExactText) -> Bool {
        var (a, b) = (a.text, b.text)
        return a.withUTF8 { a in
            // An iterator over a string's bytes takes a hundred instructions for each.
            b.withUTF8 { b in a.count == b.count && (a.isEmpty || memcmp(a.baseAddress!, b.baseAddress!, a.count) == 0)
            }
        }
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
