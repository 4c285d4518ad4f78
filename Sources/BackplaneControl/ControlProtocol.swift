import Glibc

/// What both ends of a control socket keep to; docs/control.md tells it.
package enum ControlProtocol {
    /// Grows when an older end could misunderstand a newer one.
    package static let number = 1
    /// The longest request in bytes: what `call` is given is part of it.
    package static let requestLimit = 64 << 20
    /// How long one end may take to take what the other one writes.
    static let writingLimit = Duration.seconds(30)
    /// What is read at once.
    static let chunk = 65_536

    static let newline = UInt8(ascii: "\n")
}

extension [UInt8] {
    /// The index of the first newline from here on.
    func newline(from start: Int) -> Int? {
        withUnsafeBytes { bytes in
            guard start < bytes.count, let base = bytes.baseAddress else { return nil }
            return memchr(base + start, Int32(ControlProtocol.newline), bytes.count - start).map { UnsafeRawPointer($0) - base }
        }
    }
}
