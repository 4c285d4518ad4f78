import Backplane
import Synchronization

/// A screen from its assembly to its end.
///
/// Its drawings, segues and dismissals are numbered in the order in which they occur. A reader can therefore continue
/// after the last received number.
final class OpenScreen: AgentActions {
    /// A segue or a dismissal that has not ended.
    private struct Request {
        enum Kind {
            case segue(Destination)
            case dismissal
        }
        let kind: Kind
        var number: Int
        /// The task that waits for the end, with an error or `nil`.
        let waiting: AsyncStream<BackplaneError?>.Continuation

        var change: ScreenChange {
            switch kind {
            case .segue(let destination): ScreenChange(segue: Segue(number: number, destination: destination))
            case .dismissal: ScreenChange(dismissal: number)
            }
        }

        func end(with error: BackplaneError?) {
            waiting.yield(error)
            waiting.finish()
        }
    }
    private struct State {
        /// The screen, once it is assembled and until it is closed.
        var screen: (any ShownScreen)?
        var isClosed = false
        /// The revision of the first drawing, which precedes the segues that are requested during the assembly.
        let first: Int
        /// The number of the latest change.
        var latest: Int
        /// The number of the latest change that a reader has received.
        var received = 0
        /// The latest drawing; `nil` before the first one.
        var drawing: ScreenDrawing?
        var requests: [Request] = []
        /// The signal that wakes the reader of the changes.
        var reader: AsyncStream<Void>.Continuation?
        /// The latest read of the body, for which the next one waits.
        var reading: Task<Result<Int, BackplaneError>, Never>?
        var isRedrawWanted = false
        /// A Boolean value that indicates whether the task that redraws runs.
        var isRedrawing = false
        /// A Boolean value that indicates whether the latest redrawing failed, which is logged once.
        var hasFailed = false

        /// Returns the earliest change after the change with a number.
        func change(after number: Int) -> ScreenChange? {
            guard !isClosed else { return nil }
            let request = requests.first { $0.number > number }
            guard let drawing, drawing.revision > number, drawing.revision < request?.number ?? .max else {
                return request?.change
            }
            return ScreenChange(drawing: drawing)
        }

        /// Renumbers the drawing, and the requests that no reader has received, so that they follow a received change.
        ///
        /// The change may come from code that was rolled back, and then has a higher number.
        ///
        /// - Returns: The other requests, whose ends were reported to that code.
        mutating func catchUp(with number: Int) -> [Request] {
            guard number > latest else { return [] }
            let known = requests.filter { $0.number <= received }
            requests.removeFirst(known.count)
            latest = number
            if drawing != nil {
                latest += 1
                drawing?.revision = latest
            }
            for index in requests.indices {
                latest += 1
                requests[index].number = latest
            }
            return known
        }

        /// Replaces the drawing if it differs, and returns its revision.
        mutating func show(_ title: String, _ body: [View]) -> Int {
            hasFailed = false
            var revision = first
            if let drawing {
                if drawing.title == title, drawing.body == body { return drawing.revision }
                latest += 1
                revision = latest
            }
            drawing = ScreenDrawing(revision: revision, title: title, body: body)
            reader?.yield()
            return revision
        }

        /// Returns whether there is something to redraw; otherwise the task that redraws ends.
        mutating func beginRedrawing() -> Bool {
            isRedrawing = isRedrawWanted && screen != nil
            return isRedrawing
        }

        /// Notes that a redrawing has failed, and returns whether the previous one succeeded.
        mutating func noteFailure() -> Bool {
            defer { hasFailed = true }
            return !hasFailed
        }
    }
    /// The pause after a redrawing, which allows at most about 60 per second.
    static let pause = Duration.milliseconds(16)
    /// The greatest number from other code after which changes are numbered, so that enough numbers remain.
    static let greatest = Int.max / 2

    let request: ScreenRequest
    /// The screen in the former code; `nil` for a screen that is opened.
    private let former: KeptScreens.Screen?
    private let services: any ScreenServices
    private let clock: any Clock<Duration>
    private let log: @Sendable (BackplaneError, _ screen: String) -> Void
    private let state: Mutex<State>

    init(
        _ request: ScreenRequest, as former: KeptScreens.Screen? = nil, _ services: any ScreenServices,
        _ clock: any Clock<Duration>, _ log: @escaping @Sendable (BackplaneError, _ screen: String) -> Void
    ) {
        (self.request, self.former, self.services, self.clock, self.log) = (request, former, services, clock, log)
        // The old code continues until the new code takes over, and must not reach the numbers of the new changes.
        let first = former.map { ($0.latest | 0xF_FFFF) + 2 } ?? 1
        state = Mutex(State(first: first, latest: first))
    }

    // MARK: The host's side

    /// Assembles the screen, and returns its first drawing.
    func assemble(_ entry: ScreenTable.Entry) async throws(BackplaneError) -> ScreenDrawing {
        let screen = try await entry.assemble(request.input, former?.position, Agent(self))
        state.withLock { state in
            if !state.isClosed { state.screen = screen }
        }
        _ = try await draw().get()
        guard !Task.isCancelled else { throw .assemblyCancelled }
        return try state.withLock { state throws(BackplaneError) -> ScreenDrawing in
            guard !state.isClosed, let drawing = state.drawing else { throw .screenClosed }
            return drawing
        }
    }

    /// Passes on the changes after the change with a number, until the screen is closed or another reader takes over.
    func changes(after number: Int, _ send: (ScreenChange) async throws -> Void) async throws {
        guard number <= Self.greatest else {
            throw BackplaneError(
                .callInvalidInput, "the latest change has the number \(number); expected at most \(Self.greatest)")
        }
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let known = state.withLock { state in
            let known = state.catchUp(with: number)
            state.reader?.finish()
            state.reader = signal
            signal.yield()
            if state.isClosed { signal.finish() }
            return known
        }
        for request in known { request.end(with: .unknownEnd) }
        var last = number
        for await _ in signals {
            while let change = state.withLock({ $0.change(after: last) }) {
                try await send(change)
                last = change.number
                state.withLock { $0.received = max($0.received, last) }
            }
        }
    }

