package import CBackplane

/// A struct of the header that another version of it may have grown: it begins with its size.
package protocol SizedDescriptor {
    static var structName: String { get }
}

extension bp_method: SizedDescriptor { package static var structName: String { "bp_method" } }
extension bp_wire: SizedDescriptor { package static var structName: String { "bp_wire" } }
extension bp_connection: SizedDescriptor { package static var structName: String { "bp_connection" } }
extension bp_creation: SizedDescriptor { package static var structName: String { "bp_creation" } }
extension bp_state: SizedDescriptor { package static var structName: String { "bp_state" } }
extension bp_component: SizedDescriptor { package static var structName: String { "bp_component" } }
extension bp_offer: SizedDescriptor { package static var structName: String { "bp_offer" } }
extension bp_answer: SizedDescriptor { package static var structName: String { "bp_answer" } }
extension bp_http_request: SizedDescriptor { package static var structName: String { "bp_http_request" } }
extension bp_http_response: SizedDescriptor { package static var structName: String { "bp_http_response" } }
// Those of the store here too: declared in another room they would be retroactive conformances, in every plugin with a store.
extension bp_record: SizedDescriptor { package static var structName: String { "bp_record" } }
extension bp_store_change: SizedDescriptor { package static var structName: String { "bp_store_change" } }
extension bp_store_query: SizedDescriptor { package static var structName: String { "bp_store_query" } }

/// Reads a struct that was compiled against another version of the header: what its size does not cover is zero.
///
/// - Precondition: `Value` is a C struct whose pointers are all nullable, so that zero bytes are a value of it.
package func read<Value: SizedDescriptor>(_ pointer: UnsafeRawPointer) -> Value {
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
package func requireAlignment<Value: SizedDescriptor>(_ pointer: UnsafePointer<Value>, of what: @autoclosure () -> String) throws(BackplaneError) {
    guard UInt(bitPattern: pointer).isMultiple(of: UInt(MemoryLayout<Value>.alignment)) else {
        throw BackplaneError(
            .pluginInvalidAnswer, "\(what()): the address of a \(Value.structName) is a multiple of \(MemoryLayout<Value>.alignment), this one is not; align it")
    }
}

/// An array of structs that another version of the header may have grown: stepped through by the first one's size.
package struct Descriptors<Value: SizedDescriptor>: RandomAccessCollection {
    private let start: UnsafeRawPointer?
    private let stride: Int
    package let startIndex = 0
    package let endIndex: Int

    /// More than any honest plugin has, and few enough to look at.
    package static var limit: Int { 65_535 }
    /// The same for data: records, ids, changes.
    package static var dataLimit: Int { 1 << 24 }

    /// - Throws: `plugin.invalid-answer` for a count without a pointer, a count beyond `limit`, or an impossible size.
    package init(_ pointer: UnsafePointer<Value>?, count: Int, of what: @autoclosure () -> String, limit: Int = Self.limit) throws(BackplaneError) {
        guard count != 0 else { (start, stride, endIndex) = (nil, 0, 0); return }
        // A `size_t` beyond `Int.max` arrives as a negative number.
        guard (1...limit).contains(count) else {
            throw BackplaneError(.pluginInvalidAnswer, "\(what()): expected at most \(limit), found a count of \(UInt(bitPattern: count))")
        }
        guard let pointer else { throw BackplaneError(.pluginInvalidAnswer, "\(what()): a count of \(count) and no array") }
        let size = Int(UnsafeRawPointer(pointer).loadUnaligned(as: UInt32.self))
        guard size >= 8, size <= 65_536, size.isMultiple(of: 8) else {
            throw BackplaneError(.pluginInvalidAnswer, "\(what()): the first \(Value.structName) says its size is \(size); set `size` to sizeof(\(Value.structName))")
        }
        try requireAlignment(pointer, of: what())
        (start, stride, endIndex) = (UnsafeRawPointer(pointer), size, count)
    }

    package subscript(position: Int) -> Value {
        guard let start else { preconditionFailure("an empty array has no element \(position)") }
        return read(start + position * stride)
    }
}
