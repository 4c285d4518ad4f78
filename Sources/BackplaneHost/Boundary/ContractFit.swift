import Backplane

/// The compatibility of the values on a wire: whether each side can read the values that the other one sends.
///
/// An error requires two facts: the reader's coders refuse a sample that the sender's coders wrote, and the layouts
/// differ at the place that the reader names. Neither suffices alone. A layout does not show a type's custom coding,
/// and a coder may refuse a made-up value that never occurs.
package enum ContractFit: Sendable, Equatable {
    /// Both sides describe the same values.
    case equal
    /// The values can be read, but are encoded for the reason given.
    case encoded(because: String)
    /// Values of a method cannot be read; the text states the method, the place in the value, and both types.
    case unreadable(String)
    /// A side does not describe its values.
    case unknown

    /// The advice for values that cannot be read.
    static let advice = "build both with one contract and swap them together, or raise the contract's version"

    init(_ consumer: LaneSide, _ provider: LaneSide) {
        let origins = [consumer.origin, provider.origin]
        guard origins.allSatisfy({ $0.encodes == nil && $0.sharesSlots && !$0.toolchain.isEmpty }),
            let here = consumer.layout.read(), let there = provider.layout.read()
        else {
            self = .unknown
            return
        }
        let isOneCompiler = consumer.origin.toolchain == provider.origin.toolchain
        let isOneVersion = consumer.contract.version == provider.contract.version
        if here == there, isOneCompiler, isOneVersion {
            self = .equal
            return
        }
        guard let user = CarriedValues(consumer, here), let served = CarriedValues(provider, there) else {
            self = .unknown
            return
        }
        if let words = user.unreadable(by: served, areInputs: true) ?? served.unreadable(by: user, areInputs: false) {
            self = .unreadable(words)
        } else if !isOneVersion || user.isRefused || served.isRefused {
            // A later version is meant to be encoded, and a class always is.
            self = .unknown
        } else if let reason = isOneCompiler ? ContractLayout.difference(consumer: here, provider: there) : nil {
            self = .encoded(because: reason)
        } else {
            let builds = [consumer, provider].map { "\($0.origin.name) was built by \($0.origin.toolchain)" }
            self = .encoded(because: builds.joined(separator: ", "))
        }
    }
}

/// The values of a contract as one side compiled them.
private struct CarriedValues {
    let side: LaneSide
    private let layout: ContractLayout
    private let inputs, outputs: [String: TypeLayout]

    init?(_ side: LaneSide, _ text: String) {
        guard let layout = ContractLayout(text: text) else { return nil }
        (self.side, self.layout, inputs, outputs) = (side, layout, layout.inputs, layout.outputs)
    }

    /// Whether a value never crosses unencoded.
    var isRefused: Bool { layout.entries.contains { if case .refused = $0.layout { true } else { false } } }

    /// Describes the first value of this side that the other one certainly cannot read; `nil` if there is none.
    func unreadable(by reader: CarriedValues, areInputs: Bool) -> String? {
        guard let answer = side.rehearse([]),
            let samples = try? JSON.decode(ContractSamples.self, answer, failing: .callInvalidOutput),
            let request = try? JSON.encode(
                areInputs ? ContractSamples(inputs: samples.inputs) : ContractSamples(outputs: samples.outputs),
                failing: .callInvalidInput),
            let mistakes = reader.side.rehearse(request).flatMap({
                try? JSON.decode([SampleMistake].self, $0, failing: .callInvalidOutput)
            })
        else { return nil }
        return mistakes.lazy.compactMap { self.words(for: $0, by: reader) }.first
    }

    private func words(for mistake: SampleMistake, by reader: CarriedValues) -> String? {
        let steps = mistake.pointer.pointerSteps
        guard let expected = reader.type(of: mistake, at: steps) else { return nil }
        let what = "what `\(mistake.method)` \(mistake.isInput ? "takes" : "answers") cannot be read: "
        let place = steps.isEmpty ? "it" : "`\(mistake.pointer)`"
        guard let found = type(of: mistake, at: steps) else {
            guard mistake.isOfKind, let last = steps.last, let around = type(of: mistake, at: steps.dropLast()),
                let declaration = declared(around), !declaration.isEnumeration,
                !declaration.members.contains(where: { $0.name == last })
            else { return nil }
            return what
                + "\(place) is `\(reader.layout.name(of: expected))` in \(reader.side.origin.name) and missing in \(side.origin.name)"
        }
        if let enumeration = declared(found), let theirs = reader.declared(expected), enumeration.isEnumeration,
            theirs.isEnumeration
        {
            let known = Set(theirs.members.map(\.name))
            if let other = enumeration.members.first(where: { !known.contains($0.name) }) {
                return what
                    + "\(place) can be `\(other.name)` in \(side.origin.name), which `\(reader.layout.name(of: expected))` in \(reader.side.origin.name) does not have"
            }
        }
        guard mistake.isOfKind, found != expected || declared(found) != reader.declared(expected) else { return nil }
        let types = layout.distinctNames(found, reader.layout, expected)
        return what
            + "\(place) is \(types.own) in \(side.origin.name) and \(types.other) in \(reader.side.origin.name)"
    }

    /// Returns the type at a place in the JSON of a method's value, without its optional; `nil` if it is not in the
    /// layout.
    private func type(of mistake: SampleMistake, at steps: some Sequence<String>) -> TypeLayout? {
        var type = (mistake.isInput ? inputs : outputs)[mistake.method].flatMap(bare)
        for step in steps { type = type.flatMap { part(step, of: $0) }.flatMap(bare) }
        return type
    }

    private func bare(_ type: TypeLayout) -> TypeLayout? {
        if case .standard("Optional", let arguments) = type { arguments.first.flatMap(bare) } else { type }
    }

    private func declared(_ type: TypeLayout) -> TypeLayout.Declaration? {
        if case .declared(let number) = type { layout.declarations[number] } else { nil }
    }

    private func part(_ step: String, of type: TypeLayout) -> TypeLayout? {
        switch type {
        case .standard("Array", let arguments), .standard("ContiguousArray", let arguments),
            .standard("Set", let arguments):
            return arguments.first
        case .standard("Dictionary", let arguments): return arguments.last
        case .declared:
            guard let declaration = declared(type),
                let member = declaration.members.first(where: { $0.name == step })?.type
            else { return nil }
            guard declaration.isEnumeration else { return member }
            // The parts of a payload are one step further down.
            if case .tuple = member { return member }
            return .tuple(TypeLayout.Size(), [.init(label: nil, type: member)])
        case .tuple(_, let elements):
            return elements.count == 1
                ? elements[0].type
                : elements.enumerated().first { ($1.label ?? "_\($0)") == step }?.element.type
        case .standard: return nil
        }
    }
}

extension String {
    /// The steps of a JSON pointer (RFC 6901).
    fileprivate var pointerSteps: [String] {
        utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst().map {
            String(decoding: $0, as: UTF8.self).replacing("~1", with: "/").replacing("~0", with: "~")
        }
    }
}
