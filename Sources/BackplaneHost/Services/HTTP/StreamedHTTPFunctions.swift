import Backplane
import BackplaneBoundary
import BackplaneNetwork
import CBackplane

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
