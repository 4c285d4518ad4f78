/// The error of an implementation that does not fulfil a requirement.
public struct ConformanceFailure: Error, CustomStringConvertible {
    /// A description of the unmet expectation and the value found.
    public let description: String

    init(_ text: String, _ file: StaticString, _ line: UInt) { description = "\(text) (\(file):\(line))" }
}

/// Requires a condition.
func expect(
    _ condition: Bool, _ text: @autoclosure () -> String, _ file: StaticString = #fileID, _ line: UInt = #line
) throws(ConformanceFailure) {
    guard condition else { throw ConformanceFailure(text(), file, line) }
}

/// Requires two values to be equal.
func expect<Value: Equatable>(
    _ found: Value, equals expected: Value, _ what: String = "", _ file: StaticString = #fileID, _ line: UInt = #line
) throws(ConformanceFailure) {
    guard found == expected else {
        throw ConformanceFailure("\(what)\(what.isEmpty ? "" : ": ")expected \(expected), found \(found)", file, line)
    }
}

/// A generator of seeded random numbers (SplitMix64).
struct ConformanceNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
