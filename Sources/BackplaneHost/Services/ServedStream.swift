import Backplane
import CBackplane
import Synchronization

/// A stream that the host reads for a component, or for the host program by name.
final class ServedStream: Sendable {
    private enum State {
        /// The stream waits for the provider, together with any request for elements that has arrived.
        case opening((count: Int, reply: Reply)?)
        case open(any ProvidedStream)
        /// The stream was not opened or was ended by the host, and the consumer has not been notified.
        case failed(BackplaneError)
        case over
        case closed
    }
    private let state = Mutex(State.opening(nil))
    /// The cancellation of the wait for the provider.
    fileprivate let wait: Cancellation
    /// The clock of the deadline for opening the stream, and the number of that deadline.
    private let clock: (any HostClock)?
    private let opening = Callbacks.newID()

    fileprivate init(_ wait: Cancellation, _ clock: any HostClock) { (self.wait, self.clock) = (wait, clock) }

    /// Creates a stream that was not opened.
    init(failed error: BackplaneError) {
        (wait, clock) = (Cancellation { _ in }, nil)
        state.withLock { $0 = .failed(error) }
    }

    /// Answers with at most `count` elements, or with the end of the stream.
    func next(_ count: Int, _ reply: Reply) {
        enum Step {
            case pass(any ProvidedStream)
            case refuse(BackplaneError)
            case over, waits
        }
        let step = state.withLock { state -> Step in
            switch state {
            case .opening(nil):
                state = .opening((count, reply))
                return .waits
            case .opening: return .refuse(.streamReadTwiceAtOnce)
            case .open(let stream): return .pass(stream)
            case .failed(let error):
                state = .over
                return .refuse(error)
            case .over: return .over
            case .closed: return .refuse(.streamClosed)
            }
        }
        switch step {
        case .pass(let stream): stream.next(count, reply)
        case .refuse(let error): reply.end(error)
        case .over: reply.end(Int32(BP_END), .empty)
        case .waits: break
        }
    }

    /// Closes the stream for its consumer.
    func close() { leave(.closed, .streamClosed) }

    /// Ends the stream with an error of the host while it is being opened, and reports it to the consumer.
    ///
    /// A stream that is already open is ended at its provider.
    func end(_ error: BackplaneError) { leave(.failed(error), error, onlyWhileOpening: true) }

    private func leave(_ next: State, _ error: BackplaneError, onlyWhileOpening: Bool = false) {
        let left = state.withLock { state -> State in
            let left = state
            if case .opening = left {} else if onlyWhileOpening { return .over }
            if case .opening(.some) = left, case .failed = next { state = .over } else { state = next }
            return left
        }
        switch left {
        case .opening(let request):
            clock?.cancel(opening)
            wait.cancel()
            request?.reply.end(error)
        case .open(let stream): stream.close()
        case .failed, .over, .closed: break
        }
    }

    /// Fails the opening at a deadline; a stream that the provider opens later is closed immediately.
    fileprivate func beOpen(by deadline: Deadline) {
        clock?.schedule(opening, at: deadline) { [weak self] in
            self?.end(.deadlinePassed(before: "the stream was opened"))
        }
    }

    fileprivate func settle(_ opened: Result<any ProvidedStream, BackplaneError>) {
        enum Step {
            case go((count: Int, reply: Reply))
            case rest
            case unneeded
        }
        let step = state.withLock { state -> Step in
            guard case .opening(let request) = state else { return .unneeded }
            switch opened {
            case .success(let stream): state = .open(stream)
            case .failure(let error): state = .failed(error)
            }
            return request.map { .go($0) } ?? .rest
        }
        clock?.cancel(opening)
        switch step {
        case .go(let request): next(request.count, request.reply)
        case .rest: break
        case .unneeded: try? opened.get().close()
        }
    }
}

extension ServedWire {
    /// Opens a stream, and returns immediately; errors are the answer to the first request for elements.
    func open(_ method: Method, _ input: [UInt8], _ call: Call) -> ServedStream {
        ServedStream.open(through: self, method, input, call)
    }

    /// Opens a stream on a separate thread, which remains occupied if the plugin's function never returns.
    ///
    /// If the stream is not open at the call's deadline, the consumer receives an error.
    func openAside(_ method: Method, _ input: [UInt8], _ call: Call) -> ServedStream {
        let stream = ServedStream(of: self)
        if let deadline = call.deadline { stream.beOpen(by: deadline) }
        if !HostThread.launch({ [self] in stream.begin(through: self, method, input, call) }) {
            stream.settle(.failure(.noThread))
        }
        return stream
    }

    fileprivate func opened(
        _ admission: Admission, _ method: Method, _ input: [UInt8], _ call: Call
    ) -> Result<any ProvidedStream, BackplaneError> {
        do throws(BackplaneError) {
            let lease = try admission.get()
            defer { lease.end() }
            if case .declared(let index) = method, !methods.indices.contains(index) {
                throw BackplaneError(.callUnimplemented, "the called component has no method number \(index)")
            }
            let target = lease.target(ServedTarget.self), number = try target.number(of: method, methods)
            var call = slot.appended(to: call)
            call.deadline = nil
            return .success(try open(target.provider, number, input, call))
        } catch {
            return .failure(error)
        }
    }

    private func open(_ provider: ComponentCalls, _ number: Int, _ input: [UInt8], _ call: Call)
        throws(BackplaneError) -> any ProvidedStream
    {
        let opened: Result<any ProvidedStream, BackplaneError> = input.withBytes { input in
            do throws(BackplaneError) {
                return .success(try provider.open(number, input, call, by: slot.number))
            } catch {
                return .failure(error)
            }
        }
        return try opened.get()
    }
}

extension ServedStream {
    fileprivate static func open(
        through wire: ServedWire, _ method: ServedWire.Method, _ input: [UInt8], _ call: Call
    ) -> ServedStream {
        let stream = ServedStream(of: wire)
        stream.begin(through: wire, method, input, call)
        return stream
    }

    /// Creates a stream that is about to be opened.
    fileprivate convenience init(of wire: ServedWire) {
        self.init(Cancellation { wire.gate.cancel($0) }, wire.gate.clock)
    }

    fileprivate func begin(through wire: ServedWire, _ method: ServedWire.Method, _ input: [UInt8], _ call: Call) {
        if let deadline = call.deadline, deadline <= wire.gate.clock.moment {
            return settle(.failure(.deadlinePassed(before: "the stream was opened")))
        }
        if let lease = Lease(wire.slot) {
            settle(wire.opened(.success(lease), method, input, call))
        } else {
            wait.began(
                wire.gate.wait(at: wire.slot, call) { [self] admission in
                    wire.act(on: admission) { self.settle(wire.opened(admission, method, input, call)) }
                })
        }
    }
}
