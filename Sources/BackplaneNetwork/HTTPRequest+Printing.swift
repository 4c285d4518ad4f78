import FoundationEssentials

extension HTTPRequest {
    /// The URL without credentials, query and fragment, which may contain secrets.
    public var printableURL: String {
        guard Redaction.urls.hides(url) else { return url }
        if let plain = PlainURL(url), !plain.hasQuery { return url }
        guard var address = URLComponents(string: url), address.host != nil || !url.contains("@") else {
            return "\(scheme):…"
        }
        (address.user, address.password, address.query, address.fragment) = (nil, nil, nil, nil)
        return address.string ?? "\(scheme):…"
    }
}
