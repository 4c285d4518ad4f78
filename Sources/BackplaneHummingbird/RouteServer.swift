#if Engines
import Backplane
package import BackplaneHost
import BackplaneNetwork
import BackplaneRoutes
package import Hummingbird
package import Logging
import Synchronization
import Tracing

/// A function that is called at the end of each answer.
///
/// - Parameters:
///   - manager: The manager of the route.
///   - route: The name of the route, such as `GET /books/:id`.
///   - status: The status; 0 if the client left before the end.
///   - time: The time since the head of the request. An answer in memory ends when it is handed to the connection.
package typealias RouteObserver =
    @Sendable (_ manager: String, _ route: String, _ status: Int, _ time: Duration) -> Void

/// The routes of a host in Hummingbird, from a request to its response.
///
/// A request is matched, received and handled; its answer is then sent without the plugin, or piece by piece. When a
/// client leaves, the next write to it fails, and its stream is cancelled.
package final class RouteServer: Sendable {
    /// The managers whose routes are mounted, and their paths.
    package enum Mounting: Sendable {
        /// The managers in `server.mount` of the active manifest, each at its path; without that key, all managers at
        /// `/`.
        case manifest
        /// The managers with the given names, or all managers, at one path.
        case managers([String]?, under: String)
    }
    private let host: PluginHost
    private let mounting: Mounting
    private let limits: ServerLimits
    private let observer: RouteObserver?
    private let logger: Logger
    /// The threads that wait for files.
    private let files = WorkerThreads("bp-files")
    private let mounted = Mutex<MountedRoutes?>(nil)
    private let isLoaded = Atomic(false)

    /// Creates the routes of a host.
    ///
    /// - Parameters:
    ///   - observer: A function that is called at the end of each answer.
    ///   - logger: The logger for errors of routes.
    package init(
        _ host: PluginHost, mounting: Mounting, limits: ServerLimits, observer: RouteObserver? = nil, logger: Logger
    ) {
        (self.host, self.mounting, self.limits) = (host, mounting, limits)
        (self.observer, self.logger) = (observer, logger)
    }

    /// Returns the answer to a request, with the status 404, 405 or 400 if it matches no route.
    package func respond(to request: Request, remoteAddress: String?) async -> Response {
        switch await match(request) {
        case .found(let found): await respond(to: request, found, remoteAddress: remoteAddress)
        case .none(let problem): await refuse(request, problem)
        }
    }

    /// Returns the answer to a request without a route.
    ///
    /// The body is received nevertheless, within the limits, so that it does not occupy the connection.
    func refuse(_ request: Request, _ problem: RouteProblem) async -> Response {
        let deadline = host.begin(within: limits.timeout).deadline
        if case .refused(let response) = await receive(request, until: deadline) { return response }
        return Response(problem, isHead: request.method == .head)
    }
}

// MARK: Matching

extension RouteServer {
    /// The route of a request.
    struct Found: Sendable {
        let route: MountedRoute
        fileprivate let path: String
        fileprivate let parameters: [String: String]
        fileprivate let revision: UInt64
    }

    enum Match: Sendable {
        case found(Found)
        /// No route: 404 if none matches the path, 405 if none has the method, 400 for a malformed path.
        case none(RouteProblem)
    }

    /// Returns the route of a request. The libraries of a host that has not been used are loaded first.
    func match(_ request: Request) async -> Match {
        if !isLoaded.load(ordering: .relaxed) {
            // Managers with errors have no routes; a program that never starts the host would not learn of the errors.
            let problems = await host.check()
            if !isLoaded.exchange(true, ordering: .relaxed), case .managers = mounting {
                for problem in problems where problem.severity == .error {
                    logger.error("a manager is not mounted", metadata: ["error": "\(problem.error)"])
                }
            }
        }
        return match(request.method.rawValue, request.uri.path)
    }

