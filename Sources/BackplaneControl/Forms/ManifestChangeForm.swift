package import BackplaneHost

/// The JSON form of the answer to `apply` and `reset`, with sorted names.
package struct ManifestChangeForm: ControlForm {
    package let value: ManifestChange

    package init(_ value: ManifestChange) { self.value = value }

    private enum Key: String, CodingKey { case started, restarted, stopped, reconfigured, kept }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        value = ManifestChange(
            started: try container.decode(Set<String>.self, forKey: .started),
            restarted: try container.decode(Set<String>.self, forKey: .restarted),
            stopped: try container.decode(Set<String>.self, forKey: .stopped),
            // A host of an earlier version reconfigures nothing.
            reconfigured: try container.decodeIfPresent(Set<String>.self, forKey: .reconfigured) ?? [],
            kept: try container.decode(Set<String>.self, forKey: .kept))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(value.started.sorted(), forKey: .started)
        try container.encode(value.restarted.sorted(), forKey: .restarted)
        try container.encode(value.stopped.sorted(), forKey: .stopped)
        try container.encode(value.reconfigured.sorted(), forKey: .reconfigured)
        try container.encode(value.kept.sorted(), forKey: .kept)
    }
}
