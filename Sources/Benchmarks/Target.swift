/// The target of a row: a bound for its figure.
struct Target: Sendable, Hashable {
    enum Subject: Sendable, Hashable {
        /// The median divided by that of the baseline.
        case ratio
        case median
        /// The median in nanoseconds, scaled from a machine on which the reference row costs ``referenceCost``.
        case scaledMedian
    }
    enum Side: String, Sendable, Hashable {
        case atMost = "≤", atLeast = "≥"
    }
    /// The cost of the reference row, a direct async call, on the machine for which bounds were set, in nanoseconds.
    static let referenceCost = 27.0

    var subject: Subject
    var side = Side.atMost
    var bound: Double

    static func ratio(atMost bound: Double) -> Target { Target(subject: .ratio, bound: bound) }
    static func ratio(atLeast bound: Double) -> Target { Target(subject: .ratio, side: .atLeast, bound: bound) }
    static func median(atMost bound: Double) -> Target { Target(subject: .median, bound: bound) }
    static func scaledMedian(atMost bound: Double) -> Target { Target(subject: .scaledMedian, bound: bound) }

    /// Returns the bound for this run, or `nil` if the reference row was not measured.
    func bound(reference: Double?) -> Double? {
        guard subject == .scaledMedian else { return bound }
        return reference.map { bound * $0 / Self.referenceCost }
    }

    func isMet(by figure: Double, bound: Double) -> Bool {
        switch side {
        case .atMost: figure <= bound
        case .atLeast: figure >= bound
        }
    }
}
