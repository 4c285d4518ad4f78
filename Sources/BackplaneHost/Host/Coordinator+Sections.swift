import Backplane

/// The parts of the host that sections of the manifest configure.
extension Coordinator {
    /// Checks that a manifest does not change any section that is in use and cannot be changed.
    ///
    /// - Throws: `manifest.needs-restart` with the locations of the changed values.
    func requireNoRestart(for document: ManifestDocument) throws(BackplaneError) {
        var (old, new) = (live.loaded.document.manifest, document.manifest)
        // The program's options take precedence over the manifest.
        old.store = old.store.overruled(by: options.damagedStore)
        new.store = new.store.overruled(by: options.damagedStore)
        let places = ManifestSection.all.filter(isInUse).flatMap { $0.fixedChanges(from: old, to: new) }
        guard !places.isEmpty else { return }
        let names = places.map { "`\($0)`" }.joined(separator: " and ")
        throw BackplaneError(
            .manifestNeedsRestart,
            "\(names) of this host cannot be changed while it runs; nothing was changed; stop the host and start it with this manifest",
            at: document.path)
    }

    /// Passes the sections of a manifest that becomes active to the parts of the host that use them.
    ///
    /// Exchanges follow the manifest that is active (``LiveComposition``).
    func follow(_ manifest: Manifest) {
        starter.store.settings = manifest.store.overruled(by: options.damagedStore)
    }

    /// Returns whether the host has started to use a section.
    private func isInUse(_ section: ManifestSection) -> Bool {
        switch section.key {
        case "store": starter.store.isOpen
        default: true
        }
    }
}
