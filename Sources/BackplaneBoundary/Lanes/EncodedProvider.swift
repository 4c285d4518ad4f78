package import Backplane
package import CBackplane

/// Who the cells of encoded wires call: the host, on behalf of a component.
package protocol EncodedProvider: AnyObject, Sendable {
    var methods: [MethodDescription] { get }
    /// Calls method number `method` with an input that is lent. Returns an id to cancel by, 0 when it has ended already.
    func call(_ method: Int, _ input: bp_bytes, _ call: Call, _ reply: Reply) -> UInt64
    func cancel(_ id: UInt64)
}

extension EncodedTarget {
    /// The provider as cells call it; it is kept for as long as the process lives.
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
