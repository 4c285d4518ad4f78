/// A pointer to memory that is never written or freed, such as a function table or a descriptor.
package struct ConstantPointer<Pointee>: @unchecked Sendable {  // constant, and alive as long as the process
    package let pointer: UnsafePointer<Pointee>

    package init(_ pointer: UnsafePointer<Pointee>) { self.pointer = pointer }
}
