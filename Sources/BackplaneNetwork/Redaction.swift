#if DEBUG
import Synchronization
#endif

/// A kind of output from which secrets are redacted.
///
/// In a debug build, a test can disable a redaction for texts with a marker, and must then find the secrets that it
/// planted. In a release build, redactions cannot be disabled.
package struct Redaction: Sendable {
    /// The name, for tests.
    package let name: String

    /// The texts of secrets in descriptions.
    package static let descriptions = Redaction(name: "descriptions")
    /// The contents of secrets and templates in mirrors, as `dump` shows them.
    package static let mirrors = Redaction(name: "mirrors")
    /// The user, the password, the query and the fragment of URLs.
    package static let urls = Redaction(name: "urls")
    /// The values of header fields in curl command lines.
    package static let curlFields = Redaction(name: "curlFields")
    /// The bodies in command lines of curl.
    package static let curlBodies = Redaction(name: "curlBodies")
    /// The values of header fields that `backplane request --verbose` prints.
    package static let verboseFields = Redaction(name: "verboseFields")
    /// The values of response fields in the log of a load.
    package static let logFields = Redaction(name: "logFields")
    /// The bodies of failed responses in errors.
    package static let bodies = Redaction(name: "bodies")
    /// The beginnings of bodies that a decoder could not read, in errors.
    package static let beginnings = Redaction(name: "beginnings")
    /// The values of variables in messages about a manifest.
    package static let variables = Redaction(name: "variables")
    /// The cookies in the heads of responses that a jar has stored.
    package static let cookies = Redaction(name: "cookies")
    /// The credentials in the heads that interceptors receive.
    package static let proofs = Redaction(name: "proofs")

    /// All redactions.
    package static let all = [
        descriptions, mirrors, urls, curlFields, curlBodies, verboseFields, logFields, bodies, beginnings, variables,
        cookies, proofs,
    ]

    /// Returns whether a string is redacted.
    package func hides(_ text: @autoclosure () -> String) -> Bool {
        #if DEBUG
        guard Self.areAnyOff.load(ordering: .relaxed) else { return true }
        let text = text()
        return !Self.off.withLock { $0.contains { $0.name == name && text.contains($0.mark) } }
        #else
        return true
        #endif
    }

    #if DEBUG
    // Process-wide, since what shows a value has no context; a mark belongs to one test, and no other text has it.
    private static let off = Mutex<[(name: String, mark: String)]>([])
    private static let areAnyOff = Atomic(false)

    /// Disables the redaction for texts with a marker, until the process ends.
    package func switchOff(for mark: String) {
        Self.off.withLock { $0.append((name, mark)) }
        Self.areAnyOff.store(true, ordering: .relaxed)
    }
    #endif
}
