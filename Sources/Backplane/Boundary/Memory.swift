package import CBackplane
import Synchronization

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

/// A pointer to memory that is never written or freed, such as a function table or a descriptor.
package struct ConstantPointer<Pointee>: @unchecked Sendable {  // constant, and alive as long as the process
    package let pointer: UnsafePointer<Pointee>

    package init(_ pointer: UnsafePointer<Pointee>) { self.pointer = pointer }
}

extension UnsafeMutableRawPointer {
    /// Moves a value to its own memory.
    init<Value: ~Copyable>(keeping value: consuming Value) {
        let pointer = UnsafeMutablePointer<Value>.allocate(capacity: 1)
        pointer.initialize(to: value)
        self.init(pointer)
    }

    /// Destroys a value that `init(keeping:)` moved here, and frees its memory.
    func free<Value: ~Copyable>(_: Value.Type) {
        let pointer = assumingMemoryBound(to: Value.self)
        pointer.deinitialize(count: 1)
        pointer.deallocate()
    }
}

/// A lazily created text that lives as long as the process.
final class KeptText: Sendable {
    private let make: @Sendable () -> String
    private let made = Mutex<ConstantPointer<bp_bytes>?>(nil)

    init(_ make: @escaping @Sendable () -> String) { self.make = make }

    var bytes: bp_bytes {
        made.withLock { made in
            if let made { return made.pointer.pointee }
            let new = ConstantPointer(forever([bp_bytes.forever(make())])!)
            made = new
            return new.pointer.pointee
        }
    }
}

/// A list of named strings that are lent across the boundary together.
package struct Pairs {
    private let bytes: [UInt8]
    private let lengths: [(name: Int, value: Int)]

    package init(_ pairs: [(key: String, value: String)]) {
        lengths = pairs.map { ($0.key.utf8.count, $0.value.utf8.count) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(lengths.reduce(0) { $0 + $1.name + $1.value })
        for (name, value) in pairs {
            bytes += name.utf8
            bytes += value.utf8
        }
        self.bytes = bytes
    }

    package func withPairs<Result>(_ body: (UnsafeBufferPointer<bp_pair>) -> Result) -> Result {
        bytes.withUnsafeBufferPointer { bytes in
            var pairs: [bp_pair] = [], offset = 0
            pairs.reserveCapacity(lengths.count)
            for length in lengths {
                let name = bp_bytes(data: bytes.baseAddress.map { $0 + offset }, length: length.name)
                let value = bp_bytes(data: bytes.baseAddress.map { $0 + offset + length.name }, length: length.value)
                pairs.append(bp_pair(name: name, value: value))
                offset += length.name + length.value
            }
            return pairs.withUnsafeBufferPointer(body)
        }
    }

    /// Copies borrowed named strings.
    package static func copy(_ pairs: UnsafePointer<bp_pair>?, count: Int) -> [(name: String, value: String)] {
        guard let pairs, count > 0 else { return [] }
        return UnsafeBufferPointer(start: pairs, count: count).map { ($0.name.text, $0.value.text) }
    }
}
