package import CBackplane

extension bp_bytes {
    /// The borrowed bytes.
    ///
    /// A `size_t` beyond `Int.max` arrives as a negative number and is treated as 0.
    package var lent: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: data, count: data == nil ? 0 : max(length, 0))
    }

    /// A copy of the bytes.
    package var array: [UInt8] { Array(lent) }

    /// A copy of the bytes as text; bytes that are not UTF-8 become U+FFFD.
    package var text: String { String(decoding: lent, as: UTF8.self) }

    package static var empty: bp_bytes { bp_bytes(data: nil, length: 0) }

    /// Returns a copy that is never freed, for descriptors.
    static func forever(_ text: String) -> bp_bytes {
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: text.utf8.count)
        _ = copy.initialize(from: text.utf8)
        return bp_bytes(data: UnsafePointer(copy.baseAddress), length: copy.count)
    }
}

extension Array where Element == UInt8 {
    /// Lends the bytes for the duration of `body`.
    package func withBytes<Result>(_ body: (bp_bytes) -> Result) -> Result {
        withUnsafeBufferPointer { body(bp_bytes(data: $0.baseAddress, length: $0.count)) }
    }
}

extension String {
    /// Lends the text's bytes for the duration of `body`.
    package func withBytes<Result>(_ body: (bp_bytes) -> Result) -> Result {
        var text = self
        return text.withUTF8 { body(bp_bytes(data: $0.baseAddress, length: $0.count)) }
    }
}

/// Moves values to memory that is never freed, for descriptors.
package func forever<Value>(_ values: [Value]) -> UnsafePointer<Value>? {
    guard !values.isEmpty else { return nil }
    let copy = UnsafeMutableBufferPointer<Value>.allocate(capacity: values.count)
    _ = copy.initialize(from: values)
    return UnsafePointer(copy.baseAddress)
}

/// A value that is passed through a C function as its context.
package final class Box<Value: Sendable>: Sendable {
    package let value: Value
    package init(_ value: Value) { self.value = value }

    /// Returns the context, which must be consumed exactly once.
    package func toContext() -> UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    package static func take(_ context: UnsafeMutableRawPointer?) -> Value {
        guard let context else { preconditionFailure("a callback was called without its context") }
        return Unmanaged<Self>.fromOpaque(context).takeRetainedValue().value
    }
}

/// A pointer that belongs to the other side of the boundary, stored only to be returned.
///
/// It is not a ``ConstantPointer``, because the other side may write to its memory and free it.
package struct ForeignPointer: @unchecked Sendable {  // never read through on this side
    package let raw: UnsafeMutableRawPointer?

    package init(raw: UnsafeMutableRawPointer?) { self.raw = raw }
}