    private func match(_ method: String, _ path: String) -> Match {
        let routes = currentRoutes(), match = routes.matcher.match(method, path)
        guard case .found(let entry, let parameters) = match else {
            return .none(match.problem ?? RouteProblem(404))
        }
        return .found(Found(route: entry.owner, path: path, parameters: parameters, revision: routes.revision))
    }

    private func currentRoutes() -> MountedRoutes {
        let revision = host.routing.revision
        return mounted.withLock { mounted in
            if let mounted, mounted.revision >= revision { return mounted }
            let routes = MountedRoutes(
                host.routing.table, mounting, limits: limits, after: mounted, logger: logger)
            mounted = routes
            return routes
        }
    }
}

// MARK: Answering

extension RouteServer {
    /// The result of a handler.
    private enum Outcome: Sendable {
        case answer(RouteResponse)
        case stream(RouteHead, PartSender)
        case failed(BackplaneError)
        /// The code that was called does not have the route, and has done nothing.
        case moved(BackplaneError)
    }

    /// Returns the answer to a request that matches a route.
    func respond(to request: Request, _ found: Found, remoteAddress: String?) async -> Response {
        let end = observer.map { AnswerEnd($0, found.route) }
        let call = host.begin(within: limits.timeout, traceparent: traceparent(of: request))
        var routed = RouteRequest(
            "", method: request.method.rawValue, path: found.path, query: request.uri.query,
            headers: HTTPHeaders(of: request), remoteAddress: remoteAddress)
        let body: ReceivedBody
        switch await receive(request, until: call.deadline) {
        case .received(let received): body = received
        case .refused(let response): return report(end, response)
        }
        switch body {
        case .none: break
        case .bytes(let bytes): routed.body = bytes
        case .file(let file): routed.file = file.path
        }
        var found = found
        let outcome = await handle(&routed, &found, call)
        let isHead = request.method == .head, response: Response
        switch outcome {
        case .answer(let answer):
            response = await send(answer, to: routed, isHead: isHead, found.route, end)
        case .stream(let head, let parts):
            response = send(parts, after: head, isHead: isHead, body, found.route, end)
        case .failed(let error), .moved(let error):
            log(error, found.route)
            response = report(end, Response(RouteProblem(answering: error), isHead: isHead))
        }
        // The file of the body exists until here, or until the end of a stream.
        return withExtendedLifetime(body) { response }
    }

    /// Calls the manager of a route; if it no longer knows the route, matches again.
    ///
    /// A swap changes the table before its code can be called, so that another match soon finds the code's route.
    private func handle(_ request: inout RouteRequest, _ found: inout Found, _ call: Call) async -> Outcome {
        var attempts = 50
        while true {
            (request.route, request.parameters) = (found.route.name, found.parameters)
            let outcome = await handle(request, found.route, call)
            guard case .moved = outcome, attempts > 0 else { return outcome }
            attempts -= 1
            if host.routing.revision == found.revision { try? await Task.sleep(for: .milliseconds(1)) }
            switch match(request.method, request.path) {
            case .found(let next): found = next
            case .none(let problem): return .answer(problem.response)
            }
        }
    }

