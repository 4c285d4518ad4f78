/// The input of a call to a method.
struct ProbeInput: Sendable {
    /// The name of the input in findings.
    let name: String
    let bytes: [UInt8]

    init(_ name: String, _ bytes: [UInt8]) { (self.name, self.bytes) = (name, bytes) }
    init(_ json: String) { self.init("`\(json)`", Array(json.utf8)) }

    /// Returns the verdict on the results of calls, given how many of the declared methods could be called.
    static func verdict(
        _ methods: Int, of declared: Int, _ untried: [String], _ findings: [String], remarks: [String] = []
    ) -> Verdict {
        if declared == 0 { return .notApplicable("it has no methods") }
        guard methods > 0 else {
            return .skipped(
                (["not checked, because no component with methods could be activated"] + untried).joined(
                    separator: "; "))
        }
        return Verdict(findings: findings, remarks: untried.map { "not checked, because \($0)" } + remarks)
    }

    /// Inputs that are not valid JSON.
    static let malformed = [
        ProbeInput("nothing", []), ProbeInput("{"), ProbeInput("[1,"), ProbeInput("nul"), ProbeInput(#"{"a":}"#),
        ProbeInput("1 2"),
        ProbeInput("a text that is not UTF-8", [0x22, 0xFF, 0x22]),
        ProbeInput("100,000 open brackets", Array(repeating: UInt8(ascii: "["), count: 100_000)),
    ]

    /// Inputs that many methods accept.
    static let samples = [ProbeInput("null"), ProbeInput("0"), ProbeInput(#""""#), ProbeInput("{}"), ProbeInput("[]")]
}
