import Backplane
import BackplaneHost
import Foundation

// Packages and the manifest, which determine what is built and watched.
extension DevSession {
    /// The paths of the manifest and of each Package.swift.
    var descriptions: Set<String> {
        Set(folders.map { FilePath.join($0, "Package.swift") } + [FilePath.absolute(command.settings.manifest)])
    }

    func readPackages(_ folders: [String]) {
        let swiftPM = command.swiftPM, send = send
        told.packagesChanged()
        tell(.reading)
        Thread.detachNewThread {
            send(
                .packages(
                    folders.map { folder in Result { () throws(BackplaneError) in try swiftPM.package(at: folder) } }))
        }
    }

    func take(_ results: [Result<DevPackage, BackplaneError>]) {
        let isFirst = composition == nil, before = composition?.products ?? []
        var read: Set<String> = []
        for result in results {
            switch result {
            case .success(let package):
                read.insert(package.path)
                packages.removeAll { $0.path == package.path }
                packages.append(package)
            case .failure(let error):
                printer.print(
                    .refused(
                        .init(
                            subject: .package, error: error.withoutSaid, problems: error.said.map(\.printableWithTabs)))
                )
            }
        }
        let document = command.settings.document
        compose(document)
        if isFirst { printer.print(.started(beginning)) }
        if hasKeys, isFirst { printer.hint(DevKey.legend) }
        let products = composition?.products ?? []
        // Skip the packages that could not be read.
        tell(.changed(products.filter { read.contains($0.package) }))
        // The manifest named these libraries before they existed, so apply it again.
        let new = products.filter { !before.contains($0) }
        if !isFirst, !new.isEmpty {
            libraries.expect(new.map(\.library))
            tell(.manifest)
        }
        tell(.read)
    }

    /// Determines the products and files to build and watch from now on.
    private func compose(_ document: ManifestDocument) {
        let composition = DevComposition(document, packages, pluginPaths: pluginPaths)
        self.composition = composition
        for path in composition.libraries where !libraries.isKnown(path) { libraries.remember(path, stamp(of: path)) }
        watching?.watch(composition, descriptions)
        tell(.needed(composition.products))
    }

    private var beginning: DevEvent.Beginning {
        let products = composition?.products ?? []
        let packages = packages.map { package in
            DevEvent.Beginning.Package(
                path: package.path, products: products.filter { $0.package == package.path }.map(\.name))
        }
        return .init(manifest: command.settings.manifest, packages: packages, libraries: composition?.others ?? [])
    }

    func takeManifest() {
        let document = command.settings.document
        let errors = document.problems.causes.filter { $0.severity == .error }
        guard errors.isEmpty else {
            let problems =
                errors.map { $0.report(in: command.settings.manifest) }
                + [document.problems.summaryOfConsequences].compactMap(\.self)
            let error = BackplaneError(
                .manifestMalformed, "\(command.settings.manifest) has \(counted(errors.count, "error"))")
            return printer.print(.refused(.init(subject: .manifest, error: error, problems: problems)))
        }
        let before = composition?.products ?? []
        compose(document)
        let new = (composition?.products ?? []).filter { !before.contains($0) }
        libraries.expect(new.map(\.library))
        if !new.isEmpty { tell(.changed(new)) }
        tell(.manifest)
    }
}
