import Backplane
import BackplaneHost

/// The options with which Swift Package Manager builds.
package struct SwiftPM: Sendable {
    package var configuration: String
    /// The scratch folder for all packages, or `nil` for each package's own `.build`.
    package var scratchPath: String?
    /// The additional arguments of every `swift build`.
    package var flags: [String] = []

    package init(configuration: String = "debug", scratchPath: String? = nil, flags: [String] = []) {
        (self.configuration, self.scratchPath, self.flags) = (configuration, scratchPath, flags)
    }

    package static let configurations = ["debug", "release"]

    package struct Unknown: Error, CustomStringConvertible {
        package let description: String
    }

    package static func configuration(_ name: String) throws(Unknown) -> String {
        guard configurations.contains(name) else {
            throw Unknown(description: "expected debug or release, found `\(name)`")
        }
        return name
    }

    /// Returns the folder into which SwiftPM builds a package's products.
    func libraries(of package: String) -> String {
        FilePath.join(scratchPath.map(FilePath.absolute) ?? FilePath.join(package, ".build"), configuration)
    }

    private func places(of package: String) -> [String] {
        ["--package-path", package] + (scratchPath.map { ["--scratch-path", FilePath.absolute($0)] } ?? [])
    }

    /// Returns the arguments that build a product.
    ///
    /// They are the same as in a manual build, so that neither build invalidates the results of the other.
    ///
    /// - Parameter last: The package built before this one. With a shared scratch folder, SwiftPM would reuse its plan.
    func build(_ product: DevPackage.Product, after last: String?) -> [String] {
        let plansAnew = scratchPath != nil && last != product.package
        return ["build"] + places(of: product.package) + ["-c", configuration, "--product", product.name]
            + (plansAnew ? ["--disable-build-manifest-caching"] : []) + flags
    }

    /// Reads the description of a package, without fetching dependencies or waiting for a build.
    ///
    /// - Throws: `package.unusable`, with SwiftPM's message about the package or a local package on which it depends.
    func package(at path: String) throws(BackplaneError) -> DevPackage {
        let scratchPath = FilePath.join(FilePath.folder(of: libraries(of: path)), "backplane-dev")
        do throws(BackplaneError) {
            let facts = try PackageFacts(of: path, scratchPath: scratchPath)
            var others: [String: PackageFacts] = [:], left = facts.neighbours
            while let next = left.popLast() {
                guard next != path, others[next] == nil else { continue }
                let other = try PackageFacts(of: next, scratchPath: scratchPath)
                others[next] = other
                left += other.neighbours
            }
            return DevPackage(facts, at: path, others: others, libraries: libraries(of: path))
        } catch {
            throw error.adding("; fix it, and it is read again", code: .packageUnusable)
        }
    }
}

extension BackplaneError.Code {
    /// A package that Swift Package Manager cannot read.
    static let packageUnusable = Self(rawValue: "package.unusable")
}

/// A Swift package whose plugins are built during development.
struct DevPackage: Sendable, Hashable {
    /// The library of a plugin, as a product of its package.
    struct Product: Sendable, Hashable {
        var package: String
        var name: String
        /// The path of the library after a build.
        var library: String
        /// The folders of the product's targets, and of the local packages on which it may depend.
        var folders: [String]
        /// The folders in which SwiftPM may place the product's resources.
        var resources: [String]
    }
    /// The absolute path of the package's folder.
    var path: String
    /// The dynamic libraries among the package's products.
    var products: [Product]

    /// Returns whether a file of the given name describes a package, which is reread after a change to the file.
    static func isManifest(_ name: String) -> Bool { name == "Package.swift" || isVersionedManifest(name) }

    /// Returns whether a file of the given name describes a package for one version of Swift.
    static func isVersionedManifest(_ name: String) -> Bool {
        name.hasPrefix("Package@swift-") && name.hasSuffix(".swift")
    }

    /// Creates a package from its description.
    ///
    /// - Parameters:
    ///   - others: The local packages on which it depends, by their folders.
    ///   - libraries: The folder into which SwiftPM builds libraries.
    init(_ facts: PackageFacts, at path: String, others: [String: PackageFacts], libraries: String) {
        self.path = path
        let beside = others.sorted { $0.key < $1.key }.flatMap { path, facts in
            facts.folders(of: facts.targets.filter { $0.type != "test" }, in: path)
        }
        products = facts.products.filter(\.isDynamicLibrary).map { product in
            let targets = facts.targets(of: product)
            return Product(
                package: path, name: product.name, library: FilePath.join(libraries, "lib\(product.name).so"),
                folders: facts.folders(of: targets, in: path) + beside,
                resources: targets.map { FilePath.join(libraries, "\(facts.name)_\($0.name).resources") })
        }
    }
}

extension PackageFacts {
    fileprivate func folders(of targets: [PackageTarget], in path: String) -> [String] {
        targets.map { FilePath.absolute(FilePath.join(path, folder(of: $0, in: path))) }
    }
}

extension DevPackage.Product {
    /// An identifier that is unique among the products of all packages.
    var id: String { "\(package):\(name)" }

    /// Returns whether the product depends on a file, or on the contents of a folder.
    func isMade(of path: String) -> Bool {
        folders.contains { path == $0 || path.hasPrefix($0 + "/") || $0.hasPrefix(path + "/") }
    }
}
