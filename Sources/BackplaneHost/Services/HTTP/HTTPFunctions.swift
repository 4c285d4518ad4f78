import Backplane
import BackplaneNetwork
import CBackplane

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