    /// Calls the manager of a route, and returns no later than at the deadline.
    ///
    /// A native call cannot be ended from outside, so the handler has its own task. Most handlers end before the
    /// request has to wait for them. Only a request that waits sets an alarm. The alarm uses the host's clock, which is
    /// cheaper than a timer of the connection's event loop, where the request does not run.
    private func handle(_ request: RouteRequest, _ route: MountedRoute, _ call: Call) async -> Outcome {
        let manager = route.manager
        do { try await manager.enter(until: call.deadline, by: host.clock) } catch { return .failed(error) }
        let handler = manager.begin { [host] () async -> Outcome in
            // A stream frees its place after its head.
            defer { manager.leave() }
            let routes: Remote<HTTPRoutes>
            do throws(BackplaneError) {
                routes = try await host.manager(manager.name, as: HTTPRoutes.self)
            } catch {
                return error.code == .unknownManager ? .moved(error) : .failed(error)
            }
            do throws(BackplaneError) {
                guard route.kind != .answer else { return .answer(try await routes.answer(request, call)) }
                let parts = PartSender(routes.stream(request, call))
                guard case .head(let head)? = try await parts.next().get() else {
                    throw BackplaneError(.callInvalidOutput, "expected a head as the first part of the stream")
                }
                return .stream(head, parts)
            } catch { return error.code == .routeUnknown ? .moved(error) : .failed(error) }
        }
        if let outcome = await handler.result(until: call.deadline, by: host.clock) { return outcome }
        handler.cancel()
        return .failed(
            Task.isCancelled
                ? BackplaneError(.callCancelled, "the server has stopped")
                : .deadlinePassed(before: "`\(route.name)` answered"))
    }

    /// Returns the trace of a request, from a middleware that traces requests or else from the client.
    private func traceparent(of request: Request) -> String? {
        if let context = ServiceContext.current {
            var text: String?
            InstrumentationSystem.instrument.inject(context, into: &text, using: TraceparentInjector())
            if let text { return text }
        }
        return request.headers[.traceparent]
    }
}

private struct TraceparentInjector: Injector {
    func inject(_ value: String, forKey key: String, into text: inout String?) {
        if key.lowercased() == "traceparent" { text = value }
    }
}

// MARK: Receiving

extension RouteServer {
    enum Reception {
        case received(ReceivedBody)
        /// The answer to a request whose body was not received, after which its connection ends.
        case refused(Response)
    }

    /// Receives the body of a request, within the limits.
    func receive(_ request: Request, until deadline: Deadline?) async -> Reception {
        let length = request.headers[.contentLength].flatMap { Int($0) }
        if length == 0 { return .received(.none) }
        if length == nil, !request.headers.contains(.transferEncoding),
            request.method == .get || request.method == .head
        {
            return .received(.none)
        }
        let reader = BodyReader(request.body)
        guard length ?? 0 <= limits.body else { return .refused(tooLong(reader)) }
        let reception = RouteStep { [limits, files] () async -> Result<ReceivedBody, any Error> in
            do { return .success(try await reader.receive(length, upTo: limits.body, files: files)) } catch {
                return .failure(error)
            }
        }
        let problem: RouteProblem
        switch await reception.result(until: deadline, by: host.clock) {
        case .success(let body): return .received(body)
        case .failure(ReceivedBody.Failure.tooLong): return .refused(tooLong(reader))
        case .failure(ReceivedBody.Failure.unwritable(let error, let path)):
            logger.error("a body cannot be stored", metadata: ["file": "\(path)", "error": "\(error)"])
            problem = RouteProblem(500)
        case .failure: problem = RouteProblem(400, "the body is malformed or incomplete")
        case nil:
            // Two readers of one connection would stop the process.
            await reception.cancelled()
            problem = RouteProblem(408)
        }
        return .refused(Response(problem, closing: nil))
    }

    /// Returns the answer to a request whose body is too long.
    ///
    /// Some more of the body is received, because a client that still sends would lose the answer if the connection
    /// were reset.
    private func tooLong(_ reader: BodyReader) -> Response {
        let problem = RouteProblem(413, "the body has more than \(limits.body) bytes, which is the limit")
        return Response(problem) { [limits, clock = host.clock] in
            let rest = RouteStep { try? await reader.drop(atMost: limits.body) }
            if await rest.result(until: clock.moment + limits.timeout, by: clock) == nil { await rest.cancelled() }
        }
    }
}

// MARK: Sending

