/// Reads a struct that was compiled against another version of the header: what its size, which it begins with, does not cover is zero.
///
/// - Precondition: `Value` is a struct of the header whose pointers are all nullable, so that zero bytes are a value of it.
package func read<Value: BitwiseCopyable>(_ pointer: UnsafeRawPointer) -> Value {
    let size = Int(pointer.loadUnaligned(as: UInt32.self))
    return withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { buffer in
        let bytes = UnsafeMutableRawBufferPointer(buffer)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        bytes.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: min(size, bytes.count)))
        return buffer[0]
    }
}

/// Makes sure that a pointer of a plugin's leads to where a struct of its type may lie.
///
/// - Throws: `plugin.invalid-answer`.
package func requireAlignment<Value: BitwiseCopyable>(_ pointer: UnsafePointer<Value>, of what: @autoclosure () -> String) throws(BackplaneError) {
    guard UInt(bitPattern: pointer).isMultiple(of: UInt(MemoryLayout<Value>.alignment)) else {
        throw BackplaneError(
            .pluginInvalidAnswer,
            "\(what()): the address of a \(typeName(of: Value.self)) is a multiple of \(MemoryLayout<Value>.alignment), this one is not; align it")
    }
}

/// Arrays of structs that another version of the header may have grown: stepped through by the first one's size.
package enum Descriptors {
    /// More than any honest plugin has, and few enough to look at.
    package static let limit = 65_535
    /// The same for data: records, ids, changes.
    package static let dataLimit = 1 << 24

    /// - Throws: `plugin.invalid-answer` for a count without a pointer, a count beyond `limit`, or an impossible size.
    package static func read<Value: BitwiseCopyable>(
        _ pointer: UnsafePointer<Value>?, count: Int, of what: @autoclosure () -> String, limit: Int = limit
    ) throws(BackplaneError) -> [Value] {
        guard count != 0 else { return [] }
        // A `size_t` beyond `Int.max` arrives as a negative number.
        guard (1...limit).contains(count) else {
            throw BackplaneError(.pluginInvalidAnswer, "\(what()): expected at most \(limit), found a count of \(UInt(bitPattern: count))")
        }
        guard let pointer else { throw BackplaneError(.pluginInvalidAnswer, "\(what()): a count of \(count) and no array") }
        let size = Int(UnsafeRawPointer(pointer).loadUnaligned(as: UInt32.self))
        guard size >= 8, size <= 65_536, size.isMultiple(of: 8) else {
            let name = typeName(of: Value.self)
            throw BackplaneError(.pluginInvalidAnswer, "\(what()): the first \(name) says its size is \(size); set `size` to sizeof(\(name))")
        }
        try requireAlignment(pointer, of: what())
        return (0..<count).map { Backplane.read(UnsafeRawPointer(pointer) + $0 * size) }
    }
}
