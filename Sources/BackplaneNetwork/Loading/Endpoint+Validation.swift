import Backplane
import FoundationEssentials

extension Endpoint {
    /// Requires that a response has a valid status.
    ///
    /// - Parameter file: The path of the file that contains the body; `nil` if it has yet to be read.
    /// - Throws: `network.status`, with the beginning of the body and the error decoded from it; `CancellationError`.
    func requireValid(
        _ response: HTTPStreamedResponse, _ request: HTTPRequest, _ defaults: EndpointDefaults, in file: String? = nil
    ) async throws {
        guard let valid = validStatuses, !valid.contains(response.status) else { return }
        let limit = keptLimit
        let body =
            if let file { KeptBody(ofFile: file, upTo: limit) } else { await KeptBody(of: response.body, upTo: limit) }
        try Task.checkCancellation()
        let said =
            body.isWhole ? try? (failure ?? defaults.failure)?.decode(body.bytes, responseDecoder(defaults)) : nil
        throw BackplaneError.status(response, valid: valid, request, body, said)
    }

    /// The maximum number of bytes of a failed response that are retained.
    var keptLimit: Int { Swift.min(Swift.max(0, failureLimit), HTTPOptions.collectionLimit) }

    func responseDecoder(_ defaults: EndpointDefaults) -> any ResponseDecoder {
        decoder ?? typeDecoder ?? defaults.decoder ?? JSONDecoder.unchanged
    }
}
