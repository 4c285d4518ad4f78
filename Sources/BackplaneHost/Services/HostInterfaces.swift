import Backplane
import BackplaneNetwork
import CBackplane

/// The host's services as plugins fetch them, by id and revision.
enum HostInterfaces {
    static let get: bp_get_interface = { id, revision in
        switch (id.text, revision) {
        case (BP_LOG, 1): return UnsafeRawPointer(log.table)
        case (BP_HTTP, 1): return UnsafeRawPointer(http.table)
        default: return nil
        }
    }

    /// A function table that lives as long as the process.
    private struct Kept<Table>: @unchecked Sendable {       // constant
        let table: UnsafePointer<Table>

        init(_ table: Table) {
            let pointer = UnsafeMutablePointer<Table>.allocate(capacity: 1)
            pointer.initialize(to: table)
            self.table = UnsafePointer(pointer)
        }
    }

    private static let log = Kept(
        bp_log_1(
            size: UInt32(MemoryLayout<bp_log_1>.size), reserved: 0,
            is_enabled: { handle, level in
                guard let level = Log.Level(rawValue: level), let component = ComponentHandles.find(handle) else { return 0 }
                return component.log.isEnabled(level) ? 1 : 0
            },
            write: { handle, level, message, metadata, count in
                guard let component = ComponentHandles.find(handle) else { return }
                let pairs = Pairs.copy(metadata, count: min(count, 64)).map { ($0.name, $0.value) }
                component.log.write(
                    LogRecord(
                        level: Log.Level(rawValue: level) ?? .info, source: component.name, message: message.text,
                        metadata: Dictionary(pairs, uniquingKeysWith: { _, last in last })))
            }))

    private static let http = Kept(
        bp_http_1(
            size: UInt32(MemoryLayout<bp_http_1>.size), reserved: 0,
            send: { handle, request, call, done, context in
                let answer = HTTPAnswer(done: done, context: context)
                guard let component = ComponentHandles.find(handle) else {
                    answer.end(.failure(BackplaneError(.callRetired, "the component that asks has stopped")))
                    return 0
                }
                guard component.role == .communicationController || component.role == .networkService else {
                    answer.end(
                        .failure(
                            BackplaneError(
                                .roleForbidden,
                                "\(component.name) is a \(component.role); only communication controllers and network services use \(BP_HTTP)")))
                    return 0
                }
                return component.exchanges.start(HTTPRequest(copying: request), Call(copying: call)) { answer.end($0) }
            },
            cancel: { handle, exchange in ComponentHandles.find(handle)?.exchanges.cancel(exchange) }))
}

/// Where the plugin wants the end of an exchange.
private struct HTTPAnswer: @unchecked Sendable {        // the plugin's own context, handed back untouched
    let done: bp_http_done
    let context: UnsafeMutableRawPointer?

    func end(_ result: Result<HTTPResponse, BackplaneError>) {
        switch result {
        case .success(let response):
            response.withC { done(context, Int32(BP_OK), $0, .empty) }
        case .failure(let error):
            let answer = EncodedAnswer(error)
            answer.payload.withBytes { done(context, answer.status, nil, $0) }
        }
    }
}
