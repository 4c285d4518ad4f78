import Backplane
import BackplaneExchange
import BackplaneNetwork
import CBackplane
import Synchronization

/// The roles that may use the network.
let exchangingRoles = [Role.communicationController, .networkService]

/// The functions of `backplane.http/1`.
let httpFunctions = bp_http_1(
    size: UInt32(MemoryLayout<bp_http_1>.size), reserved: 0,
    send: { handle, request, call, done, context in
        let client = ExchangeClient(
            ended: answer(
                context, { context, response in response.withC { done(context, Int32(BP_OK), $0, .empty) } },
                or: { done($0, $1, nil, $2) }))
        do throws(BackplaneError) {
            let component = try ComponentHandles.require(handle, exchangingRoles, for: BP_HTTP)
            let request = try HTTPRequest(copying: request)
            try component.begin()
            return component.exchanges.begin(
                request, .whole(upTo: HTTPOptions.collectionLimit), Call(copying: call), client, ended: component.end)
        } catch {
            client.ended(.failure(error))
            return 0
        }
    },
    open: { handle, request, options, source, exchange, call in
        let options: bp_http_options = options.map { read($0) } ?? bp_http_options()
        let functions: bp_http_exchange = read(exchange), client = ExchangeClient(functions, options)
        let source: bp_source? = source.map { read($0) }
        do throws(BackplaneError) {
            let component = try ComponentHandles.require(handle, exchangingRoles, for: BP_HTTP)
            guard functions.head != nil, functions.ended != nil else {
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
            if let source { try ComponentBody.check(source) }
            try component.begin(source == nil ? 1 : 2)  // the source holds the component until it is released
            let body = source.map { ComponentBody($0, taken: component.exchanges.counts.sent, released: component.end) }
            if let body { request.body = body.body }
            return component.exchanges.begin(
                request, source: body, options: terms.options, terms.download.map { .file($0) } ?? .reads,
                Call(copying: call), client, ended: component.end)
        } catch {
            source.map { $0.release?($0.context) }
            client.ended(.failure(error))
            return 0
        }
    },
    read: { handle, exchange, most, done, context in
        let reply = ChunkReply(done, context)
        guard let exchange = ComponentHandles.find(handle)?.exchanges.find(exchange) else {
            return reply.end(BackplaneError(.networkBody, "there is no exchange with this number, or it has ended"))
        }
        exchange.read(upTo: Int(clamping: most), reply)
    },
    cancel: { handle, id in
        let component = ComponentHandles.find(handle)
        component?.exchanges.cancel(id)
        component?.serviceOperations.cancel(id)
    },
    sign_in: { handle, credential, account, values, count, call, done, context in
        OfferedServices.start(
            handle, "the sign-in", of: BP_HTTP, for: exchangingRoles, call: call, isWait: true,
            Reply(done, context).end
        ) { component throws(BackplaneError) in
            let credential = credential.text, account = account.text
            let pipeline = try component.exchanges.pipeline(for: credential)
            // Additional values are omitted, and refused as missing.
            let values = Dictionary(Pairs.copy(values, count: min(count, 100)).map { ($0.name, $0.value) }) {
                first, _ in first
            }
            return { () throws(BackplaneError) in
                let principal = try await pipeline.signIn(credential, as: account, with: values)
                return EncodedAnswer(Array("\(principal)".utf8))
            }
        }
    },
    sign_out: { handle, credential, account, done, context in
        let credential = credential.text
        Reply(done, context).end(
            Result { () throws(BackplaneError) in
                let component = try ComponentHandles.require(handle, exchangingRoles, for: BP_HTTP)
                let pipeline = try component.exchanges.pipeline(for: credential)
                try pipeline.signOut(credential, account: account.text)
                return EncodedAnswer([])
            })
    },
    accept: { handle, id in ComponentHandles.find(handle)?.exchanges.accept(id) })

extension ExchangeClient {
    fileprivate init(_ functions: bp_http_exchange, _ options: bp_http_options) {
        let table = ForeignTable(functions)
        self.init(
            headed: { head in table.table.head?(table.table.context, head) },
            wantsAttempts: options.flags & UInt32(BP_HTTP_REPORT_ATTEMPTS) != 0
        ) { result in
            guard let ended = table.table.ended else { return }
            Reply(ended, table.table.context).end(result.map { _ in EncodedAnswer([]) })
        }
        guard functions.progress != nil else { return }
        progressed = { progress in progress.withC { table.table.progress?(table.table.context, $0) } }
    }
}

/// The unfinished files that downloads of a killed process have left in the folders of components.
final class AbandonedDownloads: Sendable {
    private let clean = Mutex<Set<String>>([])

    /// Removes the files of a folder before the first download into it; later calls do nothing.
    ///
    /// A file that a plugin is still examining looks like an abandoned one, so the folder is not searched again.
    func remove(from path: String) {
        guard !path.isEmpty else { return }
        clean.withLock { if $0.insert(path).inserted { IncomingFile.removeAbandoned(in: path) } }
    }
}
