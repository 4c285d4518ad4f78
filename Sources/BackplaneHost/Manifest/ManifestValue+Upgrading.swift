internal import Backplane
internal import BackplaneDocuments

extension ManifestValue {
    /// A Boolean value that indicates whether this is a plain Nemo Logic manifest.
    ///
    /// The root of such a manifest is the dictionary of managers.
    package var isNemoLogic: Bool { ManifestDocument(self, variables: { _ in nil }).dialect == .nemoLogic }

    /// The value of a plain Nemo Logic manifest in the `backplane` dialect: the same managers under a new root.
    package var upgraded: ManifestValue {
        ["manifestVersion": .integer(ManifestReader.supportedVersion), "managers": withoutVariables]
    }

    /// The locations of keys that a plain Nemo Logic manifest ignores and that take effect once it is upgraded.
    package var keysThatAnUpgradeWakes: [String] {
        func unknown(_ value: ManifestValue) -> [String] {
            ManifestDocument(value, variables: { _ in nil }).problems.filter { $0.error.code == .manifestUnknownKey }
                .compactMap(\.error.location)
        }
        let later = Set(unknown(upgraded))
        return unknown(self).filter { !later.contains((ManifestDialect.backplane.managers).description + $0) }
    }

    /// The value, escaped so that reading it with variables results in the original.
    var withoutVariables: ManifestValue {
        switch self {
        case .string(let text): .string(VariableText.spelling(of: text))
        case .array(let values): .array(values.map(\.withoutVariables))
        case .dictionary(let members): .dictionary(members.mapValues(\.withoutVariables))
        default: self
        }
    }
}