extension RouteServer {
    /// Returns the response with a whole answer.
    private func send(
        _ answer: RouteResponse, to request: RouteRequest, isHead: Bool, _ route: MountedRoute, _ end: AnswerEnd?
    ) async -> Response {
        if let mistake = answer.head.mistake { return refuse(mistake, isHead, route, end) }
        guard let path = answer.file else { return report(end, Response(answer, isHead: isHead)) }
        let file: SentFile
        do {
            file = try await files.run { try SentFile(path) }
        } catch let error as SentFile.Unreadable {
            if error.isMissing { return report(end, Response(RouteProblem(404), isHead: isHead)) }
            return refuse("the file `\(path)` cannot be sent: \(error.reason)", isHead, route, end)
        } catch { return refuse("the file `\(path)` cannot be sent: \(error)", isHead, route, end) }
        let part = FileAnswer(
            answer, size: file.size, modified: file.modified, method: request.method, request.headers)
        let response = Response(part, isHead: isHead) { [files, self] writer in
            try await reporting(end, part.status, route) { try await file.send(part.range, to: &writer, on: files) }
        }
        return hasBody(response, isHead) ? response : report(end, response)
    }

    /// Returns the response that begins with the head of a stream.
    private func send(
        _ parts: PartSender, after head: RouteHead, isHead: Bool, _ body: ReceivedBody, _ route: MountedRoute,
        _ end: AnswerEnd?
    ) -> Response {
        if let mistake = head.mistake { return refuse(mistake, isHead, route, end) }
        let response = Response(head, isHead: isHead) { [self, clock = host.clock] writer in
            try await reporting(end, head.status, route) {
                try await parts.send(to: &writer, asEvents: route.kind == .events, by: clock)
            }
            withExtendedLifetime(body) {}
        }
        return hasBody(response, isHead) ? response : report(end, response)
    }

    private func hasBody(_ response: Response, _ isHead: Bool) -> Bool { !isHead && response.body.contentLength != 0 }

    /// Sends a body, reports its end to the observer, and logs the reason of an interruption.
    @concurrent private func reporting(
        _ end: AnswerEnd?, _ status: Int, _ route: MountedRoute, _ send: @concurrent () async throws -> Void
    ) async throws {
        do {
            try await send()
            end?.tell(status)
        } catch let cut as AnswerCut {
            end?.tell(status)
            if let reason = cut.reason { log(reason, route) }
            throw cut
        }
    }

    /// Returns the response after a mistake of the route, which only the log describes.
    private func refuse(_ mistake: String, _ isHead: Bool, _ route: MountedRoute, _ end: AnswerEnd?) -> Response {
        log(BackplaneError(.callInvalidOutput, mistake), route)
        return report(end, Response(RouteProblem(500), isHead: isHead))
    }

    private func report(_ end: AnswerEnd?, _ response: Response) -> Response {
        end?.tell(response.status.code)
        return response
    }

    private func log(_ error: BackplaneError, _ route: MountedRoute) {
        let level: Logger.Level
        switch error.code {
        case .callDeadline, .callOverloaded: level = .warning
        // A swap has ended the stream, as intended.
        case .routeInterrupted: level = .debug
        default: level = RouteProblem(answering: error).status == 500 ? .error : .debug
        }
        logger.log(
            level: level, "a route failed",
            metadata: [
                "manager": "\(route.manager.name)", "route": "\(route.name)", "error": "\(error.detailedDescription)",
            ])
    }
}

/// The end of an answer, which is reported to the observer once: after the answer was sent or, with the status 0, was
/// not.
private final class AnswerEnd: Sendable {
    private let observer: RouteObserver
    private let route: MountedRoute
    private let begin = Deadline.now
    private let isTold = Atomic(false)

    init(_ observer: @escaping RouteObserver, _ route: MountedRoute) {
        (self.observer, self.route) = (observer, route)
    }

    deinit { tell(0) }

    func tell(_ status: Int) {
        guard !isTold.exchange(true, ordering: .relaxed) else { return }
        observer(route.manager.name, route.name, status, Deadline.now - begin)
    }
}
#endif
