package import Backplane
import BackplaneHost
import Foundation
import Glibc
import Synchronization

/// The contents of a Package.swift: the required part of `swift package dump-package`.
package struct PackageFacts: Sendable, Hashable, Decodable {
    package var name: String
    package var products: [Product]
    package var targets: [PackageTarget]
    /// The absolute paths of the local packages on which it depends.
    package var neighbours: [String]
    /// The tools version of its first line.
    package var toolsVersion: Version

    package struct Product: Sendable, Hashable, Decodable {
        package var name: String
        package var targets: [String]
        /// `{"library": ["dynamic"]}`, or `{"executable": null}`.
        private var type: [String: [String]?]

        package var isDynamicLibrary: Bool { type["library"]??.contains("dynamic") == true }
    }

    package struct PackageTarget: Sendable, Hashable, Decodable {
        package var name: String
        /// The type of the target: `regular`, `executable`, `test`, …
        package var type: String
        package var path: String?
        /// The files in its folder that belong to the target, or `nil` for all.
        package var sources: [String]?
        /// The files and folders in its folder that do not belong to the target.
        package var exclude: [String]?
        package var dependencies: [Dependency]
    }

    package struct Dependency: Sendable, Hashable, Decodable {
        /// The name of a target or product.
        package var name: String
        /// The identity of the product's package, if specified.
        package var package: String?
    }

    package func target(_ name: String) -> PackageTarget? { targets.first { $0.name == name } }

    /// Returns the targets of a product that belong to this package.
    package func targets(of product: Product) -> [PackageTarget] {
        var found: [PackageTarget] = [], left = product.targets
        while let name = left.popLast() {
            guard let target = target(name), !found.contains(target) else { continue }
            found.append(target)
            left += target.dependencies.filter { $0.package == nil }.map(\.name)
        }
        return found
    }
}

extension PackageFacts {
    private enum CodingKeys: String, CodingKey { case name, products, targets, dependencies, toolsVersion }

    /// A dependency, `{"fileSystem": [{"path": …}]}`, ignored if it is of another kind.
    private struct Neighbour: Decodable {
        struct Place: Decodable { var path: String }
        var fileSystem: [Place]?
    }

    /// The tools version, `{"_version": "6.3.0"}`.
    private struct ToolsVersion: Decodable { var _version: String }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        products = try container.decode([Product].self, forKey: .products)
        targets = try container.decode([PackageTarget].self, forKey: .targets)
        neighbours = try container.decode([Neighbour].self, forKey: .dependencies).flatMap {
            ($0.fileSystem ?? []).map(\.path)
        }
        let tools = try container.decode(ToolsVersion.self, forKey: .toolsVersion)._version
        guard let toolsVersion = Version(tools) else {
            throw DecodingError.dataCorruptedError(
                forKey: .toolsVersion, in: container, debugDescription: "expected a version, found `\(tools)`")
        }
        self.toolsVersion = toolsVersion
    }
}

extension PackageFacts.Dependency {
    /// Decodes `{"byName": ["Tides", null]}`, `{"product": ["Backplane", "backplane", null, null]}` and the like.
    package init(from decoder: any Decoder) throws {
        let kinds = try decoder.container(keyedBy: Kind.self)
        guard let kind = kinds.allKeys.first else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "expected the kind of a dependency"))
        }
        var words = try kinds.nestedUnkeyedContainer(forKey: kind)
        name = try words.decode(String.self)
        package = kind.stringValue == "product" ? try words.decodeIfPresent(String.self) : nil
    }

    private struct Kind: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

/// The default folders in which SwiftPM looks for the sources of targets.
extension PackageFacts {
    /// Returns the folder of a target, relative to the package.
    package func folder(of target: PackageTarget, in root: String) -> String {
        if let path = target.path { return path.isEmpty ? "." : path }
        let holder = holder(of: target.kind, in: root), own = FilePath.join(holder, target.name)
        // A target that is the only one of its kind may occupy the whole folder.
        let isAlone = toolsVersion >= Self.relaxed && targets.count { $0.kind == target.kind } == 1
        return isAlone && !FileManager.default.fileExists(atPath: FilePath.join(root, own)) ? holder : own
    }

    /// Returns the folder that contains the folders of the targets: the first candidate that exists, or else the first.
    package func holder(of kind: PackageTarget.Kind, in root: String) -> String {
        let sources = ["Sources", "Source", "src", "srcs"]
        let names =
            switch kind {
            case .source: sources
            case .test: ["Tests"] + sources
            case .plugin: ["Plugins"]
            }
        return names.first { Self.isFolder(FilePath.join(root, $0)) } ?? names[0]
    }

