import CBackplane
import FoundationEssentials
import Synchronization

/// The consumer's end of an encoded stream, which decodes batches and returns their elements one by one.
///
/// `@unchecked`: only its one reader uses the elements; any task may close it.
private final class EncodedElements<Element: Decodable & Sendable>: @unchecked Sendable {
    private let target: EncodedTarget
    private let stream: UnsafeMutableRawPointer
    private let isClosed = Atomic<Bool>(false)
    /// The number of elements that are requested together, or 0 before the first request.
    private var batch = 0
    /// The elements that have arrived, in reverse.
    private var elements: [Element] = []
    /// The error of the element that follows them.
    private var failure: BackplaneError?

    init(_ target: EncodedTarget, _ stream: UnsafeMutableRawPointer) { (self.target, self.stream) = (target, stream) }

    nonisolated(nonsending) func next() async throws(BackplaneError) -> Element? {
        if let element = elements.popLast() { return element }
        if let failure { throw failure }
        guard !isClosed.load(ordering: .relaxed) else { throw .streamCancelled }
        if batch == 0 {
            // A provider that is ahead answers at once: a loop that opens streams and leaves them would never give
            // their bodies a thread to return on.
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

    /// Returns the size of the batch that follows one of a given size, up to 64.
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
            return UnsafeMutableRawPointer(
                keeping: StreamSource<Element>(
                    next: { (elements, output) async throws(BackplaneError) -> Void in
                        output.pointee = try await Unmanaged<EncodedElements<Element>>.fromOpaque(elements)
                            .takeUnretainedValue().next()
                    },
                    close: { source in
                        let elements = source.assumingMemoryBound(to: StreamSource<Element>.self).pointee.context
                        source.free(StreamSource<Element>.self)
                        Unmanaged<EncodedElements<Element>>.fromOpaque(elements).takeRetainedValue().close()
                    }, context: Unmanaged.passRetained(elements).toOpaque()))
        }
        return keptForever(StreamCell(function, context: keptForever(method)))
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
