import Backplane
import BackplaneBoundary

extension LayoutText {
    /// Why Swift values cannot go from who says `consumer` to who says `provider`; `nil`: they can.
    static func difference(consumer: LayoutText, provider: LayoutText) -> String? {
        guard let here = consumer.read(), let there = provider.read() else { return "one side does not say how it laid out the contract" }
        return ContractLayout.difference(consumer: here, provider: there)
    }
}

/// The layouts compared so far: the wires of one class to another are decided once, however many there are.
struct LayoutComparisons {
    private struct Pair: Hashable {
        let consumer, provider: ObjectIdentifier
    }
    private var differences: [Pair: String?] = [:]
    /// Keeps the texts, so that none gives its identity to another.
    private var texts: [LayoutText] = []

    mutating func difference(_ consumer: LayoutText, _ provider: LayoutText) -> String? {
        let pair = Pair(consumer: ObjectIdentifier(consumer), provider: ObjectIdentifier(provider))
        if let known = differences[pair] { return known }
        let difference = LayoutText.difference(consumer: consumer, provider: provider)
        differences[pair] = .some(difference)
        texts += [consumer, provider]
        return difference
    }
}
