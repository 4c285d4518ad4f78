import Backplane
import BackplaneHost
import BackplanePackages
import BackplaneTerminal
import FoundationEssentials

/// A package of somebody's own that something is added to, as SwiftPM sees it.
struct PackageFolder: Sendable {
    /// Absolute.
    let root: String
    let facts: PackageFacts

    /// - Parameter given: the package's folder; `nil`: the nearest above the current one, or that itself, with a Package.swift.
    /// - Throws: `new.package`.
    init(given: String?) throws(BackplaneError) {
        root = try Self.find(given)
        do throws(BackplaneError) { facts = try PackageFacts(of: root) } catch { throw error.adding("; mend it, and enter the command again") }
    }

    private static func find(_ given: String?) throws(BackplaneError) -> String {
        func isPackage(_ folder: String) -> Bool { FileManager.default.fileExists(atPath: FilePath.join(folder, "Package.swift")) }
        if let given {
            let folder = FilePath.absolute(given)
            guard isPackage(folder) else { throw BackplaneError(.newPackage, "there is no Package.swift in it", at: folder) }
            return folder
        }
        let current = FilePath.absolute(".")
        guard let found = OwnPackage.folders(above: current).first(where: isPackage) else {
            throw BackplaneError(
                .newPackage, "there is no Package.swift, neither here nor above; `backplane new package NAME` makes a package, --package PATH names one", at: current)
        }
        return found
    }

    /// A file of the package; `nil`: there is none.
    func contents(of path: String) -> String? {
        (try? Data(contentsOf: URL(filePath: FilePath.join(root, path)))).flatMap { String(validating: $0, as: UTF8.self) }
    }

    func contains(_ path: String) -> Bool { (try? FileStatus(at: FilePath.join(root, path))) != nil }

    /// The Swift files below a folder, sorted.
    func sources(in folder: String) -> [String] {
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: FilePath.join(root, folder))) ?? []
        return paths.filter { $0.hasSuffix(".swift") }.sorted().map { "\(folder)/\($0)" }
    }

    /// A path of this process as one from the top of the package on.
    func path(of given: String) -> String {
        let path = FilePath.absolute(given).split(separator: "/"), root = root.split(separator: "/")
        let shared = zip(path, root).prefix { $0 == $1 }.count
        return (Array(repeating: "..", count: root.count - shared) + path.dropFirst(shared)).joined(separator: "/")
    }

    /// How its targets name the products of Backplane; `nil`: it does not depend on Backplane yet.
    var backplane: BackplaneProducts? {
        if facts.target("CBackplane") != nil { return .own }
        return facts.targets.flatMap(\.dependencies).first { $0.name == "Backplane" && $0.package != nil }?.package.map { .package($0) }
    }
}
