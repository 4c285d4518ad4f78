import Backplane
import BackplaneNetwork
import Foundation
import FoundationNetworking

extension URLRequest {
    /// Creates the request for URLSession; its body must be in memory.
    ///
    /// - Throws: `network.refused` for a request that URLSession cannot send.
    init(_ request: HTTPRequest) throws(BackplaneError) {
        guard let url = URL(string: request.url) else {
            throw BackplaneError(.networkRefused, "URLSession cannot parse this URL", at: request.printableURL)
        }
        self.init(url: url)
        httpMethod = request.method
        for field in request.headers.fields { addValue(field.value, forHTTPHeaderField: field.name) }
        // Otherwise URLSession would add a form's content type, and every encoding that it can decode.
        if request.headers["Accept-Encoding"] == nil { setValue("identity", forHTTPHeaderField: "Accept-Encoding") }
        guard let body = request.body.bytes, !body.isEmpty else { return }
        if request.headers["Content-Type"] == nil {
            setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
        }
        httpBody = Data(body)
    }
}

extension HTTPStreamedResponse {
    init(_ response: HTTPURLResponse, body: HTTPBodyStream) {
        var headers: HTTPHeaders = [:]
        let fields = response.allHeaderFields.map { ("\($0.key)", "\($0.value)") }
        for (name, value) in fields.sorted(by: { $0.0 < $1.0 }) {
            for value in name.lowercased() == "set-cookie" ? Self.cookies(in: value) : [value] {
                headers.add(name, value)
            }
        }
        if headers["Content-Encoding"] != nil { (headers["Content-Encoding"], headers["Content-Length"]) = (nil, nil) }
        self.init(status: response.statusCode, headers: headers, body: body)
    }

    /// Returns the `Set-Cookie` fields that Foundation has joined with commas. A new field begins with a name and `=`,
    /// unlike the text after the comma of a date.
    private static func cookies(in joined: String) -> [String] {
        joined.split(separator: /,\s*(?=[^\s;,=]+=)/).map(String.init)
    }
}
