import Synchronization

/// The place that the manifest in force is from, for those who cannot wait for the host's serial domain.
final class SourceInForce: Sendable {
    private let source: Mutex<ManifestSource>

    init(_ source: ManifestSource) { self.source = Mutex(source) }

    var value: ManifestSource {
        get { source.withLock { $0 } }
        set { source.withLock { $0 = newValue } }
    }
}
