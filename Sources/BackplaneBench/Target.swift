/// The bound that a row is to keep.
struct Target: Sendable, Hashable {
    enum Subject: Sendable, Hashable {
        /// The median, divided by the baseline's.
        case ratio
        case median
        /// The median in nanoseconds on a machine where the reference row costs ``referenceCost``; elsewhere in proportion.
        case scaledMedian
    }
    enum Side: String, Sendable, Hashable {
        case atMost = "≤", atLeast = "≥"
    }
    /// What the reference row, a direct async call, cost in nanoseconds where the bounds were set.
    static let referenceCost = 27.0

    var subject: Subject
    var side = Side.atMost
    var bound: Double

    static func ratio(atMost bound: Double) -> Target { Target(subject: .ratio, bound: bound) }
    static func ratio(atLeast bound: Double) -> Target { Target(subject: .ratio, side: .atLeast, bound: bound) }
    static func median(atMost bound: Double) -> Target { Target(subject: .median, bound: bound) }
    static func scaledMedian(atMost bound: Double) -> Target { Target(subject: .scaledMedian, bound: bound) }

    /// The bound that holds in this run; `nil`: what it is scaled by was not measured.
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
