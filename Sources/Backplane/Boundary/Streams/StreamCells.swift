public import CBackplane
import FoundationEssentials
import Synchronization

/// The function that opens a stream, called through a pointer in a binding under the lease of its caller.
///
/// It receives its context, the input, the frame, the table that stores native streams and the number of the consumer.
/// It returns the memory of a ``StreamSource``, which its `close` frees.
@usableFromInline
typealias StreamOpenFunction<Input> =
    @Sendable (
        UnsafeRawPointer, UnsafePointer<Input>, UnsafePointer<Call>, UnsafePointer<bp_provider>?, UInt32
    ) throws(BackplaneError) -> UnsafeMutableRawPointer

/// The function that writes the next element, or nothing after the last one.
@usableFromInline
typealias StreamNextFunction<Element> =
    nonisolated(nonsending) @Sendable (UnsafeMutableRawPointer, UnsafeMutablePointer<Element?>)
    async throws(BackplaneError) -> Void

/// A stream as its wire opens it.
@frozen @usableFromInline
struct StreamCell<Input>: ~Copyable {
    @usableFromInline let function: StreamOpenFunction<Input>
    @usableFromInline let context: UnsafeRawPointer
}

/// An open stream as its consumer sees it, in memory allocated by the side that opened it.
@frozen @usableFromInline
struct StreamSource<Element>: ~Copyable {
    @usableFromInline let next: StreamNextFunction<Element>
    /// Closes the stream and frees this memory, which `next` uses until it has returned.
    @usableFromInline let close: @Sendable (UnsafeMutableRawPointer) -> Void
    /// The object that `next` receives.
    @usableFromInline let context: UnsafeMutableRawPointer

    /// Writes the next element, or nothing after the last one.
    ///
    /// Borrows the function, because `source.next(…)` would retain it for each element; `close` is called after it has
    /// returned.
    @inlinable
    nonisolated(nonsending) borrowing func read(_ element: UnsafeMutablePointer<Element?>)
        async throws(BackplaneError)
    {
        try await next(context, element)
    }
}

extension StreamSource where Element: Sendable {
    /// Returns the memory of a source that reads from an object, which it retains until it is closed.
    static func memory<Object: AnyObject & Sendable>(
        reading object: Object, next: @escaping StreamNextFunction<Element>, close: @escaping @Sendable (Object) -> Void
    ) -> UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(
            keeping: StreamSource(
                next: next,
                close: { source in
                    let object = source.assumingMemoryBound(to: StreamSource<Element>.self).pointee.context
                    source.free(StreamSource<Element>.self)
                    close(Unmanaged<Object>.fromOpaque(object).takeRetainedValue())
                }, context: Unmanaged.passRetained(object).toOpaque()))
    }
}

/// The consumer's pointer to an open stream.
@frozen @usableFromInline
struct OpenSource<Element>: @unchecked Sendable {  // its memory is constant until its one reader closes it
    @usableFromInline let pointer: UnsafeMutablePointer<StreamSource<Element>>

    init(_ pointer: UnsafeMutableRawPointer) {
        self.pointer = pointer.assumingMemoryBound(to: StreamSource<Element>.self)
    }

    @inlinable
    nonisolated(nonsending) func next() async throws(BackplaneError) -> Element? {
        var element: Element?
        try await pointer.pointee.read(&element)
        return element
    }

    /// Closes the stream; this must be the last use of the pointer.
    func close() { pointer.pointee.close(UnsafeMutableRawPointer(pointer)) }
}

