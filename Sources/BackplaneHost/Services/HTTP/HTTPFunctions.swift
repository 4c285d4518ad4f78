import Backplane
import BackplaneExchange
import BackplaneNetwork
import CBackplane
import Synchronization

/// The functions of `backplane.http/1`.
let httpFunctions = bp_http_1(
    size: UInt32(MemoryLayout<bp_http_1>.size), reserved: 0,
    send: { handle, request, call, done, context in
        let answer = HTTPAnswer(done: done, context: ForeignPointer(raw: context))
        do throws(BackplaneError) {
            let component = try ComponentHandles.require(handle)
            try component.require(.communicationController, .networkService, for: BP_HTTP)
            let request = try HTTPRequest(copying: request)
            try component.begin()
            return component.exchanges.begin(
                request, .whole(upTo: HTTPOptions.collectionLimit), Call(copying: call), answer,
                ended: component.end)
        } catch {
            answer.ended(.failure(error))
            return 0
        }
    },
    cancel: { handle, exchange in ComponentHandles.find(handle)?.exchanges.cancel(exchange) })

/// A plugin's callback for the end of an exchange with whole bodies.
private struct HTTPAnswer: ExchangeClient {
    let done: bp_http_done
    /// The plugin's own context, which is passed back unchanged.
    let context: ForeignPointer
    let wantsProgress = false, wantsInterim = false, wantsAttempts = false

    func headed(_ head: ExchangeHead) {}
    func progressed(_ progress: HTTPProgress) {}

    func ended(_ result: Result<HTTPResponse, BackplaneError>) {
        switch result {
        case .success(let response):
            response.withC { done(context.raw, Int32(BP_OK), $0, .empty) }
        case .failure(let error):
            let answer = EncodedAnswer(error)
            answer.payload.withBytes { done(context.raw, answer.status, nil, $0) }
        }
    }
}

/// The functions of `backplane.http/2`.
let streamedHTTPFunctions = bp_http_2(
    size: UInt32(MemoryLayout<bp_http_2>.size), reserved: 0,
    open: { handle, request, options, source, exchange, call in
        let options: bp_http_options = options.map { read($0) } ?? bp_http_options()
        let client = ExchangeFunctions(
            exchange, wantsInterim: options.flags & UInt32(BP_HTTP_REPORT_INTERIM) != 0,
            wantsAttempts: options.flags & UInt32(BP_HTTP_REPORT_ATTEMPTS) != 0)
        let source: bp_source? = source.map { read($0) }
        do throws(BackplaneError) {
            let component = try ComponentHandles.require(handle)
            try component.require(.communicationController, .networkService, for: BP_HTTP)
            guard client.isComplete else {
                throw BackplaneError(.networkRefused, "the exchange lacks its `head` or `ended` function")
            }
            let terms = try ExchangeTerms(options, in: component.folder)
            var request = try HTTPRequest(copying: request)
            let bodies = [!request.body.isEmpty, terms.upload != nil, source != nil].filter(\.self).count
            guard bodies <= 1 else {
                throw BackplaneError(
                    .networkRefused,
                    "the request has \(bodies) bodies; provide only one of `body`, `upload` and a "
                        + "source")
            }
            if let path = terms.upload { request.body = .file(path) }
            try component.begin(source == nil ? 1 : 2)  // the source holds the component until it is released
            let body = source.map { ComponentBody($0, taken: component.exchanges.counts.sent, released: component.end) }
            do throws(BackplaneError) {
                if let body { request.body = try body.body() }
            } catch {
                body?.exchangeEnded()
                client.ended(.failure(error))
                component.end()
                return 0
            }
            return component.exchanges.begin(
                request, source: body, options: terms.options, terms.download.map { .file($0) } ?? .reads,
                Call(copying: call), client,
                ended: component.end)
        } catch {
            source.map { $0.release?($0.context) }
            client.ended(.failure(error))
            return 0
        }
    },
    read: { handle, exchange, number, most, done, context in
        let reply = ChunkReply(done, context)
        guard let exchange = ComponentHandles.find(handle)?.exchanges.find(exchange) else {
            return reply.end(BackplaneError(.networkBody, "there is no exchange with this number, or it has ended"))
        }
        exchange.read(number, upTo: Int(clamping: most), reply)
    },
    verdict: { _, _, _ in },  // no exchange is judged yet
    cancel: { handle, id in
        let component = ComponentHandles.find(handle)
        component?.exchanges.cancel(id)
        component?.serviceOperations.cancel(id)
    },
    sign_in: { handle, credential, account, values, count, call, done, context in
        AccountFunctions.signIn(
            handle, credential.text, account.text, Pairs.copy(values, count: min(count, AccountFunctions.mostValues)),
            Call(copying: call), Reply(done, context))
    },
    sign_out: { handle, credential, account, done, context in
        AccountFunctions.signOut(handle, credential.text, account.text, Reply(done, context))
    })

/// A plugin's side of an exchange.
private struct ExchangeFunctions: ExchangeClient {
    private let client: ForeignTable<bp_http_exchange>
    private var functions: bp_http_exchange { client.table }

    let wantsInterim, wantsAttempts: Bool

    init(_ functions: UnsafePointer<bp_http_exchange>, wantsInterim: Bool, wantsAttempts: Bool) {
        client = ForeignTable(read(functions))
        (self.wantsInterim, self.wantsAttempts) = (wantsInterim, wantsAttempts)
    }

    var isComplete: Bool { functions.head != nil && functions.ended != nil }
    var wantsProgress: Bool { functions.progress != nil }

