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

/// Values by number, found in logarithmic time.
///
/// It is not a dictionary, because Swift's runtime would search every loaded image for `Hashable` to create one.
struct NumberedValues<Value> {
    private var all: [(number: UInt64, value: Value)] = []

    var values: [Value] { all.map(\.value) }

    subscript(number: UInt64) -> Value? {
        get {
            let index = index(of: number)
            return index < all.count && all[index].number == number ? all[index].value : nil
        }
        set {
            let index = index(of: number), isKnown = index < all.count && all[index].number == number
            switch newValue {
            case let value? where isKnown: all[index].value = value
            case let value?: all.insert((number, value), at: index)
            case nil: if isKnown { all.remove(at: index) }
            }
        }
    }

    /// Returns the index of the first value whose number is not lower.
    private func index(of number: UInt64) -> Int {
        // Most values are the latest.
        guard let last = all.last, number <= last.number else { return all.count }
        var range = 0..<all.count
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            range = all[middle].number < number ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
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

/// Reads a struct that may have been compiled against another version of the header.
///
/// A struct begins with its size. Fields that the size does not cover are read as zero.
///
/// - Precondition: All pointers in `Value`, a struct of the header, are nullable, so that zero bytes are a valid value.
package func read<Value: BitwiseCopyable>(_ pointer: UnsafeRawPointer) -> Value {
    let size = Int(pointer.loadUnaligned(as: UInt32.self))
    return withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { buffer in
        let bytes = UnsafeMutableRawBufferPointer(buffer)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        bytes.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: min(size, bytes.count)))
        return buffer[0]
    }
}

/// Checks that a plugin's pointer is aligned for a struct of its type.
///
/// - Throws: `plugin.invalid-answer`.
package func requireAlignment<Value: BitwiseCopyable>(
    _ pointer: UnsafePointer<Value>, of what: @autoclosure () -> String
) throws(BackplaneError) {
    guard UInt(bitPattern: pointer).isMultiple(of: UInt(MemoryLayout<Value>.alignment)) else {
        throw BackplaneError(
            .pluginInvalidAnswer,
            "\(what()): the address of a \(typeName(of: Value.self)) must be a multiple of \(MemoryLayout<Value>.alignment), but is not; align it"
        )
    }
}

/// A namespace for arrays of structs that another version of the header may have extended; the first size is the
/// stride.
package enum Descriptors {
    /// The maximum number of descriptors that are read: more than any valid plugin has, and few enough to process.
    package static let limit = 65_535
    /// The maximum number of data items that are read: records, ids, changes.
    package static let dataLimit = 1 << 24

    /// Copies the structs of an array.
    ///
    /// - Throws: `plugin.invalid-answer` for a count without a pointer, a count beyond `limit`, or an impossible size.
    package static func read<Value: BitwiseCopyable>(
        _ pointer: UnsafePointer<Value>?, count: Int, of what: @autoclosure () -> String, limit: Int = limit
    ) throws(BackplaneError) -> [Value] {
        guard count != 0 else { return [] }
        // A `size_t` beyond `Int.max` arrives as a negative number.
        guard (1...limit).contains(count) else {
            throw BackplaneError(
                .pluginInvalidAnswer,
                "\(what()): expected at most \(limit), found a count of \(UInt(bitPattern: count))")
        }
        guard let pointer else {
            throw BackplaneError(.pluginInvalidAnswer, "\(what()): found a count of \(count) without an array")
        }
        let size = Int(UnsafeRawPointer(pointer).loadUnaligned(as: UInt32.self))
        guard size >= 8, size <= 65_536, size.isMultiple(of: 8) else {
            let name = typeName(of: Value.self)
            throw BackplaneError(
                .pluginInvalidAnswer,
                "\(what()): the first \(name) declares the size \(size); set `size` to sizeof(\(name))")
        }
        try requireAlignment(pointer, of: what())
        return (0..<count).map { Backplane.read(UnsafeRawPointer(pointer) + $0 * size) }
    }
}