    /// Lets the screen handle an event, and returns the revision of its drawing afterwards.
    func handle(_ event: ViewEvent) async throws -> Int {
        guard let screen = state.withLock({ $0.screen }) else { throw BackplaneError.screenClosed }
        do { try await screen.handle(event) } catch {
            redraw()
            throw error
        }
        return try await draw().get()
    }

    /// Reports the end of a segue or a dismissal to the task that requested it.
    func end(_ number: Int, _ error: BackplaneError?) {
        let ended = state.withLock { state in
            state.requests.firstIndex { $0.number == number }.map { state.requests.remove(at: $0) }
        }
        ended?.end(with: error)
    }

    func close() {
        // The screen is released after the lock, since its `deinit` may use the agent.
        let closed = state.withLock { state in
            state.isClosed = true
            state.reader?.finish()
            defer { (state.reader, state.requests) = (nil, []) }
            return (screen: state.screen.take(), requests: state.requests)
        }
        for request in closed.requests {
            if case .dismissal = request.kind { request.end(with: nil) } else { request.end(with: .screenClosed) }
        }
    }

    /// A Boolean value that indicates whether the screen is from the former code and has yet to be assembled again.
    var awaitsAssembly: Bool { former != nil && state.withLock { $0.screen == nil && !$0.isClosed } }

    /// Returns the data that survives a swap; `nil` if the screen is not shown.
    func kept() async throws(BackplaneError) -> KeptScreens.Screen? {
        if awaitsAssembly { return former }
        guard let screen = state.withLock({ $0.screen }) else { return nil }
        let place = try await screen.position()
        return KeptScreens.Screen(
            number: request.number, screen: request.screen, input: request.input, position: place,
            latest: state.withLock(\.latest))
    }

    // MARK: The agent's side

    func begin() -> Call { services.begin() }

    func resolve<C: Contract>(_ type: C.Type, where isWanted: (ManagerDescription) -> Bool)
        async throws(BackplaneError) -> Wire<C>
    {
        try requireOpen()
        return try await services.resolve(type, where: isWanted)
    }

    func resolve<Service>(service type: Service.Type, where isWanted: (Service) -> Bool)
        throws(BackplaneError) -> Service
    {
        try requireOpen()
        return try services.resolve(service: type, where: isWanted)
    }

    private func requireOpen() throws(BackplaneError) {
        if state.withLock({ $0.isClosed }) { throw .screenClosed }
    }

    func perform(_ destination: Destination) async throws(BackplaneError) { try await submit(.segue(destination)) }

    func dismiss() async throws(BackplaneError) { try await submit(.dismissal) }

    /// Passes a request on, and waits for its end unless the screen is being assembled.
    private func submit(_ kind: Request.Kind) async throws(BackplaneError) {
        let (ends, waiting) = AsyncStream.makeStream(of: BackplaneError?.self, bufferingPolicy: .bufferingOldest(1))
        let isShown = try state.withLock { state throws(BackplaneError) -> Bool in
            guard !state.isClosed else { throw .screenClosed }
            // Requests from the first assembly of the screen have been carried out.
            if state.screen == nil, former != nil { return false }
            state.latest += 1
            state.requests.append(Request(kind: kind, number: state.latest, waiting: waiting))
            state.reader?.yield()
            return state.screen != nil
        }
        guard isShown else { return }
        for await error in ends {
            if let error { throw error }
            return
        }
        throw BackplaneError(.callCancelled, "the task that waited for the segue was cancelled")
    }

    func redraw() {
        let begins = state.withLock { state in
            state.isRedrawWanted = true
            guard state.screen != nil, !state.isRedrawing else { return false }
            state.isRedrawing = true
            return true
        }
        if begins { Task { await redrawWhileWanted() } }
    }

    // MARK: Drawing

    /// Redraws while there are requests, with a pause after each time to collect them.
    private func redrawWhileWanted() async {
        while state.withLock({ $0.beginRedrawing() }) {
            if case .failure(let error) = await draw(), state.withLock({ $0.noteFailure() }) {
                log(error, request.screen)
            }
            try? await clock.sleep(for: Self.pause)
        }
    }

    /// Reads the body once previous reads have ended, and returns the revision of the drawing.
    private func draw() async -> Result<Int, BackplaneError> {
        let reading = state.withLock { state in
            let last = state.reading
            let reading = Task {
                _ = await last?.value
                return await read()
            }
            state.reading = reading
            return reading
        }
        return await reading.value
    }

    private func read() async -> Result<Int, BackplaneError> {
        let (screen, revision) = state.withLock { state in
            // Before the read: a later request may concern a change that the read misses.
            state.isRedrawWanted = false
            return (state.screen, state.drawing?.revision ?? 0)
        }
        // The event may have dismissed the screen.
        guard let screen else { return .success(revision) }
        do throws(BackplaneError) {
            let (title, body) = try await screen.drawing()
            return .success(state.withLock { $0.show(title, body) })
        } catch {
            return .failure(error)
        }
    }
}

extension BackplaneError {
    fileprivate static var unknownEnd: BackplaneError {
        BackplaneError(
            .callCancelled,
            "the code was swapped and rolled back while the segue or the dismissal took place; whether it has succeeded is unknown"
        )
    }

    fileprivate static var assemblyCancelled: BackplaneError {
        BackplaneError(.callCancelled, "the call that opens the screen was cancelled")
    }
}
