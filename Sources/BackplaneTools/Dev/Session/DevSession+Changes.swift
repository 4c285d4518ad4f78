import BackplaneHost

// The reaction to changed files.
extension DevSession {
    func takeSources(_ changes: WatchedChanges) {
        let products = composition?.products ?? []
        let paths = changes.paths, changed = products.filter { product in paths.contains(where: product.isMade) }
        // Skip the temporary files of editors.
        because.formUnion(paths.filter { (try? FileStatus(at: $0)) != nil })
        for problem in changes.problems { printer.print(.refused(.init(subject: .watching, error: problem))) }
        let altered = packages.filter { paths.contains($0.manifest) }.map(\.path)
        let missing = folders.filter { folder in
            !packages.contains { $0.path == folder } && paths.contains(FilePath.join(folder, "Package.swift"))
        }
        if !(altered + missing).isEmpty {
            readPackages(altered + missing)
        } else if !changed.isEmpty {
            tell(.changed(changed))
        }
        let definitions = composition?.definitions(changedBy: paths) ?? []
        if !definitions.isEmpty { tell(.libraries(definitions)) }
        // Before the packages have been read, there is nothing to apply the manifest to.
        if composition != nil, paths.contains(FilePath.absolute(command.settings.manifest)) { takeManifest() }
    }

    func takeLibraries(_ changes: WatchedChanges) {
        for problem in changes.problems { printer.print(.refused(.init(subject: .watching, error: problem))) }
        let all = composition?.libraries ?? []
        let new = changes.paths.intersection(all).filter(isNew)
        if !new.isEmpty { tell(.libraries(new)) }
        let missing = composition?.missing ?? []
        if changes.paths.intersection(missing).contains(where: { stamp(of: $0).library != nil }) { takeManifest() }
    }

    /// Returns whether a complete library differs from the one last seen, and remembers it.
    func isNew(_ path: String) -> Bool {
        let stamp = stamp(of: path)
        guard libraries.isNew(path, stamp) else { return false }
        if let build, build.product.library == path, let written = stamp.written, written >= build.began {
            build.hasCome = true
            libraries.wasBuilt(path, in: .seconds(written - build.began))
        }
        return true
    }

    func stamp(of path: String) -> ProductStamp {
        ProductStamp(library: path, resources: composition?.products.first { $0.library == path }?.resources ?? [])
    }
}
