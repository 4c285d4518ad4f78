/// What a method is called with.
struct CallInput: Sendable {
    /// As sentences have it.
    let name: String
    let bytes: [UInt8]

    init(_ name: String, _ bytes: [UInt8]) { (self.name, self.bytes) = (name, bytes) }
    init(_ json: String) { self.init("`\(json)`", Array(json.utf8)) }

    /// Why nothing was called, where so many methods are declared.
    static func none(_ declared: Int) -> String { declared == 0 ? "it has no methods" : "no component with methods could be activated" }

    /// None of these is JSON.
    static let malformed = [
        CallInput("nothing", []), CallInput("{"), CallInput("[1,"), CallInput("nul"), CallInput(#"{"a":}"#), CallInput("1 2"),
        CallInput("a text that is not UTF-8", [0x22, 0xFF, 0x22]),
        CallInput("100,000 open brackets", Array(repeating: UInt8(ascii: "["), count: 100_000)),
    ]

    /// Something for many a method.
    static let samples = [CallInput("null"), CallInput("0"), CallInput(#""""#), CallInput("{}"), CallInput("[]")]
}