    func headed(_ head: ExchangeHead) {
        head.headers.withPairs { headers in
            (head.version ?? "").withBytes { version in
                head.source.withBytes { source in
                    var own = bp_http_head(
                        size: UInt32(MemoryLayout<bp_http_head>.size),
                        kind: head.kind.number, exchange: head.exchange,
                        number: head.number, status: UInt32(clamping: head.status),
                        attempt: UInt32(clamping: head.attempt), reserved: 0, headers: headers.baseAddress,
                        header_count: headers.count, protocol: version, source: source, age_ns: 0,
                        length: head.length ?? -1, after_ns: head.after.nanoseconds)
                    functions.head?(functions.context, &own)
                }
            }
        }
    }

    func progressed(_ progress: HTTPProgress) {
        progress.withC { functions.progress?(functions.context, $0) }
    }

    func ended(_ result: Result<HTTPResponse, BackplaneError>) {
        guard let ended = functions.ended else { return }
        let reply = Reply(ended, functions.context)
        switch result {
        case .success: reply.end(EncodedAnswer([]))
        case .failure(let error): reply.end(error)
        }
    }
}

extension ExchangeHead.Kind {
    fileprivate var number: UInt32 {
        switch self {
        case .interim: UInt32(BP_HTTP_INTERIM)
        case .final: UInt32(BP_HTTP_FINAL)
        case .attempt: UInt32(BP_HTTP_ATTEMPT)
        }
    }
}

/// The pending pieces of components' bodies, by number.
///
/// A component receives a number and never a pointer, as with `Callbacks`: a duplicate answer is not found and is
/// ignored. A number does not identify a host, and the table belongs to the process.
enum OutstandingChunks {
    typealias Handler = @Sendable (Result<HTTPBodyPart, BackplaneError>) -> Void

    private static let handlers = Mutex<[UInt64: Handler]>([:])

    /// Registers another expected answer, and returns the context with which it arrives.
    static func expect(_ handler: @escaping Handler) -> UnsafeMutableRawPointer? {
        let id = Callbacks.newID()
        handlers.withLock { $0[id] = handler }
        return UnsafeMutableRawPointer(bitPattern: UInt(id))
    }

    private static func answer(_ context: UnsafeMutableRawPointer?, _ result: Result<HTTPBodyPart, BackplaneError>) {
        handlers.withLock { $0.removeValue(forKey: UInt64(UInt(bitPattern: context))) }?(result)
    }

    /// The function that receives the next piece of a body.
    static let chunk: bp_chunk = { context, status, chunk, trailers, count in
        do throws(BackplaneError) {
            answer(context, .success(try HTTPBodyPart(copying: chunk, status, trailers, count)))
        } catch {
            answer(context, .failure(error))
        }
    }

    /// The function that receives the answer to a step without a result, which is treated as an end.
    static let done: bp_done = { context, status, payload in
        let isDone = status == Int32(BP_OK)
        answer(context, isDone ? .success(.end(trailers: [:])) : .failure(EncodedAnswer(status, payload).error))
    }
}

/// The unfinished files that downloads of a killed process have left in the folders of components.
final class AbandonedDownloads: Sendable {
    private final class Folder: Sendable {
        let isClean = Mutex(false)
    }
    private let folders = Mutex<[String: Folder]>([:])

    /// Removes the files of a folder before the first download into it; later calls do nothing.
    ///
    /// A file that a plugin is still examining looks like an abandoned one, so the folder is not searched again.
    func remove(from path: String) {
        guard !path.isEmpty else { return }
        let folder = folders.withLock { folders in
            let folder = folders[path] ?? Folder()
            folders[path] = folder
            return folder
        }
        folder.isClean.withLock { isClean in
            if !isClean { IncomingFile.removeAbandoned(in: path) }
            isClean = true
        }
    }
}

/// The functions of `backplane.http/2` that sign accounts in and out.
enum AccountFunctions {
    /// The maximum number of values in a sign-in; additional ones are omitted and refused as missing.
    static let mostValues = 100

    /// Signs in an account, and returns the number with which the sign-in can be cancelled.
    static func signIn(
        _ handle: UInt64, _ credential: String, _ account: String, _ values: [(name: String, value: String)],
        _ call: Call, _ reply: Reply
    ) -> UInt64 {
        do throws(BackplaneError) {
            let component = try component(handle), pipeline = try component.exchanges.pipeline(for: credential)
            let values = Dictionary(values.map { ($0.name, $0.value) }) { first, _ in first }
            try component.begin(isWait: true)
            return component.serviceOperations.start(call, isWait: true) { () throws(BackplaneError) in
                try await pipeline.signIn(credential, as: account, with: values)
            } _: { result in
                reply.end(result.map { EncodedAnswer(Array("\($0)".utf8)) })
                component.end(isWait: true)
            }
        } catch {
            reply.end(error)
            return 0
        }
    }

    /// Signs out an account.
    static func signOut(_ handle: UInt64, _ credential: String, _ account: String, _ reply: Reply) {
        do throws(BackplaneError) {
            let pipeline = try component(handle).exchanges.pipeline(for: credential)
            try pipeline.signOut(credential, account: account)
            reply.end(EncodedAnswer([]))
        } catch {
            reply.end(error)
        }
    }

    private static func component(_ handle: UInt64) throws(BackplaneError) -> OfferedServices {
        let component = try ComponentHandles.require(handle)
        try component.require(.communicationController, .networkService, for: BP_HTTP)
        return component
    }
}
