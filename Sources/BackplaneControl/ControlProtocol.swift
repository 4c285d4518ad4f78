import Glibc

/// The constants of the control protocol, which `docs/control.md` describes.
package enum ControlProtocol {
    /// The version of the protocol, which is incremented when an older peer could misunderstand a newer one.
    package static let number = 1
    /// The maximum size of a request in bytes, including the input of `call`.
    package static let requestLimit = 64 << 20
    /// The time within which a peer must read the data that the other writes.
    static let writingLimit = Duration.seconds(30)
    /// The number of bytes that are read at once.
    static let chunk = 65_536

    static let newline = UInt8(ascii: "\n")
}

extension [UInt8] {
    /// Returns the index of the first newline at or after an index.
    func newline(from start: Int) -> Int? {
        withUnsafeBytes { bytes in
            guard start < bytes.count, let base = bytes.baseAddress else { return nil }
            return memchr(base + start, Int32(ControlProtocol.newline), bytes.count - start).map {
                UnsafeRawPointer($0) - base
            }
        }
    }
}
