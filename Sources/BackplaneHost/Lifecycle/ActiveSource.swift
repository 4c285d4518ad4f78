import Synchronization

/// The source of the active manifest, for use outside the host's serial domain.
final class ActiveSource: Sendable {
    private let source: Mutex<ManifestSource>

    init(_ source: ManifestSource) { self.source = Mutex(source) }

    var value: ManifestSource {
        get { source.withLock { $0 } }
        set { source.withLock { $0 = newValue } }
    }
}
