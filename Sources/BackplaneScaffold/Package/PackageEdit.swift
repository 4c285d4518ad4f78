import Backplane
import BackplanePackages

/// What is put into a Package.swift.
struct PackageEdit: Sendable, Hashable {
    var products: [String] = []
    var packages: [String] = []
    var targets: [TargetText] = []
    /// More dependencies of targets that are there.
    var dependencies: [String: [String]] = [:]

    /// The text with all of it.
    ///
    /// - Throws: `new.by-hand` with every line, where the lists are not written out; nothing has been changed then.
    func applied(to text: String) throws(BackplaneError) -> String {
        var source = PackageSource(text)
        do throws(PackageSource.NoPlace) {
            try source.add(products, to: .products)
            try source.add(packages, to: .dependencies)
            try source.add(targets.map(\.text), to: .targets)
            for (target, elements) in dependencies.sorted(by: { $0.key < $1.key }) { try source.add(elements, toDependenciesOf: target) }
            return source.text
        } catch {
            let state = error.isAmbiguous ? "stands there more than once" : "is not written out in brackets there"
            throw BackplaneError(
                .newByHand, "the list of \(error.list) \(state); put these lines in by hand, and enter the command again",
                at: "Package.swift", causes: lines)
        }
    }

    /// One for each line to put in.
    private var lines: [BackplaneError] {
        func line(_ list: String, _ element: String) -> BackplaneError { BackplaneError(.newByHand, "\(element),", at: list) }
        return products.map { line("products", $0) } + packages.map { line("dependencies", $0) } + targets.map { line("targets", $0.line) }
            + dependencies.sorted { $0.key < $1.key }.flatMap { target, elements in elements.map { line("dependencies of \(target)", $0) } }
    }

    /// Makes sure that SwiftPM sees all of it.
    func verify(in facts: PackageFacts) throws(BackplaneError) {
        let missing = targets.map(\.name).filter { facts.target($0) == nil }
        guard missing.isEmpty else {
            throw BackplaneError(.newPackage, "SwiftPM finds no targets \(Blueprint.list(missing))", at: "Package.swift")
        }
    }
}
