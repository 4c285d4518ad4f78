import Backplane
import BackplaneBoundary

extension LayoutText {
    /// Returns the reason why Swift values cannot be passed from the consumer to the provider; `nil` if they can.
    static func difference(consumer: LayoutText, provider: LayoutText) -> String? {
        guard let here = consumer.read(), let there = provider.read() else {
            return "one side does not describe its layout of the contract"
        }
        return ContractLayout.difference(consumer: here, provider: there)
    }

    /// Returns the reason why a Swift value cannot be passed from the old code to the new code; `nil` if it can.
    static func stateDifference(old: LayoutText, new: LayoutText) -> String? {
        guard let here = old.read(), let there = new.read() else {
            return "one side does not describe the layout of its state"
        }
        return ContractLayout.stateDifference(old: here, new: there)
    }
}

/// A cache of layout comparisons, so that all wires between two classes are compared only once.
struct LayoutComparisons {
    private struct Pair: Hashable {
        let consumer, provider: ObjectIdentifier
    }
    private var differences: [Pair: String?] = [:]
    /// The compared texts, kept alive so that their identities are not reused.
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
