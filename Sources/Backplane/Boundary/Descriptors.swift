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
