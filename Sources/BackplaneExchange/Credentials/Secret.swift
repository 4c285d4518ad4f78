import BackplaneNetwork

/// A string that no description reveals, such as a password or a token.
///
/// ```swift
/// let password: Secret = "white whale"
/// print(password)  // …
/// ```
public struct Secret: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The text itself, for its intended use.
    public let revealed: String

    /// Creates a secret from a string.
    public init(_ text: String) { revealed = text }

    /// Creates a secret from a literal in the source, for tests and examples.
    public init(stringLiteral value: String) { revealed = value }
}

extension Secret: Concealing {
    /// An ellipsis, regardless of the text.
    public var description: String { Redaction.descriptions.hides(revealed) ? "…" : revealed }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, hiding: revealed) }
}

/// A value that contains secrets; descriptions and mirrors reveal no more than `description`.
public protocol Concealing: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Concealing {
    /// The description, so that printing a value for debugging does not reveal it.
    public var debugDescription: String { description }

    /// A mirror without children, so that `dump` shows only the description.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension Mirror {
    /// Creates a mirror without children, for a value that contains a secret.
    init(_ value: some Any, hiding text: @autoclosure () -> String) {
        let children: KeyValuePairs<String, Any> = Redaction.mirrors.hides(text()) ? [:] : ["hidden": text()]
        self.init(value, children: children)
    }
}