extension Slot {
    /// Opens a stream through the slot's binding, and waits at the gate while the slot is closed.
    ///
    /// - Throws: `call.retired` if the slot stays closed; `call.deadline` if the deadline has passed; the provider's
    ///   error.
    nonisolated(nonsending) func open<Input, Element>(
        _ member: Int, _ input: Input, _ call: Call, _: Element.Type
    ) async throws(BackplaneError) -> OpenSource<Element> {
        try call.checkDeadline()
        var input = input, frame = call
        frame.deadline = nil
        bp_call_append(&frame.frame, pointer.pointee.number)
        // A provider that is being replaced refuses; by then its slots lead to the next provider.
        var attempts = 8
        while true {
            let binding = if let open = bp_enter(pointer) { open } else { try await admission(of: call) }
            defer { bp_leave(binding) }
            let cell = bp_cell(binding, member).assumingMemoryBound(to: StreamCell<Input>.self)
            do throws(BackplaneError) {
                return OpenSource(
                    try cell.pointee.function(
                        cell.pointee.context, &input, &frame, binding.pointee.provider, pointer.pointee.number))
            } catch {
                attempts -= 1
                guard error.code == .streamInterrupted, attempts > 0 else { throw error }
            }
        }
    }
}

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
        return UnsafeMutableRawPointer(keeping: StreamCell(function: function, context: context))
    }

    @usableFromInline
    func freeCell(_ cell: UnsafeMutableRawPointer) { cell.free(StreamCell<Input>.self) }

    private func open(
        _ held: HeldContext, _ input: Input, _ call: Call, _ provider: UnsafePointer<bp_provider>?, _ consumer: UInt32
    ) throws(BackplaneError) -> UnsafeMutableRawPointer {
        let channel = StreamChannel<Element>(encoding: nil)
        let registration = try StreamRegistration(of: channel, with: provider, consumer)
        begin(channel, held, input, call) { registration.end() }
        return StreamSource.memory(reading: channel, next: next) { $0.end(.streamCancelled) }
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

/// An open stream of this component as its host controls it, regardless of its elements.
@usableFromInline
class StreamControl: @unchecked Sendable {  // no state; subclasses are constant, or lock theirs
    @usableFromInline
    init() {}

    /// Ends the stream with an error: cancels its body, and ignores further elements from it.
    func end(_ error: BackplaneError) {}

    /// The number of elements that the consumer has taken.
    var taken: UInt64 { 0 }

    /// Answers with the next elements, encoded, or with the stream's end.
    func pull(_ count: Int, _ reply: Reply) {}

    /// Answers when the body has returned.
    func whenReturned(_ reply: Reply) { reply.end(Int32(BP_OK), .empty) }
}

/// A stream that was not opened, because of an error.
final class RefusedStream: StreamControl, @unchecked Sendable {  // constant
    private let error: BackplaneError

    init(_ error: BackplaneError) { self.error = error }

    override func pull(_ count: Int, _ reply: Reply) { reply.end(error) }
}

/// The consumer's end of an encoded stream, which decodes batches and returns their elements one by one.
///
/// Any task may close it.
private final class EncodedElements<Element: Decodable & Sendable>: @unchecked Sendable {  // one reader
    private let target: EncodedTarget
    private let stream: UnsafeMutableRawPointer
    private let isClosed = Atomic<Bool>(false)
    /// The number of elements that are requested together, or 0 before the first request.
    private var batch = 0
    /// The elements that have arrived, in reverse.
    private var elements: [Element] = []
    /// The error of the element after ``elements``.
    private var failure: BackplaneError?

    init(_ target: EncodedTarget, _ stream: UnsafeMutableRawPointer) { (self.target, self.stream) = (target, stream) }

    nonisolated(nonsending) func next() async throws(BackplaneError) -> Element? {
        if let element = elements.popLast() { return element }
        if let failure { throw failure }
        guard !isClosed.load(ordering: .relaxed) else { throw .streamCancelled }
        if batch == 0 {
            // A provider that is ahead answers at once. Without this, a loop that opens and leaves streams would
            // never give their bodies a thread to return on.
            await Task.yield()
            guard !isClosed.load(ordering: .relaxed) else { throw .streamCancelled }
        }
        batch = Self.batch(after: batch)
        let answer = PendingAnswer()
        target.provider.pointee.next(stream, UInt32(batch), PendingAnswer.done, answer.toContext())
        let pulled = await answer.wait { self.close() }
        guard pulled.status != Int32(BP_END) else { return nil }
        let array = try pulled.get()
        do throws(BackplaneError) {
            elements = try JSON.decode([Element].self, array, failing: .callInvalidOutput)
        } catch {
            elements = (try? JSON.decode(FirstElements<Element>.self, array, failing: .callInvalidOutput))?.good ?? []
            guard !elements.isEmpty else { throw error }
            failure = error
        }
        guard (1...batch).contains(elements.count) else {
            throw BackplaneError(
                .callInvalidOutput,
                "the provider answered with \(elements.count) elements of the stream, expected 1 to \(batch)")
        }
        elements.reverse()
        return elements.popLast()
    }

    func close() {
        if !isClosed.exchange(true, ordering: .relaxed) { target.provider.pointee.close(stream) }
    }

    /// Returns the size of the batch after a batch of a given size, up to 64.
    ///
    /// The first batches are small, because a consumer that wants only the first element pays for a whole batch.
    private static func batch(after last: Int) -> Int { last == 0 ? 4 : min(4 * last, 64) }
}

/// The elements of an array before the first that cannot be decoded.
private struct FirstElements<Element: Decodable>: Decodable {
    var good: [Element] = []

    init(from decoder: any Decoder) throws {
        var array = try decoder.unkeyedContainer()
        while !array.isAtEnd, let element = try? array.decode(Element.self) { good.append(element) }
    }
}

extension StreamMethod: EncodedMember where Input: Codable, Element: Codable {
    static var kind: MethodKind { .stream }
    static var types: (input: any Codable.Type, output: any Codable.Type) { (Input.self, Element.self) }

    static func makeCell(_ method: EncodedMethod) -> UnsafeRawPointer {
        let function: StreamOpenFunction<Input> = {
            (context, input, call, _, consumer) throws(BackplaneError) -> UnsafeMutableRawPointer in
            let method = context.assumingMemoryBound(to: EncodedMethod.self).pointee
            let input = try JSON.encodeData(input.pointee, failing: .callInvalidInput)
            let elements = EncodedElements<Element>(method.target, try method.open(input, call.pointee, consumer))
            let next: StreamNextFunction<Element> = { (elements, output) async throws(BackplaneError) -> Void in
                output.pointee = try await Unmanaged<EncodedElements<Element>>.fromOpaque(elements)
                    .takeUnretainedValue().next()
            }
            return StreamSource.memory(reading: elements, next: next) { $0.close() }
        }
        return keptForever(StreamCell(function: function, context: keptForever(method)))
    }

    static func makeBody(throwing error: BackplaneError) -> any MethodBody {
        StreamBody<Input, Element>(of: StandIn.self) { _, _, _, _ in throw error }
    }
}

extension EncodedMethod {
    /// Opens the method as a stream for a component.
    fileprivate func open(_ input: Data, _ call: Call, _ consumer: UInt32) throws(BackplaneError)
        -> UnsafeMutableRawPointer
    {
        let number = try providersNumber(), refusal = PendingAnswer()
        let context = refusal.toContext()
        let stream = call.withC { frame in
            input.withBytes { input in
                target.provider.pointee.open(
                    target.provider.pointee.target, number, input, frame, consumer, PendingAnswer.done, context)
            }
        }
        if let stream {
            PendingAnswer.forget(context)
            return stream
        }
        guard let error = refusal.now?.error else {
            throw BackplaneError(.componentFailed, "the stream `\(name)` was neither opened nor refused")
        }
        throw error
    }
}