    /// Returns the folder for new targets, which for tests is `Tests` unless existing tests are elsewhere.
    package func newHolder(of kind: PackageTarget.Kind, in root: String) -> String {
        let isUsed = targets.contains { $0.kind == kind && $0.path == nil }
        return isUsed || kind != .test ? holder(of: kind, in: root) : "Tests"
    }

    private static func isFolder(_ path: String) -> Bool {
        var isFolder = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder
    }

    /// The first tools version with which a single target does not need its own folder.
    private static let relaxed = Version(5, 9)
}

extension PackageFacts.PackageTarget {
    /// The kinds of targets that SwiftPM has default folders for; `plugin` is a SwiftPM plugin, not one of Backplane's.
    package enum Kind: Sendable, Hashable {
        case source, test, plugin
    }

    package var kind: Kind {
        switch type {
        case "test": .test
        case "plugin": .plugin
        default: .source
        }
    }
}

extension PackageFacts {
    /// Reads a package with SwiftPM, which builds and fetches nothing.
    ///
    /// This takes about a second if the Package.swift has changed, because it is then compiled.
    ///
    /// - Parameter scratchPath: The folder that SwiftPM locks while it runs, or `nil` for the package's own build
    ///   folder, for which it waits if a build is running.
    /// - Throws: `new.package` with the messages of SwiftPM and the compiler if the package cannot be read.
    package init(of root: String, scratchPath: String? = nil) throws(BackplaneError) {
        // Without it, SwiftPM would use a package in an enclosing folder.
        guard (try? FileStatus(at: FilePath.join(root, "Package.swift"))) != nil else {
            throw Self.unreadable(
                root, "expected a Package.swift in the package `\(FilePath.name(of: root))`, found none")
        }
        let (succeeded, said) = try Self.dump(root, scratchPath)
        guard succeeded else {
            throw Self.unreadable(
                root, "SwiftPM cannot read the package `\(FilePath.name(of: root))`",
                ManifestOutput.lines(of: said.errors))
        }
        do {
            self = try JSONDecoder().decode(PackageFacts.self, from: Data(said.output.joined(separator: "\n").utf8))
        } catch {
            throw Self.unreadable(root, "the output of `swift package dump-package` cannot be parsed: \(error)")
        }
    }

    /// Runs `swift package dump-package`, and returns whether it succeeded and the lines that it printed.
    private static func dump(_ root: String, _ scratchPath: String?) throws(BackplaneError) -> (
        Bool, (output: [String], errors: [String])
    ) {
        let arguments =
            ["package", "--package-path", root] + (scratchPath.map { ["--scratch-path", $0] } ?? []) + ["dump-package"]
        let said = OutputLines(), ended = Mutex<ChildProcess.Ending?>(nil), end = DispatchSemaphore(value: 0)
        let outlets = [
            ChildProcess.Outlet(descriptor: STDOUT_FILENO, take: said.output),
            ChildProcess.Outlet(descriptor: STDERR_FILENO, take: said.error),
        ]
        do throws(BackplaneError) {
            _ = try ChildProcess("swift", arguments, outlets: outlets) { ending in
                ended.withLock { $0 = ending }
                end.signal()
            }
        } catch { throw unreadable(root, error.message) }
        end.wait()
        return (ended.withLock { $0 } == .exit(0), said.text)
    }

    private static func unreadable(_ root: String, _ reason: String, _ said: [String] = []) -> BackplaneError {
        BackplaneError(.newPackage, reason, at: "\(root)/Package.swift", saying: said)
    }
}

extension BackplaneError.Code {
    /// The code of the error for a package that is missing, or cannot be read or extended.
    package static let newPackage = Self(rawValue: "new.package")
}

/// The output of SwiftPM for a Package.swift that it cannot read.
enum ManifestOutput {
    /// Returns the message of the compiler, of the manifest's program or else of SwiftPM itself, unchanged.
    static func lines(of printed: [String]) -> [String] {
        // The Swift runtime prints the reason of a crash before the registers.
        let said = printed.prefix { !$0.hasPrefix("*** ") }.filter { !isFrame($0) }
        let lines = said.drop { $0.isEmpty }.reversed().drop { $0.isEmpty }.reversed()
        return lines.isEmpty ? printed : Array(lines)
    }

    /// Returns whether a line only names the failed command and its folder, or reports that SwiftPM had to wait.
    private static func isFrame(_ line: String) -> Bool {
        line.hasPrefix("Another instance of SwiftPM")
            || line.wholeMatch(
                of: #/error: '.*': Invalid manifest \(compiled with: \[.*\]\)|error: invalid manifests at \[.*\]/#)
                != nil
    }
}
