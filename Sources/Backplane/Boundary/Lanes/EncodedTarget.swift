package import CBackplane

/// The target of encoded cells: the host's `bp_provider`, which exists as long as the process.
package struct EncodedTarget: Sendable {
    private let table: ConstantPointer<bp_provider>

    package init(_ provider: UnsafePointer<bp_provider>) { table = ConstantPointer(provider) }

    package var provider: UnsafePointer<bp_provider> { table.pointer }

    func number(of name: String) -> UInt32? {
        let methods = try? Descriptors.read(
            provider.pointee.methods, count: provider.pointee.method_count, of: "methods")
        return methods?.firstIndex { $0.name.text == name }.map(UInt32.init)
    }
}

extension EncodedTarget {
    /// Creates the target for a plugin of another lane revision: through `backplane.calls/1`, as a plugin in C does.
    ///
    /// Returns `nil` if the host does not have that service.
    init?(through services: HostServices, component: UInt64, wire: UInt64, methods: [MethodDescription]) {
        guard let table = services.table(BP_CALLS, revision: 1, as: bp_calls_1.self) else { return nil }
        let streams = services.table(BP_STREAMS, revision: 1, as: bp_streams_1.self)
        let descriptors = methods.map(bp_method.init)
        let pointer = UnsafeMutablePointer<bp_provider>.allocate(capacity: 1)
        pointer.initialize(
            to: bp_provider(
                target: UnsafeMutableRawPointer(
                    keeping: ServedCalls(
                        table: table.pointer, streams: streams?.pointer, component: component, wire: wire)),
                methods: forever(descriptors), method_count: descriptors.count,
                call: { target, method, input, frame, done, context in
                    let calls = target.assumingMemoryBound(to: ServedCalls.self).pointee
                    return calls.table.pointee.call(calls.component, calls.wire, method, input, frame, done, context)
                },
                cancel: { target, id in
                    let calls = target.assumingMemoryBound(to: ServedCalls.self).pointee
                    calls.table.pointee.cancel(calls.component, id)
                },
                open: { target, method, input, frame, _, refused, context in
                    let calls = target.assumingMemoryBound(to: ServedCalls.self).pointee
                    guard let streams = calls.streams else {
                        Reply(refused, context).end(
                            BackplaneError(.callUnimplemented, "the host does not offer \(BP_STREAMS)/1"))
                        return nil
                    }
                    let number = streams.pointee.open(calls.component, calls.wire, method, input, frame)
                    return UnsafeMutableRawPointer(
                        keeping: ServedStream(table: streams, component: calls.component, number: number))
                },
                next: { stream, count, done, context in
                    let stream = stream.assumingMemoryBound(to: ServedStream.self).pointee
                    stream.table.pointee.next(stream.component, stream.number, count, done, context)
                },
                close: { stream in
                    let served = stream.assumingMemoryBound(to: ServedStream.self).pointee
                    stream.free(ServedStream.self)
                    served.table.pointee.close(served.component, served.number)
                }, opened: nil, ended: nil))
        self.init(pointer)
    }

    private struct ServedStream {
        let table: UnsafePointer<bp_streams_1>
        let component: UInt64
        let number: UInt64
    }

    private struct ServedCalls {
        let table: UnsafePointer<bp_calls_1>
        /// The host's function table for streams; `nil` if the host does not offer streams.
        let streams: UnsafePointer<bp_streams_1>?
        let component: UInt64
        let wire: UInt64
    }
}
