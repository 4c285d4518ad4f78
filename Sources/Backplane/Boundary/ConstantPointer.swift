/// A pointer to something that is never written again nor freed: a function table, a descriptor.
package struct ConstantPointer<Pointee>: @unchecked Sendable {      // constant, and alive as long as the process
    package let pointer: UnsafePointer<Pointee>

    package init(_ pointer: UnsafePointer<Pointee>) { self.pointer = pointer }
}
