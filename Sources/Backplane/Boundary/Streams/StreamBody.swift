public import CBackplane

/// The function of a stream as the method table stores it.
@usableFromInline
struct StreamBody<Input: Sendable, Element: Sendable>: Sendable {
    @usableFromInline
    typealias Run =
        nonisolated(nonsending) @Sendable (UnsafeRawPointer, Input, StreamSender<Element>, Call)
        async throws(BackplaneError) -> Void
    @usableFromInline let run: Run
    /// Reads the next element natively.
    @usableFromInline let next: StreamNextFunction<Element>
}

extension StreamBody: MethodBody where Input: Codable, Element: Codable {
    @inlinable
    init<C: Component>(
        of _: C.Type,
        _ body: nonisolated(nonsending) @escaping @Sendable (C, Input, StreamSender<Element>, Call) async throws -> Void
    ) {
        run = { (context, input, elements, call) async throws(BackplaneError) -> Void in
            try await context.assumingMemoryBound(to: Held<C>.self).pointee.stream(body, input, elements, call)
        }
        next = { (channel, output) async throws(BackplaneError) -> Void in
            output.pointee = try await Unmanaged<StreamChannel<Element>>.fromOpaque(channel).takeUnretainedValue()
                .next()
        }
    }

    @usableFromInline
    func makeCell(_ context: UnsafeRawPointer) -> UnsafeMutableRawPointer {
        let function: StreamOpenFunction<Input> = {
            (context, input, call, provider, consumer) throws(BackplaneError) in
            try open(HeldContext(raw: context), input.pointee, call.pointee, provider, consumer)
        }
        return UnsafeMutableRawPointer(keeping: StreamCell(function, context: context))
    }

    @usableFromInline
    func freeCell(_ cell: UnsafeMutableRawPointer) { cell.free(StreamCell<Input>.self) }

    /// Opens the stream natively.
    private func open(
        _ held: HeldContext, _ input: Input, _ call: Call, _ provider: UnsafePointer<bp_provider>?, _ consumer: UInt32
    ) throws(BackplaneError) -> UnsafeMutableRawPointer {
        let channel = StreamChannel<Element>(encoding: nil)
        let registration = try StreamRegistration(of: channel, with: provider, consumer)
        begin(channel, held, input, call) { registration.end() }
        return UnsafeMutableRawPointer(
            keeping: StreamSource<Element>(
                next: next,
                close: { source in
                    let channel = source.assumingMemoryBound(to: StreamSource<Element>.self).pointee.context
                    source.free(StreamSource<Element>.self)
                    Unmanaged<StreamChannel<Element>>.fromOpaque(channel).takeRetainedValue().end(.streamCancelled)
                }, context: Unmanaged.passRetained(channel).toOpaque()))
    }

    @usableFromInline
    func open(_ context: UnsafeRawPointer, _ input: bp_bytes, _ call: Call) throws(BackplaneError) -> StreamControl {
        let input = try JSON.decode(Input.self, input, failing: .callInvalidInput)
        let channel = StreamChannel<Element>(encoding: { elements throws(BackplaneError) in
            try JSON.encodeData(elements, failing: .callInvalidOutput)
        })
        begin(channel, HeldContext(raw: context), input, call) {}
        return channel
    }

    private func begin(
        _ channel: StreamChannel<Element>, _ held: HeldContext, _ input: Input, _ call: Call,
        returned: @escaping @Sendable () -> Void
    ) {
        channel.begin(
            { [run] () async throws(BackplaneError) in try await run(held.raw, input, StreamSender(channel), call) },
            returned: returned)
    }

    @usableFromInline
    func start(_ context: UnsafeRawPointer, _ input: bp_bytes, _ call: Call, _ ending: CallEnding) -> Task<Void, Never>?
    {
        ending.end(BackplaneError(.callUnimplemented, "the method is a stream; open it instead of calling it"))
        return nil
    }
}

/// A native stream that the host retains until its body has returned.
private struct StreamRegistration: Sendable {
    private let provider: ConstantPointer<bp_provider>?
    private let number: UInt64

    /// Registers a stream with the host, which retains it and the instance until the body has returned.
    ///
    /// - Throws: `stream.interrupted` if the instance is being replaced, or another error of the host.
    init(of stream: StreamControl, with provider: UnsafePointer<bp_provider>?, _ consumer: UInt32)
        throws(BackplaneError)
    {
        guard let provider, let opened = provider.pointee.opened else {
            (self.provider, number) = (nil, 0)
            return
        }
        let kept = Unmanaged.passRetained(stream), refusal = PendingAnswer(), context = refusal.toContext()
        number = opened(
            provider.pointee.target, consumer, kept.toOpaque(),
            { stream, status, payload in
                Unmanaged<StreamControl>.fromOpaque(stream).takeUnretainedValue()
                    .end(EncodedAnswer(status, payload).error)
            }, { Unmanaged<StreamControl>.fromOpaque($0).takeUnretainedValue().taken },
            { Unmanaged<StreamControl>.fromOpaque($0).release() }, PendingAnswer.done, context)
        guard number != 0 else {
            kept.release()
            throw refusal.now?.error ?? .streamInterrupted
        }
        PendingAnswer.forget(context)
        self.provider = ConstantPointer(provider)
    }

    /// Notifies the host that the body has returned.
    func end() {
        guard let table = provider?.pointer.pointee, let ended = table.ended else { return }
        ended(table.target, number)
    }
}
