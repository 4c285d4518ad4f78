package import Backplane
package import CBackplane

/// The target of an encoded wire's cells: the host, on behalf of a component.
package protocol EncodedProvider: AnyObject, Sendable {
    var methods: [MethodDescription] { get }
    /// Calls a method with a borrowed input.
    ///
    /// - Returns: An id for cancelling the call; 0 if it has already ended.
    func call(_ method: Int, _ input: bp_bytes, _ call: Call, _ reply: Reply) -> UInt64
    func cancel(_ id: UInt64)
    /// Opens a stream for a component, with a borrowed input.
    func open(_ method: Int, _ input: bp_bytes, _ call: Call, by consumer: UInt32) throws(BackplaneError)
        -> any ProvidedStream
    /// Retains a stream that a component has opened natively, and the instance until its body returns.
    ///
    /// - Returns: The number with which to end it.
    /// - Throws: The reason for refusing the stream, in which case `make` was not called.
    func opened(by consumer: UInt32, _ make: () -> NativeStream) throws(BackplaneError) -> UInt64
    /// Records that the body of a native stream has returned.
    func ended(_ stream: UInt64)
}

/// A stream of a component as read by an encoded wire.
package protocol ProvidedStream: AnyObject, Sendable {
    /// Answers with at most `count` elements, or with the end of the stream.
    func next(_ count: Int, _ reply: Reply)
    func close()
}

extension EncodedProvider {
    /// Refuses the stream, by default, because the provider has none.
    package func open(_ method: Int, _ input: bp_bytes, _ call: Call, by consumer: UInt32) throws(BackplaneError)
        -> any ProvidedStream
    {
        throw BackplaneError(.callUnimplemented, "the provider has no streams")
    }

    package func opened(by consumer: UInt32, _ make: () -> NativeStream) throws(BackplaneError) -> UInt64 {
        throw BackplaneError(.callUnimplemented, "the provider has no streams")
    }

    package func ended(_ stream: UInt64) {}
}

extension EncodedTarget {
    /// Creates the table through which cells call the provider, which is retained for the lifetime of the process.
    package init(keeping provider: any EncodedProvider) {
        let methods = provider.methods.map(bp_method.init)
        let table = bp_provider(
            target: Box(provider).toContext(), methods: forever(methods), method_count: methods.count,
            call: { target, method, input, frame, done, context in
                keptProvider(at: target).call(Int(method), input, Call(frame.pointee), Reply(done, context))
            },
            cancel: { keptProvider(at: $0).cancel($1) },
            open: { target, method, input, frame, consumer, refused, context in
                do throws(BackplaneError) {
                    let stream = try keptProvider(at: target).open(
                        Int(method), input, Call(frame.pointee), by: consumer)
                    return Box(stream).toContext()
                } catch {
                    Reply(refused, context).end(error)
                    return nil
                }
            },
            next: { stream, count, done, context in
                Unmanaged<Box<any ProvidedStream>>.fromOpaque(stream).takeUnretainedValue().value
                    .next(Int(count), Reply(done, context))
            },
            close: { Box<any ProvidedStream>.take($0).close() },
            opened: { target, consumer, stream, end, count, release, refused, context in
                do throws(BackplaneError) {
                    return try keptProvider(at: target).opened(by: consumer) {
                        NativeStream(stream, end: end, count: count, release: release)
                    }
                } catch {
                    Reply(refused, context).end(error)
                    return 0
                }
            },
            ended: { keptProvider(at: $0).ended($1) })
        let pointer = UnsafeMutablePointer<bp_provider>.allocate(capacity: 1)
        pointer.initialize(to: table)
        self.init(pointer)
    }
}

private func keptProvider(at pointer: UnsafeMutableRawPointer) -> any EncodedProvider {
    Unmanaged<Box<any EncodedProvider>>.fromOpaque(pointer).takeUnretainedValue().value
}

/// The host's handle for a stream that a component has opened natively, used to end the stream.
///
/// `@unchecked`: the pointer is the provider's own and is only passed back.
package final class NativeStream: @unchecked Sendable {
    private let stream: UnsafeMutableRawPointer
    private let endStream: bp_end_stream
    private let countElements: bp_count_elements
    private let releaseStream: bp_release_stream

    init(
        _ stream: UnsafeMutableRawPointer, end: @escaping bp_end_stream, count: @escaping bp_count_elements,
        release: @escaping bp_release_stream
    ) {
        (self.stream, endStream, countElements, releaseStream) = (stream, end, count, release)
    }

    deinit { releaseStream(stream) }

    /// The number of elements that the consumer has taken.
    package var elements: Int { Int(clamping: countElements(stream)) }

    /// Ends the stream with an error, and cancels its body, which may react on this thread.
    package func end(_ error: BackplaneError) {
        let answer = EncodedAnswer(error)
        answer.payload.withBytes { endStream(stream, answer.status, $0) }
    }
}
