@testable import BackplaneBench

extension Row {
    /// A row that is not measured.
    static func canned(_ name: String, unit: Unit = .nanoseconds, baseline: String? = nil, target: Target? = nil) -> Row
    {
        Row(name: name, unit: unit, baseline: baseline, target: target) { _ in 0 }
    }
}
