import Backplane
import BackplaneHost
import FoundationEssentials

/// An existing package that a scaffold extends, as described by SwiftPM.
struct PackageFolder: Sendable {
    /// The absolute path of the package's root.
    let root: String
    let facts: PackageFacts

    /// Reads a package's description.
    ///
    /// - Parameter given: The folder of the package, or `nil` for the nearest package at or above the current folder.
    /// - Throws: `new.package` if there is no package, or it cannot be read.
    init(given: String?) throws(BackplaneError) {
        root = try Self.find(given)
        do throws(BackplaneError) { facts = try PackageFacts(of: root) } catch {
            throw error.adding("; fix it, and run the command again")
        }
    }

    private static func find(_ given: String?) throws(BackplaneError) -> String {
        func isPackage(_ folder: String) -> Bool {
            FileManager.default.fileExists(atPath: FilePath.join(folder, "Package.swift"))
        }
        if let given {
            let folder = FilePath.absolute(given)
            guard isPackage(folder) else {
                throw BackplaneError(.newPackage, "the folder has no Package.swift", at: folder)
            }
            return folder
        }
        let current = FilePath.absolute(".")
        guard let found = OwnPackage.folders(above: current).first(where: isPackage) else {
            throw BackplaneError(
                .newPackage,
                "there is no Package.swift in this folder or above it; `backplane new package NAME` creates a package, and --package PATH chooses one",
                at: current)
        }
        return found
    }

    /// Returns the text of a file, or `nil` if it does not exist or is not UTF-8.
    func contents(of path: String) -> String? {
        (try? Data(contentsOf: URL(filePath: FilePath.join(root, path)))).flatMap {
            String(validating: $0, as: UTF8.self)
        }
    }

    func contains(_ path: String) -> Bool { (try? FileStatus(at: FilePath.join(root, path))) != nil }

    /// Returns the Swift files below a folder, sorted by path.
    func sources(in folder: String) -> [String] {
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: FilePath.join(root, folder))) ?? []
        return paths.filter { $0.hasSuffix(".swift") }.sorted().map { "\(folder)/\($0)" }
    }

    /// Converts a path relative to the current folder to one relative to the root of the package.
    func path(of given: String) -> String {
        let path = FilePath.absolute(given).split(separator: "/"), root = root.split(separator: "/")
        let shared = zip(path, root).prefix { $0 == $1 }.count
        return (Array(repeating: "..", count: root.count - shared) + path.dropFirst(shared)).joined(separator: "/")
    }

    /// The form in which targets name the products of Backplane, or `nil` if the package does not depend on it.
    var backplane: BackplaneProducts? {
        if facts.target("CBackplane") != nil { return .own }
        return facts.targets.flatMap(\.dependencies).first { $0.name == "Backplane" && $0.package != nil }?.package.map
        { .package($0) }
    }
}
