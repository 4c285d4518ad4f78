import BackplaneNetwork

/// The principals of requests with their own `Authorization`.
///
/// They are derived from the field with a random salt, so that the numbers of one host are meaningless to another host
/// and after a restart, and the field cannot be derived from them.
struct OwnPrincipals: Sendable {
    /// The principal of requests without a sender.
    static let anonymous: UInt64 = 0

    private let salt: [UInt8] = (0..<32).map { _ in .random(in: .min ... .max) }

    /// Returns the principal of a request; `nil` if it cannot be determined, in which case nothing may be shared with
    /// others.
    func principal(of request: HTTPRequest) -> UInt64? {
        guard request.headers["Cookie"] == nil, !request.hasUserInURL else { return nil }
        let fields = request.headers.values("Authorization")
        guard !fields.isEmpty else { return Self.anonymous }
        let bytes = fields.reduce(into: salt) { $0 += Array($1.utf8) + [0] }
        let number = ContentDigest.sha256(of: bytes).prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        return max(number, 1)
    }
}

extension HTTPRequest {
    /// A Boolean value that indicates whether the URL contains a user, which is sent as an `Authorization` field.
    fileprivate var hasUserInURL: Bool {
        let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
        return url[start...].prefix { !"/?#".contains($0) }.contains("@")
    }
}
