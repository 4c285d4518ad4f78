/// A challenge of the scheme Digest that can be answered (RFC 7616, section 3.3).
struct DigestChallenge: Sendable, Equatable {
    /// The quality of protection: of the head alone, or also of the body.
    enum Quality: String, Sendable, CaseIterable {
        case head = "auth"
        case body = "auth-int"
    }
    var realm, nonce: String
    var opaque: String?
    /// The hash function of a response.
    var algorithm = ContentDigest.Algorithm.md5
    /// A Boolean value that indicates whether one key is used for all responses to this challenge.
    var isSession = false
    var quality = Quality.head
    /// A Boolean value that indicates whether the request was rejected only because its nonce was stale.
    var isStale = false
    /// A Boolean value that indicates whether the user's name is sent as a digest.
    var hashesUser = false

    init(realm: String, nonce: String, algorithm: ContentDigest.Algorithm) {
        (self.realm, self.nonce, self.algorithm) = (realm, nonce, algorithm)
    }

    /// Creates a challenge from its parameters; returns `nil` if it is incomplete, of another scheme, or of an unknown
    /// algorithm or quality.
    init?(_ challenge: AuthenticationChallenge) {
        guard challenge.scheme == "digest", let realm = challenge["realm"], let nonce = challenge["nonce"],
            [realm, nonce, challenge["opaque"] ?? ""].allSatisfy(BasicField.hasNoControls)
        else { return nil }
        var name = (challenge["algorithm"] ?? "MD5").uppercased()
        isSession = name.hasSuffix("-SESS")
        if isSession { name.removeLast(5) }
        let offered = Set(
            (challenge["qop"] ?? "").lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }.map(String.init))
        guard let algorithm = ContentDigest.Algorithm(rawValue: name),
            let quality = Quality.allCases.first(where: { offered.contains($0.rawValue) })
        else { return nil }
        (self.realm, self.nonce, opaque) = (realm, nonce, challenge["opaque"])
        (self.algorithm, self.quality) = (algorithm, quality)
        isStale = challenge["stale"]?.lowercased() == "true"
        hashesUser = challenge["userhash"]?.lowercased() == "true"
    }

    /// Returns the challenge to answer, which is the first one with the strongest algorithm.
    static func best(of challenges: [AuthenticationChallenge]) -> DigestChallenge? {
        let known = challenges.compactMap(DigestChallenge.init)
        return ContentDigest.Algorithm.allCases.lazy
            .compactMap { algorithm in known.first { $0.algorithm == algorithm } }.first
    }
}
