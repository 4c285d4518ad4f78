public import Backplane

extension Endpoint {
    /// Returns the request that a load of the endpoint sends.
    ///
    /// - Parameter defaults: The settings of the client.
    /// - Throws: `network.invalid-request` if there is no URL, or the path is not allowed.
    public func request(_ defaults: EndpointDefaults) throws(BackplaneError) -> HTTPRequest {
        let url = try EndpointURL.join(defaults.baseURL, path, query, allowsFullURL: allowsFullURL)
        var request = HTTPRequest(method, url, headers: headers, body: body)
        if !EndpointURL.hasScheme(path) || isOfSameOrigin(url, defaults.baseURL) {
            for field in defaults.headers.fields where headers[field.name] == nil {
                request.headers.add(field.name, field.value)
            }
        }
        return request
    }

    private func isOfSameOrigin(_ url: String, _ base: String?) -> Bool {
        guard let base, let origin = HTTPOrigin(url) else { return false }
        return origin == HTTPOrigin(base)
    }
}
