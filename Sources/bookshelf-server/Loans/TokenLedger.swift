#if Engines
import Crypto
import Foundation

/// The tokens that have been issued, stored as digests so that no token remains in memory after its request.
struct TokenLedger: Sendable {
    enum Judgement: Hashable { case valid, expired, unknown }

    private struct Entry {
        var digest: SHA256.Digest
        var expiry: ContinuousClock.Instant
    }
    private var entries: [Entry] = []

    /// The maximum number of tokens; beyond it, the oldest are dropped and become unknown.
    static let capacity = 1_000

    /// Issues a new token of 256 random bits that is valid until `expiry`.
    mutating func issue(until expiry: ContinuousClock.Instant) -> String {
        let token = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }.base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        if entries.count == Self.capacity { entries.removeFirst() }
        entries.append(Entry(digest: Self.digest(token), expiry: expiry))
        return token
    }

    /// Returns whether a token is valid, expired or unknown.
    ///
    /// Every digest is compared in constant time, so that timing reveals nothing about a token.
    func judge(_ token: some StringProtocol, at now: ContinuousClock.Instant) -> Judgement {
        let digest = Self.digest(token)
        var judgement = Judgement.unknown
        for entry in entries where entry.digest == digest {
            judgement = now < entry.expiry ? .valid : .expired
        }
        return judgement
    }

    private static func digest(_ token: some StringProtocol) -> SHA256.Digest {
        SHA256.hash(data: Array(token.utf8))
    }
}
#endif
