import Backplane
import CBackplane

/// The transport of a component's exchanges: `backplane.http` of its host.
struct ComponentWay: HTTPWay {
    private let services: ComponentServices

    init(_ services: ComponentServices) { self.services = services }

    func send(
        _ request: HTTPRequest, upTo limit: Int, _ call: Call, _ options: HTTPOptions
    ) async throws(BackplaneError) -> HTTPResponse {
        // Whole bodies without options cross at once.
        if options.isPlain, limit == HTTPOptions.collectionLimit, request.body.bytes != nil {
            return try await send(request.withMediaType, call)
        }
        var options = options.bounded
        options.maximumBodySize = Swift.min(limit, options.maximumBodySize ?? limit)
        options.isWhole = true
        let response = try await open(request, call, options)
        do {
            let whole = try await response.collect(upTo: limit)
            whole.acceptance?.accept()
            if response.isStale {
                let later = options.refreshing
                Task { _ = try? await send(request, upTo: limit, call.withoutDeadline, later) }
            }
            return whole
        } catch {
            throw .bodyFailed(error, at: request.printableURL)
        }
    }

    private func send(_ request: HTTPRequest, _ call: Call) async throws(BackplaneError) -> HTTPResponse {
        try await answer { table, context in
            request.withC { request in
                call.withC { call in
                    table.send(
                        services.handle, request, call,
                        { context, status, response, payload in
                            Self.resume(context, status, payload) { _ throws(BackplaneError) in
                                guard let response else {
                                    throw BackplaneError(.networkFailed, "the host returned no response")
                                }
                                return HTTPResponse(copying: response)
                            }
                        }, context)
                }
            }
        }
    }

    func open(
        _ request: HTTPRequest, _ call: Call, _ options: HTTPOptions
    ) async throws(BackplaneError) -> HTTPStreamedResponse {
        try await exchange(request, to: "", call, options)
    }

    func download(
        _ request: HTTPRequest, to path: String, _ call: Call, _ options: HTTPOptions
    ) async throws(BackplaneError) -> HTTPResponse {
        guard !path.isEmpty else {
            throw BackplaneError(.networkRefused, "the path of the file to download to is empty; name a file")
        }
        return try await exchange(request, to: path, call, options).head
    }

    /// - Parameter path: The path of the file to which the body is written; empty if it is read.
    private func exchange(
        _ request: HTTPRequest, to path: String, _ call: Call, _ options: HTTPOptions
    ) async throws(BackplaneError) -> HTTPStreamedResponse {
        guard options.interceptors.isEmpty else {
            throw BackplaneError(
                .networkUnsupported,
                "the host makes the attempts of a plugin's exchanges, so a function in the plugin cannot intercept "
                    + "them; provide a manager with the contract `Intercepting`; nothing was sent",
                at: request.printableURL)
        }
        let exchange = StreamedExchange(try table(), component: services.handle, options.bounded, download: path)
        let request = request.withMediaType
        if request.body.bytes != nil { return try await exchange.open(request, nil, upload: "", call) }
        if let path = request.body.file, !services.folder.isEmpty, path.hasPrefix(services.folder + "/") {
            return try await exchange.open(request, nil, upload: path, call)
        }
        let source: BodySource
        do { source = try BodySource(request.body) } catch { throw .bodyFailed(error, at: request.printableURL) }
        return try await exchange.open(request, source, upload: "", call)
    }

    func signIn(
        _ credential: String, as account: String, with values: [String: String], _ call: Call
    ) async throws(BackplaneError) -> UInt64 {
        guard !Task.isCancelled else { throw BackplaneError(.callCancelled, "the task was cancelled") }
        return try await answer { table, context in
            credential.withBytes { credential in
                account.withBytes { account in
                    Pairs(values.map { (key: $0.key, value: $0.value) }).withPairs { values in
                        call.withC { call in
                            table.sign_in(
                                services.handle, credential, account, values.baseAddress, values.count, call,
                                { context, status, payload in
                                    Self.resume(context, status, payload) { payload throws(BackplaneError) in
                                        guard let principal = UInt64(String(decoding: payload, as: UTF8.self)) else {
                                            throw BackplaneError(
                                                .networkSignIn, "the host returned no principal for the account")
                                        }
                                        return principal
                                    }
                                }, context)
                        }
                    }
                }
            }
        }
    }

    func signOut(_ credential: String, account: String) throws(BackplaneError) {
        final class Answer { var result: EncodedAnswer? }
        let answer = Answer(), table = try table().pointer.pointee
        credential.withBytes { credential in
            account.withBytes { account in
                table.sign_out(
                    services.handle, credential, account,
                    { context, status, payload in
                        Unmanaged<Answer>.fromOpaque(context!).takeUnretainedValue().result = EncodedAnswer(
                            status, payload)
                    }, Unmanaged.passUnretained(answer).toOpaque())
            }
        }
        _ = try answer.result?.get()
    }

    var folder: String? { services.folder.isEmpty ? nil : services.folder }

    func file(_ path: String) -> String { path.hasPrefix("/") ? path : services.folder + "/" + path }

    func log(_ message: String, _ metadata: [String: String], _ call: Call) {
        services.log.info(message, metadata: metadata, for: call)
    }

    private func table() throws(BackplaneError) -> ConstantPointer<bp_http_1> {
        if let table = services.host.table(BP_HTTP, revision: 1, as: bp_http_1.self) { return table }
        throw BackplaneError(.interfaceMissing, "this host does not offer \(BP_HTTP)/1; use a newer host")
    }

    private typealias Waiter<Value: Sendable> = UnsafeContinuation<Result<Value, BackplaneError>, Never>

    /// Waits for the answer to a function of the host, which is cancelled with the task.
    private func answer<Value: Sendable>(
        _ begin: (bp_http_1, UnsafeMutableRawPointer) -> UInt64
    ) async throws(BackplaneError) -> Value {
        let table = try table(), component = services.handle
        let cancellation = Cancellation { table.pointer.pointee.cancel(component, $0) }
        let result = await withTaskCancellationHandler {
            await withUnsafeContinuation { (waiter: Waiter<Value>) in
                cancellation.began(begin(table.pointer.pointee, Box(waiter).toContext()))
            }
        } onCancel: {
            cancellation.cancel()
        }
        return try result.get()
    }

    private static func resume<Value: Sendable>(
        _ context: UnsafeMutableRawPointer?, _ status: Int32, _ payload: bp_bytes,
        _ read: ([UInt8]) throws(BackplaneError) -> Value
    ) {
        let waiter = Box<Waiter<Value>>.take(context)
        waiter.resume(
            returning: Result { () throws(BackplaneError) in try read(try EncodedAnswer(status, payload).get()) })
    }
}

extension HTTPRequest {
    var withMediaType: HTTPRequest {
        guard let type = body.mediaType, headers["Content-Type"] == nil else { return self }
        var request = self
        request.headers.add("Content-Type", type)
        return request
    }
}
