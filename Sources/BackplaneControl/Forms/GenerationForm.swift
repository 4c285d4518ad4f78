import Backplane
package import BackplaneHost

/// The JSON form of a generation in the answer to `generations`.
package struct GenerationForm: ControlForm {
    package let value: Generation

    package init(_ value: Generation) { self.value = value }

    private enum Key: String, CodingKey {
        case plugin, number, version, library, state, loadedAt, dirtyBytes, mappedBytes, heldBy, canReturn
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        var value = Generation(
            plugin: try container.decode(String.self, forKey: .plugin),
            number: try container.decode(Int.self, forKey: .number),
            version: try container.decode(Version.self, forKey: .version),
            library: try container.decodeIfPresent(String.self, forKey: .library),
            state: try container.decode(wordForKey: .state),
            loadedAt: try container.decode(Double.self, forKey: .loadedAt))
        value.dirtyBytes = try container.decodeIfPresent(Int.self, forKey: .dirtyBytes)
        value.mappedBytes = try container.decodeIfPresent(Int.self, forKey: .mappedBytes)
        value.heldBy = try container.decode([String].self, forKey: .heldBy)
        value.canReturn = try container.decode(Bool.self, forKey: .canReturn)
        self.value = value
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(value.plugin, forKey: .plugin)
        try container.encode(value.number, forKey: .number)
        try container.encode(value.version, forKey: .version)
        try container.encodeIfPresent(value.library, forKey: .library)
        try container.encode(value.state, forKey: .state)
        try container.encode(value.loadedAt, forKey: .loadedAt)
        try container.encodeIfPresent(value.dirtyBytes, forKey: .dirtyBytes)
        try container.encodeIfPresent(value.mappedBytes, forKey: .mappedBytes)
        try container.encode(value.heldBy, forKey: .heldBy)
        try container.encode(value.canReturn, forKey: .canReturn)
    }
}

extension Generation.State: SpelledCase {
    var word: String {
        switch self {
        case .loaded: "loaded"
        case .active: "active"
        case .onProbation: "onProbation"
        case .retired: "retired"
        case .failed: "failed"
        }
    }
}
