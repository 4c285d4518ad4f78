/// What both ends of a control socket keep to; docs/control.md tells it.
package enum ControlProtocol {
    /// Grows when an older end could misunderstand a newer one.
    package static let number = 1
    /// The longest request in bytes: what `call` is given is part of it.
    package static let requestLimit = 64 << 20
    /// How long a request may take to arrive, and an answer to be taken.
    static let readingLimit = Duration.seconds(10), writingLimit = Duration.seconds(30)
    /// How many requests are answered at the same time.
    static let connectionLimit = 16
    /// How long a connection waits for a place among them.
    static let waitingLimit = Duration.seconds(2)
    /// What is read at once.
    static let chunk = 65_536

    static let newline = UInt8(ascii: "\n")
}
