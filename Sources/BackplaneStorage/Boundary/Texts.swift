import Backplane
package import CBackplane

/// The byte strings that are lent across the boundary together.
package struct Texts {
    private let bytes: [UInt8]
    private let lengths: [Int]

    package init(_ texts: [[UInt8]]) {
        (bytes, lengths) = (texts.flatMap(\.self), texts.map(\.count))
    }

    /// Lends the byte strings for the duration of `body`.
    package func withBytes<Result>(_ body: ([bp_bytes]) -> Result) -> Result {
        bytes.withUnsafeBufferPointer { buffer in
            var offset = 0
            return body(
                lengths.map { length in
                    defer { offset += length }
                    return bp_bytes(data: buffer.baseAddress.map { $0 + offset }, length: length)
                })
        }
    }
}
