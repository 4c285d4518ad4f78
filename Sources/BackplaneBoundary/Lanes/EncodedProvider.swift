package import Backplane
package import CBackplane

/// The target of encoded wires' cells: the host, on behalf of a component.
package protocol EncodedProvider: AnyObject, Sendable {
    var methods: [MethodDescription] { get }
    /// Calls a method with a borrowed input.
    ///
    /// - Returns: An id to cancel the call with; 0 if it has already ended.
    func call(_ method: Int, _ input: bp_bytes, _ call: Call, _ reply: Reply) -> UInt64
    func cancel(_ id: UInt64)
}

extension EncodedTarget {
    /// Creates the table through which cells call the provider, which is kept as long as the process lives.
    package init(keeping provider: any EncodedProvider) {
        let methods = provider.methods.map(bp_method.init)
        let table = bp_provider(
            target: Box(provider).toContext(), methods: forever(methods), method_count: methods.count,
            call: { target, method, input, frame, done, context in
                keptProvider(at: target).call(Int(method), input, Call(frame.pointee), Reply(done, context))
            },
            cancel: { keptProvider(at: $0).cancel($1) })
        let pointer = UnsafeMutablePointer<bp_provider>.allocate(capacity: 1)
        pointer.initialize(to: table)
        self.init(pointer)
    }
}

private func keptProvider(at pointer: UnsafeMutableRawPointer) -> any EncodedProvider {
    Unmanaged<Box<any EncodedProvider>>.fromOpaque(pointer).takeUnretainedValue().value
}
